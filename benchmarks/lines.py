"""A line of the benchmark table: how it is timed, printed and stored."""

import json
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy
import sklearn

RESULTS = Path(__file__).parent / "results"


@dataclass
class Line:
    """One measurement against one bar.

    `figure` is compared with the bar: a ratio of times, a share of a rate, or a
    multiple of a budget. `met` says whether it holds.
    """

    work: str
    figure: str
    bar: str
    met: bool
    detail: str


def best_of(function, repeats=3):
    """Return the shortest of some runs, in seconds, because noise only adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def alternate(*functions, repeats=3, runs=1):
    """Return the shortest run of each; they take turns to get the same noise.

    Functions that take milliseconds need several runs per turn, because the first one
    finds the caches of the other functions.
    """
    times = [np.inf for _ in functions]
    for _ in range(repeats):
        for j, function in enumerate(functions):
            times[j] = min(times[j], best_of(function, runs))
    return times


def product_rate(rows=4_000, columns=1_000, repeats=5):
    """Measure the machine's matrix product rate, in operations per second."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, rows, columns))
    seconds = best_of(lambda: A.T @ B, repeats)
    return 2 * rows * columns**2 / seconds


def machine():
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
    }


HEAD = """# Benchmarks

Made by `make bench`: every line is a ratio of times taken in one run."""


def write(name, lines, rate, head=HEAD):
    """Store a table as JSON and as Markdown."""
    RESULTS.mkdir(exist_ok=True)
    content = {
        "machine": machine(),
        "product_rate_gflops": round(rate / 1e9, 1),
        "lines": [asdict(line) for line in lines],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")
    rows = [
        "| work | measured | bar | met | detail |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows += [
        f"| {x.work} | {x.figure} | {x.bar} | {'yes' if x.met else 'NO'} | {x.detail} |"
        for x in lines
    ]
    versions = ", ".join(f"{key} {value}" for key, value in machine().items())
    head = f"""{head} This machine's
own matrix products run at {rate / 1e9:.0f} GFLOP/s ({versions}).
"""
    (RESULTS / f"{name}.md").write_text("\n".join([head, *rows]) + "\n")
