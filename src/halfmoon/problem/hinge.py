"""The problem with the hinge loss: a support vector machine with any of the levers."""

from __future__ import annotations

import numpy as np

from halfmoon.problem.fit import Fit
from halfmoon.problem.posed import Posed
from halfmoon.solvers import hinge_dual

__all__ = ["solve_hinge"]


def solve_hinge(posed: Posed, alpha: float) -> Fit:
    """Minimize (1) with the hinge loss in place of squares, for targets of -1 and 1.

    Parameters
    ----------
    posed : Posed
        With the constant as its only unpenalized feature: that is what the solver
        leaves free.
    alpha : float
        Positive.
    """
    F = posed.F
    if F.shape[1] != 1 or np.ptp(F) != 0 or F[0, 0] == 0:
        raise ValueError(
            "The hinge loss leaves the constant free and nothing else; use "
            "unpenalized=Constant()."
        )
    if not posed.dual and posed.free.shape[1]:
        raise ValueError(
            f"The penalty is blind to {posed.free.shape[1]} direction(s) of the basis, "
            f"which the hinge loss cannot leave free. Use mu above 0."
        )
    if posed.dual:
        K = posed.basis.gram(posed.chosen)(posed.X_l)
        c, intercept = hinge_dual(K, posed.y, posed.w, alpha)
        theta = posed.basis.lift(posed.chosen, c)
    else:
        Phi = posed.whitening.whiten(posed.on_labeled())
        c, intercept = hinge_dual(Phi @ Phi.T, posed.y, posed.w, alpha)
        theta = posed.whitening.unwhiten(Phi.T @ c)
    return Fit(posed, theta, intercept[None, :] / F[0, 0], alpha=alpha)
