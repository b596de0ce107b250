"""Candidate labels: a set of classes for each row, one of which is the true one.

They come as a boolean matrix, a list of sets, or text such as ``"a|b"``. A set with one
class is a plain label; a missing value, or the set of all classes, is unlabeled.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from halfmoon._labels import (
    as_labels,
    class_codes,
    is_missing,
    label_array,
    no_labels,
    require_y,
)

__all__ = ["as_candidates", "as_objects"]

Mask = NDArray[np.bool_]


def as_candidates(
    y: Any, n: int, separator: str = "|"
) -> tuple[NDArray[Any], Mask]:  # (C,), (n, C)
    """Return the classes, and a mask of the candidates of each row.

    Parameters
    ----------
    y : boolean matrix of shape (n, C), or n sets, classes, or texts
    n : int
        Number of rows.
    separator : str
        Separates the classes in text.

    Examples
    --------
    >>> classes, sets = as_candidates(["a|b", "b", None], 3)
    >>> classes.tolist(), sets.astype(int).tolist()
    (['a', 'b'], [[1, 1], [0, 1], [1, 1]])
    """
    require_y(y)
    mask = _as_mask(y)
    if mask is not None:
        if len(mask) != n:
            raise ValueError(_wrong_length(len(mask), n))
        return np.arange(mask.shape[1]), _checked(mask, np.arange(mask.shape[1]))
    cells = label_array(y) if not _has_sets(y) else as_objects(y)
    if cells.ndim != 1 or not (_has_sets(cells) or _has_text(cells, separator)):
        classes, codes = class_codes(as_labels(y, n))
        return classes, (codes[:, None] == np.arange(len(classes))) | (codes < 0)[
            :, None
        ]
    if len(cells) != n:
        raise ValueError(_wrong_length(len(cells), n))
    return _from_sets([_members(cell, separator) for cell in cells])


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


def _checked(mask: Mask, classes: NDArray[Any]) -> Mask:
    empty = ~mask.any(axis=1)
    if empty.any():
        raise ValueError(_without_classes(int(empty.sum()), int(empty.argmax())))
    absent = ~mask.any(axis=0)
    if absent.any():
        first = classes[absent].tolist()[0]
        raise ValueError(
            f"Class {first!r} is in no set, so it cannot be learned "
            f"({int(absent.sum())} such column(s) of y). Drop these columns."
        )
    return mask


def _without_classes(count: int, first: int) -> str:
    return (
        f"{count} set(s) have no class, the first in row {first}; at least one class "
        f"is needed in each. Give all classes, or None, for an unlabeled row."
    )


def _wrong_length(count: int, n: int) -> str:
    return (
        f"Found input variables with inconsistent numbers of samples: y has {count} "
        f"sets, but X has {n} rows. One set is needed for each row."
    )
