"""The two toy examples of S0's tables 1 and 2: rows, kernels and trials of methods.

A table of labeled and unlabeled rows is learned from; 2,000 further rows are for
validation and 2,000 for the test. Widths are in units of the median distance of rows.
The kernels of methods, at any rows x and the labeled ones:

============  ==================================================================
RLSC          k(x, X_L), linear or Gaussian
FredLin1      a(x) H a(X_L)', a linear weights over all rows, H Gaussian
FredLin2(N)   a(x) X X' a(X_L)', a normalized Gaussian weights
FredGauss(N)  a(x) H a(X_L)'
LapRLSC       k(x, X_L) - k(x, X) M C, C = (I + K M)^-1 k(X, X_L)
              x'(I + X'M X)^-1 X_L', where k is linear
============  ==================================================================

with M = strength n / tr(Lg K) Lg, Lg the Laplacian of the graph of ten neighbors: the
energy counts as much as the norm, on average over functions, where the strength is 1.
C is `grams.deformed_columns`, and the rest of the line leads off the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from experiments.choice import Chosen, honest, ridge_trials
from experiments.experiment import Run, Size
from experiments.fredholm.comparison import Comparison
from experiments.fredholm.estimator_trials import error, halfmoon_trial, tsvm_trial
from experiments.fredholm.grams import LAMS, deformed_columns
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon._rows import Array, Indices
from halfmoon.baselines import TSVMClassifier
from halfmoon.kernels import Gaussian, Kernel, Linear
from halfmoon.kernels._length_scales import median_distance
from halfmoon.smoothers import KernelWeights

__all__ = [
    "Toy",
    "Validated",
    "draw_toy",
    "estimator_trials",
    "gaussian_grams",
    "kernel_trials",
    "linear_grams",
    "toy_cells",
]

SEED = 2014
WIDTHS = (0.15, 0.2, 0.3, 0.5, 1.0)
LAPLACIAN_WIDTHS = (0.15, 0.3)
STRENGTHS = (1e-4, 1e-2, 1.0)  # of LapRLSC
N_NEIGHBORS = 10
N_UNLABELED = 2_000
QUICK_UNLABELED = 300

Grams = Iterator[tuple[str, dict[str, float], Array]]


@dataclass(frozen=True)
class Toy:
    """Rows to learn from, the l labeled ones first, and rows to judge by."""

    X: Array  # (n, d)
    y: Indices  # (n,), 0 or 1
    labeled: Indices  # (l,), 0, ..., l - 1
    X_validation: Array
    y_validation: Indices
    X_test: Array
    y_test: Indices

    @property
    def X_l(self) -> Array:
        return self.X[self.labeled]

    @property
    def rows(self) -> Array:
        """Labeled, validation and test rows."""
        return np.vstack([self.X_l, self.X_validation, self.X_test])

    def trial(self, K: Array) -> dict[str, Any]:
        """Kernel ridge from the kernel between `rows` and the labeled ones."""
        l, v = len(self.labeled), len(self.y_validation)
        K_l, K_v, K_t = np.split(K, [l, l + v])
        K_l, labels = (K_l + K_l.T) / 2, self.y[:l]
        on_validation = ridge_trials(K_l, K_v, labels, self.y_validation, 2, LAMS)
        on_test = ridge_trials(K_l, K_t, labels, self.y_test, 2, LAMS)
        return {**on_test, "validation": on_validation["test"]}


def draw_toy(
    draw: Callable[..., tuple[Array, Array]], labels: int, n: int, split: int
) -> Toy:
    """`labels` rows of each class, n unlabeled, n for validation and n for the test."""
    rng = np.random.default_rng([SEED, labels, split])
    X, signs = draw(3 * n + 20 * labels, rng=rng)
    y = (signs > 0).astype(np.intp)
    last = y[3 * n :]
    first = [3 * n + np.flatnonzero(last == c)[:labels] for c in (0, 1)]
    order = np.concatenate([*first, np.arange(n)])
    validation, test = slice(n, 2 * n), slice(2 * n, 3 * n)
    return Toy(
        X[order],
        y[order],
        np.arange(2 * labels),
        X[validation],
        y[validation],
        X[test],
        y[test],
    )


def averaged(toy: Toy, outer: Kernel, inner: Kernel, *, normalize: bool) -> Array:
    """Fredholm kernel between `toy.rows` and the labeled rows, (b, l)."""
    smoother = KernelWeights(outer, normalize).fit(toy.X)
    values = inner(toy.X, toy.X) @ smoother.weights(toy.X_l).T  # (n, l)
    return np.asarray(smoother.function(values)(toy.rows))


def deformed(toy: Toy, kernel: Gaussian, L: sp.csr_array) -> Grams:
    """LapRLSC's kernels between `toy.rows` and the labeled rows, by strengths."""
    # Single precision is enough beside the identity, and twice as fast.
    K: Any = kernel(toy.X, toy.X).astype(np.float32)
    K_rows = kernel(toy.rows, toy.X)
    unit = len(K) / float((L @ K).trace())
    for strength in STRENGTHS:
        M = sp.csr_array(strength * unit * L)
        C = deformed_columns(K, M, toy.labeled).astype(np.float64)
        gram = K_rows[:, toy.labeled] - K_rows @ (M @ C)
        yield "LapRLSC", {"strength": strength}, gram


