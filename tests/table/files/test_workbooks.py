"""Workbooks: how a sheet is read, and what a copy keeps."""

import datetime as dt
import errno
import gc
import io
import random
import re
import time
import zipfile
from contextlib import nullcontext

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font

from halfmoon import _atomic_files as atomic_files
from halfmoon.table._files import new_table, open_table, workbook_size
from halfmoon.table._files.arrow_types import cell_number
from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.workbook_table import find_layout
from halfmoon.table._table_errors import (
    CommandError,
    OutputError,
    ReadError,
    TableError,
)

HEADER = ["name", "size", "price", "day", "kind"]
ROWS = [
    ["rose", 2, 1.5, dt.date(2024, 1, 2), "a"],
    ["iris", 3, None, dt.date(2024, 1, 3), None],
    ["=1+1", None, 2.25, None, None],
]


def saved(book, path):
    book.save(path)
    return path


def workbook_of(rows, path, top=1, left=1, title="Flowers"):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            cell = sheet.cell(top + i, left + j, value)
            if isinstance(value, str):
                cell.data_type = "s"
    return saved(book, path)


@pytest.fixture
def rich(tmp_path):
    """A workbook of three sheets, with a title, formats, a formula and a chart."""
    path = workbook_of([HEADER, *ROWS], tmp_path / "rich.xlsx", top=3)
    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet["A1"] = "Flowers of my garden"
    sheet["E3"].font = Font(bold=True)
    sheet["E5"].font = Font(italic=True)
    sheet["F4"] = "=B4*2"
    sheet["F3"] = "double"
    sheet.column_dimensions["A"].width = 41
    first = book.create_sheet("About", 0)
    first.sheet_state = "hidden"
    first["A1"], first["B1"], first["A2"] = "not", "this", "one"
    other = book.create_sheet("Other")
    other["B2"] = "=SUM(Flowers!B4:B6)"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=4, max_row=6))
    other.add_chart(chart, "D4")
    return saved(book, path)


def filled(source, place, replace=(None, "b", "c"), **options):
    with (
        open_table(source, **options) as table,
        new_table(place, like=table) as out,
    ):
        start = 0
        for batch in table.batches():
            part = list(replace[start : start + len(batch)])
            start += len(batch)
            sure = [None if value is None else 0.5 for value in part]
            out.write(batch, {"kind": part}, {"kind_sure": sure, "from": part})


def values(path, sheet=None):
    book = openpyxl.load_workbook(path)
    chosen = book.active if sheet is None else book[sheet]
    return [[cell.value for cell in row] for row in chosen.iter_rows()]


@pytest.mark.parametrize(("top", "left"), [(1, 1), (4, 3)])
def test_cells_have_the_types_of_the_sheet(tmp_path, top, left):
    path = workbook_of([HEADER, *ROWS], tmp_path / "t.xlsx", top, left)
    with open_table(path, batch_rows=2) as table:
        batches = list(table.batches())
        assert [len(batch) for batch in batches] == [2, 1]
        assert table.columns == tuple(HEADER)
        assert table.first_row == top + 1
    assert [str(field.type) for field in table.schema] == [
        "string",
        "int64",
        "double",
        "date32[day]",
        "string",
    ]
    assert batches[0].rows.to_pylist() == [
        dict(zip(HEADER, row, strict=True)) for row in ROWS[:2]
    ]


def test_a_column_of_numbers_and_words_is_text(tmp_path):
    rows = [["a", "b"], [1, True], ["n.a.", 2.5], [3.25, dt.date(2024, 5, 6)]]
    with open_table(workbook_of(rows, tmp_path / "t.xlsx")) as table:
        (batch,) = table.batches()
    assert batch.rows.to_pydict() == {
        "a": ["1", "n.a.", "3.25"],
        "b": ["true", "2.5", "2024-05-06"],
    }


def test_empty_rows_are_skipped(tmp_path):
    rows = [["a", "b"], [1, "x"], [None, None], [2, "y"]]
    with open_table(workbook_of(rows, tmp_path / "t.xlsx")) as table:
        (batch,) = table.batches()
    assert batch.rows.to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_years_are_names_of_columns(tmp_path):
    rows = [["World Bank"], ["city", 2019, 2020, 2021], ["Oslo", 1.5, 2, 3]]
    with open_table(workbook_of(rows, tmp_path / "t.xlsx")) as table:
        assert table.columns == ("city", "2019", "2020", "2021")


