r"""Candidates with columns stretched by their relevance for the labels.

==============  ==================================================================
recipe          each column is multiplied by
==============  ==================================================================
correlation     sqrt(r^2 + 1/l), r its largest correlation with a target
gradient        the root of M / max M + 0.002, M the mean squared slope of a kernel fit
                along the column, over labeled and some other rows; the fit is
                repeated with the stretched columns for some steps
==============  ==================================================================

The gradient recipe is a recursive feature machine with a diagonal matrix
(Radhakrishnan, Beaglehole, Pandit, Belkin, 2024). Labels shape the columns, so
leave-one-out with fixed columns would be optimistic. These candidates are judged by
folds instead, with the columns stretched without the labels of the fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from halfmoon._rows import TINY, Array, Rows
from halfmoon._selection.candidate import ALPHAS, WIDTHS, Candidate
from halfmoon._selection.row_preparation import Preparation
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.target_transforms import TargetTransform
from halfmoon._solvers.ridge import ridge_weighted
from halfmoon.kernels import Gaussian, Kernel, Linear, ProductLaplace
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem._folds import balanced_folds
from halfmoon.unpenalized import Unpenalized

__all__ = [
    "Stretched",
    "by_correlation",
    "by_gradient",
    "relevance_candidates",
    "unstretched",
]

SOME_ROWS = 300  # unlabeled rows over which slopes are averaged, too
FLOOR = 0.002  # added to mean squared slopes, relative to the largest

SMOOTH = Gaussian("median")

Recipe = Callable[..., Array]  # from labeled rows, rows, targets and weights
#: Column factors after each step of a gradient recipe, by its kernel.
Steps = dict[Gaussian | ProductLaplace, list[Array]]


@dataclass(frozen=True)
class Stretched:
    """A preparation whose columns are multiplied by factors."""

    first: Preparation
    by: Array

    def transform(self, X: Rows) -> Array:
        return np.asarray(self.first(X) * self.by)


def unstretched(
    kernel: Prepared,
) -> tuple[Callable[[Rows], Rows], Array | None, Kernel]:
    """Return a preparation without stretches, the stretches, and the kernel after both.

    Kernels that differ in stretches can then share prepared rows.
    """
    stretched = getattr(kernel.prepare, "transformer", None)
    if not isinstance(stretched, Stretched):
        return kernel.prepare, None, kernel.kernel
    return stretched.first, stretched.by, kernel.kernel


def relevance_candidates(
    shared: SearchData,
    unpenalized: Unpenalized | None,
    prepare: Preparation,
    scales: list[TargetTransform],
) -> Iterator[Candidate]:
    """Yield candidates with columns stretched by each recipe."""
    data = shared.data
    y = np.hstack([target.forward(data.y) for target in scales])
    Z_l = np.asarray(shared.prepared(prepare))[: shared.n_labeled]
    some = min(SOME_ROWS, shared.X.shape[0])
    more = shared.rng.choice(shared.X.shape[0], some, replace=False)
    rows = np.vstack([Z_l, prepare(shared.X[np.sort(more)])])
    F, folds = shared.features(unpenalized)[: shared.n_labeled], balanced_folds(y)
    steps: list[Steps] = [{} for _ in range(1 + len(folds))]  # shared by the recipes
    for name, recipe in RECIPES.items():
        by = recipe(Z_l, rows, y, data.w, steps[0])
        stretched = Preparation(f"{prepare.name} by {name}", Stretched(prepare, by))
        in_folds = []
        for fold, own_steps in zip(folds, steps[1:], strict=True):
            kept = np.delete(np.arange(len(Z_l)), fold)
            own_by = recipe(Z_l[kept], rows, y[kept], data.w[kept], own_steps)
            in_folds.append((fold, kept, _kernels(rows * own_by), Z_l * own_by))
        for label, kernel in _kernels(rows * by).items():
            held_out = np.empty((len(ALPHAS), *y.shape))
            for fold, kept, kernels, Z in in_folds:
                K = kernels[label](Z, Z[kept])
                with warnings.catch_warnings():
                    # A column may be constant outside the fold: no reason to warn.
                    warnings.simplefilter("ignore", UserWarning)
                    path = ridge_weighted(K[kept], F[kept], y[kept], data.w[kept])
                c, beta = path.coefficients(ALPHAS)
                c *= data.root_w[kept][:, :, None]
                values = np.tensordot(K[fold], c, 1) + np.tensordot(F[fold], beta, 1)
                held_out[:, fold] = values.transpose(1, 0, 2)
            one = shared.scaled(Prepared(stretched, kernel))
            full = f"{stretched.name}, {label}"
            yield Candidate(full, "relevance", one, unpenalized, False, held_out)


def by_correlation(Z_l: Array, rows: Array, y: Array, w: Array) -> Array:
    """Return column factors from correlations with the targets."""
    share = (w / w.sum())[:, None]
    a, b = Z_l - (share * Z_l).sum(axis=0), y - (share * y).sum(axis=0)
    squares = np.outer((share * a * a).sum(axis=0), (share * b * b).sum(axis=0))
    r2 = ((share * a).T @ b) ** 2 / np.maximum(squares, TINY)
    return _of_unit_mean_square(np.sqrt(r2.max(axis=1) + 1.0 / len(y)))


def by_gradient(steps: int, kernel: Gaussian | ProductLaplace = SMOOTH) -> Recipe:
    """Return the recipe that stretches columns by slopes of a kernel fit.

    The length scale of the kernel is the median distance between rows in each step.
    Recipes for the same labels may share steps that are known.
    """

    def recipe(
        Z_l: Array, rows: Array, y: Array, w: Array, known: Steps | None = None
    ) -> Array:
        done = {} if known is None else known
        found = done.setdefault(kernel, [np.ones(Z_l.shape[1])])
        while len(found) <= steps:
            by = found[-1]
            a, b = Z_l * by, rows * by
            resolved = kernel.resolve(b, 0)
            path = ridge_weighted(resolved(a), np.ones((len(a), 1)), y, w)
            errors = (path.leave_one_out(ALPHAS[2:]) ** 2).sum(axis=(1, 2))
            best = ALPHAS[2:][int(np.argmin(errors))]
            C = np.sqrt(w)[:, None] * path.theta(best)  # (l, t)
            M = by**2 * _squared_slopes(resolved, b, a, C)
            found.append(np.sqrt(M / max(M.max(), TINY) + FLOOR))
        return _of_unit_mean_square(found[steps])

    return recipe


def _squared_slopes(
    kernel: Gaussian | ProductLaplace,
    b: Array,  # (m, d)
    a: Array,  # (l, d)
    C: Array,  # (l, t)
) -> Array:  # (d,)
    """Return mean squares over b of the slopes of k(b, a) C, up to a common factor."""
    K = kernel(b, a)
    if isinstance(kernel, Gaussian):
        # d/dz of k(z, a) c is k(z, a) (a - z) c / e^2.
        slopes = (K @ (c[:, None] * a) - (K @ c)[:, None] * b for c in C.T)
        return np.asarray(sum((s * s).mean(axis=0) for s in slopes))
    # d/dz of k(z, a) c is k(z, a) sign(a - z) c / e, column by column.
    M = np.empty(a.shape[1])
    for j in range(len(M)):
        slope = (K * np.sign(a[:, j] - b[:, j, None])) @ C  # (m, t)
        M[j] = (slope * slope).sum() / len(b)
    return M


RECIPES: dict[str, Recipe] = {
    "gradient": by_gradient(steps=1),
    "gradient, three steps": by_gradient(steps=3),
}


def _of_unit_mean_square(by: Array) -> Array:
    return np.asarray(by / np.sqrt((by * by).mean()))


def _kernels(rows: Array) -> dict[str, Kernel]:
    """Return kernels of three widths near the median distance."""
    e = median_distance(rows, 0)
    e1 = float(ProductLaplace().resolve(rows, 0).length_scale)
    linear = Linear() * (1.0 / max((rows * rows).sum(axis=1).mean(), 1e-300))
    kernels: dict[str, Kernel] = {}
    for width in WIDTHS:
        laplace = ProductLaplace(width * e1)
        kernels[f"gaussian {width:g}"] = Gaussian(width * e)
        kernels[f"laplace {width:g}"] = laplace
        kernels[f"laplace {width:g} + linear"] = 0.5 * laplace + 0.5 * linear
    return kernels
