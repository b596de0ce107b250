r"""Laplacian eigenmaps that are functions, so that they extend to new rows.

.. math:: Sigma u = s \, (L + mu K) \, u, \quad g(x) = phi(x)'u - mean

with Sigma the covariance of the basis over the rows, L its energy and K its norm. The
functions g vary as much as possible for their energy: little where rows are dense, and
most across the gaps between them. Cabannes, Pillaud-Vivien, Bach, Rudi,
"Overcoming the curse of dimensionality with Laplacian regularization", 2021, equation
7 and figure 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfmoon._estimators.parameters import RULES
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._moments import energy_matrix
from halfmoon._rows import EPS, Array, Rows
from halfmoon._sklearn_conventions import (
    Rule,
    as_generator,
    is_name,
    is_positive,
    is_whole,
    unfitted_copy,
)
from halfmoon._transformers.kernel_features import KernelTransformer, features_kernel
from halfmoon._whitening import Whitening, whitening
from halfmoon.bases import Basis, WithDerivatives

__all__ = ["LaplacianEigenmaps"]

EIGENMAP_LANDMARKS = 1_000  # by default: their p^3 work takes a second or two
TIE = 1e-6  # relative difference below which values count as equally large


@dataclass(eq=False, repr=False)
class LaplacianEigenmaps(KernelTransformer):
    """The functions with the least energy for their variance, smoothest first.

    Over the fitted rows each has mean 0 and variance 1, and no two are correlated. The
    constant, which has no energy, is omitted. Each is positive at the first of the rows
    where its absolute value is largest. O(n p^2 + p^3) time for p functions in the
    basis, O(p^2) memory in addition to the row blocks.

    Parameters
    ----------
    n_components : int
        Number of functions. Fewer, with a warning, if fewer in the basis vary.
    kernel : Kernel, str or callable
        Its length scale is the width of the gaps that are noticed.
    mu : float or None
        Weight of the norm next to the energy, above 0; None is 1 / n.
    energy : {"gradient", "graph"} or sparse matrix
        The mean squared gradient over the rows; squared differences along the edges of
        a self-tuned graph of 10 neighbors; or along those of a graph given by its
        Laplacian over the rows.
    basis : {"landmarks", "derivatives"} or Basis
        Kernel sections at landmarks; or kernel sections and their derivatives at every
        row, for small n (n (d + 1) functions); or a basis of `halfmoon.bases`, such as
        one smoothed by neighbors, which replaces `kernel`, `n_landmarks` and
        `landmarks`.
    n_landmarks : int or None
        None is all rows, but at most 1,000.
    landmarks : {"rpcholesky", "uniform", "kmeans++", "leverage"} or array
        How landmarks are chosen; or their row numbers; or the landmarks themselves.
    memory_limit : int or str
        Memory for fitting and transforming, in addition to tables and features.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        s, descending: the variance of each function divided by its energy plus mu times
        its squared norm, so that 1 / s estimates an eigenvalue of the Laplacian.
    eigenvectors_ : ndarray of shape (p, n_components)
        u, scaled to unit variance.
    mean_ : ndarray of shape (n_components,)
        Mean of phi(x)'u over the fitted rows.
    basis_ : Basis
        Fitted.
    mu_ : float

    Notes
    -----
    Kernel sections alone cannot be flat both across a curve and along it, so rows on
    curves or sheets may need derivatives. On four concentric circles the functions that
    are constant on each circle come first with derivatives, but not with landmarks,
    even if every row is a landmark.

    Examples
    --------
    On an interval the functions are cosines, and 1 / s the squares of their rates:

    >>> from halfmoon.kernels import Gaussian
    >>> X = (np.arange(200)[:, None] + 0.5) / 200
    >>> maps = LaplacianEigenmaps(3, Gaussian(0.1), mu=1e-9, random_state=0).fit(X)
    >>> (np.sqrt(1 / maps.eigenvalues_) / np.pi).round(2)
    array([1., 2., 3.])
    """

    n_components: int = 2
    kernel: Any = "gaussian"
    mu: float | None = None
    energy: Any = "gradient"
    basis: Any = "landmarks"
    n_landmarks: int | None = None
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        name: RULES[name] for name in ("energy", "landmarks", "memory_limit")
    }

    def _build(self, X: Rows) -> None:
        n = X.shape[0]
        self._check_numbers()
        self.basis_ = self._new_basis(n).fit(X, as_generator(self.random_state))
        self._refuse_large_basis("Use fewer landmarks")
        rows = self._rows_of_sums(X)
        self.mu_ = 1.0 / rows.shape[0] if self.mu is None else float(self.mu)
        mean = self._mean(rows)
        L = energy_matrix(self.energy, self.basis_, rows, self._stream)
        root = whitening(L + self.mu_ * self.basis_.penalty())
        Sigma = self._whitened_covariance(rows, mean, root)
        s, vectors = np.linalg.eigh(Sigma)
        s, vectors = np.maximum(s[::-1], 0.0), vectors[:, ::-1]

        # Below this, the variance is rounding error from subtracting the mean.
        noise = EPS * len(mean) * (s[0] + (root.whiten(mean[None]) ** 2).sum())
        k = self._cap(int((s > noise).sum()))
        u = root.unwhiten(vectors[:, :k])
        self.eigenvalues_, self._n_features_out = s[:k], k
        function = self.basis_.function(u)
        values = self._stream.map(function, X, row_bytes=self._row_bytes)  # (n, k)
        self.mean_, deviation = values.mean(axis=0), values.std(axis=0)
        if rows is not X:
            self.mean_, deviation = self._spread(function, self.mean_, rows)
        scale = _signs(values - self.mean_) / deviation
        self.eigenvectors_ = u * scale
        self.mean_ *= scale

    def _rows_of_sums(self, X: Rows) -> Any:
        """Return all rows in partitions for the energy of gradients, otherwise X.

        A neighbor graph is built on X, the rows in memory.
        """
        by_gradients = is_name(self.energy, "gradient")
        return X if self._all_rows is None or not by_gradients else self._all_rows

    def _spread(
        self, function: Callable[[Rows], Array], center: Array, rows: Any
    ) -> tuple[Array, Array]:
        """Return mean and standard deviation of functions over partitions, (k,)."""

        def moments(block: Rows) -> tuple[Array, Array]:
            centered = function(block) - center
            return centered.sum(axis=0), (centered**2).sum(axis=0)

        first, second = self._stream.sum(moments, rows, row_bytes=self._row_bytes)
        n = rows.shape[0]
        return center + first / n, np.sqrt(second / n - (first / n) ** 2)

    def _function(self) -> Callable[[Rows], Array]:
        values = self.basis_.function(self.eigenvectors_)
        return lambda X: values(X) - self.mean_

    def _new_basis(self, n: int) -> Basis:
        if isinstance(self.basis, Basis):
            return unfitted_copy(self.basis)
        if self.basis == "derivatives":
            return WithDerivatives(features_kernel(self.kernel))
        if self.basis == "landmarks":
            default = min(n, EIGENMAP_LANDMARKS)
            p = default if self.n_landmarks is None else self.n_landmarks
            return self._landmark_basis("kernel", p)
        raise ValueError(
            f"basis is {self.basis!r}; 'landmarks', 'derivatives' or a basis of "
            f"halfmoon.bases is needed."
        )

    def _mean(self, X: Rows) -> Array:
        """Return the mean of the basis over the rows, shape (p,)."""
        total: Array = self._stream.sum(
            lambda rows: self.basis_.transform(rows).sum(axis=0),
            X,
            row_bytes=self.basis_.row_bytes,
        )
        return total / X.shape[0]

    def _whitened_covariance(self, X: Rows, mean: Array, root: Whitening) -> Array:
        """Return R^-T Sigma R^-1, from features that are centered and whitened first.

        Sigma itself would lose small variances next to large means to rounding, and
        whitening would then magnify the rounding errors.
        """

        def products(rows: Rows) -> tuple[Array, Array, Array]:
            Phi = self.basis_.transform(rows) - mean
            white = root.whiten(Phi)
            unseen = (Phi @ root.null) ** 2
            return white.T @ white, unseen.sum(axis=0), (Phi**2).sum()

        row_bytes = self.basis_.row_bytes + 32 * len(mean)
        Sigma, unseen, whole = self._stream.sum(products, X, row_bytes=row_bytes)
        # If the kernel matrix is 0 to rounding in a direction, squares are about eps.
        unpenalized = int((unseen > np.sqrt(EPS) * whole).sum())
        if unpenalized:
            raise ValueError(
                f"mu={self.mu_:.3g} is 0 to rounding compared with the energy: "
                f"{unpenalized} function(s) that vary over the rows have no penalty. "
                f"Raise mu."
            )
        return np.asarray(Sigma / X.shape[0])

    def _check_numbers(self) -> None:
        k, p, mu = self.n_components, self.n_landmarks, self.mu
        if not is_whole(k):
            raise ValueError(f"n_components is {k!r}; 1, 2, 3, ... is needed.")
        if not (p is None or is_whole(p)):
            raise ValueError(
                f"n_landmarks is {p!r}; 1, 2, 3, ... is needed, or None for all rows "
                f"up to {EIGENMAP_LANDMARKS}."
            )
        if not (mu is None or (is_positive(mu) and mu < np.inf)):
            raise ValueError(
                f"mu is {mu!r}; a number above 0, or None for 1 / n, is needed: "
                f"without the norm, functions that are 0 at all rows have no penalty."
            )

    def _cap(self, rank: int) -> int:
        if rank == 0:
            raise ValueError(
                "No function of the basis varies over the rows: they are all equal, or "
                "the length scale is far too large. Use other rows or a smaller length "
                "scale."
            )
        k = int(self.n_components)
        if k > rank:
            warnings.warn(
                f"Only {rank} function(s) of the basis vary over the rows beyond "
                f"rounding, so n_components is lowered from {k} to {rank}. Use more "
                f"landmarks or a smaller length scale.",
                stacklevel=4,
            )
        return min(k, rank)


def _signs(values: Array) -> Array:
    """Return the sign of each column at the first row of largest absolute value.

    Absolute values that are equal to rounding count as equal, so that the sign is not
    random for symmetric rows.
    """
    size = np.abs(values)
    first = (size >= (1 - TIE) * size.max(axis=0)).argmax(axis=0)
    return np.sign(values[first, np.arange(values.shape[1])])
