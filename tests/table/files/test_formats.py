"""Formats and compressions: found by name or content, and kept in the output."""

import bz2
import gzip
import io
import lzma
import os
import sqlite3
import subprocess
import zipfile

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from halfmoon.table._files import Format, new_table, open_table
from halfmoon.table._files.formats import compression_of, format_from_name, kind_of
from halfmoon.table._table_errors import ReadError

TEXT = b"a,b\n" + b"".join(b"%d,x%d\n" % (i, i % 7) for i in range(3000))
SUFFIXES = {None: "", "gzip": ".gz", "bz2": ".bz2", "xz": ".xz", "zstd": ".zst"}
SUFFIXES |= {"lz4": ".lz4", "brotli": ".br"}


def packed(data, compression):
    """Compress with other libraries than the package uses, if possible."""
    if compression is None:
        return data
    if compression in ("gzip", "bz2", "xz"):
        return {"gzip": gzip, "bz2": bz2, "xz": lzma}[compression].compress(data)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, compression) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def unpacked(data, compression):
    if compression is None:
        return data
    if compression in ("gzip", "bz2", "xz"):
        return {"gzip": gzip, "bz2": bz2, "xz": lzma}[compression].decompress(data)
    return pa.CompressedInputStream(pa.BufferReader(data), compression).read()


def copied(source, destination):
    with open_table(source) as table, new_table(destination, table) as out:
        for batch in table.batches():
            out.write(batch)
    return table.format, out.format


@pytest.mark.parametrize("compression", SUFFIXES)
def test_compressed_text(tmp_path, compression):
    suffix = SUFFIXES[compression]
    source, copy = tmp_path / f"in.csv{suffix}", tmp_path / f"out.csv{suffix}"
    source.write_bytes(packed(TEXT, compression))
    found, wanted = copied(source, copy)
    assert found == wanted == Format("csv", compression, ",", "utf-8")
    assert unpacked(copy.read_bytes(), compression) == TEXT
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, copy.name])


@pytest.mark.parametrize("compression", [c for c in SUFFIXES if c != "brotli"])
@pytest.mark.parametrize("name", ["in.csv", "in", "in.csv.gz", "in.parquet"])
def test_content_counts_more_than_the_name(tmp_path, compression, name):
    if name == "in.parquet" and compression is None:
        pytest.skip("text shows no format of its own")
    (tmp_path / name).write_bytes(packed(TEXT, compression))
    options = {"format": "csv"} if name == "in.parquet" else {}
    with open_table(tmp_path / name, **options) as table:
        assert table.format == Format("csv", compression, ",", "utf-8")
        assert sum(len(batch) for batch in table.batches()) == 3000


@pytest.mark.parametrize("compression", SUFFIXES)
def test_streams_keep_their_compression(compression):
    if compression == "brotli":
        pytest.skip("brotli has no mark")
    stream = io.BytesIO()
    copied(io.BytesIO(packed(TEXT, compression)), stream)
    assert unpacked(stream.getvalue(), compression) == TEXT


def test_several_members_in_one_gzip():
    data = gzip.compress(TEXT[:5000]) + gzip.compress(TEXT[5000:])
    stream = io.BytesIO()
    copied(io.BytesIO(data), stream)
    assert gzip.decompress(stream.getvalue()) == TEXT


@pytest.mark.parametrize(
    ("damage", "compression"),
    [("cut", c) for c in SUFFIXES if c]
    + [("changed", c) for c in ("gzip", "bz2", "xz")],  # the others have no checksums
)
def test_damaged_compression(tmp_path, compression, damage):
    data = bytearray(packed(os.urandom(30_000).hex().encode(), compression))
    half = len(data) // 2
    if damage == "cut":
        del data[half:]
    else:
        data[half : half + 200] = b"\xff" * 200
    path = tmp_path / f"in.csv{SUFFIXES[compression]}"
    path.write_bytes(data)
    with (
        pytest.raises(ReadError, match=r"cut short|is damaged") as caught,
        open_table(path) as table,
    ):
        list(table.batches())
    assert "\n" not in str(caught.value)


def test_a_decompression_bomb_takes_no_memory(tmp_path):
    path = tmp_path / "in.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"x" * 2**26))
    with (
        open_table(path) as table,
        pytest.raises(ReadError, match=r"Line 2 of .* is longer than 16 MB"),
    ):
        list(table.batches())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.CSV", ("csv", None)),
        ("a.tab.xz", ("tsv", "xz")),
        ("a.pq", ("parquet", None)),
        ("a.ipc", ("feather", None)),
        ("a.b.txt.zst", ("csv", "zstd")),
        ("a.gz", (None, "gzip")),
        ("csv", (None, None)),
    ],
)
def test_formats_from_names(name, expected):
    assert format_from_name(name) == expected


def test_headers_that_look_like_magic_bytes():
    assert kind_of(b"PAR1,b\n1,2\n") is None
    assert kind_of(b"ARROW1,b\n") is None
    assert compression_of(b"BZh9,b\n") is None


@pytest.mark.parametrize("name", ["in.parquet", "in.feather"])
def test_parquet_and_feather_from_streams_and_compressed(tmp_path, name):
    table = pa.table({"a": [1, 2, None], "b": ["x", None, "z"]})
    write = pq.write_table if name.endswith("parquet") else feather.write_feather
    write(table, str(tmp_path / name))
    data = (tmp_path / name).read_bytes()
    kind = name.removeprefix("in.")
    for given in (data, gzip.compress(data)):
        with open_table(io.BytesIO(given)) as opened:
            assert opened.format.name == kind
            rows = [batch.rows for batch in opened.batches()]
            assert pa.Table.from_batches(rows).equals(table)


