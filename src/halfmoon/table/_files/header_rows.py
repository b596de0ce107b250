"""Which of the first rows of a text are its header, and what it says.

A spreadsheet that is saved as CSV often has a title above its table. A title fills a
cell or two of its row; the header fills most columns with different texts. A header may
have two rows: groups of columns, and names in each group. It may lack a cell: that of a
delimiter at the end of every row, or of the row numbers that R writes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

__all__ = [
    "GroupedNames",
    "common_width",
    "grouped_names",
    "header_number",
    "is_number",
    "may_be_title",
    "nameless_column",
    "names_in",
]

# Possessive, so that the time grows with the length of a cell, not with its square.
NUMBER = re.compile(r"\s*[+-]?[.,]*+\d[\d.,]*+([eE][+-]?\d+)?\s*%?", re.ASCII)
YEAR = re.compile(r"\s*(?:19|20)[0-9]{2}(?:\.0)?\s*")
MIN_NUMBERS = 3  # in a column that shows that the names above it are no data

Row = Sequence[str]  # the cells of a record that is not blank


def is_number(cell: str) -> bool:
    """Whether a cell is a number, also with other signs for decimals, or percent."""
    return NUMBER.fullmatch(cell) is not None


def common_width(rows: Sequence[Row]) -> int:
    """Return how many cells most of the rows have; 0 without rows."""
    widths = Counter(len(row) for row in rows)
    return widths.most_common(1)[0][0] if widths else 0


def header_number(rows: Sequence[Row]) -> int:
    """Return which of the first rows is the header; 0 if there is no title above it.

    Examples
    --------
    >>> header_number([["Flowers of 2024"], ["name", "size"], ["rose", "2"]])
    1
    >>> header_number([["name", "size"], ["rose", "2"]])
    0
    """
    width = common_width(rows[1:])
    if width < 2:
        return 0
    for number, row in enumerate(rows):
        if number and _is_header(row, width):
            same = all(len(other) == width for other in rows[number:])
            return number if same and number < len(rows) - 1 else 0
        if not _is_title(row, width):
            return 0
    return 0


def may_be_title(row: Row, width: int = 0) -> bool:
    """Return whether a record could be a title above rows of some width.

    Most of its cells are empty, or it has few.
    """
    filled = sum(bool(cell.strip()) for cell in row)
    return filled == 1 or filled * 2 <= len(row) or len(row) * 2 <= width


def _is_title(row: Row, width: int) -> bool:
    filled = sum(bool(cell.strip()) for cell in row)
    return filled * 2 <= width and (len(row) != width or filled < width - 1)


def _is_header(row: Row, width: int) -> bool:
    return len(row) == width and 2 * names_in(row) > width


def names_in(row: Row) -> int:
    """Return how many different names of columns a row has; 0 if it is no header.

    Names are no numbers, but several may be years.

    Examples
    --------
    >>> names_in(["land", "", "2019", "2020"]), names_in(["Oslo", "", "2019", "5"])
    (3, 0)
    """
    names = {cell.strip() for cell in row if cell.strip()}
    numbers = [name for name in names if is_number(name)]
    are_years = len(numbers) > 1 and all(map(YEAR.fullmatch, numbers))
    return len(names) if are_years or not numbers else 0


class GroupedNames(NamedTuple):
    """The names of columns whose header has several rows."""

    rows: int
    names: list[str]
    joined: bool  # whether names of several rows are joined


def grouped_names(rows: Sequence[Row]) -> GroupedNames | None:
    """Return names from a header with groups in its first row; None without groups.

    A group is named once, or above each of its columns. The names below are enough if
    they differ and no group is without. In a third row pandas names the index.

    Examples
    --------
    >>> data = [["1", "2", "x"], ["3", "4", ""], ["5", "6", "y"]]
    >>> grouped_names([["size", "", "kind"], ["a", "b", "c"], *data]).names
    ['a', 'b', 'c']
    >>> grouped_names([["a", "a", "kind"], ["mean", "std", ""], *data]).names
    ['a mean', 'a std', 'kind']
    """
    if len(rows) < 2 + MIN_NUMBERS:
        return None
    below = zip_longest(rows[1], rows[2], fillvalue="")
    has_index = rows[2][0].strip() and not any(
        a.strip() and b.strip() for a, b in below
    )
    n_rows = 3 if has_index else 2
    # New columns of a filled table have their names in the last of these rows.
    columns = zip_longest(*rows[:n_rows], fillvalue="")
    groups, names, *more = (
        [cell.strip() for cell in row] for row in zip(*columns, strict=True)
    )
    last = max((i for i, group in enumerate(groups) if group), default=0)
    given = [name for name in names if name]
    if (
        (_differ(groups) and "" not in groups[1:last])
        or len(given) * 2 <= len(rows[1])
        or any(map(is_number, given))
        or not _is_above_numbers(names, rows[2:])
    ):
        return None
    unnamed = any(group and not name for group, name in zip(groups, names, strict=True))
    joined = unnamed or not _differ(names)
    if joined:
        group = ""
        for i, own in enumerate(groups):
            within = names[i] and i < len(rows[0])
            group = own or (group if within else "")
            names[i] = f"{group} {names[i]}".strip()
    for index in more:
        names = [name or cell for name, cell in zip(names, index, strict=True)]
    joined = joined or bool(more)
    return GroupedNames(n_rows, names, joined) if _differ(names) else None


def _differ(names: list[str]) -> bool:
    given = [name for name in names if name]
    return len(set(given)) == len(given)


def _is_above_numbers(names: Row, below: Sequence[Row]) -> bool:
    """Whether a name is above cells that are all numbers."""
    for i, name in enumerate(names):
        cells = [row[i] for row in below if i < len(row) and row[i].strip()]
        if name and len(cells) >= MIN_NUMBERS and all(map(is_number, cells)):
            return True
    return False


def nameless_column(rows: Sequence[Row], named: bool = False) -> int | None:
    """Return the place of the column that the header has no name for, if there is one.

    It is the last one if each row below ends in a delimiter that the header lacks, and
    the first one if it numbers the rows, as R writes them, or with `named` also if all
    its cells differ. The first of the rows is the header.

    Examples
    --------
    >>> nameless_column([["a", "b"], ["5", "x", ""], ["6", "y", ""]])
    2
    >>> nameless_column([["a", "b"], ["1", "5", "x"], ["2", "6", "y"]])
    0
    """
    header, *below = rows
    width = len(header)
    if len(below) < 2 or any(len(row) != width + 1 for row in below):
        return None
    if not any(row[-1] for row in below):
        return width
    first = [row[0] for row in below]
    numbers = [str(number) for number in range(1, len(below) + 1)]
    names = named and len(set(first)) == len(first)
    return 0 if width > 1 and (names or first == numbers) else None
