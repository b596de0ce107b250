"""Write a table to a workbook: a copy of its own workbook, or a new one.

All other parts of a workbook that is copied stay as they are: sheets, formats, widths,
charts, pictures.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Mapping
from typing import IO, Any

from halfmoon.table._files.arrow_types import Values
from halfmoon.table._files.formats import Format
from halfmoon.table._files.new_workbook import NewOds, NewXlsx, sheet_value
from halfmoon.table._files.ods_copy import OdsCopier
from halfmoon.table._files.sheet_copy import SheetEdits
from halfmoon.table._files.table_interface import Batch, Table, TableOutput
from halfmoon.table._files.workbook_table import WorkbookTable
from halfmoon.table._files.xlsx_copy import XlsxCopier
from halfmoon.table._table_errors import OutputError

__all__ = ["workbook_writer"]

COPIERS = {"xlsx": XlsxCopier, "xlsm": XlsxCopier, "ods": OdsCopier}
NEW_WORKBOOKS = {"xlsx": NewXlsx, "ods": NewOds}
TYPE_PART = "mimetype"  # programs recognize OpenDocument by it; not compressed
CALCULATION_CHAIN = "xl/calcChain.xml"  # optional; programs rebuild it
ENTRY = re.compile(rb"<(?:\w+:)?(?:Override|Relationship)\s[^<>]*+>")


def workbook_writer(
    stream: IO[bytes], like: Table, wanted: Format, types: Mapping[str, Any], name: str
) -> TableOutput:
    """Return a writer of a workbook.

    A workbook that is written again in its own format is copied, with the new cells in
    it. Any other table becomes the only sheet of a new workbook.
    """
    if (
        isinstance(like, WorkbookTable)
        and like.format.name == wanted.name
        and wanted.name in COPIERS
    ):
        return _CopyWriter(stream, like, wanted, types, name)
    new = NEW_WORKBOOKS.get(wanted.name)
    if new is None:
        raise OutputError(
            f"{name} cannot be written: a new workbook is .xlsx or .ods. Give the "
            f"output such a name, or one that ends in .csv."
        )
    return new(stream, like, wanted, types, name)


class _CopyWriter(TableOutput):
    """Collects new cells, then copies the workbook with them."""

    _like: WorkbookTable

    def __init__(self, *output: Any) -> None:
        super().__init__(*output)
        header, rows = self._like.layout.header, self._like.row_numbers
        self._edits = SheetEdits(header, rows, self._like.sheet_width)

    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        for name, values in replace.items():
            place = self._like.columns.index(name)
            kind = self._types.get(name, self._like.schema.field(place).type)
            column = self._like.layout.columns[place]
            self._edits.replaced.setdefault(column, []).extend(
                "" if value == "" else sheet_value(value, kind, self._name)
                for value in values
            )
        for name, values in append.items():
            kind = self._types.get(name)
            self._edits.appended.setdefault(name, []).extend(
                sheet_value(value, kind, self._name) for value in values
            )

    def finish(self) -> None:
        like = self._like
        try:
            with like.source.open() as source, zipfile.ZipFile(source) as packed:
                self._copy(packed)
        except zipfile.BadZipFile as error:
            raise like.source.changed() from error

    def _copy(self, packed: zipfile.ZipFile) -> None:
        sheet, copier = self._like.sheet, COPIERS[self.format.name]
        edited = copier.part_of_sheet(packed, sheet, self._name)
        with zipfile.ZipFile(self._stream, "w") as copied:
            for part in packed.infolist():
                if part.filename == CALCULATION_CHAIN:
                    continue
                info = zipfile.ZipInfo(part.filename, part.date_time)
                info.external_attr = part.external_attr
                if part.filename != TYPE_PART:
                    info.compress_type = zipfile.ZIP_DEFLATED
                with packed.open(part) as old, copied.open(info, "w") as new:
                    if part.filename == edited:
                        copier(new, sheet, self._edits, self._name).copy(old)
                    elif part.filename.endswith((".rels", "[Content_Types].xml")):
                        new.write(ENTRY.sub(_without_chain, old.read()))
                    else:
                        shutil.copyfileobj(old, new)


def _without_chain(entry: re.Match[bytes]) -> bytes:
    """Return an entry of a list of parts, empty for the calculation chain."""
    is_chain = b"calcChain" in entry[0] and entry[0].endswith(b"/>")
    return b"" if is_chain else entry[0]
