r"""Smoothed basis: any basis averaged over all rows, the first lever.

.. math:: phi_F(x) = \sum_j a_j(x) (D \, phi(X))_j

with the weights a and the further steps D of a smoother. The penalty is that of the
inner basis. With kernel weights and the exact basis of a kernel h this is the kernel

.. math:: k_F(x, z) = \sum_{ij} a_i(x) h(x_i, x_j) a_j(z)

of Que, Belkin, Wang, "Learning with Fredholm kernels", 2014, equations 2 and 6
(`_fredholm_kernel.py`), and no n-by-n matrix is formed. For other bases, the n-by-p
values of the basis at the rows are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from halfmoon._cloning import unfitted_copy
from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon.bases._base import Basis
from halfmoon.bases._exact import Exact
from halfmoon.bases._fredholm_kernel import FredholmKernel
from halfmoon.blocks import Stream
from halfmoon.smoothers import KernelWeights, Smoother

__all__ = ["Smoothed"]


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
        return self

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
