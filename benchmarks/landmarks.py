"""Which p rows to build a basis on: remaining error and seconds of each method.

The error is the share of the kernel matrix that the p rows do not explain,

    trace(K - K_nZ K_ZZ^+ K_Zn) / trace(K),

for a Gaussian kernel with the median length scale; "best" is the sum of the eigenvalues
beyond the p-th, which no choice of rows can beat. Run with

    HALFMOON_DATA=folder python -m benchmarks.landmarks
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy.linalg import eigh, eigvalsh
from sklearn.datasets import load_breast_cancer, load_digits

from experiments.data import load_california_housing, load_usps
from halfmoon._landmarks.methods import select_landmarks
from halfmoon._rows import Array
from halfmoon.kernels import Gaussian, Kernel

METHODS = ("uniform", "kmeans++", "leverage", "rpcholesky")
COUNTS = (25, 50, 100, 200, 400)
SEEDS = range(5)
MAX_ROWS = 5_000
FLOOR = 0.1  # of the median deviation: rare pixels must not become the largest columns
ABOUT = """\
Share of the trace of a Gaussian kernel matrix (median length scale) that p landmarks
do not explain, in %: mean and standard deviation over {seeds} seeds; and mean seconds
to choose them. Best is the remainder after the p largest eigenvalues, a bound for any
choice. The effective dimension of leverage (p / 4) was chosen among four values on
california_housing and usps, so its figures there are a little too good; the other
methods were not tuned."""
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    tables, note = load_tables()
    print(note)
    runs = []
    for name, table in tables.items():
        X = prepare(table)
        kernel = Gaussian().resolve(X, 0)
        best = best_errors(kernel, X)
        for p in (p for p in COUNTS if p < X.shape[0]):
            for method in METHODS:
                run = {"data": name, "n": X.shape[0], "d": X.shape[1], "p": p}
                run |= {"method": method, "best": best[p]}
                runs.append(run | measure(kernel, X, p, method))
                print(line(runs[-1]), flush=True)
    report = markdown(runs, note)
    RESULTS.mkdir(parents=True, exist_ok=True)
    about = {"note": note, "seeds": len(SEEDS), "versions": versions(), "runs": runs}
    (RESULTS / "landmarks.json").write_text(json.dumps(about, indent=1) + "\n")
    (RESULTS / "landmarks.md").write_text(report)
    print(f"\n{report}")


def load_tables() -> tuple[dict[str, Array], str]:
    if os.environ.get("HALFMOON_DATA"):
        return {
            "california_housing": load_california_housing()[0],
            "usps": load_usps("train")[0],
        }, "Data: california_housing and usps, from the folder in HALFMOON_DATA."
    return {
        "digits": load_digits().data,
        "breast_cancer": load_breast_cancer().data,
    }, (
        "Data: HALFMOON_DATA is not set, so digits and breast_cancer, which come with "
        "scikit-learn, stand in for california_housing and usps."
    )


def prepare(table: Array) -> Array:
    """Sample rows and standardize columns by a deviation that is not tiny."""
    n = table.shape[0]
    rng = np.random.default_rng(0)
    X = table[np.sort(rng.permutation(n)[:MAX_ROWS])].astype(np.float64)
    X -= X.mean(axis=0)
    deviation = X.std(axis=0)
    X /= np.maximum(deviation, FLOOR * np.median(deviation))
    return X


def best_errors(kernel: Kernel, X: Array) -> dict[int, float]:
    s = np.clip(eigvalsh(kernel(X), overwrite_a=True)[::-1], 0, None)
    return {p: float(s[p:].sum() / s.sum()) for p in COUNTS}


def trace_error(kernel: Kernel, X: Array, Z: Array) -> float:
    """trace(K - K_nZ K_ZZ^+ K_Zn) / trace(K), K_ZZ cut at its numerical rank."""
    w, V = eigh(kernel(Z))
    kept = w > np.finfo(np.float64).eps * w.size * w[-1]
    half = kernel(X, Z) @ (V[:, kept] / np.sqrt(w[kept]))
    trace = kernel.diag(X).sum()
    return float((trace - np.einsum("ij,ij->", half, half)) / trace)


def measure(kernel: Kernel, X: Array, p: int, method: str) -> dict[str, float]:
    errors, seconds, chosen = [], [], []
    for seed in SEEDS:
        start = time.perf_counter()
        Z = select_landmarks(X, p, method, kernel=kernel, rng=seed)
        seconds.append(time.perf_counter() - start)
        errors.append(trace_error(kernel, X, Z))
        chosen.append(Z.shape[0])
    return {
        "error_mean": float(np.mean(errors)),
        "error_std": float(np.std(errors, ddof=1)),
        "seconds_mean": float(np.mean(seconds)),
        "seconds_std": float(np.std(seconds, ddof=1)),
        "rows_chosen": float(np.mean(chosen)),
    }


def line(run: dict) -> str:
    return (
        f"{run['data']:<20}{run['p']:>5}  {run['method']:<11}"
        f"{100 * run['error_mean']:>8.3f} +- {100 * run['error_std']:<7.3f}%"
        f"{run['seconds_mean']:>9.3f} s"
    )


def markdown(runs: list[dict], note: str) -> str:
    parts = ["# Landmarks", "", ABOUT.format(seeds=len(SEEDS)), note]
    for name in dict.fromkeys(run["data"] for run in runs):
        mine = [run for run in runs if run["data"] == name]
        parts += ["", f"## {name}, n = {mine[0]['n']:,}, d = {mine[0]['d']}", ""]
        parts += grid(mine, "error, %", error_cell, best=True)
        parts += ["", *grid(mine, "seconds", seconds_cell, best=False)]
    return "\n".join(parts) + "\n"


def grid(
    runs: list[dict], title: str, cell: Callable[[dict], str], *, best: bool
) -> list[str]:
    header = [title, *METHODS] + ["best"] * best
    rows = ["| " + " | ".join(header) + " |", "|" + " ---: |" * len(header)]
    for p in dict.fromkeys(run["p"] for run in runs):
        at = {run["method"]: run for run in runs if run["p"] == p}
        cells = [f"p = {p}", *(cell(at[method]) for method in METHODS)]
        cells += [f"{100 * at['uniform']['best']:.3f}"] * best
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def error_cell(run: dict) -> str:
    return f"{100 * run['error_mean']:.3f} ± {100 * run['error_std']:.3f}"


def seconds_cell(run: dict) -> str:
    return f"{run['seconds_mean']:.3f}"


def versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


if __name__ == "__main__":
    main()
