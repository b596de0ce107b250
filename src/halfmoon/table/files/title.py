r"""Lines above the header of a text table: a title, or a hint at the delimiter.

A spreadsheet that is saved as CSV often has a title above its table. Such lines hold a
cell or two in all columns, while the header fills most of them with different texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["SEPARATOR", "header_number", "may_be_title"]

#: The first line ``sep=;``, by which some programs are told the delimiter.
SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
NUMBER = re.compile(r"\s*[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?\s*%?", re.ASCII)


def header_number(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows is the header: 0 unless there is a title above it.

    Parameters
    ----------
    rows : sequence of sequence of str
        The cells of the first records that are not blank.

    Examples
    --------
    >>> header_number([["Flowers of 2024"], ["name", "size"], ["rose", "2"]])
    1
    >>> header_number([["name", "size"], ["rose", "2"]])
    0
    """
    widths = Counter(len(row) for row in rows[1:])
    if not widths or (width := widths.most_common(1)[0][0]) < 2:
        return 0
    for number, row in enumerate(rows):
        if number and _is_header(row, width):
            same = all(len(other) == width for other in rows[number:])
            return number if same and number < len(rows) - 1 else 0
        if not _is_title(row, width):
            return 0
    return 0


def may_be_title(row: Sequence[str]) -> bool:
    """Whether a record needs a look at those below it: a cell or two among blanks."""
    filled = sum(bool(cell.strip()) for cell in row)
    return filled == 1 or filled * 2 <= len(row)


def _is_title(row: Sequence[str], width: int) -> bool:
    filled = sum(bool(cell.strip()) for cell in row)
    return filled * 2 <= width and (len(row) != width or filled < width - 1)


def _is_header(row: Sequence[str], width: int) -> bool:
    names = [cell.strip() for cell in row if cell.strip()]
    return (
        len(row) == width
        and len(names) * 2 > width
        and len(set(names)) == len(names)
        and not any(NUMBER.fullmatch(name) for name in names)
    )
