r"""Features whose inner products are a kernel, or near it: for any estimator.

.. math::
    Nystrom:  phi(x) &= R^{-T} k(Z, x), \quad R'R = K_{ZZ}, \quad
              phi(x)'phi(z) = k(x, Z) K_{ZZ}^+ k(Z, z) \\
    Fredholm: phi(x) &= \sum_j a_j(x) \, R^{-T} h(Z, x_j), \quad R'R = h(Z, Z) \\
    random:   phi_a(x) &= sigma(w_a'x + b_a) / \sqrt m, \quad
              E \, phi(x)'phi(z) = k(x, z)

Nystrom's inner product equals the kernel if x or z is a landmark, and is never larger
on the diagonal. Fredholm's is the kernel :math:`\sum_{ij} a_i(x) h(x_i, x_j) a_j(z)`
with h replaced by its Nystrom approximation: Que, Belkin, Wang, "Learning with Fredholm
kernels", 2014, equations 2 and 6. If every row is a landmark, both are exact at all
rows. `halfmoon.bases.RandomFeatures` says which random functions suit which kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from halfmoon import bases
from halfmoon._estimators.parameters import RULES
from halfmoon._landmarks.sampling import as_count
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._partitioned_rows import PartitionedRows
from halfmoon._partitions.estimator_methods import (
    answers_by_partition,
    fit_by_partition,
)
from halfmoon._rows import (
    Array,
    Rows,
    as_table,
    checked_rows,
    is_in_partitions,
    refuse_extreme,
)
from halfmoon._sklearn_conventions import WHOLE, Rule, as_generator, check_parameters
from halfmoon._whitening import whitening
from halfmoon.bases import Basis, Nystrom, Smoothed
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.kernels._user_kernels import Precomputed, as_kernel
from halfmoon.smoothers import KernelWeights, Smoother

__all__ = [
    "FredholmFeatures",
    "KernelTransformer",
    "NystromFeatures",
    "RandomFeatures",
    "features_kernel",
    "rows_kernel",
]

BASIS_MATRICES = 4  # p-by-p matrices held at once while they are factored


class KernelTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Base class: features of a row, fitted to a table without labels.

    A subclass implements `_build`, which stores a fitted basis in ``basis_`` and the
    number of features in ``_n_features_out``. It may override `_function`, which
    returns the features as a function of a row block: by default the basis, whitened.
    Features are float32 if the table is, but computed in float64, block by block.
    """

    landmarks: Any
    memory_limit: int | str
    basis_: Basis

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES

    #: The whole table, while the basis is fitted to a sample of its partitions.
    _all_rows: PartitionedRows | None = None
    _n_features_out: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the features to rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : None
            Not used; accepted so that pipelines work.
        """
        if is_in_partitions(X):
            fit_by_partition(KernelTransformer.fit, self, X, y)
            return self
        X = self._table(X, reset=True, ensure_min_samples=2)
        with self._stream.handed_down():
            self._build(X)
        return self

    @answers_by_partition
    def transform(self, X: Any) -> Any:
        """Return the features of any rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b, n_features_out), or a data frame if `set_output` says so
        """
        check_is_fitted(self)
        X = self._table(X, reset=False)
        with self._stream.handed_down():
            features = self._function()
        return self._stream.map(
            lambda rows: features(rows).astype(X.dtype, copy=False),
            X,
            row_bytes=self._row_bytes,
        )

    @abstractmethod
    def _build(self, X: Rows) -> None: ...

    def _landmark_basis(self, parameter: str, p: int | None) -> Nystrom:
        """Return the basis at p landmarks, for the kernel that is a parameter."""
        kernel = features_kernel(getattr(self, parameter), parameter)
        return Nystrom(kernel, p, self.landmarks, self.memory_limit)

    def _function(self) -> Callable[[Rows], Array]:
        return lambda X: self._whitening.whiten(self.basis_.transform(X))

    def _whiten_basis(self) -> None:
        """Whiten the basis by its penalty, and truncate it at the numerical rank."""
        self._refuse_large_basis("Lower n_components")
        self._whitening = whitening(self.basis_.penalty())
        self.rank_ = self._n_features_out = self._whitening.rank

    @property
    def _stream(self) -> Stream:
        return Stream(self.memory_limit, client=Stream.inherited().client)

    @property
    def _row_bytes(self) -> int:
        return self.basis_.row_bytes + 24 * self._n_features_out

    def _table(self, X: Any, *, reset: bool, **options: Any) -> Rows:
        if reset:
            check_parameters(self, self._parameter_rules)
        options |= {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        X = as_table(checked_rows(self, X, reset=reset, **options))
        refuse_extreme(X, new=not reset)
        return X

    def _refuse_large_basis(self, advice: str) -> None:
        p = self.basis_.n_components_
        self._stream.require(
            8 * BASIS_MATRICES * p**2,
            f"The matrices of {p} functions take",
            f"{advice}, or raise memory_limit.",
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def rows_kernel(kernel: Any, parameter: str = "kernel") -> Kernel:
    """Return the kernel for a parameter; it must be a function of rows."""
    kernel = as_kernel(kernel, parameter=parameter)
    if isinstance(kernel, Precomputed):
        raise ValueError(
            f"{parameter} is 'precomputed', but a transformer needs rows, not a kernel "
            f"matrix. Give an object of halfmoon.kernels or a function of two tables."
        )
    return kernel


def features_kernel(kernel: Any, parameter: str = "kernel") -> Kernel:
    """Return the kernel for a parameter; it must be an inner product of features."""
    kernel = rows_kernel(kernel, parameter)
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"{kernel!r} is only conditionally positive definite; an inner product of "
            f"features is positive definite. Use Gaussian, Laplace, Matern or another "
            f"positive definite kernel."
        )
    return kernel


@dataclass(eq=False, repr=False)
class NystromFeatures(KernelTransformer):
    """Features whose inner products are the Nystrom approximation of a kernel.

    ``transform(X) @ transform(Z).T`` is about ``kernel(X, Z)``. Fitting takes
    O(n p^2 + p^3) time, transforming O(p^2 + p d) for each row.

    Parameters
    ----------
    kernel : Kernel, str or callable
        An object of `halfmoon.kernels`, its name, or a function of two tables.
    n_components : int or None
        p, the number of landmarks; None, or more than the number of rows, is every row.
    landmarks : {"rpcholesky", "uniform", "kmeans++", "leverage"} or array
        How landmarks are chosen; or their row numbers; or the landmarks themselves.
    memory_limit : int or str
        Memory for fitting and transforming, in addition to tables and features.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    landmarks_ : array or CSR of shape (p, d)
    kernel_ : Kernel
        With its length scale as a number.
    rank_ : int
        Number of features: the numerical rank of the kernel at the landmarks.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> X = [[0.0], [1.0], [2.0]]
    >>> Phi = NystromFeatures(Gaussian(1.0)).fit_transform(X)
    >>> (Phi @ Phi.T).round(3)  # exp(-1/2), exp(-2)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """

    kernel: Any = "gaussian"
    n_components: int | None = 100
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    def _build(self, X: Rows) -> None:
        basis = self._landmark_basis("kernel", self.n_components)
        self.basis_ = basis.fit(X, as_generator(self.random_state))
        self._whiten_basis()
        self.kernel_, self.landmarks_ = basis.sections