def test_columns_of_one_name_are_numbered(tmp_path):
    rows = [["tag", "city", "tag"], ["a", "Oslo", None]]
    made = tmp_path / "made.xlsx"
    with (
        open_table(workbook_of(rows, tmp_path / "t.xlsx")) as table,
        new_table(made, like=table) as out,
    ):
        assert table.columns == ("tag (1)", "city", "tag (2)")
        (note,) = table.notes
        for batch in table.batches():
            out.write(batch, {"tag (2)": ["b"]})
    assert str(note).startswith("Columns of one name were numbered, such as 'tag (1)'")
    assert values(made) == [["tag", "city", "tag"], ["a", "Oslo", "b"]]


def test_the_first_visible_sheet_with_a_table_is_read(rich):
    with open_table(rich) as table:
        assert table.sheet == "Flowers"
        notes = [str(note) for note in table.notes]
    assert notes[0].startswith(
        "Read the sheet 'Flowers'; the workbook also has 'About', 'Other'."
    )
    assert notes[1] == (
        "Row 3 of the sheet was read as the header; the rows above it were skipped."
    )


@pytest.mark.parametrize("sheet", ["About", 1, "1"], ids=repr)
def test_a_sheet_by_name_or_number(rich, sheet):
    with open_table(rich, sheet=sheet) as table:
        assert table.columns == ("not", "this")
        assert not table.notes


def test_unknown_sheets_are_refused(rich, tmp_path):
    with pytest.raises(CommandError, match=r"'x'. Give one of these: 'About', 'Flo"):
        open_table(rich, sheet="x")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(CommandError, match="not a workbook and has no sheet 'x'"):
        open_table(tmp_path / "t.csv", sheet="x")


def test_a_copy_keeps_everything_else(rich, tmp_path):
    made = tmp_path / "made.xlsx"
    filled(rich, made)
    old, new = openpyxl.load_workbook(rich), openpyxl.load_workbook(made)
    assert new.sheetnames == old.sheetnames
    assert values(made, "Other") == values(rich, "Other")
    assert len(new["Other"]._charts) == 1
    sheet = new["Flowers"]
    assert values(made, "Flowers") == [
        ["Flowers of my garden", *[None] * 7],
        [None] * 8,
        [*HEADER, "double", "kind_sure", "from"],
        ["rose", 2, 1.5, dt.datetime(2024, 1, 2), "a", "=B4*2", None, None],
        ["iris", 3, None, dt.datetime(2024, 1, 3), "b", None, 0.5, "b"],
        ["=1+1", None, 2.25, None, "c", None, 0.5, "c"],
    ]
    assert sheet["A6"].data_type == "s"
    assert sheet["E5"].font.italic
    assert sheet.column_dimensions["A"].width == 41
    assert sheet.dimensions == "A1:H6"
    with zipfile.ZipFile(rich) as before, zipfile.ZipFile(made) as after:
        for part in before.namelist():
            if part != "xl/worksheets/sheet2.xml":
                assert after.read(part) == before.read(part), part


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_a_copy_does_not_depend_on_the_chunk_size(rich, tmp_path, monkeypatch, chunk):
    filled(rich, tmp_path / "whole.xlsx")
    monkeypatch.setattr("halfmoon.table._files.sheet_copy.CHUNK_BYTES", chunk)
    filled(rich, tmp_path / "parts.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "parts.xlsx") as parts,
    ):
        for part in whole.namelist():
            assert parts.read(part) == whole.read(part)


def test_labels_are_never_formulas(tmp_path):
    path = workbook_of([["kind", "x"], ["a", 1], [None, 2]], tmp_path / "t.xlsx")
    label = '=HYPERLINK("http://x") <&> \x01\''
    filled(path, tmp_path / "copy.xlsx", (None, label))
    (tmp_path / "t.csv").write_text("kind,x\na,1\n,2\n")
    filled(tmp_path / "t.csv", tmp_path / "new.xlsx", (None, label))
    for name in ("copy.xlsx", "new.xlsx"):
        sheet = openpyxl.load_workbook(tmp_path / name).active
        assert sheet["A3"].data_type == "s"
        assert sheet["A3"].value.startswith('=HYPERLINK("http://x") <&> ')


