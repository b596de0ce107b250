"""Kernels to choose from, where labels are known in part: ``kernel="auto"``.

================  ==================================================================
kernels           of
================  ==================================================================
product Laplace   normal scores of the columns, one at a time
Laplace           normal scores
Gaussian          normal scores, and standardized columns
walk              diffusion over a neighbor graph of all rows, far and near, with
                  some of a Laplace kernel
================  ==================================================================

Normal scores and the rest are those of `halfmoon.selection`, where the default
estimators look among many more. A sparse table is not prepared: Gaussian and Laplace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from halfmoon.kernels import Gaussian, Laplace, Prepared, ProductLaplace
from halfmoon.kernels.length_scales import median_distance
from halfmoon.rows import Rows
from halfmoon.selection import NormalScores, Preparation, Standardized
from halfmoon.smoothers import Diffusion, DiffusionKernel

__all__ = ["KernelChoice", "kernel_choices"]

GRAPH_ROWS = 10_000  # that walks go over; new rows step onto them
NEIGHBORS = 10
WALKS = ((0.01, 2), (0.1, 2))  # restart, repeats: far and near
HALF = 0.5  # of the median sum of differences: the length scale of the product
MIXED = 0.2  # of a Laplace kernel, beside a walk


class KernelChoice(NamedTuple):
    """A kernel, and whether it has learned from rows without labels."""

    kernel: Any
    unlabeled: bool = False


def kernel_choices(
    kernel: Any, X: Rows, rng: np.random.Generator
) -> list[KernelChoice]:
    """The kernels that a parameter stands for: one, those of a sequence, or "auto".

    Parameters
    ----------
    kernel : Kernel, str, callable, or a sequence of them
    X : rows
        All of them; "auto" learns its preparations and its graph from them.
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
    beside = Prepared(scores, Laplace(e / 2))
    found = [
        KernelChoice(Prepared(scores, ProductLaplace(HALF * e_sum))),
        KernelChoice(Prepared(scores, Gaussian(e / 2))),
        KernelChoice(Prepared(scores, Laplace(e))),
        KernelChoice(Prepared(plain, Gaussian(median_distance(plain(X), rng)))),
    ]
    if X.shape[0] < 3 * NEIGHBORS:
        return found
    if len(Z) > GRAPH_ROWS:
        Z = Z[np.sort(rng.choice(len(Z), GRAPH_ROWS, replace=False))]
    for number, (restart, repeats) in enumerate(WALKS):
        walk = DiffusionKernel(Diffusion(NEIGHBORS, restart, repeats).fit(Z))
        size = float(walk.diag(Z[:: max(1, len(Z) // 256)]).mean())
        one = Prepared(scores, walk) * (1.0 / size)
        # Where time is short the first are tried: one of each kind.
        found.insert(2 * number + 1, KernelChoice(one + beside * MIXED, True))
    return found
