r"""Columns by their relevance: stretched where the labels depend on them.

==============  ==================================================================
recipe          a column is multiplied by
==============  ==================================================================
correlation     sqrt(r^2 + 1/l), r its largest correlation with a target
gradient        (M / max M + 0.002)^power, M the mean squared slope along the column
                of a Gaussian kernel fit, over labeled and some other rows; fitted
                anew with the stretched columns for some steps
==============  ==================================================================

The gradient recipe is a recursive feature machine with a diagonal matrix
(Radhakrishnan, Beaglehole, Pandit, Belkin, 2024). The labels choose the columns, so
leave-one-out with fixed columns would be too hopeful: a candidate is judged by folds,
in which the columns are weighed without the labels of the fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmoon.kernels import Gaussian, Kernel, Linear, Prepared, ProductLaplace
from halfmoon.kernels.length_scales import median_distance
from halfmoon.problem import balanced_folds
from halfmoon.rows import Array, Rows
from halfmoon.selection.candidate import ALPHAS, Candidate
from halfmoon.selection.preparation import Preparation
from halfmoon.selection.target_transforms import Target
from halfmoon.selection.workbench import Workbench
from halfmoon.solvers import ridge_weighted
from halfmoon.unpenalized import Unpenalized

__all__ = ["Stretched", "by_correlation", "by_gradient", "relevance_candidates"]

SOME_ROWS = 300  # beside the labeled ones, over which slopes are averaged
FLOOR = 0.002  # of the largest mean squared slope
WIDTHS = (0.5, 1.0, 2.0)

Recipe = Callable[[Array, Array, Array, Array], Array]


@dataclass(frozen=True)
class Stretched:
    """A preparation whose columns are multiplied."""

    first: Preparation
    by: Array

    def transform(self, X: Rows) -> Array:
        return np.asarray(self.first(X) * self.by)


def relevance_candidates(
    bench: Workbench,
    own: Unpenalized | None,
    prepare: Preparation,
    scales: list[Target],
) -> Iterator[Candidate]:
    """Candidates with columns stretched by each recipe, judged by folds."""
    data = bench.data
    y = np.hstack([target.forward(data.y) for target in scales])
    Z_l = np.asarray(bench.prepared(prepare))[: bench.n_labeled]
    some = min(SOME_ROWS, bench.X.shape[0])
    more = bench.rng.choice(bench.X.shape[0], some, replace=False)
    rows = np.vstack([Z_l, prepare(bench.X[np.sort(more)])])
    F, folds = bench.features(own)[: bench.n_labeled], balanced_folds(y)
    for name, recipe in RECIPES.items():
        by = recipe(Z_l, rows, y, data.w)
        stretched = Preparation(f"{prepare.name} by {name}", Stretched(prepare, by))
        in_folds = []
        for fold in folds:
            kept = np.delete(np.arange(len(Z_l)), fold)
            own_by = recipe(Z_l[kept], rows, y[kept], data.w[kept])
            in_folds.append((fold, kept, _kernels(rows * own_by), Z_l * own_by))
        for label, kernel in _kernels(rows * by).items():
            held_out = np.empty((len(ALPHAS), *y.shape))
            for fold, kept, kernels, Z in in_folds:
                K = kernels[label](Z, Z[kept])
                with warnings.catch_warnings():
                    # A column may vary only in the fold; the whole is what counts.
                    warnings.simplefilter("ignore", UserWarning)
                    path = ridge_weighted(K[kept], F[kept], y[kept], data.w[kept])
                for values, alpha in zip(held_out, ALPHAS, strict=True):
                    c = data.root_w[kept] * path.theta(alpha)
                    values[fold] = K[fold] @ c + F[fold] @ path.beta(alpha)
            one = bench.scaled(Prepared(stretched, kernel))
            full = f"{stretched.name}, {label}"
            yield Candidate(full, "weighed", one, own, False, held_out)


def by_correlation(Z_l: Array, rows: Array, y: Array, w: Array) -> Array:
    """Factors of the columns from their correlations with the targets."""
    share = (w / w.sum())[:, None]
    a, b = Z_l - (share * Z_l).sum(axis=0), y - (share * y).sum(axis=0)
    squares = np.outer((share * a * a).sum(axis=0), (share * b * b).sum(axis=0))
    r2 = ((share * a).T @ b) ** 2 / np.maximum(squares, np.finfo(float).tiny)
    return _of_unit_mean_square(np.sqrt(r2.max(axis=1) + 1.0 / len(y)))


def by_gradient(steps: int, power: float) -> Recipe:
    """The recipe that weighs columns by squared slopes of a Gaussian kernel fit."""

    def recipe(Z_l: Array, rows: Array, y: Array, w: Array) -> Array:
        by = np.ones(Z_l.shape[1])
        for _ in range(steps):
            a, b = Z_l * by, rows * by
            kernel = Gaussian(_distance(b))
            path = ridge_weighted(kernel(a), np.ones((len(a), 1)), y, w)
            errors = (path.leave_one_out(ALPHAS[2:]) ** 2).sum(axis=(1, 2))
            best = ALPHAS[2:][int(np.argmin(errors))]
            C = np.sqrt(w)[:, None] * path.theta(best)  # (l, t)
            K = kernel(b, a)
            # d/dz of k(z, a) c is k(z, a) (a - z) c / e^2; e does not matter here.
            slopes = [K @ (c[:, None] * a) - (K @ c)[:, None] * b for c in C.T]
            M = by**2 * np.sum([(s * s).mean(axis=0) for s in slopes], axis=0)
            by = (M / max(M.max(), np.finfo(float).tiny) + FLOOR) ** power
        return _of_unit_mean_square(by)

    return recipe


RECIPES: dict[str, Recipe] = {
    "gradient": by_gradient(steps=1, power=0.5),
    "gradient, three steps": by_gradient(steps=3, power=0.5),
}


def _of_unit_mean_square(by: Array) -> Array:
    return np.asarray(by / np.sqrt((by * by).mean()))


def _kernels(rows: Array) -> dict[str, Kernel]:
    """Kernels on these rows, of three widths about the median distance."""
    e, e1 = _distance(rows), _distance(rows, ProductLaplace)
    linear = Linear() * (1.0 / max((rows * rows).sum(axis=1).mean(), 1e-300))
    kernels: dict[str, Kernel] = {}
    for width in WIDTHS:
        laplace = ProductLaplace(width * e1)
        kernels[f"gaussian {width:g}"] = Gaussian(width * e)
        kernels[f"laplace {width:g}"] = laplace
        kernels[f"laplace {width:g} + linear"] = 0.5 * laplace + 0.5 * linear
    return kernels


def _distance(rows: Array, kernel: Any = None) -> float:
    if kernel is None:
        return median_distance(rows, 0)
    return float(kernel().resolve(rows, 0).length_scale)
