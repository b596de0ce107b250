r"""The residual kernel: a kernel with the unpenalized features projected out.

With P the distribution of the rows and Pi the projection on the span of the features f
in L2(P), it is K with both of its arguments projected,

.. math:: K_P = (I - Pi) K (I - Pi)                                                 (1)

Let the rows of a *population* represent P, let F = Q T be the features there with
Q'Q = I, and let :math:`q(x) = T^{-T} f(x)`, so that q is Q at the population. Then
Pi g = q'Q'g, and with h(x) = k(x, population) Q and M = Q' k(population, population) Q

.. math:: K_P(x, z) = k(x, z) - q(x)'h(z) - h(x)'q(z) + q(x)'M q(z)                 (2)

Takhanov, Assylbekov, "Conditional KRR", 2026, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from halfmoon._rows import Array, Rows, as_table
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon._solvers import Elimination
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.unpenalized import Unpenalized

__all__ = ["ResidualKernel", "fitted", "residual_kernel"]


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
