"""Write a new workbook with one sheet, row by row, in little memory.

Cells are numbers, truth values, dates or text, never formulas: a workbook stores the
type of each cell and never runs text, so nothing is escaped.
"""

from __future__ import annotations

import datetime as dt
import html
import math
import re
import tempfile
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow.types as pt

from halfmoon._atomic_files import unfinished
from halfmoon.table._files.arrow_types import (
    MAX_DIGITS,
    Values,
    cell_number,
    column_text,
    typed_label,
    value_text,
)
from halfmoon.table._files.byte_source import Sink
from halfmoon.table._files.table_interface import Batch, TableOutput
from halfmoon.table._table_errors import OutputError

__all__ = ["NewOds", "NewXlsx", "Value", "ods_cell", "sheet_value", "xml_text"]

Value = str | float | int | bool | dt.date | dt.time | None

MAX_CHARACTERS = 32_767  # of a cell, in every spreadsheet program
ILLEGAL_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
MAX_ROWS, MAX_COLUMNS = 2**20, 2**14  # of a sheet, in every spreadsheet program
SHEET_NAME = "Sheet1"
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
MANIFEST = f"""<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" \
manifest:version="1.2"><manifest:file-entry manifest:full-path="/" \
manifest:version="1.2" manifest:media-type="{ODS_TYPE}"/><manifest:file-entry \
manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"""
LONG = 'number:style="long"/>'
DASH, SPACE, COLON = (f"<number:text>{sign}</number:text>" for sign in ("-", " ", ":"))
DAY = f"<number:year {LONG}{DASH}<number:month {LONG}{DASH}<number:day {LONG}"
CLOCK = (
    f"{SPACE}<number:hours {LONG}{COLON}<number:minutes {LONG}{COLON}"
    f"<number:seconds {LONG}"
)
ODS_START = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content \
xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" \
xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" \
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" \
xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" \
xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" \
office:version="1.2"><office:automatic-styles>\
<number:date-style style:name="N1">{DAY}</number:date-style>\
<number:date-style style:name="N2">{DAY}{CLOCK}</number:date-style>\
<style:style style:name="day" style:family="table-cell" style:data-style-name="N1"/>\
<style:style style:name="time" style:family="table-cell" style:data-style-name="N2"/>\
</office:automatic-styles><office:body><office:spreadsheet>\
<table:table table:name="{SHEET_NAME}">"""
ODS_END = (
    """</table:table></office:spreadsheet></office:body></office:document-content>"""
)
FIRST_DAY = dt.date(1900, 3, 1)  # before it spreadsheets disagree on the calendar
FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # so that the same table gives the same file


class NewWorkbook(TableOutput):
    """Writes rows to the only sheet of a new workbook."""

    def __init__(self, *output: Any) -> None:
        super().__init__(*output)
        self._row = 0

    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        if not self._row:
            self._write_header(append)
        columns: list[list[Value]] = []
        for field, array in zip(self._like.schema, batch.rows.columns, strict=True):
            cells = self._cells(array)
            kind = self._types.get(field.name, field.type)
            kind = None if self._like.is_text else kind
            for i, value in enumerate(replace.get(field.name, ())):
                new = sheet_value(value, kind, self._name)
                if new is not None or value == "":
                    cells[i] = new
            columns.append(cells)
        for name, values in append.items():
            kind = self._types.get(name)
            columns.append([sheet_value(v, kind, self._name) for v in values])
        for row in zip(*columns, strict=True):
            self._write_row(row)

    def finish(self) -> None:
        if not self._row:
            self._write_header(())
        self._close()

    @abstractmethod
    def _put(self, cells: Sequence[Value]) -> None:
        """Add a row to the sheet."""

    @abstractmethod
    def _close(self) -> None:
        """Write the rest of the workbook."""

    def _write_header(self, added: Iterable[str]) -> None:
        names = [*self._like.columns, *added]
        self._write_row([_checked_text(name, self._name) for name in names])

    def _write_row(self, cells: Sequence[Value]) -> None:
        if self._row == MAX_ROWS or len(cells) > MAX_COLUMNS:
            raise OutputError(
                f"{self._name} cannot be written: a sheet holds {MAX_ROWS:,} rows and "
                f"{MAX_COLUMNS:,} columns at most. Write CSV or Parquet instead."
            )
        self._put(cells)
        self._row += 1

    def _cells(self, array: Any) -> list[Value]:
        """Return cells of the input in the types of a sheet."""
        if self._like.is_text:
            pairs = [(text, cell_number(text)) for text in array.to_pylist()]
            return [self._text(text) if n is None else n for text, n in pairs]
        kind = array.type
        if pt.is_integer(kind) or pt.is_float64(kind) or pt.is_boolean(kind):
            return [sheet_value(v, kind, self._name) for v in array.to_pylist()]
        texts = column_text(array)
        if pt.is_floating(kind):
            return [sheet_value(text, kind, self._name) for text in texts]
        if pt.is_date(kind) or (pt.is_timestamp(kind) and kind.tz is None):
            return [_date_cell(text) for text in texts]
        return [self._text(text) for text in texts]

    def _text(self, text: str) -> str | None:
        return _checked_text(text, self._name) or None


