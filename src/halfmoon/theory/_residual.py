r"""The residual kernel: a kernel with the unpenalized features projected out.

With P the distribution of the rows and Pi the projection on the span of the features f
in L2(P), it is K with both of its arguments projected,

.. math:: K_P = (I - Pi) K (I - Pi)                                                 (1)

Let the rows of a *population* represent P, let F = Q T be the features there with
Q'Q = I, and let :math:`q(x) = T^{-T} f(x)`, so that q is Q at the population. Then
Pi g = q'Q'g, and with h(x) = k(x, population) Q and M = Q' k(population, population) Q

.. math:: K_P(x, z) = k(x, z) - q(x)'h(z) - h(x)'q(z) + q(x)'M q(z)                 (2)

**The cost of conditioning.** With g the truth:

- *Conditional kernel ridge* is least squares on f, then kernel ridge with K_P on the
  residuals, where P is the distribution of the labeled rows (theorem 3.2).
- The *conditional learner* knows Pi g, and learns the rest by kernel ridge with K_P,
  where P is the distribution of the rows.
- The *cost of conditioning* is the mean squared distance between the two (definition
  4.1). It is about 1.1 dim F / N times the variance of the noise, if dim F is much
  smaller than N and the truth is in the span of f. Its part outside counts as noise.

Takhanov, Assylbekov, "Conditional KRR", 2026, sections 2 to 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from halfmoon._labels import as_targets
from halfmoon._rows import Array, Rows, as_table
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.unpenalized import Unpenalized

__all__ = [
    "ResidualKernel",
    "conditional_learner",
    "cost_of_conditioning",
    "fitted",
    "residual_kernel",
]


@dataclass(eq=False, repr=False)
class ResidualKernel(Kernel):
    """The kernel (2): positive definite, even if k is only conditionally so.

    Made by `residual_kernel`, for use in `Exact` and `Nystrom`. Each value needs k at
    the whole population: O((b + p) N k) for b-by-p values.

    Parameters
    ----------
    kernel : Kernel
        k, its parameters resolved.
    features : Unpenalized
        f, fitted.
    population : array or CSR of shape (N, d)
    """

    kernel: Kernel
    features: Unpenalized
    population: Rows

    @property
    def temporaries(self) -> int:  # type: ignore[override]
        """Those of k, the part that is subtracted, and the result."""
        return self.kernel.temporaries + 2

    def project(self, g: Callable[[Rows], Array]) -> Callable[[Rows], Array]:
        """Return Pi g, the projection of a function on the span of the features."""
        values = np.asarray(g(self.population), dtype=np.float64)
        if values.shape[:1] != (self.population.shape[0],):
            raise ValueError(
                f"The function returned values of shape {values.shape} for the "
                f"{self.population.shape[0]} rows of the population; one value, or one "
                f"row of values, is needed for each row."
            )
        beta = self._elimination.Q1.T @ values
        return lambda X: self._q(X) @ beta

    def __sklearn_clone__(self) -> ResidualKernel:
        """Return a copy that shares the features, which must stay fitted."""
        return replace(self)

    def _value(self, X: Rows, Z: Rows) -> Array:
        q_X, h_X = self._q(X), self._h(X)
        q_Z, h_Z = (q_X, h_X) if Z is X else (self._q(Z), self._h(Z))
        K = self.kernel(X, Z)
        K -= q_X @ (h_Z - q_Z @ self._M).T
        K -= h_X @ q_Z.T
        return (K + K.T) / 2 if Z is X else K

    def _diag(self, X: Rows) -> Array:
        q = self._q(X)
        projected = np.einsum("ij,ij->i", q, 2 * self._h(X) - q @ self._M)
        return np.asarray(self.kernel.diag(X) - projected)

    @cached_property
    def _elimination(self) -> Elimination:
        F = self.features.transform(self.population)
        return Elimination(F, self.features.names_)

    @cached_property
    def _M(self) -> Array:
        M = self._elimination.Q1.T @ self._h(self.population)
        return np.asarray((M + M.T) / 2)

    def _q(self, X: Rows) -> Array:
        """T^-T f(x), shape (b, rank)."""
        return self._elimination.solve_adjoint(self.features.transform(X))

    def _h(self, X: Rows) -> Array:
        """k(x, population) Q, shape (b, rank), by blocks of rows."""
        return Stream.inherited().map(
            lambda rows: self.kernel(rows, self.population) @ self._elimination.Q1,
            X,
            row_bytes=8 * self.kernel.temporaries * self.population.shape[0],
        )


def residual_kernel(
    kernel: Kernel,
    features: Unpenalized,
    population: Rows,  # (N, d)
) -> ResidualKernel:
    """Return the residual kernel (1), with P the empirical distribution of rows.

    Parameters
    ----------
    kernel : Kernel
        May be conditionally positive definite, if the features have its polynomials.
    features : Unpenalized
        Fitted to the population unless they are fitted already.
    population : array or CSR of shape (N, d)

    Returns
    -------
    Kernel
        For use in `Exact` and `Nystrom`. Its method ``project(g)`` returns Pi g, the
        projection of a function g on the span of the features.

    Examples
    --------
    With the constant alone it is the centered kernel:

    >>> from halfmoon.kernels import Linear
    >>> from halfmoon.unpenalized import Constant
    >>> K_P = residual_kernel(Linear(), Constant(), [[1.0], [3.0]])
    >>> K_P([[1.0], [3.0], [7.0]])
    array([[ 1., -1., -5.],
           [-1.,  1.,  5.],
           [-5.,  5., 25.]])
    """
    population = as_table(population)
    return ResidualKernel(
        kernel.resolve(population), fitted(features, population), population
    )


def fitted(features: Unpenalized, population: Rows) -> Unpenalized:
    """Return the features, fitted to the population unless they are already."""
    if hasattr(features, "names_"):
        return features
    return unfitted_copy(features).fit(population)


def conditional_learner(
    kernel: Kernel,
    features: Unpenalized,
    X: Rows,  # (N, d)
    y: Any,  # (N,) or (N, t)
    alpha: float,
    *,
    truth: Callable[[Rows], Array],
    population: Rows,  # (m, d)
) -> Callable[[Rows], Array]:
    """Return the F-conditional learner, a function of rows, which knows Pi g.

    It is kernel ridge with the residual kernel on y - Pi g, with Pi g added back. The
    parameters are those of `cost_of_conditioning`.
    """
    K_P = residual_kernel(kernel, features, population)
    X, single = as_table(X), np.ndim(y) == 1
    targets = _labeled(y, X.shape[0])
    known = K_P.project(lambda rows: _columns(truth(rows)))
    h = _ridge(K_P, None, X, targets - known(X), alpha)

    def learner(rows: Rows) -> Array:
        values = known(rows) + h(rows)
        return values[:, 0] if single else values

    return learner


def cost_of_conditioning(
    kernel: Kernel,
    features: Unpenalized,
    X: Rows,  # (N, d)
    y: Any,  # (N,) or (N, t)
    alpha: float,
    *,
    truth: Callable[[Rows], Array],
    population: Rows,  # (m, d)
    rows: Rows | None = None,  # (b, d)
) -> float:
    """Return the mean squared distance between conditional ridge and learner.

    Definition 4.1: the cost of estimating the unpenalized part from the labels instead
    of knowing it. It is a random number, because X and y are random.

    Parameters
    ----------
    kernel, features : see `residual_kernel`
    X, y : rows and targets
        All labeled.
    alpha : float
        Penalty weight, relative to the averaged loss.
    truth : callable
        The regression function g.
    population : array or CSR of shape (m, d)
        Rows that represent the distribution P: many draws, or a grid.
    rows : array or CSR of shape (b, d) or None
        Rows at which the two are compared; None is the population.

    Examples
    --------
    >>> from halfmoon.kernels import PeriodicSobolev
    >>> from halfmoon.unpenalized import Constant
    >>> rng = np.random.default_rng(0)
    >>> X, grid = rng.uniform(0, 6.28, (50, 1)), np.linspace(0, 6.28, 100)[:, None]
    >>> y = np.cos(X[:, 0]) + 0.1 * rng.standard_normal(50)
    >>> cost = cost_of_conditioning(
    ...     PeriodicSobolev(1.0),
    ...     Constant(),
    ...     X,
    ...     y,
    ...     0.01,
    ...     truth=lambda rows: np.cos(rows[:, 0]),
    ...     population=grid,
    ... )
    >>> cost < 0.01
    True
    """
    population = as_table(population)
    kernel = kernel.resolve(population)
    features = fitted(features, population)
    X = as_table(X)
    learner = conditional_learner(
        kernel, features, X, y, alpha, truth=truth, population=population
    )
    ridge = _ridge(kernel, features, X, _labeled(y, X.shape[0]), alpha)
    rows = population if rows is None else as_table(rows)
    return float(np.mean((ridge(rows) - _columns(learner(rows))) ** 2))


def _ridge(
    kernel: Kernel, features: Unpenalized | None, X: Rows, y: Array, alpha: float
) -> Callable[[Rows], Array]:
    """Return the kernel ridge fit, with unpenalized features if there are any."""
    if features is None:
        F, names = np.zeros((X.shape[0], 0)), []
    else:
        F, names = features.transform(X), features.names_
    path = ridge_dual(kernel(X), y, Elimination(F, names), float(X.shape[0]))
    c, beta = path.theta(alpha), path.beta(alpha)

    def values(rows: Rows) -> Array:
        g = kernel(rows, X) @ c
        return g if features is None else g + features.transform(rows) @ beta

    return values


def _labeled(y: Any, n: int) -> Array:
    y = as_targets(y, n)
    if np.isnan(y).any():
        raise ValueError(
            f"{int(np.isnan(y).any(axis=1).sum())} of the {n} rows have no label; all "
            f"rows must be labeled here. Remove the unlabeled ones."
        )
    return y


def _columns(values: Any) -> Array:
    values = np.asarray(values, dtype=np.float64)
    return values.reshape(len(values), -1)
