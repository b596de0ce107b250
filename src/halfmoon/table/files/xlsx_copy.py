"""Copy an Excel workbook with some cells of one sheet replaced and columns added.

Every other part of the file, and every other cell of the sheet, is copied as it is:
sheets, formats, widths, formulas, charts, pictures.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from typing import IO
from xml.etree import ElementTree

from halfmoon.table.errors import OutputError
from halfmoon.table.files.sheet_edits import Placed, SheetEdits
from halfmoon.table.files.workbook_cells import Value
from halfmoon.table.files.xml_splice import Splicer, without_attribute, xml_text

__all__ = ["copy_xlsx"]

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
RELATION = re.compile(r"\{[^}]*relationships\}id")
ORDER_OF_FORMULAS = "xl/calcChain.xml"  # may be left out; made again when opened
COPY_BYTES = 2**20


def copy_xlsx(
    source: IO[bytes], out: IO[bytes], sheet: str, edits: SheetEdits, name: str
) -> None:
    """Copy a workbook.

    Parameters
    ----------
    source, out : binary streams
    sheet : str
        Name of the sheet that is changed.
    edits : SheetEdits
    name : str
        What to call the output in an error.
    """
    with zipfile.ZipFile(source) as packed, zipfile.ZipFile(out, "w") as made:
        changed = _part_of(packed, sheet, name)
        for part in packed.infolist():
            if part.filename == ORDER_OF_FORMULAS:
                continue
            with packed.open(part) as old, made.open(_like(part), "w") as new:
                if part.filename == changed:
                    _Rows(new, edits, name).copy(old)
                elif part.filename.endswith((".rels", "[Content_Types].xml")):
                    new.write(_without_order(old.read()))
                else:
                    while chunk := old.read(COPY_BYTES):
                        new.write(chunk)


def _like(part: zipfile.ZipInfo) -> zipfile.ZipInfo:
    new = zipfile.ZipInfo(part.filename, part.date_time)
    new.compress_type = zipfile.ZIP_DEFLATED
    new.external_attr = part.external_attr
    return new


def _without_order(part: bytes) -> bytes:
    """A list of parts that does not name the order of formulas."""
    return re.sub(
        rb"<(?:\w+:)?(?:Override|Relationship)\s[^>]*calcChain[^>]*/>", b"", part
    )


def _part_of(packed: zipfile.ZipFile, sheet: str, name: str) -> str:
    """The part of a workbook that holds a sheet."""
    try:
        workbook = ElementTree.fromstring(packed.read("xl/workbook.xml"))
        relations = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
        for each in [*workbook.iter(MAIN + "sheet"), *workbook.iter(STRICT + "sheet")]:
            if each.get("name") != sheet:
                continue
            key = next(v for k, v in each.items() if RELATION.fullmatch(k))
            for relation in relations:
                if relation.get("Id") == key:
                    # From the folder of the workbook, or with a slash from the root
                    place = posixpath.join("/xl", relation.get("Target", ""))
                    return posixpath.normpath(place).lstrip("/")
    except (KeyError, ElementTree.ParseError, StopIteration) as error:
        raise _lost(name, sheet) from error
    raise _lost(name, sheet)


def _lost(name: str, sheet: str) -> OutputError:
    return OutputError(
        f"{name} cannot be written as a copy of the workbook: its sheet {sheet!r} is "
        f"not where it should be. Give the output a name that ends in .csv."
    )


class _Rows(Splicer):
    """Changes rows of a sheet."""

    def __init__(self, out: IO[bytes], edits: SheetEdits, name: str) -> None:
        super().__init__(out, name)
        self._edits = edits
        self._row = self._column = -1
        self._inside = False  # a row that changes
        self._replaced: Placed = []  # still to come in the row
        self._appended: Placed = []
        self._cut: tuple[int, Value, str] | None = None  # cell being replaced
        self._style = ""  # of the last cell of the header

    def copy(self, stream: IO[bytes]) -> None:
        super().copy(stream)
        if self._edits.done != len(self._edits.rows):
            raise self.strange("a row of its sheet was not found again")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, local = _parts(name)
        if local == "row":
            self._row_begins(attributes)
        elif local == "c" and self._inside:
            self._column = _column(attributes.get("r"), self._column + 1)
            self._put_before(self._column, prefix)
            if self._row == self._edits.header:
                self._style = attributes.get("s", "")
            if self._replaced and self._replaced[0][0] == self._column:
                column, value = self._replaced.pop(0)
                self.copy_to(self.here)
                self.held = True
                self._cut = column, value, attributes.get("s", "")
        elif local == "f" and self._cut and attributes.get("t") in ("shared", "array"):
            raise self.strange(
                f"the cell {_reference(self._row, self._column)}, which is to be "
                f"filled in, holds a formula that other cells share"
            )
        elif local == "dimension" and self._row < 0:
            self._widen(attributes.get("ref", ""))

    def end(self, name: str) -> None:
        prefix, local = _parts(name)
        if local == "c" and self._cut is not None:
            column, value, style = self._cut
            self.skip_to(self.end_of(name))
            self.put(_cell(self._row, column, value, style, prefix))
            self._cut, self.held = None, False
        elif local == "row" and self._inside:
            self._put_before(self._edits.width, prefix)
            self.copy_to(self.here)
            style = self._style if self._row == self._edits.header else ""
            for column, value in self._appended:
                self.put(_cell(self._row, column, value, style, prefix))
            self._inside = False

    def _row_begins(self, attributes: dict[str, str]) -> None:
        self._row = int(attributes.get("r", self._row + 2)) - 1
        self._column = -1
        edit = self._edits.of(self._row)
        self._inside = edit is not None
        if edit is not None:
            self._replaced, self._appended = edit
            tag = self.tag(self.here)
            if tag.endswith(b"/>"):  # a row without cells has nothing to fill
                raise self.strange("a row of its sheet was not found again")
            self.copy_to(self.here)
            self.put(without_attribute(tag, "spans"))  # a hint that is true no more
            self.skip_to(self.here + len(tag))

    def _put_before(self, column: int, prefix: str) -> None:
        """Write cells that are to be filled in and are not in the file at all."""
        while self._replaced and self._replaced[0][0] < column:
            place, value = self._replaced.pop(0)
            self.copy_to(self.here)
            self.put(_cell(self._row, place, value, "", prefix))

    def _widen(self, used: str) -> None:
        """Say how far the sheet reaches now."""
        first = used.split(":")[0] or "A1"
        last = self._edits.width + max(len(self._edits.appended), 1) - 1
        row = max(self._edits.last_row, *_row_numbers(used))
        tag = self.tag(self.here)
        end = b"/>" if tag.endswith(b"/>") else b">"
        bare = without_attribute(tag, "ref").removesuffix(end).rstrip()
        self.copy_to(self.here)
        self.put(bare + f' ref="{first}:{_reference(row, last)}"'.encode() + end)
        self.skip_to(self.here + len(tag))


def _parts(name: str) -> tuple[str, str]:
    prefix, colon, local = name.rpartition(":")
    return prefix + colon, local


def _row_numbers(used: str) -> list[int]:
    """Rows of a range such as A1:C9, from 0."""
    return [0, *(int(number) - 1 for number in re.findall(r"\d+", used))]


def _column(reference: str | None, expected: int) -> int:
    """Column of a cell such as AB12, from 0."""
    letters = re.match("[A-Z]+", reference or "")
    if letters is None:
        return expected
    column = 0
    for letter in letters.group():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def _reference(row: int, column: int) -> str:
    """Name of a cell.

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
    """A cell as XML; nothing for None."""
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