def test_text_becomes_numbers_if_nothing_is_lost(tmp_path):
    (tmp_path / "t.csv").write_text(
        "code,x,kind\n007,1.50,a\n12345678901234567890,-3,\n1e5,+4,\n"
    )
    filled(tmp_path / "t.csv", tmp_path / "t.xlsx")
    assert values(tmp_path / "t.xlsx")[1:] == [
        ["007", 1.5, "a", None, None],
        ["12345678901234567890", -3, "b", 0.5, "b"],
        [100000, "+4", "c", 0.5, "c"],
    ]


def test_typed_columns_keep_their_types(tmp_path):
    filled(workbook_of([HEADER, *ROWS], tmp_path / "t.xlsx"), tmp_path / "t.parquet")
    with (
        open_table(tmp_path / "t.parquet") as table,
        new_table(tmp_path / "again.xlsx", like=table) as out,
    ):
        for batch in table.batches():
            out.write(batch)
    assert values(tmp_path / "again.xlsx")[1][:5] == [
        "rose",
        2,
        1.5,
        dt.datetime(2024, 1, 2),
        "a",
    ]


def test_a_value_of_merged_rows_is_that_of_each(tmp_path):
    rows = [["region", "x", "kind"], ["north", 1, "a"], [None, 2, None], ["south", 3]]
    path = workbook_of([["Title"], *rows, [None, 4, "b"]], tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(path)
    for cells in ("A1:C1", "A3:A4", "A5:A6", "C3:C4"):
        book.active.merge_cells(cells)
    saved(book, path)
    with open_table(path) as table:
        (batch,) = table.batches()
        notes = [note.text for note in table.notes]
    assert batch.rows.to_pydict() == {
        "region": ["north", "north", "south", "south"],
        "x": [1, 2, 3, 4],
        "kind": ["a", "a", None, "b"],
    }
    assert notes[-1] == (
        "'region', 'kind' have merged cells: their value was read in each row that "
        "they cover."
    )


def test_the_ends_of_a_number_are_formatted_like_it(tmp_path):
    path = workbook_of([["x", "y"], [1, 0.25], [2, None]], tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(path)
    book.active["B3"].number_format = "0.0%"
    saved(book, path)
    new = {"y_source": [None, "predicted"], "y_low": [None, 0.2], "y_sure": [None, 0.9]}
    with open_table(path) as table, new_table(tmp_path / "u.xlsx", like=table) as out:
        for batch in table.batches():
            out.write(batch, replace={"y": [None, 0.3]}, append=new)
    sheet = openpyxl.load_workbook(tmp_path / "u.xlsx").active
    formats = [sheet[cell].number_format for cell in ("B3", "D3", "E3", "B2")]
    assert formats == ["0.0%", "0.0%", "General", "General"]
    assert (sheet["D3"].value, sheet["D2"].value) == (0.2, None)


def ods_of(rows, path):
    """An OpenDocument file with repeated rows and cells."""
    text = path.with_suffix(".csv")
    text.write_text("\n".join(",".join(row) for row in rows) + "\n")
    with open_table(text) as table, new_table(path, like=table) as out:
        for batch in table.batches():
            out.write(batch)
    return path


def test_ods_is_read_and_written(tmp_path):
    path = ods_of([["kind", "x"], ["a  b", "1"], ["", "2"]], tmp_path / "t.ods")
    filled(path, tmp_path / "made.ods", (None, "=c & <d>"))
    with open_table(tmp_path / "made.ods") as table:
        (batch,) = table.batches()
    assert batch.rows.to_pydict() == {
        "kind": ["a  b", "=c & <d>"],
        "x": [1, 2],
        "kind_sure": [None, 0.5],
        "from": [None, "=c & <d>"],
    }


@pytest.mark.parametrize(
    ("old", "new", "reach"),
    [
        (
            "<table:table-row>",
            '<table:table-row table:number-rows-repeated="90000000">',
            "90,000,001 and column 2",
        ),
        (
            '<table:table-cell office:value-type="float"',
            '<table:table-cell table:number-columns-repeated="99999999" office:x=""',
            "2 and column 100,000,000",
        ),
    ],
)
def test_an_ods_that_unpacks_to_millions_of_cells_is_refused(tmp_path, old, new, reach):
    path = ods_of([["kind", "x"], ["a", "1"]], tmp_path / "t.ods")
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name).decode() for name in packed.namelist()}
    before, found, after = parts["content.xml"].rpartition(old)
    assert found
    parts["content.xml"] = before + new + after
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, text)
    with pytest.raises(ReadError, match=f"reaches to row {reach}"):
        open_table(path)


