"""Several choices in one cell, as in red;blue: one of the items of a column, or more.

Items are separated by a semicolon, a bar, a line end, a comma, a slash or a plus sign;
lists as Python and JSON write them count as well. Names and sentences have commas too.
So items must repeat: there are few of them, and more combinations than items.
"""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

__all__ = ["SEPARATORS", "find_separator", "items_of"]

SEPARATORS = {
    ";": "semicolons",
    "|": "bars",
    "\n": "line ends",
    ",": "commas",
    "/": "slashes",
    "+": "plus signs",
    " #": "number signs",
}
MIN_SEVERAL = 0.2  # share of the cells with two items or more
MIN_ITEMS, MAX_ITEMS = 3, 40
MAX_LENGTH = 500  # characters of a cell
MAX_VALUES = 5_000  # different cells that are looked at
MIN_COVERED = 0.9  # share of the items that are among the common ones
MIN_REPEATS = 2  # cells with an item that counts as common
BRACKETS = (("[", "]"), ("{", "}"), ("(", ")"))
QUOTES = "\"'"


def items_of(cell: str, separator: str) -> set[str]:
    """Return the items in a cell, in lower case.

    Examples
    --------
    >>> sorted(items_of("Red;  blue", ";")), sorted(items_of("['a', 'b']", ","))
    (['blue', 'red'], ['a', 'b'])
    """
    cell = cell.strip()
    if any(cell.startswith(a) and cell.endswith(b) for a, b in BRACKETS):
        cell = cell[1:-1]
    if separator == " #":
        cell = " " + cell
    items = (part.strip().strip(QUOTES) for part in cell.split(separator))
    return {" ".join(item.casefold().split()) for item in items} - {""}


def find_separator(text: pa.Array) -> str:
    """Return what separates the choices in text, null for no value; empty if nothing.

    Examples
    --------
    >>> cells = ["red", "blue;red", "green;blue", "green", "red;green", "blue"]
    >>> find_separator(pa.array(cells * 2))
    ';'
    >>> find_separator(pa.array(["Smith; Ann", "Jones; Bob", "Brown; Cy"] * 2))
    ''
    """
    counts = {
        each["values"]: each["counts"]
        for each in text.drop_null().value_counts().to_pylist()[:MAX_VALUES]
    }
    if not counts or max(map(len, counts)) > MAX_LENGTH:
        return ""
    return next((each for each in SEPARATORS if _separates(each, counts)), "")


def _separates(separator: str, counts: dict[str, int]) -> bool:
    if sum(separator in cell for cell in counts) < MIN_SEVERAL * len(counts):
        return False
    found: Counter[str] = Counter()
    several, combinations = 0, set()
    for cell, n in counts.items():
        items = items_of(cell, separator)
        several += n * (len(items) > 1)
        combinations.add(frozenset(items))
        for item in items:
            found[item] += n
    common = [n for n in found.values() if n >= MIN_REPEATS]
    return (
        several >= MIN_SEVERAL * sum(counts.values())
        and MIN_ITEMS <= len(common) <= MAX_ITEMS
        and len(common) < len(combinations)
        and sum(common) >= MIN_COVERED * found.total()
    )
