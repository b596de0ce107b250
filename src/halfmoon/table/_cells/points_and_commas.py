"""Whether a point or a comma separates thousands, where both readings are possible.

59.222 € is no amount with three decimals. In 961, 1.234 and 12.500 of one column a
point separates thousands, as decimals would be written 961.000 or 12.5.

If all cells of a column are like 4,503 or 39,000, a comma may separate thousands or
decimals. One file has one decimal sign: beside a column with 0,95 or 1.234,5 the comma
is one, unless some column has 1,234,567 or 1,234.5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.number_signs import normalized
from halfmoon.table._cells.number_style import NumberStyle

__all__ = [
    "agreed_styles",
    "are_whole_with_points",
    "is_money_with_points",
    "may_be_thousands",
]

MAX_LITER = 10.0  # money for a small amount may have three decimals
MIN_POINTS, MIN_WHOLE = 5, 3  # different cells like 1.234, and like 961
MONEY = re.compile(r"[$€£¥₹]|[A-Z]{3}")
ONE_COMMA = r"^[^,]*(?:[0-9],[0-9]{3}(?:[^0-9,].*)?)?$"
LIKE_THOUSANDS = r"^[^0-9]*[1-9][0-9]{0,2}\.[0-9]{3}(?:[^0-9].*)?$"


def is_money_with_points(style: NumberStyle, values: pa.Array) -> bool:
    """Whether points separate thousands: 59.222 € is no amount with three decimals.

    1.899 € may be the price of a liter, if no amount is larger than 10.
    """
    if style.thousands or style.either:
        return False
    points = values.filter(pc.match_substring_regex(values, r"\.[0-9]"))
    amounts = values.filter(style.fits(values))
    if not len(points) or not _all_match(points, LIKE_THOUSANDS):
        return False
    return len(amounts) > 0 and pc.max(pc.abs(style.read(amounts))).as_py() > MAX_LITER


def are_whole_with_points(style: NumberStyle, values: pa.Array) -> bool:
    """Whether points separate thousands, as in 961, 1.234, 12.500 of one column."""
    if style.decimal != "." or style.thousands or style.either:
        return False
    numbers = values.filter(style.fits(values))
    has_point = pc.match_substring_regex(numbers, r"\.[0-9]")  # not that of "pts."
    points, others = numbers.filter(has_point), numbers.filter(pc.invert(has_point))
    return (
        len(points) >= MIN_POINTS
        and len(others) >= MIN_WHOLE
        and _all_match(points, LIKE_THOUSANDS)
        and _all_match(others, r"^[^0-9]*[0-9]{1,3}(?:[^0-9].*)?$")
    )


def may_be_thousands(values: pa.Array) -> bool:
    """Whether half of the cells with a comma, or with a point, are like 1,234."""
    for sign in (",", r"\."):
        having = values.filter(pc.match_substring_regex(values, sign))
        like = rf"^[^0-9]*[1-9][0-9]{{0,2}}(?:{sign}[0-9]{{3}})+(?:[^0-9].*)?$"
        if (pc.mean(pc.match_substring_regex(having, like)).as_py() or 0.0) >= 0.5:
            return True
    return False


def agreed_styles(
    styles: Sequence[NumberStyle | None], columns: Sequence[pa.Array]
) -> list[NumberStyle | None]:
    """Return the styles of the columns of a table, with one decimal sign.

    A style is None for a column without one. The columns are text, null for no value.

    Examples
    --------
    >>> found = [NumberStyle(thousands=","), NumberStyle(decimal=",")]
    >>> columns = [pa.array(["4,503", "39,000"]), pa.array(["0,95", "1,5"])]
    >>> [style.decimal for style in agreed_styles(found, columns)]
    [',', ',']
    """
    agreed = list(styles)
    if not any(style and style.decimal == "," for style in styles):
        return agreed
    for i, (style, text) in enumerate(zip(styles, columns, strict=True)):
        if style is None or style.thousands != "," or MONEY.search(style.suffix):
            continue
        if style.prefix:  # a currency: $4,503 is no amount with three decimals
            continue
        cells = normalized(text.drop_null().unique())
        points = pc.any(pc.match_substring_regex(cells, r"[0-9]\.[0-9]")).as_py()
        if points or not _all_match(cells, ONE_COMMA):
            return list(styles)  # here a comma separates thousands
        decimals = replace(style, decimal=",", thousands="", digits=3)
        if decimals.read(text).null_count == style.read(text).null_count:
            agreed[i] = decimals
    return agreed


def _all_match(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