def deformed_linear(toy: Toy, L: sp.csr_array) -> Grams:
    """The same with the linear kernel, from d-by-d matrices."""
    E = toy.X.T @ (L @ toy.X)  # (d, d)
    unit = len(toy.X) / float(E.trace())
    for strength in STRENGTHS:
        penalty = np.eye(len(E)) + strength * unit * E
        gram = toy.rows @ np.linalg.solve(penalty, toy.X_l.T)
        yield "LapRLSC", {"strength": strength}, gram


def laplacian(toy: Toy) -> sp.csr_array:
    """Of the graph of neighbors, D - W."""
    return graph_laplacian(neighbor_graph(toy.X, N_NEIGHBORS))


def linear_grams(toy: Toy) -> Grams:
    """Kernels of table 1."""
    unit = median_distance(toy.X, np.random.default_rng(0))
    yield "RLSC", {}, Linear()(toy.rows, toy.X_l)
    yield from deformed_linear(toy, laplacian(toy))
    for width in WIDTHS:
        gaussian, setting = Gaussian(width * unit), {"width": width}
        yield "FredLin1", setting, averaged(toy, Linear(), gaussian, normalize=False)
        yield "FredLin2(N)", setting, averaged(toy, gaussian, Linear(), normalize=True)


def gaussian_grams(toy: Toy) -> Grams:
    """Kernels of table 2."""
    unit, L = median_distance(toy.X, np.random.default_rng(0)), laplacian(toy)
    for width in WIDTHS:
        gaussian, setting = Gaussian(width * unit), {"width": width}
        yield "RLSC", setting, gaussian(toy.rows, toy.X_l)
        yield "FredGauss(N)", setting, averaged(toy, gaussian, gaussian, normalize=True)
        if width in LAPLACIAN_WIDTHS:
            for name, more, gram in deformed(toy, gaussian, L):
                yield name, {**setting, **more}, gram


def toy_cells(labels: Sequence[int], size: Size) -> list[dict[str, Any]]:
    """A cell for each number of labels, split and kind of method."""
    return [
        {"labels": l, "split": split, "method": method, "n": n}
        for n in [size.pick(N_UNLABELED, QUICK_UNLABELED)]
        for method in ("kernels", "Halfmoon", "TSVM")
        for l in size.pick(labels, labels[:1])
        for split in range(size.pick(size.splits, 1))
    ]


def kernel_trials(toy: Toy, grams: Grams, about: dict[str, Any]) -> dict[str, Any]:
    """Trials of every kernel, with the seconds that it took."""
    trials, start = [], process_time()
    for method, setting, gram in grams:
        trial = {**about, "method": method, "setting": setting, **toy.trial(gram)}
        now = process_time()
        trials.append({**trial, "seconds": now - start})
        start = now
    return {"trials": trials}


def estimator_trials(
    toy: Toy,
    method: str,
    about: dict[str, Any],
    kernels: Sequence[tuple[dict[str, float], dict[str, Any]]],
) -> dict[str, Any]:
    """Trials of Halfmoon, or of TSVM with each of some settings and parameters."""
    split = about["split"]
    if method == "Halfmoon":
        rows = toy.X, toy.y, toy.labeled, toy.X_test, toy.y_test
        return {"trials": [{**about, **halfmoon_trial(*rows, split=split)}]}

    def judge(model: TSVMClassifier) -> dict[str, float]:
        return {
            "validation": error(model.predict(toy.X_validation), toy.y_validation),
            "test": error(model.predict(toy.X_test), toy.y_test),
        }

    trials = []
    for setting, parameters in kernels:
        trial = tsvm_trial(toy.X, toy.y, toy.labeled, judge, split=split, **parameters)
        trials.append({**about, **trial, "setting": setting})
    return {"trials": trials}


class Validated(Comparison):
    """A comparison in which *tuned* is what is best on validation rows of a split.

    `draw` is the toy example, whose test rows tell what a constant answer is worth.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        printed: Mapping[str, Mapping[str, tuple[float, float]]],
        draw: Callable[..., tuple[Array, Array]],
    ) -> None:
        super().__init__(runs, printed)
        errors: dict[str, list[float]] = {}
        for run in runs:
            if run.cell["method"] == "kernels":
                labels, n, split = (run.cell[name] for name in ("labels", "n", "split"))
                share = draw_toy(draw, labels, n, split).y_test.mean()
                errors.setdefault(str(labels), []).append(100 * min(share, 1 - share))
        self.constant = {row: float(np.mean(each)) for row, each in errors.items()}

    def tuned(self, row: str, method: str) -> Chosen:
        trials = self._trials[row, method]
        return honest({**trial, "loo": trial["validation"]} for trial in trials)
