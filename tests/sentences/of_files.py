"""Files and data frames that cannot be read, and notes on others."""

import csv
import errno
import gzip
import io
import lzma
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from halfmoon import fill
from halfmoon._cli.common_options import CommonOptions
from halfmoon.table._files import open_table
from halfmoon.table._files.byte_source import reading
from halfmoon.table._files.formats import KINDS, refuse_unsupported
from halfmoon.table._files.frame_rows import as_rows
from halfmoon.table._files.frame_table import FrameTable
from halfmoon.table._table_errors import TableError

FULL = OSError(errno.ENOSPC, "No space left on device")
LFS = b"version https://git-lfs.github.com/spec/v1"
FAR = pa.array([10**8, 1, 2], pa.int32()).cast(pa.date32())

#: Files that are no tables, by their names.
UNREADABLE = {
    "printed.txt": b"size kind\n" + b"4.5 a\n" * 300 + b"5 a b\n",
    "latin1.txt": b"size kind\n" + b"4.5 a\n" * 5 + b"5 \xe9\n",
    "empty.csv": b"",
    "columns.json": b'{"a": {"0": 1}, "b": {"0": 2}}',
    "within.json": b'{"n": 9, "data": [%s{"a": 1}]}' % (b'{"a": 1},' * 9),
    "lines.csv": b"\n\n",
    "null.csv": b"a,b\n1,\x00\n",
    "wide.csv": "a,b\n1,2\n".encode("utf-32-le"),
    "open.csv": b'a,b\n1,"2\n',
    "ragged.csv": b"a,b\n1,2,3\n",
    "short.csv": b"a,b,c\n1,2\n3,4\n",
    "broken.csv": b"a,b,c\n1,2,3\n4,x\ny,6\n",
    "one_column.csv": b"a\n1,2\n",
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
    "half_value.jsonl": b'{"a": "\\ud800"}\n',
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
    ("long.csv", "records.MAX_RECORD", 10, b"a,b\n" + b"1" * 20),
    ("long_open.csv", "records.MAX_RECORD", 10, b'a,b\n"1' + b"1" * 20),
    ("long.jsonl", "json_table.MAX_RECORD", 4, b'{"a": 1}\n'),
    ("wide.jsonl", "json_table.MAX_JSON_COLUMNS", 1, b'{"a": 1, "b": 2}\n'),
    ("long.json", "json_table.MAX_ARRAY", 2**20, b'[{"a": 1}]' + b" " * 2**20),
]


class FullDisk(io.BytesIO):
    """A temporary file on a full disk."""

    def write(self, _):
        raise FULL


def refused():
    """What ends in an error of tables."""
    return pytest.raises(TableError)


def walked(source, **options):
    with open_table(source, **options) as table:
        return list(table.batches())


def readings():
    """Files that are refused, and files with something to say of them."""
    for name, data in UNREADABLE.items():
        Path(name).write_bytes(data)
        with refused():
            is_utf7 = name.startswith("half") and name.endswith(".csv")
            walked(name, encoding="utf-7" if is_utf7 else None)
    for name, constant, value, data in LIMITS:
        Path(name).write_bytes(data)
        with refused(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"halfmoon.table._files.{constant}", value)
            walked(name)
    with refused():
        walked("")
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("halfmoon.table._files.byte_source.MAX_RECORD", 2**18)
        walked(io.BytesIO(b"1" * 2**19))
    before = csv.field_size_limit(3)
    with refused(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "field_size_limit", lambda: 2**40)
        walked(io.BytesIO(b'a,b\n1,"2345"\n'))
    csv.field_size_limit(before)
    for kind in KINDS.values():
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
    for name in ("nowhere.csv", "folder", "loop.csv", "nothing-*.csv", "/dev/zero"):
        with refused():
            open_table(name)
    with refused():
        CommonOptions("nowhere.csv").refuse_missing()
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
        patch.setattr("tempfile.TemporaryFile", lambda **_: FullDisk())
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
    for text in (
        b"A title\n\nkind,n\na,1\n",
        b"size,size,kind\nmean,std,\n1,2,a\n3,4,b\n5,6,\n",
        b"kind,n\na,1,\nb,2,\n",
        b"kind,n\n1,a,1\n2,b,2\n",
        b"tag,tag,n\na,b,1\n",
        b"name,n\nZo\xe9,1\n",
        b"size kind\n4.5 a\n5.1 b\n6 b\n",
    ):
        walked(io.BytesIO(text))


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
        patch.setattr("halfmoon.table._files.opening.MAX_FILES", 1)
        open_table("parts/*.csv")
    two = pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_product([["a"], ["b", "c"]])
    )
    for frame, target, options in (
        ("a.csv", "y", {}),
        (two, "a", {}),
        (pd.DataFrame(), "y", {}),
        (pd.DataFrame({"a": [1]}), [], {}),
        (pd.DataFrame({"a": [1]}), "b", {}),
        (pd.DataFrame({"a": [1]}), "a", {"budgte": 1}),
        (pd.DataFrame({"a": [1]}), "a", {"report": "a.html"}),
        (pd.DataFrame({"a": [1]}), "a", {"sets": 3}),
        (pa.table({"a": [1]}).to_reader(), "a", {}),
        (pd.DataFrame({"a": [1]}), "a", {"memory": "much"}),
        (pd.DataFrame({"a": [1]}), "a", {"order": ["a"], "task": "classes"}),
        (pa.table({"a": [1], "y": [b"x"]}), "y", {}),
        (pa.table({"a": [1, 2, 3], "y": FAR}), "y", {}),
    ):
        with suppress(TableError, ValueError):
            fill(frame, target, **options)
    with refused():
        FrameTable(pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object)}))
    with refused():
        as_rows(pa.table({"a": [1]}).to_reader())
    with refused():
        FrameTable(type("LazyFrame", (), {})())
