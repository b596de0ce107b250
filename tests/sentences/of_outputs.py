"""Workbooks, places and values that cannot be read or written."""

import io
import os
import struct
import sys
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from halfmoon import _atomic_files as atomic_files
from halfmoon.table._files import new_table, open_table
from halfmoon.table._files.byte_source import Source
from sentences.of_files import FULL, failing, refused, walked

SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = f"""<?xml version='1.0' encoding='UTF-8'?>
<worksheet xmlns='{SPACE}'><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>kind</t></is></c></row>
<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is></c></row>
</sheetData></worksheet>"""


def copied(source, place, replace=None, append=None, meanwhile=None, **options):
    """A table written again, with values for its rows."""
    with open_table(source) as table, new_table(place, table, **options) as out:
        for batch in table.batches():
            out.write(batch, replace or {}, append or {})
        if meanwhile is not None:
            meanwhile(table)


def book_of(rows, path, *others, xml=None, without=(), merged=(), **changed):
    """A workbook; `xml` is its sheet in XML, `without` names parts to leave out."""
    book = openpyxl.Workbook()
    book.active.title = "Flowers"
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    for other in others:
        book.create_sheet(other)
    book.save(path)
    with zipfile.ZipFile(path) as packed:
        held = {each: packed.read(each) for each in packed.namelist()}
    if xml is not None:
        held["xl/worksheets/sheet1.xml"] = xml.encode()
    for name in without:
        del held[name]
    held |= {name.replace("__", "/") + ".xml": text for name, text in changed.items()}
    with zipfile.ZipFile(path, "w") as packed:
        for each, data in held.items():
            packed.writestr(each, data)
    return path


def books():
    """Workbooks that are refused, and those with something to say of them."""
    walked(book_of([["A title"], [], ["kind", "n"], ["a", 1]], "two.xlsx", "Other"))
    rows = [["kind", "place", "n"], ["a", "north", 1], ["b", None, 2], ["c", "x", 3]]
    walked(book_of(rows, "merged.xlsx", merged=["A3:A4"]))
    walked(book_of(rows, "both.xlsx", merged=["A3:A4", "B2:B3"]))
    with refused():
        walked("two.xlsx", sheet="Third")
    with refused():
        walked(book_of([], "empty.xlsx"))
    with refused():
        walked(book_of([], "empty.xlsx", "Other"))
    with refused():
        walked(book_of([["a"], [1]], "lost.xlsx", without=["xl/workbook.xml"]))
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table._files.workbook_size.MAX_UNPACKED_BYTES", 2**20)
        walked(book_of([["a"], ["b"]], "large.xlsx", more=b"0" * 2**21))
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table._files.workbook_size.MAX_HELD_BYTES", 0)
        walked("two.xlsx")
    with refused():
        walked(book_of([["a"], ["b"]], "odd.xlsx", xl__workbook="<workbook"))
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table._files.workbook_size.MAX_XLS_BYTES", 0)
        Path("old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
        walked("old.xls")
    with refused():
        far = "<row><c r='XFD1048576'><v>1</v></c></row>"
        walked(book_of([["a"], ["b"]], "far.xlsx", xml=far))
    with refused(), pytest.MonkeyPatch.context() as patch:
        locked = RuntimeError("is encrypted, password required")
        patch.setattr("zipfile.ZipFile.open", failing(locked))
        walked("two.xlsx")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "python_calamine", None)
        walked("two.xlsx")
    with refused(), pytest.MonkeyPatch.context() as patch:
        import python_calamine

        locked = python_calamine.PasswordError("locked")
        patch.setattr(python_calamine, "load_workbook", failing(locked))
        walked("two.xlsx")
    Path("cut.xlsx").write_bytes(Path("two.xlsx").read_bytes()[:-100])
    with refused():
        walked("cut.xlsx")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile.ZipExtFile, "read", failing(struct.error("odd")))
        walked("two.xlsx")


