"""What the transformers share: tables in, blocks of rows, tables out."""

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

from halfmoon.bases import Basis
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.kernels.given import Precomputed
from halfmoon.kernels.names import as_kernel
from halfmoon.memory import format_bytes, parse_bytes
from halfmoon.partitions.methods import answers_by_partition, fits_by_partition
from halfmoon.partitions.table import PartitionedRows, rows_behind
from halfmoon.rows import Array, Rows, as_table, refuse_extreme
from halfmoon.validation import checked_rows

__all__ = ["KernelTransformer", "features_kernel", "rows_kernel"]

MATRICES = 4  # of size p-by-p, held at once while they are factored


class KernelTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Functions of a row, built from a table without labels.

    A subclass writes `_build`, which leaves a fitted basis in ``basis_`` and the number
    of features in ``_n_features_out``, and `_function`, which gives the features as a
    function of a block of rows. Rows and features are float32 where the table is; what
    lies between is float64, a block at a time.
    """

    memory_limit: int | str
    basis_: Basis
    _n_features_out: int

    @fits_by_partition
    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the features from rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : None
            Not used; there so that pipelines work.
        """
        X = self._table(X, reset=True, ensure_min_samples=2)
        refuse_extreme(X)
        with self._stream.handed_down():
            self._build(X)
        return self

    @answers_by_partition
    def transform(self, X: Any) -> Any:
        """Features of any rows.

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

    @abstractmethod
    def _function(self) -> Callable[[Rows], Array]: ...

    @property
    def _all_rows(self) -> PartitionedRows | None:
        """The whole table, while it is fitted to a part of rows in partitions."""
        return rows_behind(self)

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
        """Raise an error before `needed` bytes are taken, if they are too many."""
        if needed > parse_bytes(self.memory_limit):
            raise MemoryError(
                f"{what} {format_bytes(needed)}, beyond memory_limit="
                f"{self.memory_limit!r}. {advice}, or raise memory_limit."
            )

    def _refuse_large_basis(self, advice: str) -> None:
        p = self.basis_.n_components_
        self._refuse_large(
            8 * MATRICES * p**2, f"The matrices of {p} functions take", advice
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def rows_kernel(kernel: Any) -> Kernel:
    """The kernel that a parameter stands for, which must be a function of rows."""
    kernel = as_kernel(kernel)
    if isinstance(kernel, Precomputed):
        raise ValueError(
            "A transformer takes rows, not a precomputed kernel matrix. Give the "
            "kernel as an object of halfmoon.kernels or as a function of two tables."
        )
    return kernel


def features_kernel(kernel: Any) -> Kernel:
    """The same, of a kernel that is to be an inner product of features."""
    kernel = rows_kernel(kernel)
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"{kernel!r} is only conditionally positive definite, so it is no inner "
            f"product of features. Use Gaussian, Laplace, Matern or another positive "
            f"definite kernel."
        )
    return kernel
