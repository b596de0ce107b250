"""Weak labels as arrays: sets of candidate classes, and intervals.

Candidates come as a boolean matrix, a list of sets, or text such as ``"a|b"``. A set
with one class is a plain label; a missing value, or the set of all classes, is
unlabeled. Intervals have a low and a high end, either of which may be open.
"""

from __future__ import annotations

import warnings
from collections.abc import Set
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from halfmoon._labels import (
    as_labels,
    class_codes,
    is_missing,
    label_array,
    no_labels,
    refuse_extreme_targets,
    require_y,
)
from halfmoon._rows import Array

__all__ = [
    "as_candidates",
    "as_ends",
    "as_objects",
    "candidates_among",
    "distance",
    "middles",
    "narrowed",
    "require_rows",
]

Mask = NDArray[np.bool_]


def as_candidates(
    y: Any, n: int, separator: str = "|"
) -> tuple[NDArray[Any], Mask]:  # (C,), (n, C)
    """Return the classes, and a mask of the candidates of each of n rows.

    Examples
    --------
    >>> classes, sets = as_candidates(["a|b", "b", None], 3)
    >>> classes.tolist(), sets.astype(int).tolist()
    (['a', 'b'], [[1, 1], [0, 1], [1, 1]])
    """
    sets = _read_sets(y, n, separator)
    if sets is None:
        classes, codes = class_codes(as_labels(y, n))
        is_class = codes[:, None] == np.arange(len(classes))
        return classes, is_class | (codes < 0)[:, None]
    if isinstance(sets, list):
        return _from_sets(sets)
    return np.arange(sets.shape[1]), _checked(sets)


def candidates_among(
    y: Any, n: int, classes: NDArray[Any], separator: str = "|"
) -> Mask | None:  # (n, C)
    """Return which of some classes are candidates of each row; None for plain labels.

    Examples
    --------
    >>> candidates_among(["b|c", None], 2, np.array(["a", "b"])).astype(int).tolist()
    [[0, 1], [1, 1]]
    """
    sets = _read_sets(y, n, separator)
    if isinstance(sets, list):
        every: list[list[Any]] = [
            classes.tolist() if row is None else row for row in sets
        ]
        return np.array([[each in row for each in classes.tolist()] for row in every])
    if sets is not None and sets.shape[1] != len(classes):
        raise ValueError(
            f"y has a column for each of {sets.shape[1]} classes, but the model has "
            f"{len(classes)}. Give one column for each class of the model."
        )
    return sets


def require_rows(y: Any) -> None:
    """Raise an error if y cannot have a label for each row."""
    require_y(y)
    if isinstance(y, str) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise ValueError(f"y is {y!r}; one label for each row is needed.")


def _read_sets(y: Any, n: int, separator: str) -> Mask | list[list[Any] | None] | None:
    """Return sets as a mask, or the classes of each row; None for plain labels."""
    require_rows(y)
    mask = _as_mask(y)
    cells: Any = mask
    if mask is None:
        cells = as_objects(y) if _has_sets(y) else label_array(y)
        if cells.ndim == 2 and cells.shape[1] > 1:
            raise ValueError(
                f"y has shape {cells.shape} and is no matrix of 0 and 1. Give a set of "
                f"classes for each row, or a boolean column for each class."
            )
        if cells.ndim != 1 or not (_has_sets(cells) or _has_text(cells, separator)):
            return None
    if len(cells) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: y has "
            f"{len(cells)} sets, but X has {n} rows. One set is needed for each row."
        )
    if mask is not None:
        return mask
    return [_members(cell, separator) for cell in cells]


def _as_mask(y: Any) -> Mask | None:
    """Return y as a boolean matrix, if it is a matrix of 0 and 1 or sparse."""
    if sp.issparse(y):
        return np.asarray(y.toarray() != 0)
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):  # a data frame
        y = y.to_numpy()
    if isinstance(y, np.ndarray) or (
        isinstance(y, (list, tuple)) and len(y) and isinstance(y[0], (list, np.ndarray))
    ):
        try:
            values = np.asarray(y)
        except ValueError:  # rows of unequal length
            return None
        if values.ndim == 2 and values.shape[1] > 1:
            if values.dtype == object:
                values = np.array(values.tolist())
            if values.dtype == bool:
                return values
            if values.dtype.kind in "iuf" and np.isin(values, (0, 1)).all():
                return values != 0
    return None


