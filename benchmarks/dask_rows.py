"""Rows of Dask: the answers of rows in memory, time in proportion, and forecasts.

Rows are generated partition by partition and never stored; two local workers of one
thread each fit `LaplacianRegressor` to them. Run with

    python -m benchmarks.dask_rows --rows 1e5 1e6 1e7 1e8

Times are processor seconds of the workers, summed: what else runs on the machine
hardly changes them. The forecast is made as a fit makes it: after the first look at the
rows, from how long that took, and from a probe of the sum.
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
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream, alone
from halfmoon.costs import (
    energy_cost,
    energy_operations,
    probe_rows,
    seconds_a_call,
)
from halfmoon.kernels import Gaussian
from halfmoon.moments import dirichlet
from halfmoon.partitions import InTurn, PartitionedRows
from halfmoon.partitions.table import Reader

D, P, LABELS = 3, 30, 1_000  # small, so that 10^8 rows take minutes
PARTITION_ROWS = 1_000_000
K = Gaussian(0.7)
MEMORY_ROWS = 1_000_000  # that fit memory, to compare with
RESULTS = Path(__file__).parent / "results"


def generated(place: int, size: int, labeled: int) -> np.ndarray:
    """Rows of a partition, and their labels in a last column, from its number alone."""
    rng = np.random.default_rng([17, place])
    out = np.empty((size, D + 1))
    out[:, :D] = rng.standard_normal((size, D))
    out[:, D] = np.nan
    known = slice(0, labeled)
    out[known, D] = np.sin(out[known, 0]) + out[known, 1]
    return out


def collection(n: int) -> tuple[da.Array, da.Array, int]:
    """Rows, labels, and the number of partitions."""
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
    """Processor seconds of the workers."""
    before = worker_seconds(client)
    work()
    return worker_seconds(client) - before


def peak_bytes(client) -> int:
    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return max(client.run(peak).values())


def probed_rate(d: int = D, p: int = P) -> float:
    """Operations a second of one thread, by the work itself on some rows."""
    rng = np.random.default_rng(3)
    basis = Nystrom(K, landmarks=rng.standard_normal((p, d)))
    some = rng.standard_normal((probe_rows(p), d))
    basis.fit(some)
    work = partial(dirichlet, basis, some, stream=Stream(n_jobs=1))
    with alone():
        seconds = seconds_a_call(work, 2.0, time.process_time)
    return energy_operations(len(some), d, p) / seconds


def moved() -> dict:
    """Bytes a partition: what a sum sends to it, and what it sends home."""
    basis = Nystrom(K, landmarks=landmarks()).fit(landmarks())
    from distributed.protocol.pickle import dumps

    sent: list[int] = []
    got: list[int] = []

    class Weighing(InTurn):
        def map(self, function, partitions):
            sent.append(len(dumps(function)))
            for n, total in super().map(function, partitions):
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
    cost = energy_cost(n, D, P, partitions=m, rate=rate, reading=2 * reading)
    fitted, start = model(), time.monotonic()
    taken = taken_by(client, lambda: fitted.fit(X, y))
    wall = time.monotonic() - start
    run = {
        "rows": n,
        "partitions": m,
        "operations": cost.operations,
        "look": reading,
        "forecast": cost.seconds,
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
thread each. Seconds are processor seconds of both workers together, because the machine
had other work to do. The forecast is made as a fit makes it, from a probe of the sum
and from how long a first look at the same rows takes. {machine}, dask {dask}.
"""

NOTES = """
- {fixed:.2f} s and {slope:.2f} µs a row fit all of these to {off:.0f} %.
- The probe: {rate:.1f} thousand million operations a second of one thread (p = {p}:
  small products).
- Bytes a partition: {sent:,} to it (the function, with its landmarks), {home:,} home
  (two {p}-by-{p} matrices). With {m} partitions: {megabytes:.1f} MB.
- On paper, 1,000,000,000 rows of 20 columns and 1,000 landmarks in 1,000 partitions:
  {operations:.2g} operations, {gigabytes:.1f} GB moved, {hours:.0f} core-hours at the
  rate of the probe with p = 1,000, {fast:.0f} thousand million operations a second.

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
            f"{run['elapsed']:.0f}",
            f"{run['worker_peak'] / 1e6:.0f} MB",
        )
        lines.append(row(cells))
    paper = energy_cost(10**9, 20, 1_000, partitions=1_000, rate=about["rate_1000"])
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
        hours=(paper.seconds or 0.0) / 3600,
        memory_rows=MEMORY_ROWS,
    )
    found = about["differences"].items()
    table = [row(["fit", "difference"]), "| --- | ---: |"]
    table += [row([name, f"{value:.1e}"]) for name, value in found]
    return "\n".join([*lines, notes, *table, ""])


if __name__ == "__main__":
    main()
