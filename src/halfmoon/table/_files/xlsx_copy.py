"""Copy an Excel workbook with some cells of one sheet replaced and columns added.

All other cells of the sheet are copied unchanged, with their formats and formulas.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

from halfmoon.table._files.new_workbook import MAX_COLUMNS, Value, xml_text
from halfmoon.table._files.sheet_copy import (
    NewCells,
    SheetCopier,
    not_copyable,
    with_attribute,
    without_attribute,
)
from halfmoon.table._files.sheet_sizes import place

__all__ = ["XlsxCopier"]

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
RELATION_ID = re.compile(r"\{[^}]*relationships\}id")


class XlsxCopier(SheetCopier):
    """Changes the rows of one sheet of an Excel workbook."""

    def __init__(self, *copy: Any) -> None:
        super().__init__(*copy)
        self._row = self._column = -1
        self._row_changes = False
        self._new: NewCells = []  # that are still to come in the row
        self._current: tuple[int, Value, str] | None = None  # cell being replaced
        self._header_style = ""  # of the last cell of the header
        self._number_style = ""  # of the only number that is filled in, in this row

    @staticmethod
    def part_of_sheet(packed: ZipFile, sheet: str, name: str) -> str:
        try:
            workbook = ElementTree.fromstring(packed.read("xl/workbook.xml"))
            relations = ElementTree.fromstring(
                packed.read("xl/_rels/workbook.xml.rels")
            )
            for each in [
                *workbook.iter(MAIN + "sheet"),
                *workbook.iter(STRICT + "sheet"),
            ]:
                if each.get("name") != sheet:
                    continue
                key = next(v for k, v in each.items() if RELATION_ID.fullmatch(k))
                for relation in relations:
                    if relation.get("Id") == key:
                        # Relative to the folder of the workbook, or to the root
                        path = posixpath.join("/xl", relation.get("Target", ""))
                        return posixpath.normpath(path).lstrip("/")
        except (KeyError, ElementTree.ParseError, StopIteration):
            pass
        raise not_copyable(name, f"its sheet {sheet!r} is not where it should be")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, local = _split_name(name)
        if local == "row":
            self._begin_row(attributes)
        elif local == "c" and self._row_changes:
            self._column = _column(attributes.get("r"), self._column + 1)
            self._put_missing(self._column, prefix)
            if self._row == self.edits.header and self._column < self.edits.width:
                self._header_style = attributes.get("s", "")
            if self._new and self._new[0][0] == self._column:
                column, value = self._new.pop(0)
                self.copy_to(self.here)
                self.held = True
                self._current = column, value, attributes.get("s", "")
                if isinstance(value, float) and len(self.edits.replaced) == 1:
                    self._number_style = self._current[2]
        elif local == "f" and self._current:
            self._refuse_lost_formula(attributes.get("t"))
        elif local == "dimension" and self._row < 0:
            self._update_dimension(attributes.get("ref", ""))

    def end(self, name: str) -> None:
        prefix, local = _split_name(name)
        if local == "c" and self._current is not None:
            column, value, style = self._current
            self.skip_to(self.end_of(name))
            self.put(_cell(self._row, column, value, style, prefix))
            self._current, self.held = None, False
        elif local == "row" and self._row_changes:
            self._put_missing(MAX_COLUMNS, prefix)
            self._row_changes = False

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._row = int(attributes.get("r", self._row + 2)) - 1
        self._column = -1
        self._number_style = ""
        edit = self.edits.of(self._row)
        self._row_changes = edit is not None
        if edit is not None:
            self._new = [*edit[0], *edit[1]]
            tag = self.tag(self.here)
            if tag.endswith(b"/>"):  # a row without cells cannot be of the table
                raise not_copyable(self.name, "a row of its sheet was not found again")
            # The optional attribute spans is no longer right.
            self.replace_tag(tag, without_attribute(tag, "spans"))

    def _put_missing(self, column: int, prefix: str) -> None:
        """Write the new cells before a column that are not in the file at all."""
        while self._new and self._new[0][0] < column:
            place, value = self._new.pop(0)
            style = self._style_of(place)
            self.copy_to(self.here)
            self.put(_cell(self._row, place, value, style, prefix))

    def _style_of(self, column: int) -> str:
        """Return the style of a new cell; the ends of a number have that of it."""
        if self._row == self.edits.header:
            return self._header_style
        names = list(self.edits.appended)[column - self.edits.width :]
        is_end = column >= self.edits.width and names[0].endswith(("_low", "_high"))
        return self._number_style if is_end else ""

    def _refuse_lost_formula(self, kind: str | None) -> None:
        """Raise an error if the formula in the current cell must not be replaced."""
        cell = _reference(self._row, self._column)
        if self._column >= self.edits.width:
            raise not_copyable(
                self.name,
                f"the cell {cell}, where a new column belongs, holds a formula that "
                f"was never computed (a spreadsheet program computes it when it saves)",
            )
        if kind in ("shared", "array"):
            raise not_copyable(
                self.name,
                f"the cell {cell}, which is to be filled in, holds a formula that "
                f"other cells share",
            )

    def _update_dimension(self, used: str) -> None:
        """Write the new size of the sheet."""
        first = used.split(":")[0] or "A1"
        column = self.edits.width + max(len(self.edits.appended), 1) - 1
        rows = [int(number) - 1 for number in re.findall(r"\d+", used)]
        last = _reference(max(0, self.edits.last_row, *rows), column)
        tag = self.tag(self.here)
        self.replace_tag(tag, with_attribute(tag, "ref", f"{first}:{last}"))


def _split_name(name: str) -> tuple[str, str]:
    prefix, colon, local = name.rpartition(":")
    return prefix + colon, local


def _column(reference: str | None, expected: int) -> int:
    """Return the column of a cell such as AB12, from 0."""
    letters = re.match("[A-Z]+", reference or "")
    return expected if letters is None else place(letters.group())


def _reference(row: int, column: int) -> str:
    """Return the name of a cell.

    Examples
    --------
    >>> _reference(0, 0), _reference(11, 27)
    ('A1', 'AB12')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row + 1}"


def _cell(row: int, column: int, value: Value, style: str, prefix: str) -> str:
    """Return a cell as XML; nothing for None."""
    if value is None:
        return ""
    start = f'<{prefix}c r="{_reference(row, column)}"'
    if style.isdecimal():
        start += f' s="{style}"'
    if isinstance(value, bool):
        return f'{start} t="b"><{prefix}v>{int(value)}</{prefix}v></{prefix}c>'
    if isinstance(value, (int, float)):
        return f"{start}><{prefix}v>{value!r}</{prefix}v></{prefix}c>"
    text = xml_text(str(value))
    return (
        f'{start} t="inlineStr"><{prefix}is><{prefix}t xml:space="preserve">{text}'
        f"</{prefix}t></{prefix}is></{prefix}c>"
    )
