"""Rows of delimited text with fewer cells than the header.

Many programs leave out empty cells at the end of a row, so that is what a short row
means. Two other causes would move cells to a wrong column, and are errors: a name in
the header with a delimiter in it, which makes every row short; and a line break within
a cell, which makes two short rows of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._table_errors import ReadError

__all__ = ["ShortRows"]

SHOWN = 3  # line numbers in a message


@dataclass
class ShortRows:
    """Short rows of a file, in one pass over it."""

    name: str  # of the file
    width: int  # cells of the header
    rows: int = 0  # all rows
    lines: dict[int, int] = field(default_factory=dict)  # cells of each short line

    def checked(self) -> Note | None:
        """Return a note on the short rows, None if there is none, or raise an error."""
        if not self.lines:
            return None
        lines = list(self.lines)
        cells = set(self.lines.values())
        if len(lines) == self.rows and len(cells) == 1:
            (each,) = cells
            raise ReadError(
                f"{self.name}: the header has {self.width} cells, but every row has "
                f"{each}. If a name in the header holds the delimiter, put it in "
                f"quotes; otherwise give every row as many cells as the header."
            )
        if self._are_halves():
            raise ReadError(
                f"{self.name}, line {lines[0]} has {self.lines[lines[0]]} of "
                f"{self.width} cells, and the next line the rest: a line break within "
                f"a cell. Put this cell in quotes."
            )
        shown = ", ".join(f"{line:,}" for line in lines[:SHOWN])
        more = f" and {len(lines) - SHOWN:,} more" if len(lines) > SHOWN else ""
        have = "row has" if len(lines) == 1 else "rows have"
        return Note(
            f"{len(lines):,} {have} fewer cells than the header "
            f"(line{'s' * (len(lines) > 1)} {shown}{more}).",
            f"{count(self.width, 'cell')} are needed: the missing ones at the end were "
            f"taken as empty.",
            important=True,
        )

    def _are_halves(self) -> bool:
        """Whether the short rows are pairs of lines that are one row together."""
        lines = list(self.lines)
        pairs = list(zip(lines[::2], lines[1::2], strict=False))
        return len(lines) % 2 == 0 and all(
            second == first + 1
            and self.lines[first] + self.lines[second] == self.width + 1
            for first, second in pairs
        )
