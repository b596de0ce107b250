r"""A candidate: a kernel with unpenalized features, fitted at every alpha at once.

A candidate is problem (1) of `halfmoon.problem` in the exact basis of its kernel. The
kernel holds what it learned from unlabeled rows (a graph, an average, an energy), so a
fit needs the labeled rows only. One eigendecomposition, O(l^3), gives the fit and the
exact leave-one-out values at every alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from halfmoon._rows import TINY, Array
from halfmoon._selection.criteria import Criterion
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.target_transforms import TargetTransform
from halfmoon._solvers.ridge import RidgePath, ridge_weighted
from halfmoon.bases import Exact
from halfmoon.kernels import Kernel
from halfmoon.problem._posed import Posed
from halfmoon.unpenalized import Unpenalized

__all__ = ["ALPHAS", "WIDTHS", "Candidate", "Entry", "fit_at_all_alphas", "loo_values"]

#: Penalty weights, for kernels whose mean diagonal is 1.
ALPHAS = tuple(10.0**e for e in (-5, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 1))

#: Length scales, in median distances between rows.
WIDTHS = (0.5, 1.0, 2.0)


@dataclass(eq=False)
class Candidate:
    """A kernel with unpenalized features."""

    name: str
    family: str  # families have equal prior weight
    kernel: Kernel  # of rows as the user passes them, with a mean diagonal of 1
    unpenalized: Unpenalized | None  # fitted
    uses_unlabeled: bool = False  # whether the kernel has learned from unlabeled rows
    #: Out-of-fold values at the labeled rows, (a, l, t). They replace leave-one-out
    #: values where labels have shaped the kernel.
    by_folds: Array | None = None

    def pose(self, data: Posed) -> Posed:
        """Return the problem on the labeled rows."""
        basis = Exact(self.kernel).fit(data.X)
        return replace(data, basis=basis, unpenalized=self.unpenalized)


@dataclass(frozen=True, eq=False)
class Entry:
    """A candidate at one alpha, fitted to targets on one scale.

    If the candidate is to be refitted, theta and beta have no rows.
    """

    candidate: Candidate
    alpha: float
    target: TargetTransform
    y: Array  # (l, t), transformed targets
    held_out: Array  # (l, t), their held-out predictions
    values: Array  # (l, t), the same on the original scale
    losses: Array  # (l,), of the held-out predictions
    theta: Array  # (l, t), dual coefficients
    beta: Array  # (k, t), coefficients of the unpenalized features
    #: Cost and gain from its predictions at all points, in nats (`criteria.py`).
    prior: Array = field(default_factory=lambda: np.zeros(2))

    @property
    def name(self) -> str:
        """Name of the candidate and of the target transform."""
        return f"{self.candidate.name}{self.target.suffix}"


def fit_at_all_alphas(
    candidate: Candidate, shared: SearchData, criterion: Criterion
) -> list[Entry]:
    """Fit a candidate at every alpha and with every target transform."""
    data = shared.data
    scales = criterion.scales(data.y)
    y = np.hstack([target.forward(data.y) for target in scales])
    K, F = shared.gram(candidate.kernel), shared.features(candidate.unpenalized)
    l, a, t = len(y), len(ALPHAS), data.y.shape[1]
    path = ridge_weighted(K[:l], F[:l], y, data.w)
    theta, beta = path.coefficients(ALPHAS)
    theta *= data.root_w[:, :, None]
    by_folds = candidate.by_folds
    held_out = loo_values(path, y, data.w) if by_folds is None else by_folds
    priors = np.zeros((a, 2))
    if criterion.needs_predictions:
        flat = theta.reshape(l, a * y.shape[1]), beta.reshape(-1, a * y.shape[1])
        predictions = (K @ flat[0] + F @ flat[1]).reshape(len(K), a, -1)
        priors = criterion.priors(predictions.transpose(1, 0, 2))
    if shared.to_be_refitted:
        theta, beta = theta[:0].copy(), beta[:0].copy()
    found = []
    for j, target in enumerate(scales):
        columns = slice(j * t, (j + 1) * t)
        on_scale = y[:, columns]
        values = [target.inverse(v, on_scale - v) for v in held_out[:, :, columns]]
        losses = criterion.losses(np.array(values), data.y, data.w)
        found += [
            Entry(
                candidate,
                alpha,
                target,
                y=on_scale,
                held_out=held_out[i, :, columns],
                values=values[i],
                losses=losses[i],
                theta=theta[:, i, columns],
                beta=beta[:, i, columns],
                prior=priors[i],
            )
            for i, alpha in enumerate(ALPHAS)
        ]
    return found


def loo_values(
    path: RidgePath,
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> Array:  # (a, l, t)
    """Return the leave-one-out values at every alpha.

    A row that is not identified without its label gets the mean of the other labels.
    """
    residuals = path.leave_one_out(ALPHAS) / np.sqrt(w)[:, None]
    known = np.isfinite(residuals)
    column = w[:, None]
    rest = np.maximum(w.sum() - column, TINY)
    mean = ((column * y).sum(axis=0) - column * y) / rest
    return np.where(known, y - np.where(known, residuals, 0.0), mean)
