"""Targets from y: numbers for a regression, class codes for a classification.

An unlabeled row has a missing value in y (`halfmoon._labels`). The parameter
``unlabeled`` is one more value that counts as missing, such as scikit-learn's -1.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from halfmoon._labels import is_missing, label_array, labels_of, no_labels
from halfmoon._rows import Array, refuse_extreme_targets

__all__ = ["as_labels", "class_codes", "numeric_targets", "require_y"]


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


def numeric_targets(labels: NDArray[Any], unlabeled: Any = None) -> Array:
    """Return the targets of a regression as floats, NaN in unlabeled rows.

    Parameters
    ----------
    labels : ndarray of shape (n,) or (n, t)
    unlabeled : number or None
        A value that also counts as missing.

    Returns
    -------
    ndarray of shape (n,) or (n, t)
    """
    if labels.ndim > 2 or labels.size == 0:
        raise ValueError(
            f"y has shape {labels.shape}; one target, or one row of targets, is needed "
            f"for each row."
        )
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    if labels.dtype.kind in "mM":
        raise ValueError(
            f"y has dates or times ({labels.dtype}); a regression needs numbers. Give "
            f"them in a unit, such as (y - y.min()) / np.timedelta64(1, 'D')."
        )
    missing = is_missing(labels, unlabeled)
    if missing.any():
        labels = np.where(missing, np.nan, labels)
    try:
        values = labels.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y cannot be read as numbers ({error}); a regression needs numbers. Use a "
            f"classifier for classes."
        ) from error
    refuse_extreme_targets(values)
    return values


def class_codes(
    labels: NDArray[Any], unlabeled: Any = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes, and the class code of each row; -1 if unlabeled.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    unlabeled : object or None
        A value that also counts as missing.

    Returns
    -------
    classes : ndarray of shape (C,)
    codes : ndarray of shape (n,)

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
            stacklevel=5,
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
    if unlabeled is None and classes.dtype.kind in "if" and len(classes) > 2:
        _warn_of_minus_one(classes)
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


def _warn_of_minus_one(classes: NDArray[Any]) -> None:
    if -1 in classes:
        warnings.warn(
            "y contains -1 and two other classes, so -1 is treated as a class. If it "
            "marks unlabeled rows, as in sklearn.semi_supervised, use unlabeled=-1.",
            UserWarning,
            stacklevel=6,
        )
