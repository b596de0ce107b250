r"""Transductive support vector machine: a boundary where rows are sparse.

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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from halfmoon._estimators.parameters import RULES, kernel_basis
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import (
    NOT_NEGATIVE,
    Rule,
    as_generator,
    is_number,
    is_whole,
)
from halfmoon._whitening import Whitening, whitening
from halfmoon.baselines._base import BaselineClassifier
from halfmoon.bases import Basis
from halfmoon.blocks import blas_for
from halfmoon.kernels import Linear
from halfmoon.kernels._user_kernels import Precomputed, as_kernel

__all__ = ["TSVMClassifier"]

SHARPNESS = 3.0  # of exp(-3 f^2), which then falls to 5 % at the margin f = 1
LBFGS_MEMORY = 5  # vectors; on wide tables, more would cost more than the products


@dataclass(frozen=True)
class LowDensity:
    """The objective (1) for one class against the rest."""

    A: Rows  # (n, p), rows in the coordinates of w, the labeled ones first
    y: Array  # (l,), -1 or 1
    C: float
    balance: float  # b, if there are unlabeled rows; else b is free, the last variable

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
    """Minimize (1) by L-BFGS, with a weight of the unlabeled rows that doubles.

    After a first step without them there are `n_steps`, the last with `C_unlabeled`.
    The tolerance is relative to the gradient at w = 0; `max_iter` is for each step.
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


