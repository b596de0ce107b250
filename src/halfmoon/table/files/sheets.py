"""New workbooks of one sheet, written row by row in little memory."""

from __future__ import annotations

import datetime as dt
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from halfmoon.atomic_files import unfinished
from halfmoon.table.errors import OutputError
from halfmoon.table.files.ods_cells import ods_cell
from halfmoon.table.files.workbook_cells import Value

__all__ = ["NewSheet", "new_sheet"]

MOST_ROWS, MOST_COLUMNS = 2**20, 2**14  # of a sheet, in every spreadsheet program
SHEET = "Sheet1"
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
<table:table table:name="{SHEET}">"""
ODS_END = (
    """</table:table></office:spreadsheet></office:body></office:document-content>"""
)
A_TIME = (1980, 1, 1, 0, 0, 0)  # the same table gives the same file


class _Outlet:
    """A stream that takes nothing more once it has failed.

    A packed file that is not closed writes its end when it is collected, to a stream
    that is closed by then.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.open = True

    def write(self, data: Any) -> int:
        if not self.open:
            return len(data)
        try:
            return self._stream.write(data)
        except BaseException:
            self.open = False
            raise

    def tell(self) -> int:
        return self._stream.tell() if self.open else 0

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._stream.seek(offset, whence) if self.open else 0

    def flush(self) -> None:
        """Everything is flushed when the file is whole."""


class NewSheet(ABC):
    """A sheet that rows are added to.

    Parameters
    ----------
    name : str
        What to call the output in an error.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._row = 0

    def write(self, cells: Sequence[Value]) -> None:
        """Add a row."""
        if self._row == MOST_ROWS or len(cells) > MOST_COLUMNS:
            raise OutputError(
                f"{self._name} cannot be written: a sheet holds {MOST_ROWS:,} rows and "
                f"{MOST_COLUMNS:,} columns at most. Write CSV or Parquet instead."
            )
        self._put(cells)
        self._row += 1

    @abstractmethod
    def _put(self, cells: Sequence[Value]) -> None:
        """Add a row."""

    @abstractmethod
    def finish(self) -> None:
        """Write the rest of the workbook."""

    @abstractmethod
    def abandon(self) -> None:
        """Give temporary files back."""


def new_sheet(format_: str, stream: IO[bytes], name: str) -> NewSheet:
    """A new workbook of a format."""
    return (_Xlsx if format_ == "xlsx" else _Ods)(stream, name)


class _Xlsx(NewSheet):
    def __init__(self, stream: IO[bytes], name: str) -> None:
        super().__init__(name)
        try:
            import xlsxwriter
        except ModuleNotFoundError as error:
            raise OutputError(
                f"{name} cannot be written: xlsxwriter, which writes workbooks, is not "
                f"installed. Run: pip install xlsxwriter"
            ) from error
        self._open = ExitStack()
        options = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
            "tmpdir": self._open.enter_context(_temporary_folder()),
        }
        self._outlet = _Outlet(stream)
        self._book: Any = xlsxwriter.Workbook(self._outlet, options)
        self._book.set_properties({"created": dt.datetime(*A_TIME)})
        self._sheet = self._book.add_worksheet(SHEET)
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})

    def _put(self, cells: Sequence[Value]) -> None:
        with self._told():
            self._put_cells(cells)

    def _put_cells(self, cells: Sequence[Value]) -> None:
        sheet, row = self._sheet, self._row
        for column, value in enumerate(cells):
            if value is None:
                continue
            if isinstance(value, bool):
                sheet.write_boolean(row, column, value)
            elif isinstance(value, (int, float)):
                sheet.write_number(row, column, value)
            elif isinstance(value, dt.datetime):
                sheet.write_datetime(row, column, value, self._time)
            elif isinstance(value, dt.date):
                sheet.write_datetime(row, column, value, self._day)
            else:
                sheet.write_string(row, column, str(value))

    def finish(self) -> None:
        with self._open, self._told():
            self._book.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in one line what is wrong with the folder of temporary files."""
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"{self._name} cannot be written: {error.strerror or error}, in "
                f"{tempfile.gettempdir()}. Set TMPDIR to a folder with more room."
            ) from error

    def abandon(self) -> None:
        self._outlet.open = False
        for sheet in self._book.worksheets():
            sheet._opt_close()  # its temporary file
        self._book.fileclosed = True  # or it would be written when it is collected
        self._open.close()


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """A folder that goes even where the process is asked to stop."""
    with (
        tempfile.TemporaryDirectory(prefix="halfmoon-") as folder,
        unfinished(Path(folder)),
    ):
        yield folder


class _Ods(NewSheet):
    def __init__(self, stream: IO[bytes], name: str) -> None:
        super().__init__(name)
        self._outlet = _Outlet(stream)
        file = cast(IO[bytes], self._outlet)
        self._packed = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        # First and not packed: programs know the file by it.
        self._part("mimetype", zipfile.ZIP_STORED, ODS_TYPE)
        self._part("META-INF/manifest.xml", zipfile.ZIP_DEFLATED, MANIFEST)
        content = zipfile.ZipInfo("content.xml", A_TIME)
        content.compress_type = zipfile.ZIP_DEFLATED
        self._content = self._packed.open(content, "w", force_zip64=True)
        self._content.write(ODS_START.encode())

    def _part(self, name: str, packing: int, text: str) -> None:
        part = zipfile.ZipInfo(name, A_TIME)
        part.compress_type = packing
        self._packed.writestr(part, text)

    def _put(self, cells: Sequence[Value]) -> None:
        row = "".join(ods_cell(value, _ods_style(value)) for value in cells)
        self._content.write(f"<table:table-row>{row}</table:table-row>".encode())

    def finish(self) -> None:
        self._content.write(ODS_END.encode())
        self._content.close()
        self._packed.close()

    def abandon(self) -> None:
        self._outlet.open = False
        self._content.close()
        self._packed.close()


def _ods_style(value: Value) -> str:
    """Name of the style in which a value is shown; without one, a date is a number."""
    if isinstance(value, dt.datetime):
        return "time"
    return "day" if isinstance(value, dt.date) else ""
