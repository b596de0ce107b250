r"""A candidate: a kernel with unpenalized features, tried at every alpha at once.

It is a problem (1) of `halfmoon.problem` in the exact basis of its kernel. What the
kernel learned from unlabeled rows (a graph, an average, an energy) is within it, so
that a fit needs the labeled rows only. One eigendecomposition gives the fit and the
exact leave-one-out values at each alpha, O(l^3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from halfmoon.bases import Exact
from halfmoon.kernels import Kernel
from halfmoon.problem import Posed
from halfmoon.rows import Array
from halfmoon.selection.criteria import Criterion
from halfmoon.selection.target_transforms import Target
from halfmoon.selection.workbench import Workbench
from halfmoon.solvers import RidgePath, ridge_weighted
from halfmoon.unpenalized import Unpenalized

__all__ = ["ALPHAS", "Candidate", "Entry", "entries_of", "held_out_values"]

#: For kernels whose mean diagonal is 1.
ALPHAS = tuple(10.0**e for e in (-5, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 1))


@dataclass(eq=False)
class Candidate:
    """A kernel with unpenalized features.

    Attributes
    ----------
    name : str
    family : str
        Families have equal weight before anything is known.
    kernel : Kernel
        Of rows as the user has them, its mean diagonal 1.
    unpenalized : Unpenalized or None
        Fitted.
    uses_unlabeled : bool
        The kernel has learned from rows without labels.
    by_folds : ndarray of shape (a, l, t) or None
        Values at the labeled rows by fits without the labels of their fold, where
        leave-one-out does not hold because the labels have shaped the kernel.
    """

    name: str
    family: str
    kernel: Kernel
    unpenalized: Unpenalized | None
    uses_unlabeled: bool = False
    by_folds: Array | None = None

    def pose(self, data: Posed) -> Posed:
        """The problem on the labeled rows."""
        basis = Exact(self.kernel).fit(data.X)
        return replace(data, basis=basis, unpenalized=self.unpenalized)


@dataclass(frozen=True, eq=False)
class Entry:
    """A candidate at an alpha, fitted to targets on one scale.

    Attributes
    ----------
    candidate : Candidate
    alpha : float
    target : Target
        The scale of the targets.
    y, held_out : ndarrays of shape (l, t)
        Targets, and their values without their own labels, on that scale.
    theta, beta : ndarrays of shape (l, t) and (k, t)
        The fit: dual coefficients and weights of the unpenalized features.
    losses : ndarray of shape (l,)
        Of the held-out values.
    prior : ndarray of shape (2,)
        What its answers at all points speak against it, and for it, in nats.
    """

    candidate: Candidate
    alpha: float
    target: Target
    y: Array
    held_out: Array
    theta: Array
    beta: Array
    losses: Array
    prior: Array

    @property
    def name(self) -> str:
        """What to call it, with the scale of its targets."""
        return f"{self.candidate.name}{self.target.suffix}"

    @property
    def values(self) -> Array:
        """Held-out values on the user's scale, shape (l, t)."""
        return self.target.back(self.held_out, self.y - self.held_out)


def entries_of(
    candidate: Candidate, bench: Workbench, criterion: Criterion
) -> list[Entry]:
    """The candidate at every alpha and on every scale of the targets."""
    data = bench.data
    scales = criterion.scales(data.y)
    y = np.hstack([target.forward(data.y) for target in scales])
    K, F = bench.gram(candidate.kernel), bench.features(candidate.unpenalized)
    l, a, t = len(y), len(ALPHAS), data.y.shape[1]
    path = ridge_weighted(K[:l], F[:l], y, data.w)
    theta = np.stack([data.root_w * path.theta(alpha) for alpha in ALPHAS], axis=1)
    beta = np.stack([path.beta(alpha) for alpha in ALPHAS], axis=1)
    by_folds = candidate.by_folds
    held_out = held_out_values(path, y, data.w) if by_folds is None else by_folds
    priors = np.zeros((a, 2))
    if criterion.looks_at_answers:
        flat = theta.reshape(l, a * y.shape[1]), beta.reshape(-1, a * y.shape[1])
        answers = (K @ flat[0] + F @ flat[1]).reshape(len(K), a, -1)
        priors = criterion.priors(answers.transpose(1, 0, 2))
    found = []
    for j, target in enumerate(scales):
        own = slice(j * t, (j + 1) * t)
        on_scale = [target.back(v, y[:, own] - v) for v in held_out[:, :, own]]
        losses = criterion.losses(np.array(on_scale), data.y, data.w)
        found += [
            Entry(
                candidate,
                alpha,
                target,
                y[:, own],
                held_out[i, :, own],
                theta[:, i, own],
                beta[:, i, own],
                losses[i],
                priors[i],
            )
            for i, alpha in enumerate(ALPHAS)
        ]
    return found


def held_out_values(
    path: RidgePath,
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> Array:  # (a, l, t)
    """Values at the labeled rows without their own labels, at every alpha.

    Where nothing is known of a row without its label, the mean of the other labels.
    """
    residuals = path.leave_one_out(ALPHAS) / np.sqrt(w)[:, None]
    known = np.isfinite(residuals)
    column = w[:, None]
    rest = np.maximum(w.sum() - column, np.finfo(float).tiny)
    mean = ((column * y).sum(axis=0) - column * y) / rest
    return np.where(known, y - np.where(known, residuals, 0.0), mean)
