"""Dask rows: same predictions as in memory, time per row, and forecasts of it.

Rows are generated partition by partition and never stored; two local workers of one
thread each fit `LaplacianRegressor` to them. Run with

    python -m benchmarks.dask_rows --rows 1e5 1e6 1e7 1e8

Times are processor seconds of the workers, summed, so other work on the machine hardly
changes them. The forecast is computed as in a fit: from the duration of the first pass
over the rows, and from a short test of the sum.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import resource
import time
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import numpy as np

import halfmoon
from benchmarks.markdown import row
from halfmoon import ConditionalRegressor, LaplacianRegressor
from halfmoon._costs import EnergyCost, seconds_a_call
from halfmoon._moments import PROBE_BYTES, dirichlet
from halfmoon._partitioned_rows import PartitionedRows, Reader
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream, alone
from halfmoon.kernels import Gaussian

D, P, LABELS = 3, 30, 1_000  # small, so that 10^8 rows take minutes
PARTITION_ROWS = 1_000_000
K = Gaussian(0.7)
MEMORY_ROWS = 1_000_000  # that fit memory, to compare with
RESULTS = Path(__file__).parent / "results"


def generated(place: int, size: int, labeled: int) -> np.ndarray:
    """Generate the rows of a partition, with labels in the last column."""
    rng = np.random.default_rng([17, place])
    out = np.empty((size, D + 1))
    out[:, :D] = rng.standard_normal((size, D))
    out[:, D] = np.nan
    known = slice(0, labeled)
    out[known, D] = np.sin(out[known, 0]) + out[known, 1]
    return out


def collection(n: int) -> tuple[da.Array, da.Array, int]:
    """Return rows, labels, and the number of partitions."""
    m = max(4, n // PARTITION_ROWS)
    size, labeled = n // m, LABELS // m
    parts = [
        da.from_delayed(
            dask.delayed(generated)(i, size, labeled), (size, D + 1), np.float64
        )
        for i in range(m)
    ]
    both = da.concatenate(parts)
    return both[:, :D], both[:, D], m


def landmarks() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((P, D))


def model() -> LaplacianRegressor:
    return LaplacianRegressor(K, alpha=1e-2, landmarks=landmarks())


MODELS = {
    "Laplacian": model,
    "conditional": lambda: ConditionalRegressor(K, "linear", alpha=1e-2),
    "Nystrom": lambda: ConditionalRegressor(K, alpha=1e-2, landmarks=landmarks()),
}


def worker_seconds(client) -> float:
    return sum(client.run(time.process_time).values())


def taken_by(client, work) -> float:
    """Measure processor seconds of the workers."""
    before = worker_seconds(client)
    work()
    return worker_seconds(client) - before


def peak_bytes(client) -> int:
    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return max(client.run(peak).values())


def probed_rate(d: int = D, p: int = P) -> float:
    """Measure operations per second of one thread, on some rows."""
    rng = np.random.default_rng(3)
    basis = Nystrom(K, landmarks=rng.standard_normal((p, d)))
    some = rng.standard_normal((PROBE_BYTES // (16 * p), d))
    basis.fit(some)
    work = partial(dirichlet, basis, some, stream=Stream(n_jobs=1))
    with alone():
        seconds = seconds_a_call(work, 2.0, time.process_time)
    return EnergyCost(len(some), d, p).operations / seconds


def moved() -> dict:
    """Bytes per partition: what a sum sends to it, and what it returns."""
    basis = Nystrom(K, landmarks=landmarks()).fit(landmarks())
    from distributed.protocol.pickle import dumps

    sent: list[int] = []
    got: list[int] = []

    class Weighing:
        threads = 1

        def map(self, function, partitions):
            sent.append(len(dumps(function)))
            for n, total in (function(*partition) for partition in partitions):
                got.append(len(pickle.dumps(total, protocol=5)))
                yield n, total

    rows = np.random.default_rng(0).standard_normal((1_000, D))
    table = PartitionedRows(
        [(0, rows)], Reader(None, D, "float64"), lambda client: Weighing(), 1_000, rows
    )
    dirichlet(basis, table)
    return {"sent": sent[0], "home": got[0]}


def equal_answers() -> dict[str, float]:
    """Largest difference of predictions from those of a fit in memory."""
    X, y, _ = collection(MEMORY_ROWS)
    X_here, y_here = dask.compute(X, y)
    some = X_here[:: MEMORY_ROWS // 10_000]
    out = {}
    for name, make in MODELS.items():
        there = make().fit(X, y).predict(some)
        here = make().fit(X_here, y_here).predict(some)
        out[name] = float(np.abs(there - here).max())
        print(f"{name}: {out[name]:.1e}", flush=True)
    return out


def measure(client, n: int, rate: float) -> dict:
    X, y, m = collection(n)
    look = ConditionalRegressor(K, alpha=1e-2)  # one look, and no sum over rows
    reading = taken_by(client, lambda: look.fit(X, y))
    # Two passes: one reads and samples, the other reads and sums.
    cost = EnergyCost(n, D, P, partitions=m)
    fitted, start = model(), time.monotonic()
    taken = taken_by(client, lambda: fitted.fit(X, y))
    wall = time.monotonic() - start
    run = {
        "rows": n,
        "partitions": m,
        "operations": cost.operations,
        "look": reading,
        "forecast": cost.seconds(rate, reading=2 * reading),
        "seconds": taken,
        "elapsed": wall,
        "worker_peak": peak_bytes(client),
        "loo_score": fitted.loo_score_,
    }
    print(run, flush=True)
    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", nargs="+", type=float, default=[1e5, 1e6, 1e7])
    asked = parser.parse_args()
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit="2GiB",
        ) as cluster,
        Client(cluster) as client,
    ):
        model().fit(*collection(10_000)[:2])  # imports
        differences = equal_answers()
        rate = probed_rate()
        about: dict = {
            "d": D,
            "p": P,
            "labels": LABELS,
            "differences": differences,
            "rate": rate,
            "rate_1000": probed_rate(20, 1_000),
            "moved": moved(),
            "runs": [],
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "versions": {"halfmoon": halfmoon.__version__, "dask": dask.__version__},
        }
        for n in asked.rows:  # kept one by one: the largest may take long
            about["runs"].append(measure(client, int(n), rate))
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / "dask_rows.json").write_text(json.dumps(about, indent=1) + "\n")
            (RESULTS / "dask_rows.md").write_text(page(about))
    print(page(about))


ABOUT = """\
# Rows of Dask

