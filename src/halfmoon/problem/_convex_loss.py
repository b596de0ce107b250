r"""The problem with a loss other than squares: any basis, penalty and null space.

.. math:: min \; 1/W \sum_{i \, labeled} w_i \, loss(y_i, g(x_i))
          + alpha \, theta'Q theta, \quad g = phi'theta + f'beta                     (1)

With lam = W alpha and K = Phi Q^-1 Phi', theta = Q^-1 Phi'v / (2 lam), where
v = -w loss'(g) and F'v = 0. So the solvers need only M = K / (2 lam) and F. The span of
F is projected out of M first: v is orthogonal to it, so the kernel need be positive
definite only on its complement. For the hinge loss this is a support vector machine
with :math:`C_i = w_i / (2 alpha W)`.

Alpha is chosen by leave-one-out: after one Newton step for smooth losses
(`_solvers.bordered_system`), with all kinks passed for the others
(`_solvers.left_out_pivots`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import scipy.linalg as sla
from sklearn.exceptions import ConvergenceWarning

from halfmoon._rows import EPS, Array
from halfmoon._solvers.box_program import LossPoint, solve_box
from halfmoon._solvers.positive_part import column_sum_norm, positive_part
from halfmoon._solvers.smooth_loss import solve_logistic, solve_softmax
from halfmoon.losses import Huber, Logistic, Quantile, Softmax
from halfmoon.problem._fit import Fit
from halfmoon.problem._posed import Posed

__all__ = ["search_loss", "solve_loss"]

LABEL_MATRICES = 6  # l-by-l matrices held at once
SEPARATED_LOG_ODDS = 15.0  # of every label: only free features reach them
NOISE = 0.01  # rounding errors of M v relative to the targets, by which lam is bounded
DEVIATIONS_PER_MAD = 1.4826  # standard deviation over median deviation, if normal


def solve_loss(posed: Posed, alpha: float, *, leave_one_out: bool = True) -> Fit:
    """Solve a posed problem with any loss; O(l^3) for each of 10 to 60 steps.

    Parameters
    ----------
    posed : Posed
    alpha : float
        Positive. Below the rounding errors of the kernel matrix it counts as these.
    leave_one_out : bool
        False leaves out the leave-one-out values of losses with kinks, which are then
        NaN.
    """
    _refuse_unsuitable(posed, alpha)
    if isinstance(posed.loss, Huber) and posed.loss.scale is None:
        posed = _with_scale(posed, [alpha])
    elimination = posed.elimination
    # With weights of mean 1 and lam = l alpha, the scale of the weights is no matter.
    unit = posed.total_weight / len(posed.w)
    w, lam = posed.w / unit, len(posed.w) * alpha
    Phi = None if posed.dual else posed.whitening.whiten(posed.on_labeled())
    K = posed.gram_matrix if Phi is None else Phi @ Phi.T
    size = column_sum_norm(K)
    lam = max(lam, EPS * size * _steepness(posed) / (2 * NOISE))
    M, size = K / (2 * lam), size / (2 * lam)
    F = elimination.Q1 / np.sqrt(w)[:, None]
    Q, R = sla.qr(F, mode="economic", check_finite=False)
    QM = Q.T @ M
    A = QM.T - Q @ (QM @ Q) / 2
    M -= np.hstack([Q, A]) @ np.hstack([A, Q]).T  # now (I - Q Q') M (I - Q Q')
    try:
        point = _minimum(M, F, posed, w, leave_one_out)
    except np.linalg.LinAlgError:
        # Little but rounding is left of M if a kernel is wide, or all rows are equal.
        point = _minimum(positive_part(M, size), F, posed, w, leave_one_out)
    _check(point, posed, w, alpha)
    c = point.v / (2 * lam)
    b = point.b - sla.solve_triangular(R, QM @ point.v, check_finite=False)
    beta = elimination.solve(np.sqrt(unit) * b)
    if Phi is None:
        theta = posed.basis.lift(posed.labeled, c)
    else:
        theta, beta = posed.with_free(posed.whitening.unwhiten(Phi.T @ c), beta)
    return Fit(posed, theta, beta, alpha=alpha, c=c, left_out_values=point.loo_values)


def _refuse_unsuitable(posed: Posed, alpha: float) -> None:
    """Raise an error if the loss cannot be minimized with these labels."""
    loss, l = posed.loss, len(posed.labeled)
    if not 0 < alpha < np.inf:
        raise ValueError(
            f"alpha is {alpha}; the {loss.name} loss needs a positive number."
        )
    loss.check(posed.y)
    posed.stream.require(
        8 * LABEL_MATRICES * l * l,
        f"The {loss.name} loss with {l:,} labels needs",
        "Raise memory_limit, fit fewer labels, or use loss='squared'.",
    )
    if not (loss.of_classes and posed.elimination.rank):
        return
    for j, target in enumerate(posed.y.T):
        if np.unique(target).size < 2:
            raise ValueError(
                f"Target {j} is {target[0]:.0f} in every labeled row; the {loss.name} "
                f"loss needs rows of both classes. Label rows of the other class."
            )


def _steepness(posed: Posed) -> float:
    """Return a bound of |v|, relative to the targets, for weights of mean 1."""
    if isinstance(posed.loss, Quantile):
        return 1.0 / (float(posed.y.std(axis=0).mean()) or 1.0)
    return 2.0 if isinstance(posed.loss, Huber) else 1.0


def search_loss(problems: Sequence[Posed], alphas: Sequence[Sequence[float]]) -> Fit:
    """Return the fit with the least mean leave-one-out loss; problems differ in mu."""
    found = []
    for posed, grid in zip(problems, alphas, strict=True):
        if isinstance(posed.loss, Huber) and posed.loss.scale is None:
            posed = _with_scale(posed, grid)
        fits = [solve_loss(posed, alpha) for alpha in grid]
        scores = np.array([fit.loo_score for fit in fits])
        best = fits[int(np.argmin(scores))]
        several = len(grid) * len(problems) > 1
        found.append(replace(best, loo_scores=scores) if several else best)
    return min(found, key=lambda fit: fit.loo_score)


def _with_scale(posed: Posed, alphas: Sequence[float]) -> Posed:
    """Return the problem with Huber's scale set from the noise; see `losses.Huber`."""
    spread = posed.spread
    spread[spread == 0] = 1.0
    # The alphas are meant for squares; absolute residuals need labels of unit size.
    absolute = posed.with_targets(posed.y / spread).with_loss(Quantile(0.5))
    residuals = np.abs([solve_loss(absolute, a).leave_one_out() for a in alphas])
    medians = weighted_median(residuals, posed.w).min(axis=0)  # (t,)
    # With fewer than two labels there is no residual, and any scale will do.
    scales = np.where(np.isfinite(medians), DEVIATIONS_PER_MAD * medians, 1.0)
    scales = spread * np.maximum(scales, np.sqrt(EPS))
    scale = tuple(float(each) for each in scales)
    loss = replace(posed.loss, scale=scale)  # type: ignore[call-arg]
    return posed.with_loss(loss)


