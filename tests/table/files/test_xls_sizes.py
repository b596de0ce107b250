"""Cells of an old Excel workbook, also in files that were forged."""

import io
from struct import pack

import pytest
from tests.table.files.old_workbooks import cell, record, records_of, xls_of

from halfmoon.table._files import open_table
from halfmoon.table._files.sheet_sizes import SheetSize
from halfmoon.table._files.xls_sizes import sizes_of_xls
from halfmoon.table._table_errors import ReadError

TABLE = [("kind", "n"), ("a", 1.0), ("b", 2.0)]
SHEET = b"".join(
    cell(i, j, x) for i, row in enumerate(TABLE) for j, x in enumerate(row)
)
BLANK = record(0x201, pack("<HHH", 65535, 255, 0))
LARGE = SHEET + b"".join(cell(i, 3, "x" * 200) for i in range(30))


def sizes(*sheets, more=b""):
    return sizes_of_xls(io.BytesIO(xls_of(records_of(sheets, more))))


@pytest.mark.parametrize("sheet", [SHEET, LARGE])
def test_a_workbook_is_read(sheet):
    data = xls_of(records_of([sheet + BLANK]))
    with open_table(io.BytesIO(data)) as table:
        (batch,) = table.batches()
    assert batch.rows.column("kind").to_pylist()[:2] == ["a", "b"]
    is_large = sheet is LARGE
    wanted = SheetSize(30, 4, 36) if is_large else SheetSize(3, 2, 6)
    assert sizes_of_xls(io.BytesIO(data)) == [wanted]


def test_several_cells_in_a_record():
    numbers = record(0xBD, pack("<HH", 4, 7) + bytes(6 * 3) + pack("<H", 9))
    assert sizes(SHEET, numbers) == [SheetSize(3, 2, 6), SheetSize(5, 10, 3)]


def test_shared_texts_count_wherever_they_are():
    first = pack("<II", 4, 4) + pack("<HB", 3, 0) + b"abc"
    first += pack("<HBHI", 2, 13, 1, 5) + b"d\0e\0" + bytes(4 + 5)  # wide, with formats
    first += pack("<HB", 1000, 1) + b"x\0" * 400  # goes on in the next record
    more = record(0xFC, first) + record(0x3C, b"\0" + b"x" * 600 + pack("<HB", 1, 0))
    more += record(0x3C, b"\0y")
    used = [record(0xFD, pack("<HHHI", i, 0, 0, i)) for i in range(5)]
    assert sizes(b"".join(used), more=more) == [SheetSize(5, 1, 5, 3 + 2 + 1000 + 1)]


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        ([SHEET + cell(65535, 65535, 1.0)], "reaches to row 65,536 and column 65,536"),
        (
            [SHEET] + [cell(0, 0, 1.0) + cell(65535, 255, 1.0)] * 9,
            "takes more than 1024 MB of memory",
        ),
        (
            [SHEET + record(0x200, pack("<IIHHH", 0, 2**32 - 1, 0, 256, 0))],
            "a sheet is larger than the format allows",
        ),
    ],
)
def test_a_small_file_does_not_take_much_memory(tmp_path, sheets, said):
    (tmp_path / "t.xls").write_bytes(xls_of(records_of(sheets)))
    with pytest.raises(ReadError, match=said):
        open_table(tmp_path / "t.xls")


def test_a_sheet_that_is_named_often_is_counted_as_often():
    one = records_of([LARGE])
    again = record(0x85, one[one.index(pack("<H", 0x85)) + 4 :][:10])
    found = sizes(LARGE, more=again * 3)
    assert len(found) == 4


@pytest.mark.parametrize("sector", [0, 2])
def test_chains_that_are_circles_are_errors(sector):
    data = bytearray(xls_of(records_of([LARGE])))
    data[512 + 4 * sector : 516 + 4 * sector] = pack("<I", sector)
    if sector:  # the directory is a circle
        with pytest.raises(ValueError, match="in disorder"):
            sizes_of_xls(io.BytesIO(data))
    else:  # the table itself is listed, not chained
        assert sizes_of_xls(io.BytesIO(data)) == [SheetSize(30, 4, 36)]


@pytest.mark.parametrize("cut", [0, 8, 100, 512, 1000, 1600, 4000])
def test_files_that_are_cut_short_are_refused(tmp_path, cut):
    data = xls_of(records_of([LARGE]))[:cut]
    (tmp_path / "t.xls").write_bytes(data)
    with pytest.raises(ReadError):
        open_table(tmp_path / "t.xls")