@dataclass(eq=False, repr=False)
class FredholmFeatures(KernelTransformer):
    """Features whose inner products are the Fredholm kernel of the fitted rows.

    The average removes directions in which nearby rows differ. So features fitted on
    many rows, labeled or unlabeled, are less noisy than those of the inner kernel.
    Fitting takes O(n p^2 + p^3) time and keeps n-by-p numbers; transforming takes
    O(n (p + d)) time for each row with kernel weights.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The outer kernel k, which gives the weights a; it need not be positive definite.
    inner_kernel : Kernel, str or callable
        The inner kernel h.
    normalize : bool
        a_j(x) = k(x, x_j) / sum_m k(x, x_m); if False, k(x, x_j) / n.
    smoother : Smoother or None
        `Neighbors` or `Diffusion` of `halfmoon.smoothers`, in place of the weights by
        `kernel` and `normalize`.
    n_components : int or None
        p, the number of landmarks; None, or more than the number of rows, is every row.
    landmarks : {"rpcholesky", "uniform", "kmeans++", "leverage"} or array
        How landmarks are chosen; or their row numbers; or the landmarks themselves.
    memory_limit : int or str
        Memory for fitting and transforming, in addition to tables and features.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    landmarks_ : array or CSR of shape (p, d)
    smoother_ : Smoother
        Fitted; with kernel weights, its ``kernel_`` has its length scale as a number.
    inner_kernel_ : Kernel
    rank_ : int
        Number of features: the numerical rank of h at the landmarks.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> features = FredholmFeatures(Gaussian(1.0), Gaussian(1.0)).fit(X)
    >>> Phi = features.transform([[-0.5], [0.6], [4.0]])
    >>> (Phi @ Phi.T).round(2)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    kernel: Any = "gaussian"
    inner_kernel: Any = "gaussian"
    normalize: bool = True
    smoother: Any = None
    n_components: int | None = 100
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    def _build(self, X: Rows) -> None:
        n, p = X.shape[0], self._count(X.shape[0])
        self._stream.require(
            16 * n * p,  # the values, and the row blocks that they are stacked from
            f"Values of {p} functions at {n} rows take",
            "Lower n_components, fit on fewer rows, or raise memory_limit.",
        )
        inner = self._landmark_basis("inner_kernel", self.n_components)
        basis = Smoothed(inner, self._smoother())
        self.basis_ = basis.fit(X, as_generator(self.random_state))
        self._whiten_basis()
        self.inner_kernel_, self.landmarks_ = cast(Nystrom, basis.basis_).sections
        self.smoother_ = basis.smoother_

    def _smoother(self) -> Smoother:
        if self.smoother is None:
            return KernelWeights(rows_kernel(self.kernel), self.normalize)
        if not isinstance(self.smoother, Smoother):
            raise ValueError(
                f"smoother is {self.smoother!r}; None, or a smoother such as "
                f"halfmoon.smoothers.Neighbors(10), is needed."
            )
        return self.smoother

    def _count(self, n: int) -> int:
        """Return the number of landmarks, before they are chosen."""
        if not isinstance(self.landmarks, str):
            return int(np.shape(self.landmarks)[0])
        return n if self.n_components is None else as_count(self.n_components, n)


@dataclass(eq=False, repr=False)
class RandomFeatures(KernelTransformer):
    """Random features whose inner products approximate a kernel.

    ``transform(X) @ transform(Z).T`` is ``kernel(X, Z)`` with an error of the order
    1 / sqrt(n_components). O(d) time for each row and feature.

    Parameters
    ----------
    kernel : Kernel or str
        Gaussian, Laplace, Matern, or NNGP of depth 1.
    n_components : int
        Number of features. For the first three kernels they are pairs of a cosine and a
        sine, so an odd number is raised by one.
    memory_limit : int or str
        Memory for transforming, in addition to tables and features.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    kernel_ : Kernel
        With its length scale as a number.
    directions_ : ndarray of shape (m, d)
        w, a row for each function or pair.
    biases_ : ndarray of shape (m,)
        b; 0 for cosines and sines.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> Phi = RandomFeatures(Gaussian(1.0), 10_000, random_state=0).fit_transform(
    ...     [[0.0], [1.0]]
    ... )
    >>> (Phi @ Phi.T).round(1)  # exp(-1/2) off the diagonal
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    kernel: Any = "gaussian"
    n_components: int = 100
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES | {"n_components": WHOLE}

    def _build(self, X: Rows) -> None:
        kernel = features_kernel(self.kernel)
        basis = bases.RandomFeatures(kernel, self.n_components)
        self.basis_ = basis.fit(X, as_generator(self.random_state))
        self.kernel_ = basis.kernel_
        self.directions_, self.biases_ = basis.directions_, basis.biases_
        self._n_features_out = self.basis_.n_components_

    def _function(self) -> Callable[[Rows], Array]:
        return self.basis_.transform
