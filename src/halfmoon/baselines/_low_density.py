r"""Low-density separation: the objective of a transductive SVM, and its annealing.

.. math:: min_w \; 1/2 |w|^2 + C \sum_{i \, labeled} max(0, 1 - y_i f(x_i))^2
          + C^* \sum_{i \, unlabeled} exp(-3 f(x_i)^2), \quad
          f(x) = w'(x - m) + b                                                      (1)

An unlabeled row costs more the closer it is to the boundary f = 0, on either side. With
m the mean of the unlabeled rows, the mean of f over them is b. So b is set to the
balance of the classes, the share of one minus the share of the other. This is the only
constraint, and it keeps the unlabeled rows from all falling on one side.

The last sum is not convex. So :math:`C^*` starts at 0, where (1) is a support vector
machine, and doubles up to its final value; each step starts from the previous minimum.
Chapelle, Zien, "Semi-supervised classification by low density separation", 2005. Their
labeled loss is the hinge or its square; (1) has the square, which is differentiable.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from halfmoon._rows import Array, Rows

__all__ = ["Annealed", "LowDensity", "anneal"]

SHARPNESS = 3.0  # of exp(-3 f^2), which then falls to 5 % at the margin f = 1
LBFGS_MEMORY = 5  # vectors; on wide tables, more would cost more than the products


@dataclass(frozen=True)
class LowDensity:
    """The objective (1) for one class against the rest.

    Attributes
    ----------
    A : array or CSR of shape (n, p)
        Rows in the coordinates of w, the labeled ones first.
    y : ndarray of shape (l,)
        -1 or 1.
    C : float
    balance : float
        b if there are unlabeled rows; otherwise b is free and is the last variable.
    """

    A: Rows
    y: Array
    C: float
    balance: float

    @property
    def free(self) -> bool:
        """Whether b is a variable, because no row is unlabeled."""
        return len(self.y) == self.A.shape[0]

    @property
    def center(self) -> Array:
        """m, shape (p,): mean of the unlabeled rows, or of all if none is unlabeled."""
        rest = self.A if self.free else self.A[len(self.y) :]
        return np.asarray(rest.mean(axis=0)).ravel()

    @property
    def start(self) -> Array:
        """w = 0, shape (p,) or (p + 1,)."""
        return np.zeros(self.A.shape[1] + self.free)

    def parts(self, v: Array) -> tuple[Array, float]:
        """Split the variables into w and b."""
        return (v[:-1], float(v[-1])) if self.free else (v, self.balance)

    def value_and_gradient(
        self,
        v: Array,  # (p,) or (p + 1,)
        C_unlabeled: float,
        center: Array,  # (p,)
    ) -> tuple[float, Array]:
        """(1) and its gradient."""
        l, (w, b) = len(self.y), self.parts(v)
        f = self.A @ w + (b - center @ w)  # (n,)
        short = np.maximum(0.0, 1.0 - self.y * f[:l])
        near = C_unlabeled * np.exp(-SHARPNESS * f[l:] ** 2)
        value = 0.5 * (w @ w) + self.C * (short @ short) + near.sum()
        slope = np.empty_like(f)  # of the losses, by f
        slope[:l] = -2.0 * self.C * self.y * short
        slope[l:] = -2.0 * SHARPNESS * f[l:] * near
        total = slope.sum()
        gradient = w + self.A.T @ slope - total * center
        return float(value), np.append(gradient, total) if self.free else gradient


class Annealed(NamedTuple):
    """The minimum at the end of the annealing."""

    w: Array  # (p,)
    intercept: float  # of w'x, with the mean included
    value: float  # of (1)
    n_iter: int  # of all steps together


def anneal(
    objective: LowDensity,
    C_unlabeled: float,
    n_steps: int,
    *,
    tolerance: float,
    max_iter: int,
) -> Annealed:
    """Minimize (1) by L-BFGS, with a growing weight of the unlabeled rows.

    Parameters
    ----------
    objective : LowDensity
    C_unlabeled : float
        The final weight of the unlabeled rows.
    n_steps : int
        Number of steps with unlabeled rows, after a first step without them; the
        weight doubles from each to the next.
    tolerance : float
        Largest entry of the gradient at the end of each step, relative to that at
        w = 0.
    max_iter : int
        Iterations of L-BFGS in each step.
    """
    center, v = objective.center, objective.start
    weights = C_unlabeled * 2.0 ** (np.arange(n_steps) - n_steps + 1.0)
    steps = [0.0] if objective.free else [0.0, *weights]
    unit, slope = objective.value_and_gradient(v, 0.0, center)

    def scaled(v: Array, weight: float) -> tuple[float, Array]:
        # The tolerances of L-BFGS assume a value of about 1.
        value, gradient = objective.value_and_gradient(v, weight, center)
        return value / unit, gradient / unit

    n_iter, steepest = 0, float(np.abs(slope).max()) / unit
    for weight in steps:
        # No step may stop early: its end decides which minimum the next one finds.
        found = minimize(
            scaled,
            v,
            args=(weight,),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxcor": LBFGS_MEMORY,
                "gtol": steepest * tolerance,
                "ftol": np.finfo(np.float64).eps,
                "maxiter": max_iter,
                "maxfun": 2 * max_iter,
            },
        )
        v, n_iter = found.x, n_iter + int(found.nit)
    if found.status == 1:  # out of iterations; a stop by rounding is no failure
        warnings.warn(
            f"L-BFGS did not reach tol={tolerance} in {max_iter} iterations. Scale the "
            f"columns, lower C, or raise max_iter.",
            ConvergenceWarning,
            stacklevel=5,
        )
    w, b = objective.parts(v)
    return Annealed(w, b - float(center @ w), unit * float(found.fun), n_iter)
