"""Labels: which rows are labeled, and their classes, numbers and weights.

An unlabeled row has a missing value. None, NaN, ``pd.NA`` and NaT are missing values
for labels of any type: numbers, strings, booleans, categories and nullable columns. The
parameter ``unlabeled`` is one more value that counts as missing, such as -1.
"""

from __future__ import annotations

import warnings
from datetime import date, time, timedelta
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

__all__ = [
    "as_labels",
    "as_targets",
    "as_weights",
    "class_codes",
    "is_missing",
    "label_array",
    "labeled_rows",
    "labels_of",
    "no_labels",
    "no_labels_to_score",
    "numeric_targets",
    "refuse_extreme_targets",
    "require_y",
    "rows_with_targets",
    "unmasked",
    "without_extremes",
]

MISSING_TYPES = ("NAType", "NaTType")  # of pandas, without importing pandas
MAX_TARGET = 1e140  # the sum of squares of many is still finite
MAX_WEIGHT = 1e300  # the sum of many is still finite
MAX_WEIGHT_EXPONENT = 300  # of 2: the sum of many squares is still finite


def label_array(y: Any) -> NDArray[Any]:
    """Return labels of any type as an array, with their missing values.

    Strings with missing values become an array of objects, because NumPy would turn
    None into the text 'None'.
    """
    if np.ma.is_masked(y):  # a masked label is a missing one
        labels: NDArray[Any] = np.ma.getdata(y).astype(object)
        labels[np.ma.getmaskarray(y)] = None
        return labels
    as_list = _column_as_list(y)
    if as_list is not None:
        column = np.empty(len(as_list), dtype=object)
        column[:] = as_list
        return column
    if isinstance(y, (list, tuple)):
        kinds = {type(value) for value in y}
        if str in kinds and len(kinds) > 1:
            return np.array(y, dtype=object)
    labels = np.asarray(y)
    # NumPy's texts of any length hold missing values, which only objects can share.
    return labels.astype(object) if labels.dtype.kind == "T" else labels


def is_missing(y: Any, unlabeled: Any = None) -> NDArray[np.bool_]:
    """Return where labels are missing, in the shape of y.

    Examples
    --------
    >>> is_missing(["a", None, float("nan")])
    array([False,  True,  True])
    >>> is_missing([0, 1, -1], unlabeled=-1)
    array([False, False,  True])
    """
    y = label_array(y)
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind in "mM":
        missing = np.isnat(y)
    elif y.dtype.kind == "O":
        missing = _each(y, _is_missing_value)
    else:
        missing = np.zeros(y.shape, dtype=bool)
    if unlabeled is not None:
        # One by one, because NumPy does not compare text with numbers elementwise.
        missing = missing | _each(y, lambda v: _same(v, unlabeled))
    return missing


def labeled_rows(y: Any, unlabeled: Any = None) -> NDArray[np.bool_]:
    """Return which rows are labeled, shape (n,): those with at least one output.

    Examples
    --------
    >>> labeled_rows([[1.0, None], [None, None], [2.0, 3.0]])
    array([ True, False,  True])
    """
    missing = is_missing(y, unlabeled)
    if missing.ndim == 0:
        raise ValueError(f"y is {y!r}; one label for each row is needed.")
    return np.asarray(~missing.reshape(len(missing), -1).all(axis=1))


