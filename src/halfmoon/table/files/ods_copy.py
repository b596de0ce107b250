"""Copy an OpenDocument workbook with cells of one sheet replaced and columns added.

Every other part of the file, and every other cell of the sheet, is copied as it is.
Rows and cells that stand for several alike are split where one of them changes.
"""

from __future__ import annotations

import html
import re
import zipfile
from typing import IO

from halfmoon.table.files.ods_cells import ods_cell
from halfmoon.table.files.sheet_edits import Placed, SheetEdits
from halfmoon.table.files.xml_splice import TAG, Splicer, without_attribute

__all__ = ["copy_ods"]

ROWS, COLUMNS = "table:number-rows-repeated", "table:number-columns-repeated"
CELLS = ("table:table-cell", "table:covered-table-cell")
STYLE = re.compile(rb"""\stable:style-name\s*=\s*(?:"([^"]*)"|'([^']*)')""")
COPY_BYTES = 2**20


def copy_ods(
    source: IO[bytes], out: IO[bytes], sheet: str, edits: SheetEdits, name: str
) -> None:
    """Copy a workbook; as `copy_xlsx`."""
    with zipfile.ZipFile(source) as packed, zipfile.ZipFile(out, "w") as made:
        for part in packed.infolist():
            like = zipfile.ZipInfo(part.filename, part.date_time)
            # The first part tells what the file is and must not be packed.
            first = part.filename == "mimetype"
            like.compress_type = zipfile.ZIP_STORED if first else zipfile.ZIP_DEFLATED
            with packed.open(part) as old, made.open(like, "w") as new:
                if part.filename == "content.xml":
                    _Rows(new, sheet, edits, name).copy(old)
                else:
                    while chunk := old.read(COPY_BYTES):
                        new.write(chunk)


class _Rows(Splicer):
    """Changes rows of a sheet."""

    def __init__(
        self, out: IO[bytes], sheet: str, edits: SheetEdits, name: str
    ) -> None:
        super().__init__(out, name)
        self._sheet = sheet
        self._edits = edits
        self._depth = self._table = self._row_depth = 0
        self._row = 0  # number of the row that begins next
        self._repeated = 1
        self._plan: dict[int, tuple[Placed, Placed]] = {}
        self._began = 0  # of the row that changes
        self._cells: list[tuple[int, int, int]] = []  # start, end, how many

    def copy(self, stream: IO[bytes]) -> None:
        super().copy(stream)
        if self._edits.done != len(self._edits.rows):
            raise self.strange("a row of its sheet was not found again")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if name == "table:table" and not self._table:
            if attributes.get("table:name") == self._sheet:
                self._table, self._row = self._depth, 0
        elif name == "table:table-row" and self._table and not self._row_depth:
            self._row_begins(attributes)
        elif self._plan and self._depth == self._row_depth + 1 and name in CELLS:
            self._cells.append((self.here, 0, int(attributes.get(COLUMNS, "1"))))

    def end(self, name: str) -> None:
        if self._depth == self._row_depth + 1 and self._plan and name in CELLS:
            start, _, repeated = self._cells[-1]
            self._cells[-1] = start, self.end_of(name), repeated
        elif self._depth == self._row_depth:
            if self._plan:
                self._row_ends(self.end_of(name))
            self._row += self._repeated
            self._row_depth = 0
        elif self._depth == self._table:
            self._table = 0
        self._depth -= 1

    def _row_begins(self, attributes: dict[str, str]) -> None:
        self._row_depth = self._depth
        self._repeated = int(attributes.get(ROWS, "1"))
        self._plan, self._cells = {}, []
        last = min(self._row + self._repeated - 1, self._edits.last_row)
        for row in range(self._row, last + 1):
            edit = self._edits.of(row)
            if edit is not None:
                self._plan[row] = edit
        if self._plan:
            self.copy_to(self.here)
            self._began, self.held = self.here, True

    def _row_ends(self, stop: int) -> None:
        tag = self.tag(self._began)
        cells = [(self.part(a, b), n) for a, b, n in self._cells]
        whole = self.part(self._began, stop)
        alone = without_attribute(tag, ROWS)
        row, end = self._row, self._row + self._repeated
        while row < end:
            if row in self._plan:
                self.put(alone)
                self.put(self._changed(cells, *self._plan[row]))
                self.put("</table:table-row>")
                row += 1
                continue
            # The rows up to the next one that changes
            until = min((r for r in self._plan if r > row), default=end)
            self.put(_repeated(whole, ROWS, until - row))
            row = until
        self.skip_to(stop)
        self.held, self._plan = False, {}

    def _changed(
        self, cells: list[tuple[bytes, int]], replaced: Placed, appended: Placed
    ) -> bytes:
        """The cells of a row, with new ones among and behind them."""
        made: list[bytes] = []
        new = dict(replaced)
        width, column = self._edits.width, 0
        for raw, count in cells:
            stop = min(column + count, width)
            for place in sorted(c for c in new if column <= c < stop):
                made.append(_repeated(raw, COLUMNS, place - column))
                made.append(ods_cell(new[place], _style(raw)).encode())
                column = place + 1
            made.append(_repeated(raw, COLUMNS, stop - column))
            column = stop
        for place in sorted(c for c in new if c >= column):
            made.append(_repeated(b"<table:table-cell/>", COLUMNS, place - column))
            made.append(ods_cell(new[place]).encode())
            column = place + 1
        made.append(_repeated(b"<table:table-cell/>", COLUMNS, width - column))
        made += [ods_cell(value).encode() for _, value in appended]
        return b"".join(made)


def _repeated(element: bytes, attribute: str, count: int) -> bytes:
    """An element that stands for so many alike; nothing for none."""
    if count < 1:
        return b""
    found = TAG.match(element)
    assert found is not None
    tag = without_attribute(found.group(), attribute)
    if count > 1:
        end = b"/>" if tag.endswith(b"/>") else b">"
        bare = tag.removesuffix(end).rstrip()
        tag = bare + f' {attribute}="{count}"'.encode() + end
    return tag + element[found.end() :]


def _style(cell: bytes) -> str:
    tag = TAG.match(cell)
    found = None if tag is None else STYLE.search(tag.group())
    if found is None:
        return ""
    return html.unescape((found[1] or found[2] or b"").decode())
