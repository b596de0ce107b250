r"""Choose a kernel and an alpha by held-out folds.

Only a set is known for a held-out row, so the loss is the least one over the set: for
example, 0 if the prediction is one of the candidates. Labels are found without the
fold, whose rows stay in the table as unlabeled ones. One factorization serves all folds
and all alphas of a kernel; lam is that of all rows, as in leave-one-out.

The values of the best kernel and alpha on the folds are optimistic, because the folds
chose them. In `cross_fitted` the choice for each fold uses the losses of the others:

.. math:: g_i = g_{c(i), i}, \quad
          c(i) = argmin_c \sum_{j \notin fold(i)} w_j L_{c,j}

``kernel="auto"`` compares these kernels:

================  ==================================================================
kernels           of
================  ==================================================================
product Laplace   normal scores of the columns, one at a time
Laplace           normal scores
Gaussian          normal scores, and standardized columns
walk              diffusion over a neighbor graph of all rows, far and near, plus
                  a Laplace kernel
================  ==================================================================

The preparations are those of `halfmoon._selection`, where the default estimators
compare many more kernels. A sparse table, or an energy of gradients, which these
preparations do not have, has Gaussian and Laplace kernels without preparation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from halfmoon._estimators.fit_problem import kernel_choices as kernels_of_one_width
from halfmoon._rows import Array, Indices, Rows, some_rows
from halfmoon._selection.row_preparation import NormalScores, Preparation, Standardized
from halfmoon._selection.semi_supervised_families import GRAPH_ROWS
from halfmoon._sklearn_conventions import is_name
from halfmoon.kernels import Gaussian, Laplace, ProductLaplace
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.smoothers import Diffusion
from halfmoon.smoothers._diffusion import DiffusionKernel

__all__ = [
    "KernelChoice",
    "KernelTrial",
    "best_of",
    "cross_fitted",
    "kernel_choices",
    "try_alphas",
]

#: Maps values at held-out rows to losses and to tie-breakers, both of shape (l,).
Losses = Callable[[Array], tuple[Array, Array]]
NEIGHBORS = 10
WALKS = ((0.01, 2), (0.1, 2))  # restart, repeats: far and near
PRODUCT_SCALE = 0.5  # length scale, relative to the median sum of differences
LAPLACE_SHARE = 0.2  # of a Laplace kernel, added to a walk


@dataclass(frozen=True)
class KernelTrial:
    """A kernel at several alphas, on held-out folds."""

    losses: Array  # (A, l), least ones over the sets of held-out rows
    ties: Array  # (A, l), tie-breakers
    values: Array  # (A, l, t), held-out values
    uses_unlabeled: bool = False


def try_alphas(
    alphas: Sequence[float],
    folds: list[Indices],
    values: Callable[[float, list[Indices]], Array],
    losses: Losses,
    *,
    uses_unlabeled: bool = False,
) -> KernelTrial:
    """Predict the folds with a kernel at each alpha.

    `values` maps an alpha and the folds to held-out values at all rows. The largest
    alpha is tried first, so that a fit can start at the one before it.
    """
    found: dict[int, tuple[Array, Array, Array]] = {}
    for i in map(int, np.argsort(alphas)[::-1]):
        g = values(alphas[i], folds)
        found[i] = (*losses(g), g)
    every = (found[i] for i in range(len(alphas)))
    of_losses, ties, g = map(np.array, zip(*every, strict=True))
    return KernelTrial(of_losses, ties, g, uses_unlabeled)


def best_of(tried: Sequence[KernelTrial], w: Array) -> tuple[int, int]:
    """Return the numbers of the kernel and the alpha with the least mean loss."""
    pairs = [(k, a) for k, each in enumerate(tried) for a in range(len(each.losses))]
    losses = np.concatenate([each.losses for each in tried]) @ w
    ties = np.concatenate([each.ties for each in tried]) @ w
    close = losses <= losses.min() + 1e-12 * w.sum()  # sums differ by rounding
    return pairs[int(np.flatnonzero(close)[ties[close].argmin()])]


def cross_fitted(tried: Sequence[KernelTrial], folds: list[Indices], w: Array) -> Array:
    """Return held-out values, each by the choice of the other folds, shape (l, t)."""
    out = np.empty_like(tried[0].values[0])
    for fold in folds:
        training_w = w.copy()
        training_w[fold] = 0.0
        kernel, alpha = best_of(tried, training_w)
        out[fold] = tried[kernel].values[alpha][fold]
    return out


class KernelChoice(NamedTuple):
    """A kernel, and whether it uses unlabeled rows."""

    kernel: Any
    uses_unlabeled: bool = False


def kernel_choices(
    kernel: Any, X: Rows, rng: np.random.Generator, *, prepared: bool = True
) -> list[KernelChoice]:
    """Return the kernels that a parameter stands for; "auto" learns from all rows.

    Without `prepared` columns all kernels of "auto" have gradients.
    """
    if not is_name(kernel, "auto"):
        return [KernelChoice(each) for each in kernels_of_one_width(kernel, X, rng)]
    prepared = prepared and not sp.issparse(X) and X.shape[0] > 1
    if not prepared or not (X.max(axis=0) > X.min(axis=0)).any():
        return [KernelChoice("gaussian"), KernelChoice("laplace")]
    return _automatic(X, rng)


def _automatic(X: Rows, rng: np.random.Generator) -> list[KernelChoice]:
    scores = Preparation("normal scores", NormalScores().fit(X))
    plain = Preparation("standardized", Standardized().fit(X))
    Z = scores(X)
    e = median_distance(Z, rng)
    e_sum = float(ProductLaplace().resolve(Z, rng).length_scale)
    laplace = Prepared(scores, Laplace(e / 2))
    found = [
        KernelChoice(Prepared(scores, ProductLaplace(PRODUCT_SCALE * e_sum))),
        KernelChoice(Prepared(scores, Gaussian(e / 2))),
        KernelChoice(Prepared(scores, Laplace(e))),
        KernelChoice(Prepared(plain, Gaussian(median_distance(plain(X), rng)))),
    ]
    if X.shape[0] < 3 * NEIGHBORS:
        return found
    Z = some_rows(Z, GRAPH_ROWS, rng)
    for number, (restart, repeats) in enumerate(WALKS):
        walk = DiffusionKernel(Diffusion(NEIGHBORS, restart, repeats).fit(Z))
        size = float(walk.diag(Z[:: max(1, len(Z) // 256)]).mean())
        one = Prepared(scores, walk) * (1.0 / size)
        # A small budget only tries the first: one of each kind.
        mixed = KernelChoice(one + laplace * LAPLACE_SHARE, uses_unlabeled=True)
        found.insert(2 * number + 1, mixed)
    return found