def labels_of(y: Any, labeled: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the labels of the labeled rows; objects become numbers where possible.

    Strings stay objects, which sort and compare, and are never truncated.
    """
    labels = label_array(y)[labeled]
    if labels.dtype == object and not all(isinstance(v, str) for v in labels.ravel()):
        labels = np.array(labels.tolist())
        if labels.dtype == object and all(isinstance(v, Number) for v in labels.flat):
            try:
                return labels.astype(np.float64)  # decimal and rational numbers
            except OverflowError as error:
                raise ValueError(f"y has a label that is too large: {error}.") from None
    return labels


def _column_as_list(y: Any) -> list[Any] | None:
    """Return the values of a pandas, polars or pyarrow column; None for others."""
    if hasattr(y, "to_list"):
        return list(y.to_list())
    if hasattr(y, "to_pylist") and not hasattr(y, "column_names"):  # no whole table
        return list(y.to_pylist())
    if hasattr(y, "isna") and hasattr(y, "tolist"):  # a pandas array
        return list(y.tolist())
    return None


def _each(y: NDArray[Any], test: Any) -> NDArray[np.bool_]:
    return np.array([test(v) for v in y.ravel()], dtype=bool).reshape(y.shape)


def _is_missing_value(value: Any) -> bool:
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _same(value: Any, other: Any) -> bool:
    return not _is_missing_value(value) and bool(value == other)


def no_labels(n: int, needed: str = "one label") -> ValueError:
    """Return the error for n rows without any label."""
    return ValueError(
        f"None of the {n:,} rows is labeled; at least {needed} is needed."
    )


def no_labels_to_score(n: int) -> ValueError:
    """Return the error for n rows to score without any label."""
    return ValueError(
        f"None of the {n:,} rows to score is labeled. Use LabeledKFold, which tests "
        f"labeled rows only, or score labeled rows."
    )


def require_y(y: Any) -> None:
    """Raise an error if y is None, in the words that scikit-learn's checks expect."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None."
        )


def as_labels(y: Any, n: int) -> NDArray[Any]:
    """Return y as an array of shape (n,) or (n, t), with its missing values."""
    require_y(y)
    labels = y.toarray() if sp.issparse(y) else label_array(y)
    if labels.ndim == 0 or labels.shape[0] != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: y has shape "
            f"{labels.shape}, but X has {n} rows. One label, or a missing value, is "
            f"needed for each row."
        )
    return labels


def numeric_targets(labels: NDArray[Any], unlabeled: Any = None) -> NDArray[np.float64]:
    """Return the targets of a regression, (n,) or (n, t), NaN in unlabeled rows."""
    if labels.ndim > 2 or labels.size == 0:
        raise ValueError(
            f"y has shape {labels.shape}; one target, or one row of targets, is needed "
            f"for each row."
        )
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    missing = is_missing(labels, unlabeled)
    if labels.dtype.kind in "mM" or _has_times(labels[~missing]):
        raise ValueError(
            f"y has dates or times ({labels.dtype}); a regression needs numbers. Give "
            f"them in a unit, such as (y - y.min()) / np.timedelta64(1, 'D')."
        )
    if missing.any():
        labels = np.where(missing, np.nan, labels)
    try:
        # Text as objects: errors show 'a' then, and not np.str_('a').
        labels = labels.astype(object) if labels.dtype.kind in "US" else labels
        values = labels.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"y cannot be read as numbers ({error}); a regression needs numbers. Use a "
            f"classifier for classes."
        ) from error
    refuse_extreme_targets(values)
    return values


def _has_times(known: NDArray[Any]) -> bool:
    """Whether there are dates, times or durations of Python or pandas."""
    return known.dtype == object and any(
        isinstance(value, (date, time, timedelta)) for value in known
    )


