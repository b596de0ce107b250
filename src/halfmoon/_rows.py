"""Rows: tables of numbers, dense or CSR, and their checks.

A row is a point in R^d. Rows are stored in the user's own dtype (float32, float64,
integers, a memory map, CSR). Computations convert them to float64, one row block at a
time, so that memory stays small and numerics accurate.

Estimators need numbers. For text and missing cells in the user's table, the errors of
`checked_rows` recommend a pipeline or `halfmoon.fill`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from halfmoon._labels import is_missing, unmasked

__all__ = [
    "EPS",
    "TINY",
    "Array",
    "Indices",
    "Rows",
    "as_dense_rows",
    "as_float_rows",
    "as_rows",
    "as_table",
    "checked_rows",
    "inner_products",
    "is_in_partitions",
    "largest_entry",
    "refuse_equal_rows",
    "refuse_extreme",
    "refuse_non_finite",
    "refuse_range",
    "some_rows",
    "summed_entries",
    "text_in_column",
]

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]  # row numbers
Rows: TypeAlias = Any  # (n, d): ndarray, memory map or scipy.sparse of any real dtype

EPS = float(np.finfo(np.float64).eps)  # relative rounding of the numbers of an Array
TINY = float(np.finfo(np.float64).tiny)  # in place of 0 in a divisor or a logarithm
SLICE_ENTRIES = 2**20  # read at once when a whole table is checked
MAX_ENTRY = 1e75  # its fourth power is still finite
MAX_NEW_ENTRY = 1e150  # its square is still finite
MAX_CELLS = 10_000  # of a column that are searched for text


def as_table(X: Rows, *, name: str = "X") -> Rows:
    """Return rows as a 2-D, non-empty array or CSR array, in their own dtype.

    A memory map stays one and is not read.
    """
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(unmasked(X, name))
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

    The input itself, if it already has this form. `name` is that of the rows in errors.
    """
    X = as_table(X, name=name)
    if X.dtype != np.float64:
        X = _as_float(X, name)
    refuse_non_finite(X, name=name)
    return X


def as_float_rows(X: Rows, *, name: str = "X") -> Rows:
    """Return rows as `as_rows` does, but leave dense float32 rows as they are."""
    if sp.issparse(X) or getattr(X, "dtype", None) != np.float32:
        return as_rows(X, name=name)
    X = as_table(X, name=name)
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


def refuse_non_finite(X: Rows, *, name: str = "X") -> None:
    """Raise a ValueError that names the first NaN or infinity, if there is one.

    A memory map is read in slices.
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


def inner_products(X: Rows, Z: Rows) -> Array:
    """Return X Z' as a dense array; CSR rows are never densified."""
    C = X @ Z.T
    return cast(Array, C.toarray() if sp.issparse(C) else np.asarray(C))


def summed_entries(X: Rows) -> Rows:
    """Return rows in which a CSR matrix holds each entry once, as it should.

    Nearest neighbors, for one, would square the parts of an entry by themselves.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()  # it is the user's
        X.sum_duplicates()
    return X


def checked_rows(estimator: Any, X: Any, **options: Any) -> Rows:
    """Return rows checked by `validate_data`, with plain errors for text and NaN."""
    if is_in_partitions(X):
        raise TypeError(
            f"X is a Dask {type(X).__name__}; this method needs rows in memory. Give "
            f"a few rows, such as X.compute() of a part of them."
        )
    if sp.issparse(X):
        _refuse_broken_indices(X)
    for column in _date_columns(X):
        raise ValueError(
            f"X has dates or times in column {column!r}. Use {_remedy(estimator)}."
        )
    if np.ma.is_masked(X):  # validate_data would drop the mask
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        return summed_entries(validate_data(estimator, X, **options))
    except OverflowError as error:
        raise ValueError(f"X has a number that is too large: {error}.") from None
    except ValueError as error:
        message = _plain_message(estimator, X, str(error))
        if message is None:
            raise
        raise ValueError(message) from None


def _refuse_broken_indices(X: Any) -> None:
    """Raise a ValueError if a sparse matrix has entries outside of its shape.

    SciPy checks that where a matrix is made, but not after its arrays were changed, and
    reads and writes memory that is not its own.
    """
    form, (n, d) = X.format, X.shape
    if form == "coo":
        places = [(X.row, n), (X.col, d)]
    elif form in ("csr", "csc", "bsr"):
        height, width = X.blocksize if form == "bsr" else (1, 1)
        size, limit = (d, n) if form == "csc" else (n // height, d // width)
        ends = X.indptr
        broken = len(ends) != size + 1 or ends[0] != 0 or (ends[1:] < ends[:-1]).any()
        if broken or ends[-1] > min(len(X.indices), len(X.data)):
            raise ValueError(
                f"X is a damaged {form.upper()} matrix: its indptr does not begin at "
                f"0 and rise to the number of entries. Build the matrix again."
            )
        places = [(X.indices[: ends[-1]], limit)]
    else:
        return
    for place, limit in places:
        if len(place) and (place.min() < 0 or place.max() >= limit):
            wrong = place[(place < 0) | (place >= limit)][0]
            raise ValueError(
                f"X is a damaged {form.upper()} matrix: it has an entry at index "
                f"{wrong}, outside of its shape {X.shape}. Build the matrix again."
            )


def text_in_column(estimator: Any, column: Any) -> str:
    """Return the error message for a column of text."""
    return f"X has text in column {column!r}. Use {_remedy(estimator)}."


def _remedy(estimator: Any) -> str:
    name = type(estimator).__name__
    pipeline = f"skrub.tabular_pipeline({name}())"
    if hasattr(estimator, "transform"):
        pipeline = f"make_pipeline(skrub.TableVectorizer(), {name}())"
    return f"halfmoon.fill(df, target), or a pipeline: {pipeline}"


def _plain_message(estimator: Any, X: Any, error: str) -> str | None:
    """Return a message about text or missing cells in X; None for other errors."""
    if sp.issparse(X):
        return None
    remedy = _remedy(estimator)
    if "could not convert string" in error:
        for column, values in _columns(X):
            cells = values[:MAX_CELLS]
            if any(isinstance(v, str) and not _is_number(v) for v in cells):
                return text_in_column(estimator, column)
        return f"X has text in it. Use {remedy}."
    if "contains NaN" in error:
        for column, values in _columns(X):
            missing = int(is_missing(values).sum())
            if missing:
                return (
                    f"Input X contains NaN: {missing:,} missing cell"
                    f"{'s' * (missing != 1)} in column {column!r}. Use {remedy}."
                )
    return None


def _date_columns(X: Any) -> Iterator[Any]:
    """Yield the names (or numbers) of columns of dates or times, in any table."""
    if isinstance(X, np.ndarray):
        yield from range(X.dtype.kind in "mM")
    elif hasattr(X, "dtypes") and hasattr(X, "columns"):  # of pandas or polars
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            is_temporal = getattr(dtype, "is_temporal", lambda: False)  # of polars
            if getattr(dtype, "kind", "O") in "mM" or is_temporal():
                yield name


def _columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield the names (or numbers) and values of the columns of any table."""
    if hasattr(X, "columns"):  # of pandas or polars
        for place, name in enumerate(X.columns):
            column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
            yield name, np.asarray(column, dtype=object)
        return
    values = np.asarray(X, dtype=object)
    if values.ndim == 2:
        yield from enumerate(values.T)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_in_partitions(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed")
