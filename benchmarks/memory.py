"""Three million rows in a memory map: time, memory, progress, same result.

Also by itself: ``python -m benchmarks.memory``.
"""

import os
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.lines import Line
from halfmoon._memory import format_bytes, parse_bytes
from halfmoon._moments import dirichlet_and_covariance
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian

LIMIT = "512MB"


def make_map(path, n, d):
    """Write float32 rows to disk, one part at a time."""
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    rng = np.random.default_rng(0)
    for start in range(0, n, 100_000):
        stop = min(start + 100_000, n)
        X[start:stop] = rng.standard_normal((stop - start, d), dtype=np.float32)
    X.flush()
    return np.load(path, mmap_mode="r")


def resident():
    """Memory that this process holds without a file behind it, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def moments_with_bar(basis, X, title):
    """Compute L and Sigma with a progress bar; return seconds and memory peaks."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    before, highest = resident(), 0
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task(title, total=X.shape[0])

        def report(done, total):
            nonlocal highest
            highest = max(highest, resident())
            bar.update(task, completed=done)

        tracemalloc.start()
        start = time.perf_counter()
        stream = Stream(memory_limit=LIMIT, progress=report)
        L, Sigma = dirichlet_and_covariance(basis, X, stream=stream)
        seconds = time.perf_counter() - start
        traced = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return (L, Sigma), seconds, traced, max(highest - before, 0)


def run(quick=False):
    n, p, d = (100_000, 100, 10) if quick else (3_000_000, 500, 10)
    with tempfile.TemporaryDirectory() as folder:
        X = make_map(os.path.join(folder, "rows.npy"), n, d)
        basis = Nystrom(Gaussian(3.0), p, landmarks="uniform").fit(X, rng=0)
        part = n // 10
        _, tenth, _, _ = moments_with_bar(basis, X[:part], "a tenth of the rows")
        _, seconds, traced, held = moments_with_bar(basis, X, "all rows")
        budget = parse_bytes(LIMIT) + 8 * 8 * p**2
        # The same rows as one block, on as many as fit in memory that way.
        few = min(n, 50_000)
        whole = dirichlet_and_covariance(basis, X[:few], stream=Stream(block_rows=few))
        blocks = dirichlet_and_covariance(basis, X[:few], stream=Stream(block_rows=999))
        apart = max(
            float(np.abs(a - b).max() / np.abs(a).max())
            for a, b in zip(whole, blocks, strict=True)
        )
    size = f"{n:,} float32 rows in a memory map, p = {p}, d = {d}"
    return [
        Line(
            f"peak memory above the map, {size}",
            format_bytes(max(traced, held)),
            f"<= {LIMIT} + O(p^2) = {format_bytes(budget)}",
            max(traced, held) <= budget,
            f"traced {format_bytes(traced)}, resident {format_bytes(held)}",
        ),
        Line(
            "time against a tenth of the rows",
            f"{seconds / tenth:.1f}x",
            "<= 12x (linear)",
            seconds / tenth <= 12,
            f"{seconds:.1f} s and {tenth:.1f} s, "
            f"{4 * n * p**2 / seconds / 1e9:.0f} GFLOP/s",
        ),
        Line(
            f"blocks against one block of {few:,} rows",
            f"{apart:.1e}",
            "<= 1e-12",
            apart <= 1e-12,
            "largest difference relative to the largest entry",
        ),
    ]


if __name__ == "__main__":
    for line in run():
        print(f"{line.work}: {line.figure} (bar {line.bar}); {line.detail}")
