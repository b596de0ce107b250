"""Partial orders as sets of full rankings.

A row may give a ranking of all or some items (``"b>a"``, a list of items from first to
last), or pairs: a set of (better, worse).
"""

from __future__ import annotations

from collections.abc import Set
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._labels import is_missing

__all__ = ["as_pairs", "items_in", "matching_orders"]

ABOVE = ">"  # separates items in text, the better one first


def as_pairs(cell: Any, row: int) -> list[tuple[Any, Any]]:
    """Return the pairs (better, worse) of a cell; neighbors, if it is an order.

    Examples
    --------
    >>> as_pairs("b > a > c", 0)
    [('b', 'a'), ('a', 'c')]
    >>> as_pairs({(2, 0)}, 0)
    [(2, 0)]
    """
    if isinstance(cell, Set):
        pairs = list(cell)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(
                f"Row {row} of y is the set {cell!r}; a set holds pairs (better, "
                f"worse). Give a ranking as a list, or as text such as 'b>a>c'."
            )
        return pairs
    order = _items(cell)
    if len(order) == 1:
        raise ValueError(
            f"Row {row} of y ranks only the item {order[0]!r}; two are needed for an "
            f"order. Give None if nothing is known."
        )
    return list(pairwise(order))


def items_in(cell: Any) -> list[Any]:
    """Return the items in a cell."""
    if isinstance(cell, Set):
        return [item for pair in cell for item in pair]
    return _items(cell)


def _items(cell: Any) -> list[Any]:
    if isinstance(cell, str):
        return [part.strip() for part in cell.split(ABOVE) if part.strip()]
    if isinstance(cell, (list, tuple, np.ndarray)):
        missing = is_missing(list(cell))
        known = [each for each, out in zip(cell, missing, strict=True) if not out]
        return [each.item() if isinstance(each, np.generic) else each for each in known]
    if bool(is_missing([cell])[0]):
        return []
    raise ValueError(
        f"{cell!r} is not a ranking; a list of items from first to last, text such as "
        f"'b>a>c', or a set of pairs (better, worse) is needed."
    )


def matching_orders(
    y: Any,
    items: list[Any],  # m
    ranking: NDArray[np.intp],  # (k, m), numbers of items from first to last
) -> NDArray[np.bool_]:  # (n, k)
    """Return which rankings agree with each row."""
    number = {item: i for i, item in enumerate(items)}
    place = np.argsort(ranking, axis=1).astype(np.int8)
    sets = np.ones((len(y), len(ranking)), dtype=bool)
    for row, cell in enumerate(y):
        pairs = as_pairs(cell, row)
        unknown = [each for pair in pairs for each in pair if each not in number]
        if unknown:
            raise ValueError(
                f"Row {row} of y ranks {unknown[0]!r}, which is not one of the items "
                f"{items!r}. Add it to outputs."
            )
        for better, worse in pairs:
            sets[row] &= place[:, number[better]] < place[:, number[worse]]
        if not sets[row].any():
            raise ValueError(
                f"No ranking agrees with row {row} of y, {cell!r}: its order has a "
                f"cycle, or the outputs do not contain it. Check the row."
            )
    return sets
