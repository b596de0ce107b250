"""Kills at any moment: a resumed run gives the same output as an undisturbed one."""

import multiprocessing
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfmoon import load, save
from halfmoon.table import Settings, fill_folder, predict_folder

FILES, ROWS, LABELS = 12, 300, 3
SETTINGS = Settings("y", budget=600.0)  # no search is cut short


def predicted(place, name):
    predict_folder(place / "in", place / name, load(place / "model"), resume=True)


def filled(place, name):
    fill_folder(place / "in", place / name, SETTINGS, resume=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of tables, and a model of them."""
    place = tmp_path_factory.mktemp("kills")
    rng = np.random.default_rng(0)
    (place / "in").mkdir()
    for i in range(FILES):
        x = rng.normal(size=(2, ROWS))
        y = [v if j < LABELS else None for j, v in enumerate(x[0] + x[1] ** 2)]
        rows = pa.table({"a": x[0], "b": x[1], "y": y})
        pq.write_table(rows, place / "in" / f"{i}.parquet")
    (done,) = fill_folder(place / "in", place / "whole", SETTINGS)
    done.model.record_ = {"settings": {"unlabeled": ()}}
    save(done.model, place / "model")
    return place


def outputs(place):
    return {path.name: path.read_bytes() for path in sorted(place.glob("*.parquet"))}


def n_written(place):
    """How many files are whole; others may vanish while a run goes on."""
    return sum((place / f"{i}.parquet").exists() for i in range(FILES))


def check_kills(work, place, kills, seed):
    """Kill a run at random moments, resume it until it is done, and compare.

    Every other kill comes after a random number of files are written. A process is new
    for each try, as from a command line, but need not load all of halfmoon again.
    """
    new = multiprocessing.get_context("forkserver")
    new.set_forkserver_preload(["halfmoon.table", "test_kills"])
    rng = np.random.default_rng(seed)

    def started(name):
        process = new.Process(target=work, args=(place, name))
        process.start()
        return process

    started(f"first-{seed}").join()  # the first one loads the libraries
    start = time.monotonic()
    started(f"alone-{seed}").join()
    seconds = time.monotonic() - start
    expected = outputs(place / "whole")
    assert len(expected) == FILES
    assert outputs(place / f"alone-{seed}") == expected
    killed, between = 0, 0
    for number in range(kills):
        name = f"killed-{work.__name__}-{seed}-{number}"
        process = started(name)
        if number % 2:
            files = int(rng.integers(1, FILES))
            while process.is_alive() and n_written(place / name) < files:
                time.sleep(0.002)
            process.join(rng.uniform(0, 0.05))
        else:
            process.join(rng.uniform(0, seconds))
        process.kill()
        process.join()
        killed += process.exitcode == -9
        between += 0 < n_written(place / name) < FILES
        rest = started(name)
        rest.join()
        assert rest.exitcode == 0
        assert outputs(place / name) == expected
        left = [path.name for path in (place / name).iterdir()]
        assert set(left) == {*expected, "_halfmoon"}
    return killed, between


@pytest.mark.slow
def test_kills_while_predicting(place):
    killed, between = check_kills(predicted, place, 10, seed=0)
    assert killed >= 5
    assert between >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])  # 50 kills in all
def test_kills_while_learning_and_filling(place, seed):
    killed, between = check_kills(filled, place, 10, seed)
    assert killed >= 6
    assert between >= 3
