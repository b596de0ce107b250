"""Rows: tables of numbers, dense or CSR, and their checks.

A row is a point in R^d. Rows are stored in the user's own dtype (float32, float64,
integers, a memory map, CSR). Computations convert them to float64, one row block at a
time, so that memory stays small and numerics accurate.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = [
    "EPS",
    "Array",
    "Indices",
    "Rows",
    "as_dense_rows",
    "as_rows",
    "as_table",
    "as_targets",
    "as_weights",
    "inner_products",
    "largest_entry",
    "refuse_equal_rows",
    "refuse_extreme",
    "refuse_extreme_targets",
    "refuse_non_finite",
    "refuse_range",
    "rows_with_targets",
    "some_rows",
]

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]  # row numbers
Rows: TypeAlias = Any  # (n, d): ndarray, memory map or scipy.sparse of any real dtype

EPS = float(np.finfo(np.float64).eps)  # relative rounding of the numbers of an Array
SLICE_ENTRIES = 2**20  # read at once when a whole table is checked
MAX_ENTRY = 1e75  # its fourth power is still finite
MAX_NEW_ENTRY = 1e150  # its square is still finite
MAX_TARGET = 1e140  # the sum of squares of many is still finite


def as_table(X: Rows, *, name: str = "X") -> Rows:
    """Return rows as a 2-D, non-empty array or CSR array, in their own dtype.

    A memory map stays one and is not read.
    """
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(_unmasked(X, name))
    if X.ndim != 2:
        raise ValueError(
            f"{name} has shape {X.shape}; a table of rows and columns is needed. "
            f"Reshape your data with {name}.reshape(-1, 1) for a single column or "
            f"{name}.reshape(1, -1) for a single row."
        )
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"{name} has {X.shape[0]} row(s) and {X.shape[1]} column(s); at least one "
            f"of each is needed."
        )
    return X


def as_rows(X: Rows, *, name: str = "X") -> Rows:
    """Return rows as a 2-D, non-empty, finite float64 array or CSR array.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    name : str
        Name of the rows in an error.

    Returns
    -------
    ndarray or csr_array of shape (n, d), float64
        The input itself if it already has this form.
    """
    X = as_table(X, name=name)
    if X.dtype != np.float64:
        X = _as_float(X, name)
    refuse_non_finite(X, name=name)
    return X


def as_dense_rows(X: Rows) -> Array:
    """Return rows as a dense float64 array, also from CSR: for small n."""
    X = as_rows(X)
    return cast(Array, X.toarray() if sp.issparse(X) else X)


def _as_float(X: Rows, name: str) -> Rows:
    if X.dtype.kind == "c":
        raise ValueError(
            f"{name} is complex; real numbers are needed. Use the real and the "
            f"imaginary parts as separate columns."
        )
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} of dtype {X.dtype} cannot be read as numbers ({error}). Encode "
            f"text and categories as numbers first."
        ) from error


def _unmasked(values: Any, name: str) -> Any:
    """Return values; refuse a masked array, whose mask NumPy would drop silently."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} has {int(values.mask.sum()):,} masked entries; numbers "
            f"are needed. Impute them (sklearn.impute) or drop those rows."
        )
    return values