def test_repeated_rows_and_cells_of_ods_are_split(tmp_path):
    path = ods_of([["u", "kind", "x"], ["", "", "1"]], tmp_path / "t.ods")
    empty = "<table:table-cell/>"
    row = f"<table:table-row>{empty * 2}"
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name).decode() for name in packed.namelist()}
    content = parts["content.xml"]
    start = content.index(row)
    one = content[start + len(row) :]
    many = (
        '<table:table-row table:number-rows-repeated="3">'
        '<table:table-cell table:number-columns-repeated="2"/>'
    )
    behind = one.replace(
        "</table:table-row>",
        '<table:table-cell table:number-columns-repeated="999"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/>'
        "</table:table-row>",
        1,
    )
    parts["content.xml"] = content[:start] + many + behind
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, text)
    filled(path, tmp_path / "made.ods", ("p", None, "q"))
    with open_table(tmp_path / "made.ods") as table:
        (batch,) = table.batches()
    # The column u is empty, so it is text.
    assert batch.rows.to_pydict() == {
        "u": [None] * 3,
        "kind": ["p", None, "q"],
        "x": [1, 1, 1],
        "kind_sure": [0.5, None, 0.5],
        "from": ["p", None, "q"],
    }


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods"])
def test_a_workbook_from_a_stream(tmp_path, name):
    (tmp_path / "t.csv").write_text("kind,x\na,1\n,2\n")
    filled(tmp_path / "t.csv", tmp_path / name, (None, "b"))
    stream, made = io.BytesIO((tmp_path / name).read_bytes()), io.BytesIO()
    with open_table(stream) as table, new_table(made, like=table) as out:
        assert table.format.name == name[2:]
        for batch in table.batches():
            out.write(batch)
    with open_table(io.BytesIO(made.getvalue())) as table:
        assert table.columns == ("kind", "x", "kind_sure", "from")


def test_workbooks_that_do_not_fit_into_memory_are_refused(rich, monkeypatch):
    monkeypatch.setattr(workbook_size, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(ReadError, match="Save the sheet as CSV"):
        open_table(rich)


def test_the_size_of_a_part_is_counted_not_trusted(rich, monkeypatch):
    data = bytearray(rich.read_bytes())
    with zipfile.ZipFile(rich) as packed:
        sizes = {part.file_size for part in packed.infolist()}
    for size in sizes:  # in the headers of the parts and in the directory
        data = data.replace(size.to_bytes(4, "little") + b"\x0e\0", b"\1\0\0\0\x0e\0")
    monkeypatch.setattr(workbook_size, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(ReadError):
        open_table(io.BytesIO(data))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_damaged_workbooks_are_refused(rich, share):
    data = rich.read_bytes()
    with pytest.raises(ReadError):
        open_table(io.BytesIO(data[: int(len(data) * share)]))


@pytest.mark.parametrize("name", ["t.docx", "t.pdf", "t.sqlite", "t.html"])
def test_endings_of_other_files_are_refused(tmp_path, name):
    (tmp_path / "t.csv").write_text("kind,x\na,1\n")
    with pytest.raises(OutputError, match=r"Give the output a name that ends in \.csv"):
        filled(tmp_path / "t.csv", tmp_path / name, (None,))
    assert not (tmp_path / name).exists()


def test_old_workbooks_are_not_written(tmp_path):
    (tmp_path / "t.csv").write_text("kind,x\na,1\n")
    with pytest.raises(OutputError, match=r"a new workbook is \.xlsx or \.ods"):
        filled(tmp_path / "t.csv", tmp_path / "t.xls", (None,))


def test_too_many_rows_for_a_sheet(tmp_path, monkeypatch):
    monkeypatch.setattr("halfmoon.table._files.new_workbook.MAX_ROWS", 3)
    (tmp_path / "t.csv").write_text("kind,x\na,1\n,2\n,3\n")
    with pytest.raises(OutputError, match="3 rows"):
        filled(tmp_path / "t.csv", tmp_path / "t.xlsx")
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


def test_the_header_is_found_below_a_title():
    rows = [["Report", "", ""], ["", "", ""], ["a", "b", ""], ["x", 1.0, "remark"]]
    assert find_layout(rows).header == 2
    assert find_layout(rows).columns == (0, 1)
    assert find_layout([["", ""]]) is None
    # Years as names: the first row that is not empty
    years = find_layout([[2020.0, 2021.0], [1.5, 2.5]])
    assert (years.header, years.names) == (0, ("2020", "2021"))


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("-2.50", -2.5), ("0", 0), ("1e400", None), ("1,5", None), ("", None)],
)
def test_numbers_in_text(text, number):
    assert cell_number(text) == number