def class_codes(
    labels: NDArray[Any], unlabeled: Any = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes, and the class code of each row; -1 if unlabeled.

    Examples
    --------
    >>> class_codes(np.array(["no", None, "yes", "no"], dtype=object))
    (array(['no', 'yes'], dtype=object), array([ 0, -1,  1,  0]))
    """
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change "
            "the shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(
            f"y has shape {labels.shape}; one class for each row is needed."
        )
    missing = is_missing(labels, unlabeled)
    known = labels[~missing]
    if known.size == 0:
        raise no_labels(len(labels), "one label for each of two classes")
    if known.dtype == object:
        _refuse_mixed_types(known)
        known = labels_of(labels, ~missing)
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise ValueError("y contains infinity; a class, or NaN for none, is needed.")
    check_classification_targets(known)
    classes, known_codes = np.unique(known, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"All {known.size} labels are of one class, {classes.tolist()[0]!r}; "
            f"labels of at least two classes are needed."
        )
    numbers = classes.dtype.kind in "if" and len(classes) > 2
    if unlabeled is None and numbers and -1 in classes:
        warnings.warn(
            "y contains -1 and two other classes, so -1 is treated as a class. If it "
            "marks unlabeled rows, as in sklearn.semi_supervised, use unlabeled=-1.",
            UserWarning,
            stacklevel=4,
        )
    codes = np.full(len(labels), -1, dtype=np.intp)
    codes[~missing] = known_codes
    return classes, codes


def _refuse_mixed_types(known: NDArray[Any]) -> None:
    """Raise an error unless all are strings, all are booleans or all are numbers."""
    types = {type(value) for value in known}
    kinds = [(str,), (bool, np.bool_), (int, float, np.number)]
    # A bool is an int too, so the kind of a type is the first that fits.
    found = {next((k for k in kinds if issubclass(t, k)), None) for t in types}
    if len(found) == 1 and None not in found:
        return
    names = ", ".join(sorted(each.__name__ for each in types))
    if len(types) == 1:
        raise ValueError(
            f"Unknown label type: y has labels of type {names}; numbers, strings or "
            f"booleans, and missing values, are needed."
        )
    raise ValueError(
        f"Unknown label type: y mixes labels of type {names}; labels of one type, and "
        f"missing values, are needed."
    )


def as_targets(y: Any, n: int) -> NDArray[np.float64]:
    """Return targets as a float64 array of shape (n, t), NaN for unlabeled rows."""
    return numeric_targets(as_labels(y, n)).reshape(n, -1)


def refuse_extreme_targets(y: NDArray[np.float64]) -> None:
    """Raise a ValueError if targets, or their squares, leave the range of float64."""
    largest = float(np.nanmax(np.abs(y), initial=0.0))
    if np.isinf(largest):
        raise ValueError("y contains infinity; finite numbers, or NaN, are needed.")
    if largest > MAX_TARGET or 0 < largest < 1 / MAX_TARGET:
        raise ValueError(
            f"The largest number in y is {largest:.0e}, and its square leaves the "
            f"range of floating-point numbers. Use another unit for y."
        )


def rows_with_targets(y: NDArray[np.float64]) -> NDArray[np.intp]:
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


def as_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """Return row weights as a float64 array of shape (n,); ones if None."""
    if sample_weight is None:
        return np.ones(n)
    given = np.asarray(unmasked(sample_weight, "sample_weight"))
    try:
        if given.dtype.kind in "mM":
            raise TypeError("they are dates or times")
        if given.dtype.kind == "c":
            raise TypeError("they are complex")
        w = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"sample_weight cannot be read as numbers ({error}); one weight for each "
            f"row is needed."
        ) from error
    w = np.full(n, float(w)) if w.ndim == 0 else w
    if w.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {w.shape}; one number for each of the {n} rows "
            f"is needed."
        )
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if (w > MAX_WEIGHT).any():
        raise ValueError(
            f"The largest sample_weight is {w.max():.0e}, and sums of such weights "
            f"leave the range of floating-point numbers. Divide all weights by it."
        )
    return w


def without_extremes(w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights whose squares may be summed, in the same ratios to each other.

    Examples
    --------
    >>> without_extremes(np.array([2.0**700, 3 * 2.0**700]))
    array([0.25, 0.75])
    """
    exponent = int(np.frexp(w.max(initial=0.0))[1])
    return np.ldexp(w, -exponent) if abs(exponent) > MAX_WEIGHT_EXPONENT else w


def unmasked(values: Any, name: str) -> Any:
    """Return values; refuse a masked array, whose mask NumPy would drop silently."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} has {int(values.mask.sum()):,} masked entries; numbers "
            f"are needed. Impute them (sklearn.impute) or drop those rows."
        )
    return values