`LaplacianRegressor` with {p} landmarks and {labels:,} labels on rows of {d} columns,
which are generated partition by partition and never stored. Two local workers of one
thread each. Seconds are processor seconds of both workers together, elapsed is by the
clock. The forecast is computed as in a fit, from a short test of the sum and from the
duration of the first pass. {machine}, dask {dask}.
"""

NOTES = """
- {fixed:.2f} s and {slope:.2f} µs per row fit all of these to {off:.0f} %.
- The test: {rate:.1f} billion operations per second of one thread (p = {p}: small
  products).
- Bytes per partition: {sent:,} sent (the function, with its landmarks), {home:,}
  returned (two {p}-by-{p} matrices). With {m} partitions: {megabytes:.1f} MB.
- Estimate for 1,000,000,000 rows of 20 columns and 1,000 landmarks in 1,000 partitions:
  {operations:.2g} operations, {gigabytes:.1f} GB moved, {hours:.0f} core-hours at the
  rate of the test with p = 1,000, {fast:.0f} billion operations per second.

Largest difference from the predictions of a fit in memory, {memory_rows:,} rows:
"""

COLUMNS = "rows partitions operations seconds µs/row forecast forecast/seconds elapsed"


def page(about: dict) -> str:
    largest, moves = about["runs"][-1], about["moved"]
    lines = [
        ABOUT.format(dask=about["versions"]["dask"], **about),
        row([*COLUMNS.split(), "peak of a worker"]),
        "| ---: |" + " ---: |" * 8,
    ]
    for run in about["runs"]:
        cells = (
            f"{run['rows']:,}",
            run["partitions"],
            f"{run['operations']:.2g}",
            f"{run['seconds']:.1f}",
            f"{1e6 * run['seconds'] / run['rows']:.2f}",
            f"{run['forecast']:.1f}",
            f"{run['forecast'] / run['seconds']:.2f}",
            f"{run['elapsed']:.1f}",
            f"{run['worker_peak'] / 1e6:.0f} MB",
        )
        lines.append(row(cells))
    paper = EnergyCost(10**9, 20, 1_000, partitions=1_000)
    times = np.array([run["seconds"] for run in about["runs"]])
    rows = np.array([run["rows"] for run in about["runs"]], dtype=float)
    line = np.column_stack([1 / times, rows / times])  # relative errors count
    (fixed, slope), *_ = np.linalg.lstsq(line, np.ones(len(times)), rcond=None)
    notes = NOTES.format(
        fixed=fixed,
        slope=1e6 * slope,
        off=100 * np.abs(line @ [fixed, slope] - 1).max(),
        rate=about["rate"] / 1e9,
        fast=about["rate_1000"] / 1e9,
        p=about["p"],
        sent=moves["sent"],
        home=moves["home"],
        m=largest["partitions"],
        megabytes=largest["partitions"] * (moves["sent"] + moves["home"]) / 1e6,
        operations=paper.operations,
        gigabytes=paper.bytes_moved / 1e9,
        hours=(paper.seconds(about["rate_1000"]) or 0.0) / 3600,
        memory_rows=MEMORY_ROWS,
    )
    found = about["differences"].items()
    table = [row(["fit", "difference"]), "| --- | ---: |"]
    table += [row([name, f"{value:.1e}"]) for name, value in found]
    return "\n".join([*lines, notes, *table, ""])


if __name__ == "__main__":
    main()