def weighted_median(
    values: Array,  # (a, l, t)
    w: Array,  # (l,)
) -> Array:  # (a, t)
    """Return the value with half of the weight below it, or the mean of two such.

    Examples
    --------
    >>> values = np.array([[[5.0], [1.0], [2.0], [9.0]]])
    >>> weighted_median(values, np.ones(4)), weighted_median(values, np.arange(4.0))
    (array([[3.5]]), array([[5.5]]))
    """
    order = values.argsort(axis=1)
    below = w[order].cumsum(axis=1)
    half = below[:, -1:] / 2
    middle = [(below < half).sum(axis=1), (below <= half).sum(axis=1)]
    places = np.minimum(np.stack(middle, axis=1), len(w) - 1)
    ordered = np.take_along_axis(values, order, axis=1)
    return np.asarray(np.take_along_axis(ordered, places, axis=1).mean(axis=1))


def _minimum(
    M: Array, F: Array, posed: Posed, w: Array, leave_one_out: bool
) -> LossPoint:
    """Return the minimum of every output, one by one unless they are coupled."""
    loss, y = posed.loss, posed.y
    if isinstance(loss, Softmax):
        return solve_softmax(M, F, y, w)
    if isinstance(loss, Logistic):
        points = [solve_logistic(M, F, column, w) for column in y.T]
    else:
        boxes = [
            cast(Any, loss.of_output(j)).box(column, w) for j, column in enumerate(y.T)
        ]
        points = [solve_box(M, F, box, leave_one_out=leave_one_out) for box in boxes]
    v, b, loo = (np.column_stack([point[i] for point in points]) for i in range(3))
    return LossPoint(v, b, loo, all(point.converged for point in points))


def _check(point: LossPoint, posed: Posed, w: Array, alpha: float) -> None:
    """Raise if there is no minimum, and warn if it was not reached."""
    if point.converged:
        return
    if isinstance(posed.loss, (Logistic, Softmax)) and posed.elimination.rank:
        # Of several classes, one that the features tell from all others is enough.
        slopes = np.abs(point.v.reshape(len(w), -1)).max(axis=0)
        if slopes.min() < np.exp(-SEPARATED_LOG_ODDS) * w.max():
            raise ValueError(
                "The unpenalized features alone separate the classes of the labeled "
                "rows, so the logistic loss has no minimum. Use fewer of them, such as "
                "unpenalized='constant', or loss='hinge'."
            )
    warnings.warn(
        f"The {posed.loss.name} loss was not minimized to rounding at alpha = "
        f"{alpha:.1g}. Raise alpha, or rescale the targets.",
        ConvergenceWarning,
        stacklevel=4,
    )
