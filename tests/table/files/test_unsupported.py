"""Files that are not tables: the error says what they are and what to do."""

import gzip
import sqlite3
import zipfile

import pytest

from halfmoon.table._files import open_table
from halfmoon.table._table_errors import ReadError

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
