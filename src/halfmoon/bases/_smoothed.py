r"""Smoothed basis: any basis averaged over all rows, the first lever.

.. math:: phi_F(x) = \sum_j a_j(x) (D \, phi(X))_j

with the weights a and the further steps D of a smoother. The penalty is that of the
inner basis. With kernel weights and the exact basis of a kernel h this is the kernel

.. math:: k_F(x, z) = \sum_{ij} a_i(x) h(x_i, x_j) a_j(z)

of Que, Belkin, Wang, "Learning with Fredholm kernels", 2014, equations 2 and 6. It is
a kernel like any other: it can be added to others and used in any estimator. H is
computed by row blocks, so no n-by-n matrix is formed. For other bases, the n-by-p
values of the basis at the rows are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon.bases._base import Basis
from halfmoon.bases._sections import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.smoothers import KernelWeights, Smoother

__all__ = ["FredholmKernel", "Smoothed"]

DIAGONAL_ROWS = 256  # rows averaged at once for `diag`, with n numbers each


@dataclass(eq=False, repr=False)
class Smoothed(Basis):
    """A basis averaged over all rows by a smoother.

    Parameters
    ----------
    basis : Basis
        The inner basis; its kernel is Fredholm's inner kernel h.
    smoother : Smoother
        The outer weights.

    Attributes
    ----------
    basis_, smoother_ : Basis, Smoother
        Fitted copies.
    kernel_ : FredholmKernel or None
        k_F if the inner basis is exact, else None.
    features_ : ndarray of shape (n, p) or None
        D phi(X). None if the inner basis is exact, until a gradient needs it.
    """

    basis: Basis = field(default_factory=Exact)
    smoother: Smoother = field(default_factory=KernelWeights)

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Fit basis and smoother on the same rows."""
        rng = np.random.default_rng(rng)
        X = as_table(X)
        self.basis_ = unfitted_copy(self.basis).fit(X, rng)
        self.smoother_ = unfitted_copy(self.smoother).fit(X, rng)
        self._set_up()
        return self

    def with_inner(self, basis: Basis) -> Smoothed:
        """Return the fitted basis with another inner basis, fitted on the same rows."""
        other = copy(self)
        other.basis_ = basis
        other._set_up()
        return other

    def _set_up(self) -> None:
        self.n_components_ = self.basis_.n_components_
        if self.basis_.conditional_degree >= 0:
            raise ValueError(
                "A smoothed basis needs a positive definite inner kernel; this one is "
                "only conditionally so. Use Gaussian, for example."
            )
        sections = self.basis_.sections
        self.has_gram = self.basis_.has_gram and sections is not None
        self.kernel_ = None
        if sections is not None and self.has_gram:
            self.kernel_ = FredholmKernel(sections.kernel, self.smoother_)
        self.identity_penalty = self.basis_.identity_penalty
        self.features_ = None if self.has_gram else self._spread_features()

    def transform(self, X: Rows) -> Array:
        """Return phi_F(x), shape (b, p)."""
        if self.features_ is not None:
            return np.asarray(self.smoother_.weights(X) @ self.features_)
        kernel = self._kernel()
        return kernel.inner_sums(kernel.weights(X)).T  # a(x)'D H, as H is symmetric

    def penalty(self) -> Array:
        """Return the penalty of the inner basis."""
        return self.basis_.penalty()

    def function(self, theta: Array) -> Callable[[Rows], Array]:
        """Return x -> a(x)' (D phi(X) theta), which averages t numbers a row, not p."""
        return self.smoother_.function(self.at_rows(theta))

    def at_rows(self, theta: Array) -> Array:
        """Return D phi(X) theta, shape (n, t): the values to average."""
        return self.smoother_.spread(self._at_rows(self.basis_.function(theta)))

    @property
    def row_bytes(self) -> int:
        return self.smoother_.row_bytes + 16 * self.n_components_

    def gradient(self, X: Rows) -> Array:
        """Return the gradients, which act on the weights, shape (b, p, d).

        From the first call on, the values of the exact basis are stored too: n-by-n.
        """
        if self.features_ is None:
            self.features_ = self._spread_features()
        return self.smoother_.gradient(X, self.features_)

    def gram(self, chosen: Indices) -> Callable[[Rows], Array]:
        """Return x -> k_F(x, z) at the chosen rows."""
        rows = self.smoother_.rows_[chosen]
        return self._kernel().combination(rows, np.eye(len(chosen)))

    def lift(self, chosen: Indices, c: Array) -> Array:
        """Return D' A' c: weights on all rows, from those on the chosen ones."""
        return self._kernel().weights(self.smoother_.rows_[chosen], c)

    def prior_variance(self, X: Rows) -> Array:
        return self._kernel().diag(X)

    def _kernel(self) -> FredholmKernel:
        if self.kernel_ is None:
            raise TypeError(f"{self!r} has no kernel in closed form.")
        return self.kernel_

    def _spread_features(self) -> Array:
        """Return D phi(X), shape (n, p)."""
        return self.smoother_.spread(self._at_rows(self.basis_.transform))

    def _at_rows(self, function: Callable[[Rows], Array]) -> Array:
        """Return a function of the inner basis at the rows, by row blocks."""
        rows, row_bytes = self.smoother_.rows_, self.basis_.row_bytes
        return Stream.inherited().map(function, rows, row_bytes=row_bytes)


