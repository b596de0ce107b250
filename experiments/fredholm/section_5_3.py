"""S0, section 5.3: random features spare the Fredholm kernel its n-by-n matrix.

The paper gives no figure; here are time and memory of a fit against the number n of
rows, 100 of them labeled, 20 columns of two Gaussian classes. Four ways to fit
FredGauss(N), and FredLin1:

- dense: the n-by-n inner matrix is held in memory, as the paper's formula reads
- exact: halfmoon's exact basis; the same answer, the inner matrix by row blocks
- random features: 500 cosines and sines for the inner kernel, as in the paper
- landmarks: 300 landmarks for the inner kernel
- primal: a linear outer kernel (FredLin1), whose answer is one weight vector

A fit runs alone in its process with one BLAS thread; seconds are of the processor, and
memory is the peak above what the process held before, by the operating system. What
would take over a minute or over 4 GB is left out. Slopes are of logarithms, over the
largest three sizes.
"""

import multiprocessing
import resource
import sys
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment
from experiments.page import Claim, Page, Picture, Table
from halfmoon import FredholmClassifier
from halfmoon.kernels import Gaussian
from halfmoon.smoothers import KernelWeights

WIDTH, ALPHA, LABELS = 5.0, 1e-3, 100
MEGABYTE = 2.0**20
SIZES = {
    "dense": (500, 1_000, 2_000, 4_000, 8_000),
    "exact": (500, 1_000, 2_000, 4_000, 8_000, 16_000),
    "random features": (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000),
    "landmarks": (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000),
    "primal": (500, 1_000, 2_000, 4_000, 8_000, 16_000),
}


def cells(size):
    most = size.pick(10**9, 1_000)
    return [
        {"way": way, "rows": n} for way, ns in SIZES.items() for n in ns if n <= most
    ]


def run(way, rows):
    """In a process of its own: only there does the peak speak of this fit alone."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(measure, (way, rows))


def measure(way, rows):
    rng = np.random.default_rng([53, rows])
    truth = np.arange(rows) % 2
    X = rng.standard_normal((rows, 20))
    X[:, :2] += 2.0 * truth[:, None]
    y = np.where(np.arange(rows) < LABELS, truth, np.nan)
    with threadpool_limits(1):
        fit(way, X[:200], y[:200], truth[:200])  # what is loaded on first use
        before, start = peak(), time.process_time()
        wrong = fit(way, X, y, truth)
        seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "megabytes": (peak() - before) / MEGABYTE,
        "error": 100 * wrong,
    }


def peak():
    """The most memory this process has held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def fit(way, X, y, truth):
    """Share of unlabeled rows that are wrong, of 1,000 at most."""
    kernel = Gaussian(WIDTH)
    shown = slice(LABELS, LABELS + 1_000)
    if way == "dense":
        smoother = KernelWeights(kernel).fit(X)
        A, H = smoother.weights(X[:LABELS]), kernel(X)
        F = A @ H
        c = np.linalg.solve(
            F @ A.T + LABELS * ALPHA * np.eye(LABELS), 2 * y[:LABELS] - 1
        )
        answer = smoother.weights(X[shown]) @ (F.T @ c) > 0
        return float((answer != truth[shown]).mean())
    ways: dict[str, dict[str, Any]] = {
        "exact": {"basis": "exact"},
        "random features": {"basis": "random_features", "n_components": 500},
        "landmarks": {"n_components": 300, "landmarks": "uniform"},
        "primal": {"basis": "exact", "kernel": "linear", "normalize": False},
    }
    model = FredholmClassifier(
        **({"kernel": kernel, "inner_kernel": kernel} | ways[way]),
        alpha=ALPHA,
        unpenalized=None,
        random_state=0,
        n_jobs=1,
        memory_limit="4GB",
    )
    answer = model.fit(X, y).predict(X[shown])
    return float((answer != truth[shown]).mean())


def report(runs):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    found, rows = {}, []
    for way in SIZES:
        chosen = [run for run in runs if run.cell["way"] == way]
        if len(chosen) < 2:
            continue
        n = np.array([run.cell["rows"] for run in chosen])
        seconds, megabytes = (
            np.array([max(run.result[what], floor) for run in chosen])
            for what, floor in (("seconds", 1e-4), ("megabytes", 0.1))
        )
        left.loglog(n, seconds, "o-", label=way)
        right.loglog(n, megabytes, "o-", label=way)
        found[way] = {"n": n, "s": seconds, "MB": megabytes}
        found[way] |= {"slope": _slope(n, seconds), "memory": _slope(n, megabytes)}
        last = chosen[-1].result
        rows.append(
            [
                way,
                f"{n[-1]:,}",
                f"{seconds[-1]:.2f}",
                f"{megabytes[-1]:.0f}",
                f"{last['error']:.1f}",
                f"{found[way]['slope']:.2f}",
                f"{found[way]['memory']:.2f}",
            ]
        )
    left.set(xlabel="rows", ylabel="seconds of a fit and 1,000 answers")
    right.set(xlabel="rows", ylabel="megabytes above the rows")
    left.legend()
    return Page(
        [
            Picture("Time and memory against the number of rows.", figure),
            Table(
                "At the largest n of each.",
                ["way", "n", "s", "MB", "error %", "slope of s", "slope of MB"],
                rows,
            ),
        ],
        _claims(found) if {"random features", "dense"} <= set(found) else [],
    )


def _claims(found):
    features, dense = found["random features"], found["dense"]
    last = int(min(features["n"][-1], dense["n"][-1]))
    at = [float(each["MB"][each["n"] == last][0]) for each in (features, dense)]
    holds = features["memory"] < 1.3 and at[0] < at[1]
    return [
        Claim(
            "Random features take memory linear in n, and much less of it than the "
            "kernel matrix",
            "reproduced" if holds else "not reproduced",
            f"memory grows as n^{features['memory']:.2f} (n^{dense['memory']:.2f} with "
            f"the matrix; rule: below 1.3); at n = {last:,} {at[0]:.0f} against "
            f"{at[1]:.0f} MB",
        )
    ]


def _slope(n, values):
    return float(np.polyfit(np.log(n[-3:]), np.log(values[-3:]), 1)[0])


EXPERIMENT = Experiment(
    name="fredholm-section-5-3",
    title="Time and memory against the number of rows",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__,
)
