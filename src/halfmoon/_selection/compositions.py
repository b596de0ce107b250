"""Candidates that combine two or three levers.

They are tried where smoothing alone was promising. The basis is smoothed over all rows
(first lever) and penalized by an energy of the neighbor graph (second). Columns are
unpenalized (third) if there are enough labels. `PosedKernel` is the kernel of such a
problem.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from halfmoon._selection.candidate import Candidate
from halfmoon._selection.row_preparation import Preparation
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.semi_supervised_families import (
    AVERAGED_ROWS,
    graph_rows,
    pose_without_labels,
)
from halfmoon.bases import Nystrom, Smoothed
from halfmoon.kernels import Gaussian
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._prepared import Prepared
from halfmoon.problem import Problem
from halfmoon.problem._posed_kernel import PosedKernel
from halfmoon.smoothers import Diffusion, KernelWeights, Smoother
from halfmoon.unpenalized import Unpenalized

__all__ = ["composed_candidates"]

COMPOSED_LANDMARKS = 200
BASIS_WIDTH = 0.5  # median distances
WEIGHTS_WIDTH = 0.25  # of the averaging weights, in median distances
RESTART = 0.1  # restart probability of walks
MU = 1e-2  # weight of the RKHS norm relative to the energy


def composed_candidates(
    shared: SearchData,
    unpenalized: Unpenalized | None,
    columns: Unpenalized | None,
    prepare: Preparation,
    promising: set[str],
) -> Iterator[Candidate]:
    """Yield combinations of levers that were promising on their own.

    Parameters
    ----------
    shared : SearchData
    unpenalized : Unpenalized or None
        Features that every candidate leaves unpenalized.
    columns : Unpenalized or None
        Columns that may be unpenalized as well.
    prepare : Preparation
    promising : set of str
        Families among the best so far.
    """
    smoothers: dict[str, Smoother] = {}
    if not promising & {"energy", "walk", "long walk", "fredholm"}:
        return
    Z = np.asarray(prepare(shared.X[graph_rows(shared, AVERAGED_ROWS)]))
    e = median_distance(Z, shared.rng)
    if "fredholm" in promising:
        smoothers["averaged"] = KernelWeights(Gaussian(WEIGHTS_WIDTH * e))
    if promising & {"walk", "long walk"}:
        smoothers["walk"] = Diffusion(10, RESTART)
    inner = Nystrom(Gaussian(BASIS_WIDTH * e), min(COMPOSED_LANDMARKS, len(Z)))
    for name, smoother in smoothers.items():
        problem = Problem(Smoothed(inner, smoother), "graph", MU)
        kernel = PosedKernel(pose_without_labels(Z, problem, shared))
        one = shared.scaled(Prepared(prepare, kernel))
        full = f"{prepare.name}, composed {name} + energy"
        yield Candidate(full, "composed", one, unpenalized, True)
        if columns is not None:
            full = f"{full}, columns unpenalized"
            yield Candidate(full, "composed", one, columns, True)