def _has_sets(y: Any) -> bool:
    """Return whether some cells of a list or column are sets or lists."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    return hasattr(y, "__iter__") and any(
        isinstance(cell, (Set, list, tuple)) for cell in y
    )


def as_objects(y: Any) -> NDArray[Any]:
    """Return a vector of objects, also if these are sequences."""
    cells = np.empty(len(y), dtype=object)
    for number, cell in enumerate(y):
        cells[number] = cell
    return cells


def _has_text(cells: NDArray[Any], separator: str) -> bool:
    return bool(separator) and any(
        isinstance(cell, str) and separator in cell for cell in cells
    )


def _members(cell: Any, separator: str) -> list[Any] | None:
    """Return the classes of one cell; None for a missing value."""
    if isinstance(cell, (Set, list, tuple, np.ndarray)):
        return list(cell)
    if bool(is_missing([cell])[0]):
        return None
    if isinstance(cell, str):
        parts = [part.strip() for part in cell.split(separator)]
        return [part for part in parts if part]
    return [cell]


def _from_sets(members: list[list[Any] | None]) -> tuple[NDArray[Any], Mask]:
    every = [label for row in members if row is not None for label in row]
    for number, row in enumerate(members):
        if row is not None and len(row) == 0:
            raise ValueError(_without_classes(1, number))
        if row is not None and is_missing(row).any():
            raise ValueError(
                f"The set of row {number} has a missing value beside its classes, "
                f"{row!r}. Leave it out, or give None for an unlabeled row."
            )
    if not every:
        raise no_labels(len(members), "one candidate of each of two classes")
    classes, codes = class_codes(label_array(every))
    mask, start = np.zeros((len(members), len(classes)), dtype=bool), 0
    for number, row in enumerate(members):
        if row is None:
            mask[number] = True
            continue
        mask[number, codes[start : start + len(row)]] = True
        start += len(row)
    return classes, mask


def _checked(mask: Mask) -> Mask:
    empty = ~mask.any(axis=1)
    if empty.any():
        raise ValueError(_without_classes(int(empty.sum()), int(empty.argmax())))
    full = mask.all(axis=1)
    absent = ~mask[~full].any(axis=0)
    if absent.any() and not full.all():
        besides = " but those of unlabeled rows" if full.any() else ""
        raise ValueError(
            f"Class {int(absent.argmax())!r} is in no set{besides}, so it cannot be "
            f"learned ({int(absent.sum())} such column(s) of y). Drop these columns."
        )
    return mask


def _without_classes(count: int, first: int) -> str:
    return (
        f"{count} set(s) have no class, the first in row {first}; at least one class "
        f"is needed in each. Give all classes, or None, for an unlabeled row."
    )


def _ends_of_intervals(labels: NDArray[Any]) -> NDArray[Any]:
    """Return intervals of pandas, as `pd.cut` makes them, as two columns."""
    if labels.dtype != object or labels.ndim != 1:
        return labels
    if not any(type(value).__name__ == "Interval" for value in labels):
        return labels
    ends = [(getattr(v, "left", v), getattr(v, "right", v)) for v in labels]
    return np.array(ends, dtype=object)


def as_ends(y: Any, n: int) -> Array:  # (n, 2)
    """Return the low and high end of each of n rows; -inf and inf for open ends.

    NaN and None are open ends. A vector is plain labels, or intervals of pandas.

    Examples
    --------
    >>> as_ends([[0, 1], [2, np.nan]], 2)
    array([[ 0.,  1.],
           [ 2., inf]])
    >>> as_ends([3.0, np.nan], 2)
    array([[  3.,   3.],
           [-inf,  inf]])
    """
    labels = _ends_of_intervals(as_labels(y, n))
    plain = labels.ndim == 1
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Its values are "
            "used as plain labels; give low and high in two columns for intervals.",
            DataConversionWarning,
            stacklevel=3,
        )
        plain = True
    if not plain and (labels.ndim != 2 or labels.shape[1] != 2):
        raise ValueError(
            f"y has shape {labels.shape}; two columns, low and high, are needed, or "
            f"one for plain labels."
        )
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    missing = is_missing(labels)
    try:
        values = np.where(missing, np.nan, labels.astype(object)).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y cannot be read as numbers ({error}); ends of intervals are numbers, "
            f"-inf or inf where an end is open."
        ) from error
    if plain:
        values = values.reshape(n, 1)
        if np.isinf(values).any():
            raise ValueError(
                "y contains infinity; a plain label is finite, or NaN. For open ends "
                "give two columns, low and high."
            )
        values = np.repeat(values, 2, axis=1)
    refuse_extreme_targets(values[np.isfinite(values)])
    ends = np.where(np.isnan(values), [-np.inf, np.inf], values)
    _check(ends)
    return ends


def _check(ends: Array) -> None:
    low, high = ends.T
    crossed = low > high
    if crossed.any():
        row = int(crossed.argmax())
        raise ValueError(
            f"low is above high in {int(crossed.sum())} row(s), the first being row "
            f"{row}: [{low[row]:g}, {high[row]:g}]. Swap them, or check the columns."
        )
    empty = (low == np.inf) | (high == -np.inf)
    if empty.any():
        row = int(empty.argmax())
        raise ValueError(
            f"Row {row} has the ends [{low[row]:g}, {high[row]:g}], with no number "
            f"between them; use -inf for an open low end, inf for an open high end."
        )


def distance(values: Array, low: Array, high: Array) -> Array:
    """Return the distances of values from their intervals; 0 inside."""
    return np.asarray(np.maximum(np.maximum(low - values, values - high), 0.0))


def middles(low: Array, high: Array) -> Array:
    """Return the middle of each interval; one end if the other is open.

    Examples
    --------
    >>> middles(np.array([0.0, 2.0]), np.array([1.0, np.inf]))
    array([0.5, 2. ])
    """
    closed = np.isfinite(low) & np.isfinite(high)
    middle = np.where(closed, low, 0.0) / 2 + np.where(closed, high, 0.0) / 2
    return np.where(closed, middle, np.where(np.isfinite(low), low, high))


def narrowed(low: Array, high: Array, margin: float) -> tuple[Array, Array]:
    """Return intervals with both ends moved inwards, at most to their middle.

    Examples
    --------
    >>> narrowed(np.array([0.0, 0.0]), np.array([1.0, np.inf]), 0.7)
    (array([0.5, 0.7]), array([0.5, inf]))
    """
    closed = np.isfinite(low) & np.isfinite(high)
    middle = middles(low, high)
    return (
        np.where(closed, np.minimum(low + margin, middle), low + margin),
        np.where(closed, np.maximum(high - margin, middle), high - margin),
    )
