"""Cells of a binary Excel workbook, counted record by record."""

import struct
from array import array

import pytest

from halfmoon.table._files.sheet_sizes import SheetSize
from halfmoon.table._files.xlsb_sizes import BEGIN, END, ROW, TEXT, XlsbSizes


def record(kind, data=b""):
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(data)
    while size >= 128:
        head += bytes([size & 0x7F | 0x80])
        size >>= 7
    return head + bytes([size]) + data


def row(number):
    return record(ROW, struct.pack("<I", number) + bytes(21))


def cell(column, kind=5, value=bytes(8)):
    return record(kind, struct.pack("<II", column, 0) + value)


SHEET = record(BEGIN) + row(7) + cell(2) + cell(5) + row(9) + cell(3) + record(END)


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_cells_of_a_sheet(chunk):
    after = record(300, bytes(400)) + cell(10**6)  # outside of the sheet
    data = record(148, bytes(200)) + SHEET + after
    found = XlsbSizes(array("L"))
    for i in range(0, len(data), chunk):
        found.add(data[i : i + chunk])
    found.finish()
    assert found.sheets == [SheetSize(10, 6, 3)]


def test_blank_cells_are_not_held():
    found = XlsbSizes(array("L"))
    found.add(record(BEGIN) + row(1) + cell(0) + row(2**20 - 1) + cell(9, kind=1))
    found.finish()
    assert found.sheets == [SheetSize(2, 1, 1)]


def test_shared_texts_count_wherever_they_are():
    lengths = array("L")
    texts = XlsbSizes(lengths)
    for n in (3, 500):
        texts.add(record(TEXT, b"\0" + struct.pack("<I", n) + bytes(2 * n)))
    texts.finish()
    assert lengths.tolist() == [3, 500]
    found = XlsbSizes(lengths)
    shared = [cell(i, 7, struct.pack("<I", i % 2)) for i in range(4)]
    found.add(record(BEGIN) + row(0) + b"".join(shared) + cell(9, 7, b"\xff" * 4))
    found.finish()
    assert found.sheets == [SheetSize(1, 10, 5, 2 * 503)]


def test_any_bytes_can_be_read():
    found = XlsbSizes(array("L"))
    found.add(bytes(range(256)) * 40 + b"\xff" * 100)
    found.finish()
