r"""The problem with a loss other than squares: any basis, penalty and null space.

.. math:: min \; 1/W \sum_{i \, labeled} w_i \, loss(y_i, g(x_i))
          + alpha \, theta'Q theta, \quad g = phi'theta + f'beta                     (1)

With lam = W alpha and K = Phi Q^-1 Phi', theta = Q^-1 Phi'v / (2 lam), where
v = -w loss'(g) and F'v = 0. So the solvers need M = K / (2 lam) and F alone. What F
spans is taken out of M before: v does not see it, and a kernel that is positive
definite only beside F will do. For the hinge loss this is a support vector machine with
:math:`C_i = w_i / (2 alpha W)`.

Alpha is chosen by leave-one-out after one Newton step (`halfmoon.solvers.bordered`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import scipy.linalg as sla
from sklearn.exceptions import ConvergenceWarning

from halfmoon.losses import Huber, Logistic, Quantile, Softmax
from halfmoon.memory import format_bytes, parse_bytes
from halfmoon.problem.fit import Fit
from halfmoon.problem.posed import Posed
from halfmoon.rows import Array
from halfmoon.solvers import LossPoint, solve_box, solve_logistic, solve_softmax

__all__ = ["search_loss", "solve_loss"]

MATRICES = 4  # of labels by labels, held at once
CERTAIN = 15.0  # log odds, of every label, that only free features give
NORMAL = 1.4826  # deviation of the normal distribution beside its median deviation


def solve_loss(posed: Posed, alpha: float) -> Fit:
    """Minimize (1), to rounding. O(l^3) for each of 10 to 30 steps.

    Parameters
    ----------
    posed : Posed
    alpha : float
        Positive.
    """
    loss, lam = posed.loss, posed.total_weight * alpha
    if not 0 < alpha < np.inf:
        raise ValueError(
            f"alpha is {alpha}; the {loss.name} loss needs a positive number."
        )
    loss.check(posed.y)
    _refuse_large(posed)
    if isinstance(loss, Huber) and loss.scale is None:
        posed = _with_scale(posed, [alpha])
        loss = posed.loss
    elimination = posed.elimination
    if loss.of_classes and elimination.rank:
        _refuse_one_class(posed)
    Phi = None
    if posed.dual:
        M = posed.gram_matrix / (2 * lam)
    else:
        Phi = posed.whitening.whiten(posed.on_labeled())
        M = Phi @ Phi.T / (2 * lam)
    F = elimination.Q1 / posed.root_w
    Q, R = sla.qr(F, mode="economic", check_finite=False)
    QM = Q.T @ M
    P = M - Q @ QM  # (I - Q Q') M
    P -= (P @ Q) @ Q.T
    try:
        point = _minimum((P + P.T) / 2, F, posed)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "The kernel is not positive definite beside the unpenalized features. A "
            "conditionally positive definite kernel needs the polynomials of its "
            "degree unpenalized."
        ) from error
    _check(point, posed, alpha)
    c = point.v / (2 * lam)
    b = point.b - sla.solve_triangular(R, QM @ point.v, check_finite=False)
    beta = elimination.solve(b)
    if Phi is None:
        theta = posed.basis.lift(posed.chosen, c)
    else:
        theta, beta = posed.with_free(posed.whitening.unwhiten(Phi.T @ c), beta)
    return Fit(posed, theta, beta, alpha=alpha, c=c, left_out_values=point.left_out)


def search_loss(problems: Sequence[Posed], alphas: Sequence[Sequence[float]]) -> Fit:
    """The fit with the least mean loss of left-out rows, over problems and alphas.

    Parameters
    ----------
    problems : sequence of Posed
        That differ in mu.
    alphas : sequence of sequences of float
        For each problem.
    """
    best: Fit | None = None
    for posed, some in zip(problems, alphas, strict=True):
        if isinstance(posed.loss, Huber) and posed.loss.scale is None:
            posed = _with_scale(posed, some)
        fits = [solve_loss(posed, alpha) for alpha in some]
        scores = np.array([fit.loo_score for fit in fits])
        found = fits[int(np.argmin(scores))]
        if len(some) * len(problems) > 1:
            found = replace(found, loo_scores=scores)
        if best is None or found.loo_score < best.loo_score:
            best = found
    if best is None:
        raise ValueError("There is no problem to solve.")
    return best


def _with_scale(posed: Posed, alphas: Sequence[float]) -> Posed:
    """The problem with Huber's loss at the scale of the noise; see `losses.Huber`."""
    spread = posed.y.std(axis=0)
    spread[spread == 0] = 1.0
    # Absolute residuals beside the same alphas want labels of unit size.
    absolute = posed.with_targets(posed.y / spread).with_loss(Quantile(0.5))
    residuals = np.abs([solve_loss(absolute, a).leave_one_out() for a in alphas])
    medians = np.median(residuals, axis=1).min(axis=0)  # (t,)
    # Without two labels nothing tells: any scale does.
    scales = np.where(np.isfinite(medians), NORMAL * medians, 1.0)
    scales = spread * np.maximum(scales, np.sqrt(np.finfo(np.float64).eps))
    scale = tuple(float(each) for each in scales)
    loss = replace(posed.loss, scale=scale)  # type: ignore[call-arg]
    return posed.with_loss(loss)


def _minimum(M: Array, F: Array, posed: Posed) -> LossPoint:
    """The minimum for every output, one after the other unless they are coupled."""
    loss, y, w = posed.loss, posed.y, posed.w
    if isinstance(loss, Softmax):
        return solve_softmax(M, F, y, w)
    if isinstance(loss, Logistic):
        points = [solve_logistic(M, F, column, w) for column in y.T]
    else:
        boxes = [
            cast(Any, loss.of_output(j)).box(column, w) for j, column in enumerate(y.T)
        ]
        points = [solve_box(M, F, box) for box in boxes]
    v, b, left_out = (np.column_stack([point[i] for point in points]) for i in range(3))
    return LossPoint(v, b, left_out, all(point.converged for point in points))


def _check(point: LossPoint, posed: Posed, alpha: float) -> None:
    """Say so where there is no minimum, or where it was not reached."""
    if point.converged:
        return
    if isinstance(posed.loss, (Logistic, Softmax)) and posed.elimination.rank:
        least = np.abs(point.v).max() / posed.w.max()
        if least < np.exp(-CERTAIN):
            raise ValueError(
                "The unpenalized features alone tell the classes of all labeled rows "
                "apart, so that the logistic loss has no minimum. Use fewer of them, "
                "unpenalized='constant' say, or loss='hinge'."
            )
    warnings.warn(
        f"The {posed.loss.name} loss was not minimized to rounding at alpha = "
        f"{alpha:.1g}. Raise alpha, or rescale the targets.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _refuse_one_class(posed: Posed) -> None:
    for j, target in enumerate(posed.y.T):
        if np.unique(target).size < 2:
            raise ValueError(
                f"Target {j} is {target[0]:.0f} in every labeled row; the "
                f"{posed.loss.name} loss needs rows of both classes. Label some of the "
                f"other one."
            )


def _refuse_large(posed: Posed) -> None:
    l, limit = len(posed.chosen), parse_bytes(posed.stream.memory_limit)
    need = 8 * MATRICES * l * l
    if need > limit:
        raise MemoryError(
            f"The {posed.loss.name} loss of {l:,} labels needs {format_bytes(need)}, "
            f"beyond memory_limit={format_bytes(limit)}. Raise memory_limit, fit fewer "
            f"labels, or use loss='squared'."
        )
