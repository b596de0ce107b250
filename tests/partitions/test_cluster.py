"""A local cluster: workers that are killed change no bit, and nothing is lost."""

import os
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon import ConditionalRegressor, LaplacianRegressor
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from optional_modules import optional

chaos = optional("distributed.chaos")
da = optional("dask.array")
dask = optional("dask")
distributed = optional("distributed")

pytestmark = [
    pytest.mark.slow,
    # Of workers that are killed, in distributed itself.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


K = Gaussian(1.5)
N, PARTS = 36_000, 12


@pytest.fixture
def cluster(tmp_path):
    """Two workers of one thread each, on this machine only."""
    settings = {
        "distributed.worker.daemon": False,
        "distributed.scheduler.allowed-failures": 100,
        "distributed.admin.log-format": "",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path),
            silence_logs=50,
        ) as local,
        distributed.Client(local) as client,
    ):
        # A worker that leaves by itself is not started again by its nanny.
        local.adapt(minimum=2, maximum=2, interval="200 ms")
        yield client


def generated(block_info=None, pause=0.0):
    """Rows of a partition, from the number of the partition alone."""
    place = block_info[None]["chunk-location"][0]
    time.sleep(pause)
    return np.random.default_rng([5, place]).normal(size=(N // PARTS, 3))


def rows(pause=0.0):
    return da.map_blocks(
        generated,
        chunks=((N // PARTS,) * PARTS, (3,)),
        dtype=float,
        meta=np.empty((0, 0)),
        pause=pause,
    )


def model():
    return LaplacianRegressor(K, alpha=1e-2, n_components=40, random_state=0)


@pytest.fixture(scope="module")
def undisturbed():
    """Labels, and what comes out of one thread that nobody disturbs."""
    with dask.config.set(scheduler="synchronous"):
        first = rows()[:500].compute()
        y = np.full(N, np.nan)
        y[:500] = np.sin(first[:, 0]) + first[:, 1]
        fitted = model().fit(rows(), y)
        return y, fitted, fitted.predict(rows()).compute()


def assert_same_bits(fitted, values, undisturbed):
    _, expected, expected_values = undisturbed
    energies = (each.solution_.posed.energy_matrix for each in (fitted, expected))
    assert_array_equal(*energies)
    assert_array_equal(values, expected_values)


def test_a_cluster_gives_the_bits_of_one_thread(undisturbed, cluster):
    with Stream(client=cluster).handed_down():
        fitted = model().fit(rows(), undisturbed[0])
    assert_same_bits(fitted, fitted.predict(rows()).compute(), undisturbed)


def test_the_current_client_is_used_where_none_is_given(undisturbed, cluster):
    fitted = ConditionalRegressor(K, alpha=1e-2).fit(rows(), undisturbed[0])
    assert fitted.n_labeled_ == 500
    done = cluster.run(lambda dask_worker: len(dask_worker.state.log))
    assert sum(done.values()) > PARTS


@pytest.mark.parametrize("mode", ["sys.exit", "graceful", "segfault"])
def test_killed_workers_change_no_bit(undisturbed, cluster, mode):
    y, expected, _ = undisturbed
    fitted = disturbed(cluster, mode, lambda: model().fit(rows(pause=0.4), y))
    values = disturbed(
        cluster, mode, lambda: expected.predict(rows(pause=0.8)).compute()
    )
    assert_same_bits(fitted, values, undisturbed)


def disturbed(client, mode, work):
    """What comes of work during which a worker, or both, are killed."""
    for _ in range(20):
        begun = pids(client)
        # Both have a few seconds to live, and those that take their place do not.
        client.register_plugin(chaos.KillWorker(delay="2 s", mode=mode), name="chaos")
        client.unregister_worker_plugin("chaos")
        result = work()
        if begun - pids(client):
            return result
    raise AssertionError("No worker was killed.")


def pids(client):
    """Of two workers that have imported what they need."""
    for _ in range(600):
        try:
            found = set(client.run(_imported).values())
        except Exception:  # a worker is on its way out
            found = set()
        if len(found) == 2:
            return found
        time.sleep(0.2)
    raise AssertionError("There are no two workers.")


def _imported():
    import halfmoon._estimators  # noqa: F401

    return os.getpid()


def deadly(block, block_info=None):
    if block_info[None]["chunk-location"][0] == 3:
        os._exit(1)
    return block


def test_a_partition_that_kills_every_worker_ends_in_one_error(undisturbed, cluster):
    cluster.run_on_scheduler(
        lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 1)
    )
    bad = rows().map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(
        RuntimeError, match="failed: all 2 workers that tried it were lost"
    ):
        model().fit(bad, undisturbed[0])


def test_processes_of_this_machine_by_the_name_local():
    dask_rows = optional("halfmoon._partitions.dask_rows")
    with dask_rows.connected("local", workers=2) as engine:
        assert engine.threads == 2
        found = list(engine.map(_squared, [(i,) for i in range(9)]))
    assert found == [i * i for i in range(9)]


def _squared(number):
    return number * number


def test_an_address_where_nobody_answers(monkeypatch):
    dask_rows = optional("halfmoon._partitions.dask_rows")
    monkeypatch.setattr(dask_rows, "CONNECT_SECONDS", 0.5)
    refused = pytest.raises(ConnectionError, match="No Dask scheduler answers at 'tcp")
    with refused, dask_rows.connected("tcp://127.0.0.1:9"):
        pass
