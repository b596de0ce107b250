"""The order of classes of a scale, such as stars, or low, medium and high."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from halfmoon.table._cells.cell_values import as_number
from halfmoon.table._cells.compound_numbers import read_form
from halfmoon.table._cells.scales import CYCLES, SCALES, folded, in_known_order
from halfmoon.table._parameter_text import argument
from halfmoon.table._table_errors import LabelError

__all__ = ["resolved_order"]

MAX_EXAMPLE = 12  # classes in an example


def resolved_order(
    name: str, classes: Collection[Any], order: Sequence[str] = ()
) -> tuple[Any, ...]:
    """Return the classes of a scale from low to high, or raise an error.

    Without an `order` from the user, classes are ordered as numbers, as the words of a
    known scale, as ranges, or by the only number that differs. `name` is the target.

    Examples
    --------
    >>> resolved_order("size", {"high", "Low", "medium"})
    ('Low', 'medium', 'high')
    >>> resolved_order("stars", {"10", "9", "8"})
    ('8', '9', '10')
    >>> resolved_order("age", {"65+", "<18", "18-64"})
    ('<18', '18-64', '65+')
    """
    if order:
        return _in_given_order(name, classes, order)
    numbers = {each: as_number(each) for each in classes}
    if all(math.isfinite(x) for x in numbers.values()):
        return tuple(sorted(classes, key=lambda each: numbers[each]))
    by_word = {folded(each): each for each in classes}
    if len(by_word) == len(classes):
        words = in_known_order(by_word, (*SCALES, *CYCLES))
        if words:
            return tuple(by_word[word] for word in words)
    sizes = _sizes([str(each) for each in classes])
    if sizes is not None:
        places = dict(zip(classes, sizes, strict=True))
        return tuple(sorted(classes, key=places.__getitem__))
    names = sorted(map(str, classes))
    example = argument("order", names if len(names) <= MAX_EXAMPLE else names[:2])
    raise LabelError(
        f"The order of the classes of {name!r} is not known. Name all of them from low "
        f"to high, such as `{example}` if this were their order."
    )


def _sizes(classes: list[str]) -> list[float] | None:
    """Return a different number for each class, or None; see `resolved_order`."""
    ranges = read_form(pa.array(classes), "range").tolist()
    texts = [re.findall(r"[0-9]+(?:\.[0-9]+)?", each) for each in classes]
    same = len({len(each) for each in texts}) == 1
    columns = zip(*texts, strict=True) if same else ()
    varying = [column for column in columns if len(set(column)) > 1]
    only = [float(x) for x in varying[0]] if len(varying) == 1 else ranges
    for sizes in (ranges, only):
        if len(set(sizes)) == len(classes) and all(map(math.isfinite, sizes)):
            return sizes
    return None


def _in_given_order(
    name: str, classes: Collection[Any], order: Sequence[str]
) -> tuple[Any, ...]:
    places: dict[str, int] = {}
    for i, each in enumerate(order):
        if each.strip() in places:
            raise LabelError(
                f"The order of {name!r} names {each!r} twice. Name it once."
            )
        places[each.strip()] = i
    absent = sorted(str(each) for each in classes if str(each) not in places)
    if absent:
        raise LabelError(
            f"The order of {name!r} does not name the class {absent[0]!r}. Name every "
            f"class in `order`, from low to high, or name this one in `unlabeled`."
        )
    return tuple(sorted(classes, key=lambda each: places[str(each)]))
