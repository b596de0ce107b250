"""Small workbooks that would take much memory are refused before they do."""

import zipfile

import pytest
from openpyxl import Workbook
from tests.table.files.test_xlsb_sizes import cell, record, row

from halfmoon.table._files import new_table, open_table, workbook_size
from halfmoon.table._files.xlsb_sizes import BEGIN, END
from halfmoon.table._table_errors import ReadError

TEXT = "a text in many cells, " * 50


def with_parts(path, change, part="xl/worksheets/sheet1.xml", name=None):
    """Change a part of a workbook, and perhaps its name."""
    with zipfile.ZipFile(path) as packed:
        parts = {each: packed.read(each) for each in packed.namelist()}
    parts[name or part] = change(parts.pop(part).decode()).encode()
    with zipfile.ZipFile(path, "w") as packed:
        for each, data in parts.items():
            packed.writestr(each, data)
    return path


def xlsx(path, rows, sheets=1):
    book = Workbook()
    for sheet in [book.active, *(book.create_sheet() for _ in range(sheets - 1))]:
        for cells in rows:
            sheet.append(cells)
    book.save(path)
    return path


def ods(path):
    source = path.with_suffix(".csv")
    source.write_text("kind,x\na,1\n,2\n")
    with open_table(source) as table, new_table(path, like=table) as out:
        for batch in table.batches():
            out.write(batch)
    return path


def test_a_text_that_is_in_many_cells_counts_in_each(tmp_path, monkeypatch):
    path = xlsx(tmp_path / "t.xlsx", [["kind", "x"], ["a", 1]])
    rows = "<row><c t='s'><v>0</v></c></row>" * 1000
    with_parts(path, lambda xml: xml.replace("</sheetData>", rows + "</sheetData>"))
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("xl/sharedStrings.xml", f"<sst><si><t>{TEXT}</t></si></sst>")
    with open_table(path) as table:
        assert table.columns == ("kind", "x")
    monkeypatch.setattr(workbook_size, "MAX_HELD_BYTES", 2**20)
    said = "t.xlsx takes more than 1 MB of memory with all its cells, and a workbook"
    with pytest.raises(ReadError, match=said):
        open_table(path)


@pytest.mark.parametrize("times", [9, 9000])
def test_a_text_of_ods_that_is_repeated(tmp_path, times):
    repeated = f"table:number-rows-repeated='{times}'"
    text = f"<table:table-cell office:value-type='string'><text:p>{TEXT}</text:p>"
    text = text.replace("cell ", f"cell table:number-columns-repeated='{times}' ")
    row = f"<table:table-row {repeated}>{text}</table:table-cell></table:table-row>"
    path = with_parts(
        ods(tmp_path / "t.ods"),
        lambda xml: xml.replace("</table:table>", row + "</table:table>"),
        "content.xml",
    )
    if times == 9:
        with open_table(path) as table:
            assert sum(map(len, table.batches())) == 2 + times
        return
    with pytest.raises(ReadError, match=r"reaches to row 9,003 and column 9,000"):
        open_table(path)


def test_all_sheets_of_an_ods_are_held_together(tmp_path, monkeypatch):
    path = ods(tmp_path / "t.ods")
    monkeypatch.setattr(workbook_size, "MAX_HELD_BYTES", 1000)
    with open_table(path) as table:
        assert table.columns == ("kind", "x")

    def repeated(xml):
        begin, end = xml.index("<table:table "), xml.index("</office:spreadsheet>")
        return xml[:begin] + xml[begin:end] * 3 + xml[end:]

    with pytest.raises(ReadError, match="of memory with all its cells"):
        open_table(with_parts(path, repeated, "content.xml"))
    # One sheet of an xlsx workbook is read at a time.
    path = xlsx(tmp_path / "t.xlsx", [["kind", "x"], ["a", 1], ["b", 2]], 3)
    with open_table(path) as table:
        assert table.columns == ("kind", "x")


def test_a_sheet_may_have_any_name(tmp_path):
    path = xlsx(tmp_path / "t.xlsx", [["kind", "x"], ["a", 1]])
    far = "<row r='1048576'><c><v>1</v></c></row><row r='1'><c r='XFD1'><v>1</v></c>"
    with_parts(
        path,
        lambda xml: xml.replace("</sheetData>", f"{far}</row></sheetData>"),
        name="xl/worksheets/sheet1.png",
    )
    with_parts(
        path,
        lambda xml: xml.replace("sheet1.xml", "sheet1.png"),
        "xl/_rels/workbook.xml.rels",
    )
    with pytest.raises(ReadError, match="reaches to row 1,048,576 and column 16,384"):
        open_table(path)


def test_a_far_cell_of_a_binary_workbook(tmp_path):
    cells = row(0) + cell(0) + row(2**20 - 1) + cell(2**14 - 1)
    with zipfile.ZipFile(tmp_path / "t.xlsb", "w") as packed:
        packed.writestr("xl/workbook.bin", b"")
        packed.writestr("xl/any.name", record(BEGIN) + cells + record(END))
    with pytest.raises(ReadError, match="reaches to row 1,048,576 and column 16,384"):
        open_table(tmp_path / "t.xlsb")
