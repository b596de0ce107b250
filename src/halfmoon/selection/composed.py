"""Candidates with two or three levers at once, where smoothing alone was promising.

A basis is smoothed over all rows (the first lever) and penalized by an energy of the
neighbor graph (the second); columns are left unpenalized (the third) where labels are
enough for them. The kernel of that problem is a `PosedKernel`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from halfmoon.bases import Nystrom, Smoothed
from halfmoon.kernels import Gaussian, Prepared
from halfmoon.kernels.length_scales import median_distance
from halfmoon.problem import PosedKernel, Problem
from halfmoon.selection.candidate import Candidate
from halfmoon.selection.preparation import Preparation
from halfmoon.selection.semi_supervised import graph_rows, posed_on
from halfmoon.selection.workbench import Workbench
from halfmoon.smoothers import Diffusion, KernelWeights, Smoother
from halfmoon.unpenalized import Unpenalized

__all__ = ["composed_candidates"]

ROWS = 2_000  # that are averaged over
LANDMARKS = 200
BASIS_WIDTH = 0.5  # in median distances
WEIGHTS_WIDTH = 0.25  # of the weights of an average, in the same
RESTART = 0.1  # of the walks that average
MU = 1e-2  # of the norm, in units of the energy


def composed_candidates(
    bench: Workbench,
    own: Unpenalized | None,
    columns: Unpenalized | None,
    prepare: Preparation,
    promising: set[str],
) -> Iterator[Candidate]:
    """Levers that were promising alone, together.

    Parameters
    ----------
    bench : Workbench
    own : Unpenalized or None
        What is unpenalized in all candidates.
    columns : Unpenalized or None
        Columns that may be, too.
    prepare : Preparation
    promising : set of str
        Families that were among the best.
    """
    smoothers: dict[str, Smoother] = {}
    if not promising & {"energy", "walk", "long walk", "fredholm"}:
        return
    Z = np.asarray(prepare(bench.X[graph_rows(bench, ROWS)]))
    e = median_distance(Z, bench.rng)
    if "fredholm" in promising:
        smoothers["averaged"] = KernelWeights(Gaussian(WEIGHTS_WIDTH * e))
    if promising & {"walk", "long walk"}:
        smoothers["walk"] = Diffusion(10, RESTART)
    inner = Nystrom(Gaussian(BASIS_WIDTH * e), min(LANDMARKS, len(Z)))
    for name, smoother in smoothers.items():
        problem = Problem(Smoothed(inner, smoother), "graph", MU)
        kernel = PosedKernel(posed_on(Z, problem, bench))
        one = bench.scaled(Prepared(prepare, kernel))
        full = f"{prepare.name}, composed {name} + energy"
        yield Candidate(full, "composed", one, own, True)
        if columns is not None:
            full = f"{full}, columns unpenalized"
            yield Candidate(full, "composed", one, columns, True)
