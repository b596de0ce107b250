"""Files that cannot be read or written, and what else there is to say of files."""

import csv
import errno
import gzip
import io
import lzma
import os
import struct
import sys
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path

import openpyxl
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from halfmoon import atomic_files, fill
from halfmoon.table.errors import TableError
from halfmoon.table.files import new_table, open_table
from halfmoon.table.files.compression import reading
from halfmoon.table.files.unsupported import KINDS, refuse_unsupported

SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = f"""<?xml version='1.0' encoding='UTF-8'?>
<worksheet xmlns='{SPACE}'><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>kind</t></is></c></row>
<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is></c></row>
</sheetData></worksheet>"""
FULL = OSError(errno.ENOSPC, "No space left on device")
LFS = b"version https://git-lfs.github.com/spec/v1"
FAR = pa.array([10**8, 1, 2], pa.int32()).cast(pa.date32())

#: Files that are no tables, by their names.
UNREADABLE = {
    "empty.csv": b"",
    "lines.csv": b"\n\n",
    "null.csv": b"a,b\n1,\x00\n",
    "open.csv": b'a,b\n1,"2\n',
    "ragged.csv": b"a,b\n1,2,3\n",
    "one_column.csv": b"a\n1,2\n",
    "doubled.csv": b"a,b,a\n1,2,3\n",
    "many_doubled.csv": b",".join(b"%d" % (i // 2) for i in range(14)) + b"\n",
    "latin.csv": "a,b\né,2\n".encode("latin-1"),
    "half.csv": "a,b\n\ud800,2\n".encode("utf-7", "surrogatepass"),
    "half_name.csv": "a,\ud800\n1,2\n".encode("utf-7", "surrogatepass"),
    "cut.csv.gz": gzip.compress(bytes(range(256)) * 50)[:200],
    "damaged.csv.xz": lzma.compress(b"a,b\n1,2\n")[:20] + b"\xff" * 40,
    "damaged.csv.bz2": b"BZh91AY&SY" + b"\xff" * 60,
    "damaged.csv.zst": b"\x28\xb5\x2f\xfd" + b"\xff" * 60,
    "lines.jsonl": b'{"a": 1}\n{"a": \n',
    "numbers.jsonl": b'{"a": 1}\n2\n',
    "nothing.jsonl": b"{}\n",
    "half.jsonl": b'{"\\ud800": 1}\n',
    "latin.jsonl": '{"a": "é"}\n'.encode("latin-1"),
    "numbers.json": b'[{"a": 1}, 2]',
    "commas.json": b'[{"a": 1} {"a": 2}]',
    "cut.json": b'[{"a": 1}, {"a"',
    "more.json": b'[{"a": 1}] and more',
    "damaged.parquet": b"PAR1" + b"\xff" * 40,
    "old.feather": b"FEA1" + b"\xff" * 40,
    "damaged.xlsx": b"PK\x03\x04" + b"\xff" * 40,
    "damaged.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 600,
    "plain.pdf": b"a\0b",
}
#: Limits that would take large files to reach: file, constant, value, source.
LIMITS = [
    ("long.csv", "records.RECORD_LIMIT", 10, b"a,b\n" + b"1" * 20),
    ("long_open.csv", "records.RECORD_LIMIT", 10, b'a,b\n"1' + b"1" * 20),
    ("long.jsonl", "json_table.RECORD_LIMIT", 4, b'{"a": 1}\n'),
    ("wide.jsonl", "json_table.MOST_COLUMNS", 1, b'{"a": 1, "b": 2}\n'),
    ("long.json", "json_table.ARRAY_LIMIT", 4, b'[{"a": 1}]'),
]


@contextmanager
def refused(*kinds):
    """What ends in an error of tables, or of a library as its words are recorded."""
    with pytest.raises((TableError, *kinds)):
        yield


def walked(source, **options):
    with open_table(source, **options) as table:
        return list(table.batches())


def copied(source, place, replace=None, append=None, meanwhile=None, **options):
    """A table written again, with values for its rows."""
    with open_table(source) as table, new_table(place, table, **options) as out:
        for batch in table.batches():
            out.write(batch, replace or {}, append or {})
        if meanwhile is not None:
            meanwhile(table)


def book_of(rows, path, *others, xml=None, without=(), **changed):
    """A workbook; `xml` is its sheet in XML, `without` names parts to leave out."""
    book = openpyxl.Workbook()
    book.active.title = "Flowers"
    for row in rows:
        book.active.append(row)
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


def readings():
    """Files that are refused, and files with something to say of them."""
    for name, data in UNREADABLE.items():
        Path(name).write_bytes(data)
        with refused():
            walked(name, encoding="utf-7" if name.startswith("half") else None)
    for name, constant, value, data in LIMITS:
        Path(name).write_bytes(data)
        with refused(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"halfmoon.table.files.{constant}", value)
            walked(name)
    before = csv.field_size_limit(3)
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "field_size_limit", lambda: 2**40)
        walked(io.BytesIO(b"a,b\n1,2345\n"))
    csv.field_size_limit(before)
    for kind in KINDS:
        name = f"table{kind.endings[0]}" if kind.endings else "table.csv"
        with refused():
            refuse_unsupported(b"\0" if kind.endings else LFS, name, name)
    for head in (b"PK\x03\x04", b"%PDF-1.7"):
        with refused():
            refuse_unsupported(head, "standard input", None)
    for scheme in ("https", "s3", "gs", "postgres", "hdfs"):
        with refused():
            open_table(f"{scheme}://example.com/table")
    Path("folder").mkdir()
    Path("loop.csv").symlink_to("loop.csv")
    for name in ("nowhere.csv", "folder", "loop.csv", "nothing-*.csv"):
        with refused():
            open_table(name)
    with refused():
        open_table(io.BytesIO(b'{"a": 1}'), format="json")
    Path("good.csv").write_bytes(b"kind,n\na,1\n,2\n")
    for options in (
        {"format": "docx"},
        {"delimiter": ",,"},
        {"encoding": "klingon"},
        {"sheet": "A"},
    ):
        with refused():
            open_table("good.csv", **options)
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", failing(PermissionError(13, "Permission denied")))
        open_table("good.csv")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.copyfileobj", failing(FULL))
        patch.setattr("tempfile.gettempdir", lambda: "/tmp")
        open_table(io.BytesIO(b"a,b\n"))
    with refused(), open_table("good.csv") as table:
        list(table.batches())
        Path("good.csv").write_bytes(b"kind,n\na,1\n")
        list(table.batches())
    with refused(), open_table(io.BytesIO(b"a,b\n1,2\n")) as table:
        table.n_rows = 2
        list(table.batches())
    for error in (OSError(errno.EIO, "Input/output error"), pa.ArrowInvalid("odd")):
        with refused(), reading("t.csv.zst", "zstd"):
            raise error
    walked(io.BytesIO(b"A title\n\nkind,n\na,1\n"))


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def typed_readings():
    """The same of files whose columns have types, and of data frames."""
    parquet.write_table(pa.table({"when": FAR}), "far.parquet")
    walked("far.parquet")
    parquet.write_table(pa.table({}), "empty.parquet")
    with refused():
        walked("empty.parquet")
    parquet.write_table(pa.table({"a": [1]}), "t.parquet")
    with refused(), open_table("t.parquet") as table:
        table.schema = pa.schema([("b", pa.int64())])
        list(table.batches())
    with refused(), open_table(io.BytesIO(b'{"a": "x"}\n'), format="jsonl") as table:
        table.schema = pa.schema([("a", pa.int64())])
        list(table.batches())
    Path("parts").mkdir()
    for second in (b"a,c\n1,2\n", b"a\n1\n", b"b,a\n1,2\n", b"a;b\n1;2\n"):
        Path("parts/1.csv").write_bytes(b"a,b\n1,2\n")
        Path("parts/2.csv").write_bytes(second)
        with refused():
            open_table("parts/*.csv")
    for i, value in enumerate((1, [1])):
        parquet.write_table(pa.table({"a": [value]}), f"parts/{i}.parquet")
    with refused():
        open_table("parts/*.parquet")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table.files.joined.MOST_FILES", 1)
        open_table("parts/*.csv")
    two = pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_product([["a"], ["b", "c"]])
    )
    for frame, target, options in (
        ("a.csv", "y", {}),
        (two, "a", {}),
        (pd.DataFrame(), "y", {}),
        (polars.LazyFrame({"a": [1]}), "a", {}),
        (pd.DataFrame({"a": [1]}), [], {}),
        (pd.DataFrame({"a": [1]}), "b", {}),
        (pd.DataFrame({"a": [1]}), "a", {"budgte": 1}),
        (pd.DataFrame({"a": [1]}), "a", {"memory": "much"}),
        (pd.DataFrame({"a": [1]}), "a", {"order": ["a"], "task": "classes"}),
        (pa.table({"a": [1], "y": [b"x"]}), "y", {}),
        (pa.table({"a": [1, 2, 3], "y": FAR}), "y", {}),
    ):
        with suppress(TableError, ValueError):
            fill(frame, target, **options)


