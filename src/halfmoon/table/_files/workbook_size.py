"""The size of a workbook, counted before it is read into memory.

A few bytes may stand for much: a part may unpack to gigabytes, a text may be that of
millions of cells, and the library that reads sheets holds every cell from the first to
the last row and column in use, also the empty ones between them. A single cell
``XFD1048576`` stands for 2^34 of them.
"""

from __future__ import annotations

import zipfile
from array import array
from functools import partial
from typing import IO, Any

from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.formats import Format
from halfmoon.table._files.sheet_sizes import OdsSizes, SheetSize, XlsxSizes
from halfmoon.table._files.xls_sizes import sizes_of_xls
from halfmoon.table._files.xlsb_sizes import XlsbSizes
from halfmoon.table._table_errors import ReadError

__all__ = ["refuse_large"]

MAX_UNPACKED_BYTES = 2**29  # of XML
MAX_XLS_BYTES = 2**28  # of a format that is not compressed
MAX_CELLS = 2**24  # of a sheet, from the first to the last row and column
MAX_HELD_BYTES = 2**30  # of the cells in memory
CELL_BYTES, USED_BYTES = 32, 40  # of each cell; in addition of one with a value
CHUNK_BYTES = 2**20
AT_ONCE = ("ods", "xls")  # formats of which all sheets are read at once
SHARED_TEXTS = "sharedstrings"


def refuse_large(file: IO[bytes], source: Source, found: Format) -> None:
    """Refuse a workbook that would take too much memory."""
    name = source.name
    if found.name == "xls" and source.size > MAX_XLS_BYTES:
        raise _too_large(name, "when it is unpacked", MAX_XLS_BYTES)
    try:
        is_zip = found.name != "xls"
        sheets = _sheet_sizes(file, name, found) if is_zip else sizes_of_xls(file)
    except ReadError:
        raise
    except Exception as error:  # of zipfile, zlib, struct, expat and others
        raise _damaged(name, error) from error
    held = [0]
    for each in sheets:
        if each.rows * each.columns > MAX_CELLS:
            raise ReadError(
                f"{name} has a sheet that reaches to row {each.rows:,} and column "
                f"{each.columns:,}, and all cells up to there would be held in memory. "
                f"Delete what is outside of the table, or save the sheet as CSV."
            )
        cells = each.rows * each.columns * CELL_BYTES
        held.append(cells + each.used * USED_BYTES + each.text)
    if (sum if found.name in AT_ONCE else max)(held) > MAX_HELD_BYTES:
        raise _too_large(name, "of memory with all its cells", MAX_HELD_BYTES)


def _sheet_sizes(file: IO[bytes], name: str, found: Format) -> list[SheetSize]:
    """Count the cells of the sheets in a zip file; the sizes in it may be wrong."""
    size, sheets = 0, []
    lengths = array("L")  # of texts that are cells in several places
    sizes_of: dict[str, Any] = {"ods": OdsSizes, "xlsb": partial(XlsbSizes, lengths)}
    with zipfile.ZipFile(file) as packed:
        parts = packed.infolist()
        for part in sorted(parts, key=lambda x: SHARED_TEXTS not in x.filename.lower()):
            part.file_size = 2**40  # ignore the size in the file
            sizes = sizes_of.get(found.name, partial(XlsxSizes, lengths))()
            with packed.open(part) as stream:
                for chunk in iter(partial(stream.read, CHUNK_BYTES), b""):
                    size += len(chunk)
                    if size > MAX_UNPACKED_BYTES:
                        raise _too_large(
                            name, "when it is unpacked", MAX_UNPACKED_BYTES
                        )
                    sizes.add(chunk)
            sizes.finish()
            sheets += sizes.sheets
    return sheets


def _too_large(name: str, when: str, limit: int) -> ReadError:
    return ReadError(
        f"{name} takes more than {limit // 2**20} MB {when}, and a workbook is held in "
        f"memory. Save the sheet as CSV and give that file, which is read in parts."
    )


def _damaged(name: str, error: Exception) -> ReadError:
    if isinstance(error, RuntimeError) and "password" in str(error):
        return ReadError(f"{name} is protected by a password. Save it without one.")
    return ReadError(
        f"{name} is damaged, cut short or compressed in an unknown way ({error}). Get "
        f"the file again."
    )
