"""Copy an OpenDocument workbook with cells of one sheet replaced and columns added.

All other cells of the sheet are copied unchanged. A row or cell element that repeats is
split if one of its repetitions changes.
"""

from __future__ import annotations

import html
import re
from typing import Any

from halfmoon.table._files.new_workbook import ods_cell
from halfmoon.table._files.sheet_copy import (
    TAG,
    NewCells,
    SheetCopier,
    with_attribute,
    without_attribute,
)

__all__ = ["OdsCopier"]

ROWS, COLUMNS = "table:number-rows-repeated", "table:number-columns-repeated"
CELLS = ("table:table-cell", "table:covered-table-cell")
EMPTY_CELL = b"<table:table-cell/>"
STYLE = re.compile(rb"""\stable:style-name\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class OdsCopier(SheetCopier):
    """Changes the rows of one sheet of an OpenDocument workbook."""

    def __init__(self, *copy: Any) -> None:
        super().__init__(*copy)
        self._depth = self._table_depth = self._row_depth = 0
        self._row = 0  # number of the next row
        self._repeated = 1
        self._edited: dict[int, tuple[NewCells, NewCells]] = {}
        self._row_start = 0  # offset of the row that changes
        self._cells: list[tuple[int, int, int]] = []  # start, end, repetitions

    @staticmethod
    def part_of_sheet(*_: object) -> str:
        return "content.xml"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if name == "table:table" and not self._table_depth:
            if attributes.get("table:name") == self.sheet:
                self._table_depth, self._row = self._depth, 0
        elif name == "table:table-row" and self._table_depth and not self._row_depth:
            self._begin_row(attributes)
        elif self._edited and self._depth == self._row_depth + 1 and name in CELLS:
            self._cells.append((self.here, 0, int(attributes.get(COLUMNS, "1"))))

    def end(self, name: str) -> None:
        if self._depth == self._row_depth + 1 and self._edited and name in CELLS:
            start, _, repeated = self._cells[-1]
            self._cells[-1] = start, self.end_of(name), repeated
        elif self._depth == self._row_depth:
            if self._edited:
                self._end_row(self.end_of(name))
            self._row += self._repeated
            self._row_depth = 0
        elif self._depth == self._table_depth:
            self._table_depth = 0
        self._depth -= 1

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._row_depth = self._depth
        self._repeated = int(attributes.get(ROWS, "1"))
        self._edited, self._cells = {}, []
        last = min(self._row + self._repeated - 1, self.edits.last_row)
        for row in range(self._row, last + 1):
            edit = self.edits.of(row)
            if edit is not None:
                self._edited[row] = edit
        if self._edited:
            self.copy_to(self.here)
            self._row_start, self.held = self.here, True

    def _end_row(self, stop: int) -> None:
        tag = without_attribute(self.tag(self._row_start), ROWS)
        cells = [(self.part(a, b), n) for a, b, n in self._cells]
        element = self.part(self._row_start, stop)
        row, end = self._row, self._row + self._repeated
        while row < end:
            if row in self._edited:
                self.put(tag)
                self.put(self._edited_cells(cells, *self._edited[row]))
                self.put("</table:table-row>")
                row += 1
                continue
            # The rows up to the next one that changes
            until = min((r for r in self._edited if r > row), default=end)
            self.put(_repeated(element, ROWS, until - row))
            row = until
        self.skip_to(stop)
        self.held, self._edited = False, {}

    def _edited_cells(
        self, cells: list[tuple[bytes, int]], replaced: NewCells, appended: NewCells
    ) -> bytes:
        """Return the cells of a row, with replaced and appended ones."""
        parts: list[bytes] = []
        new = dict(replaced)
        width, column = self.edits.width, 0
        for raw, repetitions in [*cells, (EMPTY_CELL, width)]:
            stop = min(column + repetitions, width)
            for place in sorted(c for c in new if column <= c < stop):
                parts.append(_repeated(raw, COLUMNS, place - column))
                parts.append(ods_cell(new[place], _style(raw)).encode())
                column = place + 1
            parts.append(_repeated(raw, COLUMNS, stop - column))
            column = stop
        parts += [ods_cell(value).encode() for _, value in appended]
        return b"".join(parts)


def _repeated(element: bytes, attribute: str, count: int) -> bytes:
    """Return an element with a number of repetitions; nothing for none."""
    if count < 1:
        return b""
    found = TAG.match(element)
    assert found is not None
    tag = without_attribute(found.group(), attribute)
    if count > 1:
        tag = with_attribute(tag, attribute, str(count))
    return tag + element[found.end() :]


def _style(cell: bytes) -> str:
    tag = TAG.match(cell)
    found = None if tag is None else STYLE.search(tag.group())
    if found is None:
        return ""
    return html.unescape((found[1] or found[2] or b"").decode())
