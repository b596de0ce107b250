"""Base class of the transformers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from halfmoon._memory import format_bytes, parse_bytes
from halfmoon._partitions.estimator_methods import (
    answers_by_partition,
    fits_by_partition,
)
from halfmoon._partitions.partitioned_rows import PartitionedRows, all_rows_of
from halfmoon._rows import Array, Rows, as_table, refuse_extreme
from halfmoon._validation import checked_rows
from halfmoon._whitening import whitening
from halfmoon.bases import Basis, Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.kernels._user_kernels import Precomputed, as_kernel

__all__ = ["KernelTransformer", "features_kernel", "rows_kernel"]

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
    _n_features_out: int

    @fits_by_partition
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the features to rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : None
            Not used; accepted so that pipelines work.
        """
        X = self._table(X, reset=True, ensure_min_samples=2)
        refuse_extreme(X)
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

    def _landmark_basis(self, kernel: Any, p: int | None) -> Nystrom:
        """Return the basis at p landmarks, for the parameter `kernel` of a subclass."""
        chosen_by = self.landmarks
        return Nystrom(features_kernel(kernel), p, chosen_by, self.memory_limit)

    def _function(self) -> Callable[[Rows], Array]:
        return lambda X: self._whitening.whiten(self.basis_.transform(X))

    def _whiten_basis(self) -> None:
        """Whiten the basis by its penalty, and truncate it at the numerical rank."""
        self._refuse_large_basis("Lower n_components")
        self._whitening = whitening(self.basis_.penalty())
        self.rank_ = self._n_features_out = self._whitening.rank

    @property
    def _all_rows(self) -> PartitionedRows | None:
        """The whole table, while the basis is fitted to a sample of its partitions."""
        return all_rows_of(self)

    @property
    def _stream(self) -> Stream:
        return Stream(self.memory_limit, client=Stream.inherited().client)

    @property
    def _row_bytes(self) -> int:
        return self.basis_.row_bytes + 24 * self._n_features_out

    def _table(self, X: Any, **options: Any) -> Rows:
        dtype = [np.float64, np.float32]
        return as_table(
            checked_rows(self, X, accept_sparse="csr", dtype=dtype, **options)
        )

    def _refuse_large(self, needed: int, what: str, advice: str) -> None:
        """Raise if `needed` bytes are more than `memory_limit`."""
        if needed > parse_bytes(self.memory_limit):
            raise MemoryError(
                f"{what} {format_bytes(needed)}, beyond memory_limit="
                f"{self.memory_limit!r}. {advice}, or raise memory_limit."
            )

    def _refuse_large_basis(self, advice: str) -> None:
        p = self.basis_.n_components_
        self._refuse_large(
            8 * BASIS_MATRICES * p**2, f"The matrices of {p} functions take", advice
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def rows_kernel(kernel: Any) -> Kernel:
    """Return the kernel for a parameter; it must be a function of rows."""
    kernel = as_kernel(kernel)
    if isinstance(kernel, Precomputed):
        raise ValueError(
            "kernel is 'precomputed', but a transformer needs rows, not a kernel "
            "matrix. Give an object of halfmoon.kernels or a function of two tables."
        )
    return kernel


def features_kernel(kernel: Any) -> Kernel:
    """Return the kernel for a parameter; it must be an inner product of features."""
    kernel = rows_kernel(kernel)
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"{kernel!r} is only conditionally positive definite; an inner product of "
            f"features is positive definite. Use Gaussian, Laplace, Matern or another "
            f"positive definite kernel."
        )
    return kernel