def refuse_non_finite(X: Rows, *, name: str = "X") -> None:
    """Raise a ValueError that names the first NaN or infinity, if there is one.

    Parameters
    ----------
    X : array or CSR array of any dtype, or a memory map, which is read in slices
    name : str
    """
    if X.dtype.kind in "biu":
        return
    step = max(1, SLICE_ENTRIES // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        if block.dtype.kind != "f":
            block = _as_float(block, name)
        values = block.data if sp.issparse(block) else block
        if not np.isfinite(values).all():
            bad = ~np.isfinite(block.toarray() if sp.issparse(block) else block)
            row, column = np.argwhere(bad)[0]
            what = "NaN" if np.isnan(block[row, column]) else "infinity"
            raise ValueError(
                f"{name} contains NaN or infinity, first {what} in row {start + row}, "
                f"column {column}; finite numbers are needed. Impute the missing "
                f"values (sklearn.impute) or drop those rows."
            )


def refuse_extreme(X: Rows, *, new: bool = False) -> None:
    """Raise a ValueError if fourth powers of entries leave the range of float64.

    New rows may lie far away, where only their squared distances must be finite.
    """
    largest = largest_entry(X)
    if not new or largest > MAX_NEW_ENTRY:
        refuse_range(largest)


def largest_entry(X: Rows) -> float:
    """Return the largest absolute entry; 0 if there is none."""
    values = X.data if sp.issparse(X) else X
    step = max(1, SLICE_ENTRIES // (1 if values.ndim == 1 else values.shape[1]))
    largest = 0.0
    for start in range(0, values.shape[0], step):
        block = values[start : start + step]
        if block.dtype.kind in "fiu":
            largest = max(largest, float(np.abs(block.astype(np.float64)).max()))
    return largest


def refuse_range(largest: float) -> None:
    """Raise a ValueError if the largest entry to the fourth over- or underflows."""
    if largest > MAX_ENTRY or 0 < largest < 1 / MAX_ENTRY:
        raise ValueError(
            f"The largest entry of X is {largest:.0e}, and powers of it leave the "
            f"range of floating-point numbers. Rescale the columns, for example with "
            f"sklearn.preprocessing.StandardScaler."
        )


def refuse_equal_rows(X: Rows) -> None:
    """Raise a ValueError if all rows are equal: there is nothing to compare."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(low):
        low, high = low.toarray(), high.toarray()
    if np.array_equal(low, high):
        raise ValueError(
            f"All rows of X are equal (n_samples = {X.shape[0]}); at least two "
            f"rows that differ are needed. Check that the columns were read correctly."
        )


def as_targets(y: Any, n: int) -> Array:
    """Return targets as a float64 array of shape (n, t), NaN for unlabeled rows."""
    y = _as_numbers(y, "y")
    if y.ndim not in (1, 2) or y.shape[0] != n or y.size == 0:
        raise ValueError(
            f"y has shape {y.shape}, but X has {n} rows; one target, or one row of "
            f"targets, is needed for each row, NaN if it is unlabeled."
        )
    refuse_extreme_targets(y)
    return y.reshape(n, -1)


def refuse_extreme_targets(y: Array) -> None:
    """Raise a ValueError if targets, or their squares, leave the range of float64."""
    largest = float(np.nanmax(np.abs(y), initial=0.0))
    if np.isinf(largest):
        raise ValueError("y contains infinity; finite numbers, or NaN, are needed.")
    if largest > MAX_TARGET or 0 < largest < 1 / MAX_TARGET:
        raise ValueError(
            f"The largest number in y is {largest:.0e}, and its square leaves the "
            f"range of floating-point numbers. Use another unit for y."
        )


def some_rows(
    X: Rows,  # (n, d)
    size: int,
    rng: np.random.Generator | int | None = None,
) -> Rows:
    """Return at most `size` random rows, in their order."""
    if X.shape[0] <= size:
        return X
    chosen = np.random.default_rng(rng).choice(X.shape[0], size, replace=False)
    return X[np.sort(chosen)]


def rows_with_targets(y: Array) -> Indices:
    """Return the numbers of rows with all targets; raise if a row has only some."""
    missing = np.isnan(y)
    partly = missing.any(axis=1) & ~missing.all(axis=1)
    if partly.any():
        raise ValueError(
            f"{int(partly.sum())} row(s) have some of their targets but not all, "
            f"first row {int(partly.argmax())}; all or none are needed. Use a "
            f"regressor, which fits outputs with gaps, or fit each target by itself."
        )
    return np.flatnonzero(~missing.any(axis=1))


def as_weights(sample_weight: Any, n: int) -> Array:
    """Return row weights as a float64 array of shape (n,); ones if None."""
    if sample_weight is None:
        return np.ones(n)
    w = _as_numbers(sample_weight, "sample_weight")
    w = np.full(n, float(w)) if w.ndim == 0 else w
    if w.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {w.shape}; one number for each of the {n} rows "
            f"is needed."
        )
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return w


def _as_numbers(values: Any, name: str) -> Array:
    if name == "y" and np.ma.is_masked(values):  # a masked target is a missing one
        values = np.ma.filled(values.astype(np.float64), np.nan)
    values = _unmasked(values, name)
    if getattr(getattr(values, "dtype", None), "kind", "f") in "mM":
        raise ValueError(
            f"{name} has dates or times ({values.dtype}); numbers are needed. Give "
            f"them in a unit, such as ({name} - {name}.min()) / np.timedelta64(1, 'D')."
        )
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} cannot be read as numbers ({error}). Encode classes as numbers, "
            f"one column for each, first."
        ) from error


def inner_products(X: Rows, Z: Rows) -> Array:
    """Return X Z' as a dense array; CSR rows are never densified."""
    C = X @ Z.T
    return cast(Array, C.toarray() if sp.issparse(C) else np.asarray(C))