@dataclass(eq=False, repr=False)
class TSVMClassifier(BaselineClassifier):
    r"""Transductive support vector machine, by gradients in the primal.

    .. math:: min_f \; 1/2 |f|^2 + C \sum_{i \, labeled} max(0, 1 - y_i f(x_i))^2
              + C^* \sum_{i \, unlabeled} exp(-3 f(x_i)^2)

    such that the mean of f over the unlabeled rows is the balance of the classes. The
    labeled loss is the **squared** hinge; :math:`C^*` doubles up to its final value,
    and each step starts from the previous minimum. With more
    than two classes, each is fitted against the rest, with its own balance. Only the
    length scale and the landmarks of a kernel are random. If every row is labeled, it
    is a support vector machine with squared hinge loss and a free intercept.

    With the linear kernel a step costs a few dozen products with X, dense or CSR. Other
    kernels: O(n^3) time for all rows, O(n p^2) with p landmarks, O(n p) memory.

    Parameters
    ----------
    kernel : Kernel, str or callable
        As in the estimators of `halfmoon`; "linear" works on the columns themselves.
    C : float
        Weight of the labeled loss, summed and not averaged.
    C_unlabeled : float or None
        The final :math:`C^*`. None is C l / u for l labeled and u unlabeled rows, so
        that both kinds have the same total weight.
    class_balance : None, float, mapping or sequence
        Share of each class among the unlabeled rows, by class or in the order of
        ``classes_``; a number is the share of the second of two. None takes the shares
        among the labels.
    n_steps : int
        Number of steps with unlabeled rows; :math:`C^*` doubles from each to the next.
    n_components, landmarks : see `halfmoon.LaplacianClassifier`
        For kernels other than the linear one.
    tol : float
        Largest entry of the gradient at the end of each step, relative to that of
        f = 0.
    max_iter : int
        Iterations of L-BFGS in each step.
    memory_limit, random_state, unlabeled : see `halfmoon.LaplacianClassifier`

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_labeled_ : int
        Number of labeled rows.
    coef_ : ndarray of shape (t, d)
        Weights of the columns, with t = 1 for two classes, otherwise one row for each
        class. Only with the linear kernel.
    intercept_ : ndarray of shape (t,)
    objective_ : ndarray of shape (t,)
        The smallest values found.
    n_iter_ : int
        Iterations of L-BFGS, over all steps.
    basis_ : Basis
        The functions that span f. Only with other kernels.

    References
    ----------
    O. Chapelle, A. Zien, "Semi-supervised classification by low density separation",
    AISTATS, 2005.

    Examples
    --------
    Two clusters, long in the first column, with a label each:

    >>> import numpy as np
    >>> from halfmoon.baselines import TSVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(-1, [1, 0.1], (50, 2)), rng.normal(1, [1, 0.1], (50, 2))]
    >>> truth = np.repeat(["low", "high"], 50)
    >>> y = np.full(100, None)
    >>> y[[0, 50]] = "low", "high"
    >>> model = TSVMClassifier(C=10.0).fit(X, y)
    >>> int((model.predict(X) == truth).sum())
    100
    """

    kernel: Any = "linear"
    C: float = 1.0
    C_unlabeled: float | None = None
    class_balance: Any = None
    n_steps: int = 10
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    tol: float = 1e-4
    max_iter: int = 1_000
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    unlabeled: Any = None

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES | {
        "C": Rule("a positive number", lambda v: is_number(v) and v > 0),
        "C_unlabeled": NOT_NEGATIVE,
        "n_steps": Rule("1, 2, 3, ... or 100", lambda v: is_whole(v) and v <= 100),
        "max_iter": Rule("1, 2, 3, ...", is_whole),
        "tol": Rule("a number that is not negative", is_number),
    }

    def _fit_classes(self, X: Rows, codes: Indices) -> None:
        labeled = codes >= 0
        l, u = int(labeled.sum()), int((~labeled).sum())
        C, C_unlabeled = float(self.C), self.C_unlabeled
        if C_unlabeled is None:
            C_unlabeled = C * l / max(u, 1)
        shares = self._shares(codes[labeled])
        Phi, root = self._coordinates(X, l)
        order = np.r_[np.flatnonzero(labeled), np.flatnonzero(~labeled)]
        A, codes = Phi[order], codes[labeled]
        fitted = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        with blas_for(A.shape[0] * A.shape[1]):
            found = [
                anneal(
                    LowDensity(
                        A, np.where(codes == c, 1.0, -1.0), C, 2 * shares[c] - 1
                    ),
                    C_unlabeled,
                    self.n_steps,
                    tolerance=self.tol,
                    max_iter=self.max_iter,
                )
                for c in fitted
            ]
        W = np.array([each.w for each in found])  # (t, p)
        self.n_labeled_, self.n_iter_ = l, max(each.n_iter for each in found)
        self.intercept_ = np.array([each.intercept for each in found])
        self.objective_ = np.array([each.value for each in found])
        if root is None:
            self.coef_ = W
        else:
            self._theta = root.unwhiten(W.T)

    def _scores(self, X: Rows) -> Array:
        if self.basis_ is None:
            return np.asarray(X @ self.coef_.T + self.intercept_)
        return self.basis_.function(self._theta)(X) + self.intercept_

    def _coordinates(self, X: Rows, l: int) -> tuple[Rows, Whitening | None]:
        """Coordinates of the rows in which the norm of f is the norm of w.

        These are the columns themselves, or the kernel's functions, whitened.
        """
        kernel = as_kernel(self.kernel)
        self.basis_: Basis | None = None
        if isinstance(kernel, Linear):
            return sp.csr_array(X) if sp.issparse(X) else X, None
        if isinstance(kernel, Precomputed) or kernel.conditional_degree >= 0:
            raise ValueError(
                f"kernel is {self.kernel!r}; a positive definite kernel of the rows "
                f"themselves is needed, such as Gaussian()."
            )
        rng = as_generator(self.random_state)
        self.basis_ = kernel_basis(
            kernel.resolve(X, rng),
            "auto",
            self.n_components,
            self.landmarks,
            n=X.shape[0],
            l=l,
            in_dual=False,
            memory_limit=self.memory_limit,
        ).fit(X, rng)
        root = whitening(self.basis_.penalty())
        return root.whiten(self.basis_.transform(X)), root

    def _shares(self, codes: Indices) -> Array:
        """Share of each class, shape (n_classes,)."""
        given, k = self.class_balance, len(self.classes_)
        if given is None:
            return np.bincount(codes, minlength=k) / len(codes)
        if isinstance(given, Mapping):
            missing = [c for c in self.classes_.tolist() if c not in given]
            if missing:
                raise ValueError(
                    f"class_balance has no share of class {missing[0]!r}; give one for "
                    f"each class."
                )
            given = [given[c] for c in self.classes_.tolist()]
        try:
            shares = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            shares = np.empty(0)  # refused below
        if shares.ndim == 0 and k == 2:
            shares = np.array([1.0 - shares, shares])
        if shares.shape != (k,) or not ((shares > 0) & (shares < 1)).all():
            raise ValueError(
                f"class_balance is {self.class_balance!r}; a share between 0 and 1 for "
                f"each of the {k} classes is needed, or for the second of two."
            )
        return np.asarray(shares / shares.sum())