def books():
    """Workbooks that are refused, and those with something to say of them."""
    walked(book_of([["A title"], [], ["kind", "n"], ["a", 1]], "two.xlsx", "Other"))
    with refused():
        walked("two.xlsx", sheet="Third")
    with refused():
        walked(book_of([], "empty.xlsx"))
    with refused():
        walked(book_of([], "empty.xlsx", "Other"))
    with refused():
        walked(book_of([["a"], [1]], "lost.xlsx", without=["xl/workbook.xml"]))
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table.files.workbook.UNPACKED_LIMIT", 2**20)
        walked(book_of([["a"], ["b"]], "large.xlsx", more=b"0" * 2**21))
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
        table.source.path = Path(path)

    return move


def writings():
    """Places and values that cannot be written."""
    Path("t.csv").write_bytes(b"kind,n\na,1\n,2\n")
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
            "halfmoon.table.files.atomic.open", failing(denied), raising=False
        )
        copied("t.csv", os.devnull)
    with refused():
        copied("t.csv", "new.csv", {"q": [1, 2]})
    with refused():
        copied("t.csv", "new.csv", {}, {"n": [1, 2]})
    with refused():
        copied("t.csv", "new.csv", formulas="run")
    with refused():
        copied("t.csv", "new.xlsx", {"kind": ["a", "b" * 40_000]})
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table.files.sheets.MOST_ROWS", 1)
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


def all_of_files():
    for each in (readings, typed_readings, books, copies_of_books, writings):
        each()