@dataclass(eq=False, repr=False)
class FredholmKernel(Kernel):
    """The kernel a(x)'D H D'a(z).

    Parameters
    ----------
    inner : Kernel
        h, with resolved parameters.
    smoother : Smoother
        Fitted on the rows to average over.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian, Linear
    >>> from halfmoon.smoothers import KernelWeights
    >>> smoother = KernelWeights(Gaussian(1.0)).fit([[0.0], [2.0]])
    >>> FredholmKernel(Linear(), smoother)([[1.0]])  # the mean of the rows is 1
    array([[1.]])
    """

    inner: Kernel
    smoother: Smoother

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Kernel):
            raise TypeError(
                f"inner is {self.inner!r}; a kernel of halfmoon.kernels is needed, "
                f"such as Gaussian(1.0)."
            )
        if not isinstance(self.smoother, Smoother):
            raise TypeError(
                f"smoother is {self.smoother!r}; a smoother that was fitted to the "
                f"rows to average over is needed. For an outer kernel, use "
                f"KernelWeights(kernel).fit(X)."
            )
        if self.inner.conditional_degree >= 0:
            raise ValueError(
                f"{self.inner!r} is only conditionally positive definite; an average "
                f"over the rows needs a positive definite inner kernel, such as "
                f"Gaussian or Linear."
            )

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """Return x -> a(x)'(D H D'A_Z'C), which averages t numbers for each row."""
        return self.smoother.function(self._averaged(self.weights(Z, C)))

    def sections(self, Z: Rows) -> Callable[[Rows], Array]:
        """Return x -> a(x)'(D H D'A_Z'), which holds n numbers for each row of Z."""
        return self.combination(Z, np.eye(Z.shape[0]))

    def weights(self, Z: Rows, C: Array | None = None) -> Array:
        """Return D'A_Z'C, shape (n, t), with C = I if None.

        The function k_F(x, Z) C is a(x)'D h(X, X) times these weights of all rows.
        """
        A = self.smoother.weights(Z)  # (p, n)
        if C is not None:
            return self.smoother.spread_adjoint(np.asarray(A.T @ C))
        dense = A.T if isinstance(A, np.ndarray) else A.T.toarray()
        return self.smoother.spread_adjoint(dense)

    def inner_sums(self, V: Array) -> Array:
        """Return H V, shape (n, t), with H by row blocks."""
        sections = Exact(self.inner).fit(self.smoother.rows_)
        return Stream.inherited().map(
            sections.function(V), sections.rows_, row_bytes=sections.row_bytes
        )

    def row_bytes(self, p: int) -> int:
        return self.smoother.row_bytes + super().row_bytes(p)

    def __sklearn_clone__(self) -> Any:
        """Copy the inner kernel and share the fitted smoother."""
        return replace(self, inner=clone(self.inner))

    def _value(self, X: Rows, Z: Rows) -> Array:
        if X.shape[0] < Z.shape[0]:
            return self._value(Z, X).T
        values = self._averaged(self.weights(Z))
        K = np.asarray(self.smoother.weights(X) @ values)
        return (K + K.T) / 2 if Z is X else K

    def _diag(self, X: Rows) -> Array:
        values = np.empty(X.shape[0])
        for start in range(0, X.shape[0], DIAGONAL_ROWS):  # V is n-by-b: keep b small
            rows = slice(start, start + DIAGONAL_ROWS)
            V = self.weights(X[rows])
            values[rows] = np.einsum("nb,nb->b", V, self.inner_sums(V))
        return values

    def _averaged(self, V: Array) -> Array:
        """Return D H V, shape (n, t)."""
        return self.smoother.spread(self.inner_sums(V))