def test_text_with_the_ending_of_a_workbook_is_read_as_text(tmp_path):
    (tmp_path / "t.xls").write_text("a\tb\n1\t2\n")
    with open_table(tmp_path / "t.xls") as table:
        assert table.columns == ("a", "b")


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods"])
def test_an_empty_text_empties_a_cell(tmp_path, name):
    (tmp_path / "t.csv").write_text("kind,x\na,1\nb,2\nc,3\n")
    for source in ("t.csv", name):
        made = tmp_path / (name if source == "t.csv" else "made" + name)
        with open_table(tmp_path / source) as table, new_table(made, table) as out:
            for batch in table.batches():
                out.write(batch, {"kind": ["e", "", None]})
    with open_table(tmp_path / ("made" + name), batch_rows=9) as table:
        (batch,) = table.batches()
    assert batch.rows.column("kind").to_pylist() == ["e", None, "c"]


def sheet_of(xml, path, parts=()):
    """A workbook with a sheet of hand-written XML."""
    workbook_of([["x"]], path, title="S")
    with zipfile.ZipFile(path) as packed:
        held = {each: packed.read(each) for each in packed.namelist()}
    held["xl/worksheets/sheet1.xml"] = xml.encode()
    with zipfile.ZipFile(path, "w") as packed:
        for each, data in {**held, **dict(parts)}.items():
            packed.writestr(each, data)
    return path


SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ODD = f"""<?xml version='1.0' encoding='UTF-8' standalone='yes'?>
<x:worksheet xmlns:x='{SPACE}'><x:dimension ref='A1:B3'/><x:sheetData>
<x:row spans='1:2' ht="1>2"><x:c t='inlineStr'><x:is><x:t>kind</x:t></x:is></x:c>
 <x:c t='inlineStr'><x:is><x:t>n</x:t></x:is></x:c></x:row>
<x:row r="3"><x:c r="B3" s='0'><x:f>1+1</x:f><x:v>2</x:v></x:c></x:row>
<x:row r="5" spans="1:2"><x:c r="A5"/><x:c r="B5"><x:v>3</x:v></x:c></x:row>
</x:sheetData><x:mergeCells/></x:worksheet>"""


def test_odd_but_legal_sheets(tmp_path):
    path = sheet_of(ODD, tmp_path / "t.xlsx")
    filled(path, tmp_path / "made.xlsx", ("p", "q"))
    with zipfile.ZipFile(tmp_path / "made.xlsx") as packed:
        made = packed.read("xl/worksheets/sheet1.xml").decode()
    text = 't="inlineStr"><x:is><x:t xml:space="preserve">{}</x:t></x:is></x:c>'
    new = '<x:c r="C{0}"><x:v>0.5</x:v></x:c><x:c r="D{0}" ' + text.replace("{}", "{1}")
    expected = (
        ODD.replace("ref='A1:B3'", 'ref="A1:D5"')
        .replace(" spans='1:2'", "")
        .replace(' spans="1:2"', "")
        .replace(
            "n</x:t></x:is></x:c></x:row>",
            'n</x:t></x:is></x:c><x:c r="C1" '
            + text.format("kind_sure")
            + '<x:c r="D1" '
            + text.format("from")
            + "</x:row>",
        )
        .replace('<x:c r="B3"', '<x:c r="A3" ' + text.format("p") + '<x:c r="B3"')
        .replace("<x:v>2</x:v></x:c>", "<x:v>2</x:v></x:c>" + new.format(3, "p"))
        .replace('<x:c r="A5"/>', '<x:c r="A5" ' + text.format("q"))
        .replace("<x:v>3</x:v></x:c>", "<x:v>3</x:v></x:c>" + new.format(5, "q"))
    )
    assert made == expected
    with open_table(tmp_path / "made.xlsx") as table:
        (batch,) = table.batches()
    last = {"kind": "q", "n": 3, "kind_sure": 0.5, "from": "q"}
    assert batch.rows.to_pylist()[-1] == last


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('<x:c r="A5"/>', '<x:c r="A5"><x:f t="shared" si="0"/></x:c>', "share"),
        ("<?xml version='1.0' encoding='UTF-8'", "<?xml version='1.0'", None),
        ("<x:worksheet", "<!DOCTYPE a><x:worksheet", "document type"),
        ("</x:sheetData>", "</x:sheetDat>", "damaged"),
    ],
    ids=range(4),
)
def test_sheets_that_cannot_be_copied(tmp_path, old, new, what):
    good = sheet_of(ODD, tmp_path / "good.xlsx")
    bad = sheet_of(ODD.replace(old, new), tmp_path / "bad.xlsx")
    refused = nullcontext() if what is None else pytest.raises(OutputError, match=what)
    with (
        open_table(good) as table,
        refused,
        new_table(tmp_path / "m.xlsx", like=table) as out,
    ):
        for batch in table.batches():
            out.write(batch, {"kind": ["p", "q"]})
        table.source = Source(bad)  # another sheet than the one that was read
    assert (tmp_path / "m.xlsx").exists() == (what is None)