def copies_of_books():
    """Workbooks that change while they are copied, or cannot be copied."""
    good = book_of([], "good.xlsx", xml=SHEET)
    row = '<row r="2">'
    changes = [
        {"xml": SHEET.replace("<is><t>a</t></is>", '<f t="shared" si="0"/>')},
        {"xml": SHEET.replace("UTF-8", "UTF-16")},
        {"xml": SHEET.replace("<worksheet", "<!DOCTYPE a><worksheet")},
        {"xml": SHEET.replace("</sheetData>", "</sheetDat>")},
        {"xml": SHEET.replace(row, '<row r="3">')},
        {"xml": SHEET.replace(SHEET[SHEET.index(row) :], '<row r="2"/>')
         + "</sheetData></worksheet>"},
        {"xml": SHEET, "without": ["xl/workbook.xml"]},
        {"xml": SHEET, "xl__workbook": f"<workbook xmlns='{SPACE}'/>"},
    ]  # fmt: skip
    for change in changes:
        bad = book_of([], "bad.xlsx", **change)
        with refused():
            copied(good, "m.xlsx", {"kind": ["b"]}, meanwhile=moved(bad))
    uncomputed = SHEET.replace(
        "</c></row>\n</sheet", '</c><c r="B2"><f>1+1</f></c></row>\n</sheet'
    )
    book_of([], "uncomputed.xlsx", xml=uncomputed)
    with refused():
        copied("uncomputed.xlsx", "m.xlsx", {}, {"kind_sure": [0.5]})
    Path("bad.xlsx").write_bytes(b"PK")
    with refused():
        copied(good, "m.xlsx", {"kind": ["b"]}, meanwhile=moved("bad.xlsx"))
    Path("t.csv").write_bytes(b"kind,n\na,1\n,2\n")
    copied("t.csv", "good.ods")
    with refused(), open_table("good.ods") as table:
        (batch,) = table.batches()
        table.row_numbers.append(99)
        with new_table("m.ods", table) as out:
            out.write(batch, {"kind": ["a", "b"]})


def moved(path):
    def move(table):
        table.source = Source(path, table.name)

    return move


def writings():
    """Places and values that cannot be written."""
    Path("t.csv").write_bytes(b"kind,n\na,1\n,2\n")
    Path("folder").mkdir()
    Path("loop.csv").symlink_to("loop.csv")
    for place in ("t.docx", "t.xls", "t.xlsx.gz", "t.csv", "there/t.csv", "folder"):
        with refused():
            copied("t.csv", place)
    Path("old.csv").write_bytes(b"")
    with refused():
        copied("t.csv", "old.csv")
    with refused():
        copied("t.csv", "loop.csv")
    with refused(), pytest.MonkeyPatch.context() as patch:
        denied = PermissionError(13, "Permission denied")
        patch.setattr(
            "halfmoon.table._files.writing.open", failing(denied), raising=False
        )
        copied("t.csv", os.devnull)
    with refused():
        copied("t.csv", "new.csv", formulas="run")
    with refused():
        copied("t.csv", "new.xlsx", {"kind": ["a", "b" * 40_000]})
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table._files.new_workbook.MAX_ROWS", 2)
        copied("t.csv", "new.xlsx")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("xlsxwriter.Workbook.close", failing(FULL))
        patch.setattr("tempfile.gettempdir", lambda: "/tmp")
        copied("t.csv", "new.xlsx")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "xlsxwriter", None)
        copied("t.csv", "new.xlsx")
    with refused(), open_table("t.csv", encoding="latin-1") as table:
        (batch,) = table.batches()
        with new_table("new.csv", table) as out:
            out.write(batch, {"kind": ["a", "€"]})
    parquet.write_table(pa.table({"n": [1, 2]}), "whole.parquet")
    with refused():
        copied("whole.parquet", "new.parquet", {"n": [1.5, 2.5]})
    with refused(), pytest.MonkeyPatch.context() as patch:
        odd = failing(pa.ArrowInvalid("odd"))
        patch.setattr(parquet.ParquetWriter, "write_table", odd)
        copied("whole.parquet", "new.parquet")
    with refused():
        copied("t.csv", "new.parquet", types={"kind": pa.int64()})
    few = (
        pa.array(["a"] * 200).dictionary_encode().cast(pa.dictionary("int8", "string"))
    )
    feather.write_feather(pa.table({"kind": few}), "few.feather")
    with refused():
        copied("few.feather", "new.feather", {"kind": [f"{i}" for i in range(200)]})
    runs = pa.RunEndEncodedArray.from_arrays([2], ["a"])
    feather.write_feather(pa.table({"runs": runs}), "runs.feather")
    with refused():
        copied("runs.feather", "new.parquet")
    for error in (FULL, BrokenPipeError(32, "Broken pipe")):
        stream = io.BytesIO()
        stream.write = failing(error)
        with refused():
            copied("t.csv", stream)
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic_files, "raw_write", failing(FULL))
        copied("t.csv", "new.csv")
    for days in (0, 3):
        left = Path(f".halfmoon-{days:012x}.csv")
        left.write_bytes(b"")
        os.utime(left, (os.stat(left).st_atime, os.stat(left).st_mtime - days * 86_400))
        copied("t.csv", f"new{days}.csv")
    Path(".halfmoon-000000000000.csv").unlink()