def _date_cell(text: str) -> Value:
    """Return a date, or its text if a sheet has no such date."""
    if not text:
        return None
    try:
        value = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    if value.date() < FIRST_DAY:
        return text
    return value.date() if "T" not in text else value


class NewXlsx(NewWorkbook):
    """Writes a new Excel workbook."""

    def __init__(self, *output: Any) -> None:
        super().__init__(*output)
        try:
            import xlsxwriter
        except ModuleNotFoundError as error:
            raise OutputError(
                f"{self._name} cannot be written: xlsxwriter, which writes workbooks, "
                f"is not installed. Run: pip install xlsxwriter"
            ) from error
        self._resources = ExitStack()
        options = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
            "tmpdir": self._resources.enter_context(_temporary_folder()),
        }
        self._sink = Sink(self._stream)
        self._book: Any = xlsxwriter.Workbook(self._sink, options)
        self._book.set_properties({"created": dt.datetime(*FIXED_TIME)})
        self._sheet = self._book.add_worksheet(SHEET_NAME)
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})

    def _put(self, cells: Sequence[Value]) -> None:
        with self._clear_errors():
            for column, value in enumerate(cells):
                self._put_cell(column, value)

    def _put_cell(self, column: int, value: Value) -> None:
        sheet, row = self._sheet, self._row
        if isinstance(value, bool):
            sheet.write_boolean(row, column, value)
        elif isinstance(value, (int, float)):
            sheet.write_number(row, column, value)
        elif isinstance(value, dt.datetime):
            sheet.write_datetime(row, column, value, self._time)
        elif isinstance(value, dt.date):
            sheet.write_datetime(row, column, value, self._day)
        elif value is not None:
            sheet.write_string(row, column, str(value))

    def _close(self) -> None:
        with self._resources, self._clear_errors():
            self._book.close()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn failures in the folder of temporary files into an `OutputError`."""
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"{self._name} cannot be written: {error.strerror or error}, in "
                f"{tempfile.gettempdir()}. Set TMPDIR to a folder with more room."
            ) from error

    def abandon(self) -> None:
        self._sink.ignores = True
        for sheet in self._book.worksheets():
            sheet._opt_close()  # its temporary file
        # Otherwise it would be written when it is garbage collected.
        self._book.fileclosed = True
        self._resources.close()


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """Yield a folder that is removed even if the process is asked to stop."""
    with (
        tempfile.TemporaryDirectory(prefix="halfmoon-") as folder,
        unfinished(Path(folder)),
    ):
        yield folder


class NewOds(NewWorkbook):
    """Writes a new OpenDocument workbook."""

    def __init__(self, *output: Any) -> None:
        super().__init__(*output)
        self._sink = Sink(self._stream)
        sink = cast(IO[bytes], self._sink)
        self._packed = zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED)
        # First and not compressed, because programs recognize the file by it.
        self._part("mimetype", zipfile.ZIP_STORED, ODS_TYPE)
        self._part("META-INF/manifest.xml", zipfile.ZIP_DEFLATED, MANIFEST)
        content = zipfile.ZipInfo("content.xml", FIXED_TIME)
        content.compress_type = zipfile.ZIP_DEFLATED
        self._content = self._packed.open(content, "w", force_zip64=True)
        self._content.write(ODS_START.encode())

    def _part(self, name: str, compression: int, text: str) -> None:
        part = zipfile.ZipInfo(name, FIXED_TIME)
        part.compress_type = compression
        self._packed.writestr(part, text)

    def _put(self, cells: Sequence[Value]) -> None:
        row = "".join(ods_cell(value, _ods_style(value)) for value in cells)
        self._content.write(f"<table:table-row>{row}</table:table-row>".encode())

    def _close(self) -> None:
        self._content.write(ODS_END.encode())
        self._content.close()
        self._packed.close()

    def abandon(self) -> None:
        self._sink.ignores = True
        self._content.close()
        self._packed.close()


def _ods_style(value: Value) -> str:
    """Return the name of the style of a value; without one, a date is a number."""
    if isinstance(value, dt.datetime):
        return "time"
    return "day" if isinstance(value, dt.date) else ""


def sheet_value(value: Any, kind: Any, name: str) -> Value:
    """Convert a value to a cell of a column of an Arrow type; None is an empty cell."""
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str):
        value = value if kind is None else typed_label(value, kind)
        return _checked_text(value, name) if isinstance(value, str) else value
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return value_text(value)
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        return str(value)
    if isinstance(value, (int, float)):
        return value
    return _checked_text(value_text(value), name)


def _checked_text(text: str, name: str) -> str:
    """Return a text, or refuse one that is too long for a cell."""
    if len(text) > MAX_CHARACTERS:
        raise OutputError(
            f"{name} cannot be written: a cell of {len(text):,} characters is longer "
            f"than a workbook can hold ({MAX_CHARACTERS:,}). Write CSV instead."
        )
    return text


def ods_cell(value: Value, style: str = "") -> str:
    """Return a cell of an OpenDocument sheet as XML.

    Examples
    --------
    >>> ods_cell(2.5)
    '<table:table-cell office:value-type="float" office:value="2.5"><text:p>2.5</text:p></table:table-cell>'
    """  # noqa: E501
    styled = f' table:style-name="{xml_text(style)}"' if style else ""
    if value is None:
        return f"<table:table-cell{styled}/>"
    if isinstance(value, bool):
        text = "true" if value else "false"
        typed = f'office:value-type="boolean" office:boolean-value="{text}"'
    elif isinstance(value, (int, float)):
        text = repr(value)
        typed = f'office:value-type="float" office:value="{text}"'
    elif isinstance(value, dt.date):
        text = value.isoformat()
        typed = f'office:value-type="date" office:date-value="{text}"'
    elif isinstance(value, dt.time):
        text = value.isoformat()
        typed = f'office:value-type="time" office:time-value="{value:PT%HH%MM%SS}"'
    else:
        text, typed = value, 'office:value-type="string"'
    paragraphs = "".join(
        f"<text:p>{_with_spaces(line)}</text:p>" for line in text.split("\n")
    )
    return f"<table:table-cell{styled} {typed}>{paragraphs}</table:table-cell>"


def _with_spaces(line: str) -> str:
    """Encode spaces and tabs, which OpenDocument would otherwise collapse."""
    text = xml_text(line).replace("\t", "<text:tab/>")
    return re.sub(
        "^ +| {2,}| $", lambda m: f'<text:s text:c="{len(m.group())}"/>', text
    )


def xml_text(text: str) -> str:
    r"""Escape a text for XML; illegal characters become replacement characters.

    Examples
    --------
    >>> xml_text("a < b\x00")
    'a &lt; b\ufffd'
    """
    return html.escape(ILLEGAL_IN_XML.sub("\ufffd", text), quote=True)