def test_the_calculation_chain_is_left_out(tmp_path):
    listed = (
        '<Types xmlns="x"><Override PartName="/xl/calcChain.xml" ContentType="c"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="w"/></Types>'
    )
    parts = {"xl/calcChain.xml": "<calcChain/>", "[Content_Types].xml": listed}
    path = sheet_of(ODD, tmp_path / "t.xlsx", parts)
    filled(path, tmp_path / "made.xlsx", ("p", "q"))
    with zipfile.ZipFile(tmp_path / "made.xlsx") as packed:
        assert "xl/calcChain.xml" not in packed.namelist()
        kept = packed.read("[Content_Types].xml").decode()
    assert "calcChain" not in kept
    assert "workbook" in kept


def test_a_list_of_parts_is_searched_in_one_pass(tmp_path):
    # If each of the beginnings were searched to the end: 10**11 characters
    listed = f"<Types><!--{'<Override ' * 150_000}--></Types>"
    path = sheet_of(ODD, tmp_path / "t.xlsx", {"[Content_Types].xml": listed})
    begin = time.process_time()
    filled(path, tmp_path / "made.xlsx", ("p", "q"))
    assert time.process_time() - begin < 20
    with zipfile.ZipFile(tmp_path / "made.xlsx") as packed:
        assert packed.read("[Content_Types].xml").decode() == listed


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods"])
def test_a_full_disk(tmp_path, monkeypatch, name):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "t.csv").write_text("kind,x\na,1\n")
    with (
        open_table(tmp_path / "t.csv") as table,
        new_table(tmp_path / name, like=table) as out,
    ):
        for batch in table.batches():
            out.write(batch)
    monkeypatch.setattr(atomic_files, "BUFFER_BYTES", 1)
    monkeypatch.setattr(atomic_files, "raw_write", full)
    for source in ("t.csv", name):
        with pytest.raises(OutputError, match=r"No space left on device"):
            filled(tmp_path / source, tmp_path / ("more" + name), (None,))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.csv", name]
    gc.collect()  # nothing is written, or fails, in garbage collection


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods"])
@pytest.mark.parametrize("seed", range(30))
def test_mutated_workbooks_are_read_or_refused(tmp_path, name, seed):
    (tmp_path / "t.csv").write_text("kind,x\na,1\n,2\nc,3\n")
    filled(tmp_path / "t.csv", tmp_path / name)
    draw = random.Random(seed)
    with zipfile.ZipFile(tmp_path / name) as packed:
        held = {each: bytearray(packed.read(each)) for each in packed.namelist()}
    for _ in range(draw.choice([1, 2, 5])):
        data = held[draw.choice(list(held))]
        at = draw.randrange(len(data))
        data[at : at + draw.choice([0, 1, 4])] = draw.randbytes(draw.choice([0, 1, 3]))
    with zipfile.ZipFile(tmp_path / ("bad" + name), "w") as packed:
        for each, data in held.items():
            packed.writestr(each, bytes(data))
    try:
        with (
            open_table(tmp_path / ("bad" + name)) as table,
            new_table(tmp_path / ("made" + name), like=table) as out,
        ):
            for batch in table.batches():
                out.write(batch, append={"new": ["x"] * len(batch)})
    except TableError as error:
        if "\n" in str(error):
            raise


