"""The kernels that ``kernel="auto"`` compares for weak labels.

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
compare many more kernels. A sparse table has Gaussian and Laplace kernels without
preparation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Rows, some_rows
from halfmoon._selection import NormalScores, Preparation, Standardized
from halfmoon._selection.semi_supervised_families import GRAPH_ROWS
from halfmoon.kernels import Gaussian, Laplace, ProductLaplace
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._prepared import Prepared
from halfmoon.smoothers import Diffusion
from halfmoon.smoothers._diffusion import DiffusionKernel

__all__ = ["KernelChoice", "kernel_choices"]

NEIGHBORS = 10
WALKS = ((0.01, 2), (0.1, 2))  # restart, repeats: far and near
PRODUCT_SCALE = 0.5  # length scale, relative to the median sum of differences
LAPLACE_SHARE = 0.2  # of a Laplace kernel, added to a walk


class KernelChoice(NamedTuple):
    """A kernel, and whether it uses unlabeled rows."""

    kernel: Any
    uses_unlabeled: bool = False


def kernel_choices(
    kernel: Any, X: Rows, rng: np.random.Generator
) -> list[KernelChoice]:
    """Return the kernels that a parameter stands for.

    Parameters
    ----------
    kernel : "auto", Kernel, str, callable, or a sequence of them
    X : rows
        All rows, from which "auto" learns its preparations and its graph.
    rng : Generator
    """
    if isinstance(kernel, Sequence) and not isinstance(kernel, str):
        if not kernel:
            raise ValueError("kernel is an empty sequence; at least one is needed.")
        return [KernelChoice(each) for each in kernel]
    if not (isinstance(kernel, str) and kernel == "auto"):
        return [KernelChoice(kernel)]
    if sp.issparse(X) or X.shape[0] < 2 or not (X.max(axis=0) > X.min(axis=0)).any():
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
