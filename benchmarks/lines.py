"""A line of the benchmark table, how it is timed, printed and kept."""

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

    `figure` is what the bar speaks of: a ratio of times, a share of a rate, or a
    multiple of a budget; `met` says whether it holds.
    """

    work: str
    figure: str
    bar: str
    met: bool
    detail: str


def best_of(function, repeats=3):
    """Shortest of some runs, in seconds: noise only ever adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def alternate(*functions, repeats=3, runs=1):
    """Shortest run of each, in turns of some runs, so that all meet the same noise.

    What takes milliseconds wants several runs a turn: the first finds the caches as
    the other functions left them.
    """
    times = [np.inf for _ in functions]
    for _ in range(repeats):
        for j, function in enumerate(functions):
            times[j] = min(times[j], best_of(function, runs))
    return times


def product_rate(rows=4_000, columns=1_000, repeats=5):
    """The machine's own rate of matrix products, in operations a second."""
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
    """Keep a table as JSON and as Markdown."""
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