def test_dates_of_a_new_ods_are_shown_as_dates(tmp_path):
    filled(workbook_of([HEADER, *ROWS], tmp_path / "t.xlsx"), tmp_path / "t.ods")
    with zipfile.ZipFile(tmp_path / "t.ods") as packed:
        content = packed.read("content.xml").decode()
    assert (
        '<table:table-cell table:style-name="day" office:value-type="date" '
        'office:date-value="2024-01-02">'
    ) in content
    assert '<style:style style:name="day" style:family="table-cell"' in content
    with open_table(tmp_path / "t.ods") as table:
        (batch,) = table.batches()
    assert batch.rows.column("day").to_pylist() == [row[3] for row in ROWS]


def test_a_sheet_with_a_single_column_is_not_the_table(tmp_path):
    book = openpyxl.Workbook()
    for row in ("This workbook holds flowers.", "See the other sheet."):
        book.active.append([row])
    sheet = book.create_sheet("Data")
    for row in (HEADER, *ROWS):
        sheet.append(row)
    with open_table(saved(book, tmp_path / "remarks.xlsx")) as table:
        assert table.sheet == "Data"
    del book["Data"]
    with open_table(saved(book, tmp_path / "alone.xlsx")) as table:
        assert table.columns == ("This workbook holds flowers.",)


def test_new_columns_take_the_place_of_formatted_empty_cells(tmp_path):
    path = workbook_of([HEADER, *ROWS], tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(path)
    for place in ("F1", "F2", "H2", "F4"):
        book.active[place].font = Font(italic=True)
    filled(saved(book, path), tmp_path / "new.xlsx")
    with zipfile.ZipFile(tmp_path / "new.xlsx") as packed:
        xml = packed.read("xl/worksheets/sheet1.xml").decode()
    cells = re.findall(r'<c r="(\w+)"', xml)
    assert len(cells) == len(set(cells))
    assert cells == sorted(cells, key=lambda c: (int(c[1:]), c[0]))
    sheet = openpyxl.load_workbook(tmp_path / "new.xlsx").active
    assert [sheet[f"F{i}"].value for i in range(1, 5)] == [
        *("kind_sure", None, 0.5, 0.5)
    ]
    assert sheet["F1"].font.italic
    assert sheet["F4"].font.italic
    assert sheet["H2"].font.italic


def test_formulas_without_a_value_are_not_replaced_by_new_columns(tmp_path):
    path = workbook_of([HEADER, *ROWS], tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(path)
    book.active["F3"] = "=SUM(C2:C4)"  # not computed yet
    with pytest.raises(OutputError, match="F3, where a new column belongs, holds a"):
        filled(saved(book, path), tmp_path / "new.xlsx")


def with_sheet(path, change):
    """Change the XML of the first sheet of a workbook."""
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    parts["xl/worksheets/sheet1.xml"] = change(parts["xl/worksheets/sheet1.xml"])
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("row", "cell", "reached"),
    [
        ("1048576", "XFD1048576", "row 1,048,576 and column 16,384"),
        ("9" * 10, "ZZZZZZ" + "9" * 10, "row 9,999,999,999 and column 321,272,406"),
    ],
)
def test_a_cell_far_away_is_refused_before_it_takes_memory(
    tmp_path, row, cell, reached
):
    book = workbook_of([["kind", "x"], ["a", 1], [None, 2]], tmp_path / "t.xlsx")
    far = f'<row r="{row}"><c r="{cell}"><v>1</v></c></row></sheetData>'.encode()
    with_sheet(book, lambda xml: xml.replace(b"</sheetData>", far))
    with pytest.raises(ReadError, match=f"reaches to {reached}"):
        open_table(book)


def test_a_far_cell_that_has_only_a_format_is_not_held(tmp_path):
    book = workbook_of([["kind", "x"], ["a", 1], [None, 2]], tmp_path / "t.xlsx")
    far = b'<row r="1048576"><c r="XFD1048576" s="0"/></row></sheetData>'
    with_sheet(book, lambda xml: xml.replace(b"</sheetData>", far))
    with open_table(book) as table:
        assert table.columns == ("kind", "x")


def test_an_encrypted_part_is_called_so(tmp_path):
    book = workbook_of([["kind", "x"], ["a", 1]], tmp_path / "t.xlsx")
    data = bytearray(book.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag of the first part
    book.write_bytes(data)
    with pytest.raises(ReadError, match="is protected by a password"):
        open_table(book)
