"""Labels that are rankings, of all items or of some.

A row is text (``"b>a"``), a list from first to last, or a set of pairs (better, worse).
Up to 8 items, it stands for all rankings that agree with it; with more, it is a label
for each pair of items that it orders, also by way of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import pairwise
from math import factorial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._labels import is_missing
from halfmoon._memory import MEMORY_LIMIT
from halfmoon.blocks import Stream
from halfmoon.weak._output_space import MAX_ITEMS, OutputSpace, kendall_space, orders
from halfmoon.weak._separate_outputs import ABOVE, PairwiseOrders

__all__ = ["as_pairs", "items_in", "matching_orders", "pair_labels", "read_rankings"]

PAIR_BYTES = 10  # held at once for each row and pair of items, in both orders


def read_rankings(
    cells: list[Any], outputs: Any, memory_limit: int | str = MEMORY_LIMIT
) -> tuple[OutputSpace | PairwiseOrders, NDArray[Any]]:
    """Return the rankings to choose from, and the labels of each row among them."""
    nested = _is_nested(outputs)
    items = _ranked_items(cells, outputs, nested)
    named_items = np.array(items, dtype=object if isinstance(items[0], str) else None)
    text = any(isinstance(cell, str) for cell in cells)
    n, m = len(cells), len(items)
    by_pairs = m > MAX_ITEMS and not nested
    count = len(outputs) if nested else factorial(min(m, MAX_ITEMS))
    Stream(memory_limit).require(
        PAIR_BYTES * n * m * m if by_pairs else n * count,
        f"{n:,} rows and {m:,} items need",
        "Raise memory_limit, or give fewer items, or the rankings to choose from.",
    )
    if by_pairs:
        return PairwiseOrders(named_items, text=text), pair_labels(cells, items)
    if nested:
        number = {item: i for i, item in enumerate(items)}
        rows = [[number[item] for item in items_in(order)] for order in outputs]
        if {len(set(row)) for row in rows} != {len(items)}:
            raise ValueError("outputs must rank all items, each of them once.")
        ranking = np.array(rows, dtype=np.intp)
    else:
        ranking = orders(len(items))
    listed = named_items[ranking]
    if text:
        joined = [ABOVE.join(map(str, order)) for order in listed]
        listed = np.array(joined, dtype=object)
    return kendall_space(listed, ranking), matching_orders(cells, items, ranking)


def _ranked_items(cells: list[Any], outputs: Any, nested: bool) -> list[Any]:
    """Return the items that are ranked, from the outputs or else from the cells."""
    if isinstance(outputs, Integral):
        items: list[Any] = list(range(int(outputs)))
    elif outputs is None or nested:
        named = outputs if outputs is not None else cells
        items = sorted({item for cell in named for item in items_in(cell)})
    else:
        items = [each.item() if hasattr(each, "item") else each for each in outputs]
    if len(items) < 2 or len(set(items)) < len(items):
        raise ValueError(f"The items are {items!r}; two or more are needed, each once.")
    return items


def _is_nested(outputs: Any) -> bool:
    """Return whether outputs are rankings, and not items."""
    if outputs is None or isinstance(outputs, Integral) or len(outputs) == 0:
        return False
    first = outputs[0]
    return isinstance(first, (list, tuple, np.ndarray)) or (
        isinstance(first, str) and ABOVE in first
    )


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
    if len(order) == 1 and (isinstance(cell, str) or len(cell) == 1):
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
    place = np.argsort(ranking, axis=1).astype(np.int8)
    sets = np.ones((len(y), len(ranking)), dtype=bool)
    for row, pairs in enumerate(_numbered_pairs(y, items)):
        for better, worse in pairs:
            sets[row] &= place[:, better] < place[:, worse]
        if not sets[row].any():
            raise _no_ranking(row, y[row])
    return sets


def pair_labels(y: Any, items: list[Any]) -> NDArray[np.float64]:  # (n, P)
    """Return 1 or -1 for each pair that a row orders, NaN for the others.

    Examples
    --------
    >>> pair_labels(["c>b>a", "a>c", None], ["a", "b", "c"])
    array([[-1., -1., -1.],
           [nan,  1., nan],
           [nan, nan, nan]])
    """
    m = len(items)
    above = np.zeros((len(y), m, m), dtype=bool)
    for row, pairs in enumerate(_numbered_pairs(y, items)):
        for better, worse in pairs:
            above[row, better, worse] = True
    for middle in range(m):  # a above b and b above c is a above c
        above |= above[:, :, middle, None] & above[:, None, middle]
    cycles = above[:, np.arange(m), np.arange(m)].any(axis=1)
    if cycles.any():
        row = int(cycles.argmax())
        raise _no_ranking(row, y[row])
    first, second = np.triu_indices(m, 1)
    labels = np.where(above[:, first, second], 1.0, np.nan)
    return np.where(above[:, second, first], -1.0, labels)


def _numbered_pairs(y: Any, items: list[Any]) -> Iterator[list[tuple[int, int]]]:
    """Yield the pairs (better, worse) of each row, as numbers of items."""
    number = {item: i for i, item in enumerate(items)}
    for row, cell in enumerate(y):
        pairs = as_pairs(cell, row)
        unknown = [each for pair in pairs for each in pair if each not in number]
        if unknown:
            raise ValueError(
                f"Row {row} of y ranks {unknown[0]!r}, which is not one of the items "
                f"{items!r}. Add it to outputs."
            )
        yield [(number[better], number[worse]) for better, worse in pairs]


def _no_ranking(row: int, cell: Any) -> ValueError:
    return ValueError(
        f"No ranking agrees with row {row} of y, {cell!r}: its order has a cycle, or "
        f"the outputs do not contain it. Check the row."
    )