def test_paths_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ReadError, match=r"none.csv does not exist\. Check"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(ReadError, match="is a folder; a file is needed"):
        open_table(tmp_path)
    with pytest.raises(ReadError, match=r"cannot be read: .*null"):
        open_table("in\0.csv")
    (tmp_path / "in.csv").write_bytes(TEXT)

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refused)
    with pytest.raises(ReadError, match=r"in.csv cannot be read: Permission denied\."):
        open_table(tmp_path / "in.csv")


@pytest.mark.parametrize("how", ["longer", "replaced", "touched", "while reading"])
def test_a_file_that_changes_between_two_reads_is_refused(tmp_path, how):
    path = tmp_path / "in.csv"
    path.write_bytes(TEXT)
    with open_table(path, batch_rows=100) as table:
        walk = table.batches()
        if how == "while reading":
            next(walk)
        else:
            list(walk)
        if how == "replaced":
            (tmp_path / "new").write_bytes(TEXT)
            os.utime(tmp_path / "new", ns=(0, path.stat().st_mtime_ns))
            os.replace(tmp_path / "new", path)
        elif how == "touched":
            os.utime(path, ns=(0, 0))
        else:
            path.write_bytes(TEXT + b"1,2\n")
        with pytest.raises(ReadError, match="changed while it was being read"):
            list(walk if how == "while reading" else table.batches())


def test_a_pipe_can_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    command = ["sh", "-c", 'printf "a,b\\n1,2\\n" > "$0"', str(tmp_path / "pipe.csv")]
    with subprocess.Popen(command), open_table(tmp_path / "pipe.csv") as table:
        first, second = table.batches(), table.batches()  # at the same time
        assert list(next(first).raw) == list(next(second).raw) == ["1,2\n"]
        first.close()
        second.close()


# ---- files that are not tables: what they are and what to do -----------------------

STARTS = {
    "a.duckdb": (b"\x01" * 8 + b"DUCK\0\0", "a DuckDB database", "duckdb"),
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF document", "as CSV"),
    "a.h5": (b"\x89HDF\r\n\x1a\n\0", "an HDF5 file", "read_hdf"),
    "a.npy": (b"\x93NUMPY\x01\0", "a NumPy file", "savetxt"),
    "a.pkl": (b"\x80\x04\x95\x10\0", "a Python pickle", "trust"),
    "a.sav": (b"$FL2@(#) SPSS DATA FILE", "an SPSS file", "read_spss"),
    "a.dta": (b"<stata_dta><header>", "a Stata file", "read_stata"),
    "a.png": (b"\x89PNG\r\n\x1a\n\0", "a picture", "spreadsheet"),
    "a.jpg": (b"\xff\xd8\xff\xe0\0", "a picture", "spreadsheet"),
    "a.html": (b"\n<!DOCTYPE html>\n<html>", "an HTML page", "spreadsheet"),
    "a.xls": (b"<html xmlns:x='urn'><table>", "an HTML page", "spreadsheet"),
    "a.xml": (b"<?xml version='1.0'?><a/>", "an XML document", "CSV"),
    "a.csv": (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS", "git lfs"),
    "a.arff": (b"% x\n%\n@RELATION a\n@attribute b real", "an ARFF file", "loadarff"),
    "a.orc": (b"ORC\x08\0", "an ORC file", "Parquet"),
}


@pytest.mark.parametrize("name", STARTS)
def test_formats_are_recognized_by_their_first_bytes(tmp_path, name):
    data, what, remedy = STARTS[name]
    (tmp_path / name).write_bytes(data + b"\n" * 600)
    with pytest.raises(ReadError) as caught:
        open_table(tmp_path / name)
    said = str(caught.value)
    assert f"{name} is " in said
    assert what in said
    assert remedy in said
    assert "\n" not in said


def test_an_sqlite_database(tmp_path):
    path = tmp_path / "my data.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()
    with pytest.raises(ReadError) as caught:
        open_table(path)
    assert str(caught.value) == (
        f"{path} is an SQLite database. Pipe a table of it in: sqlite3 -header -csv "
        f"'{path}' \"SELECT * FROM mytable\" | halfmoon fill - --target COLUMN"
    )


def test_compressed_r_data_are_recognized(tmp_path):
    (tmp_path / "a.rds").write_bytes(gzip.compress(b"X\n\0\0\0\x03\0\x04\x02\0"))
    with pytest.raises(ReadError, match=r"a file of R data. .*write\.csv"):
        open_table(tmp_path / "a.rds")


def test_a_zip_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("a.csv", "a,b\n1,2\n")
    with pytest.raises(
        ReadError, match=r"a zip archive. Unpack it, or: unzip -p .*zip"
    ):
        open_table(tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("address", "remedy"),
    [
        ("https://example.com/x.csv", "curl -L https://example.com/x.csv | halfmoon"),
        ("https:/example.com/x.csv", "curl -L https://example.com/x.csv | halfmoon"),
        ("s3://bucket/x.csv", "aws s3 cp s3://bucket/x.csv - | halfmoon"),
        ("postgresql://u@h/db", "psql postgresql://u@h/db --csv"),
    ],
)
def test_addresses(address, remedy):
    with pytest.raises(ReadError) as caught:
        open_table(address)
    assert "is an address, but only files can be read. " in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    "text", ["Obj,x\n1,2\n", "BM,x\n1,2\n", "X\n1\n2\n", "ORC,b\n1,2\n", "GIF,x\n1,2\n"]
)
def test_tables_with_similar_first_bytes_are_read(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with open_table(tmp_path / "t.csv") as table:
        assert sum(len(batch) for batch in table.batches()) == text.count("\n") - 1
