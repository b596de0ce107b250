"""Cells are counted however the XML of a sheet is written."""

from array import array

import pytest

from halfmoon.table._files.sheet_sizes import OdsSizes, SheetSize, XlsxSizes


def xlsx(xml, lengths=(), chunk=7):
    found = XlsxSizes(array("L", lengths))
    data = f"<worksheet><sheetData>{xml}</sheetData></worksheet>".encode()
    for i in range(0, len(data), chunk):  # tags are cut between chunks
        found.add(data[i : i + chunk])
    found.finish()
    return found.sheets[0]


def ods(*tables):
    found = OdsSizes()
    names = "xmlns:table='t' xmlns:office='o' xmlns:text='x'"
    data = "".join(f"<table:table>{xml}</table:table>" for xml in tables)
    found.add(f"<office:document {names}>{data}</office:document>".encode())
    found.finish()
    return found.sheets


@pytest.mark.parametrize(
    ("xml", "size"),
    [
        ("<row><c r='B3'><v>1</v></c></row>", SheetSize(3, 2, 1)),
        # A cell without a reference is in the row that its row says.
        ("<row r='1048576'><c/><c><v>1</v></c></row>", SheetSize(1048576, 2, 1)),
        ("<row r='5'/><row><c><v>1</v></c></row>", SheetSize(6, 1, 1)),
        ("<row/>" * 3 + "<row><c r='C4'><v/></c><c><v/></c></row>", SheetSize(4, 4, 2)),
        (
            "<row><c q='a/>b' r='XFD9'><is><t>x</t></is></c></row>",
            SheetSize(9, 16384, 1),
        ),
        ("<row><c r='XFD9' q='a/>b'><v>1</v></c></row>", SheetSize(9, 16384, 1)),
        ("<row><c r='&#66;3'><v>1</v></c></row>", SheetSize(3, 2, 1)),
        (
            "<x:row xmlns:x='m'><x:c r='B3'><x:v>1</x:v></x:c></x:row>",
            SheetSize(3, 2, 1),
        ),
        # A format alone, or a formula without a value, is not held.
        ("<row><c r='XFD9' s='1'/><c r='XFD8'><f>1+1</f></c></row>", SheetSize()),
        ("<!-- <c r='XFD9'><v>1</v></c> --><row/>", SheetSize()),
        ("<row spans='r' r='2'><c><v>1</v></c></row>", SheetSize(2, 1, 1)),
    ],
)
def test_cells_of_a_sheet(xml, size):
    assert xlsx(xml) == size


def test_a_shared_text_counts_wherever_it_is():
    cell = "<c t='s'><v>1</v></c>"
    row = f"<row>{cell}<c t='s'><v>0</v><f/></c><c t='n'><v>1</v></c>{cell}</row>"
    assert xlsx(row * 3, [5, 1000], chunk=10**6) == SheetSize(3, 4, 12, 3 * 2005)


def test_texts_of_cells_are_added_up():
    lengths = array("L")
    found = XlsxSizes(lengths)
    found.add(b"<sst><si><t>abc</t></si><si><r><t>de</t></r><r><t>fgh</t></r></si>")
    assert lengths.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("rows", "cells", "size"),
    [
        ("9", "<CELL COLUMNS='4'/><CELL office:value='1'/>", SheetSize(9, 5, 9)),
        (
            "&#57;0",
            "<CELL q='a>b' COLUMNS='100'><text:p>some</text:p></CELL>",
            SheetSize(90, 100, 9000, 36_000),
        ),
        (
            "1",
            "<CELL><text:p>a<text:s text:c='1000'/></text:p></CELL>",  # spaces
            SheetSize(1, 1, 1, 1001),
        ),
        (
            "5",
            "<!-- <table:table> --><CELL office:string-value='abc'/>",
            SheetSize(5, 1, 5, 15),
        ),
        ("5", "<CELL/>", SheetSize()),
    ],
)
def test_cells_of_an_ods_sheet(rows, cells, size):
    cells = cells.replace("CELL", "table:table-cell")
    cells = cells.replace("COLUMNS", "table:number-columns-repeated")
    begin = "<table:table-row table:number-rows-repeated="
    xml = f"{begin}'{rows}'>{cells}</table:table-row>{begin}'1000'/>"
    assert ods(xml) == [size]
    assert ods(xml, "<table:table-row/>", xml) == [size, SheetSize(), size]


@pytest.mark.parametrize(
    "xml",
    [
        "<row><c r='B3'><v>1</v></row>",
        "<row><c r='3B'><v>1</v></c></row>",
        "<row r='x'/>",
        "<row><c r='" + "A" * 10 + "1'/></row>",
    ],
)
def test_a_sheet_that_cannot_be_counted_is_an_error(xml):
    with pytest.raises(Exception, match=r"mismatched tag|invalid literal|is called"):
        xlsx(xml)


def test_a_sheet_with_a_document_type_is_an_error():
    found = XlsxSizes(array("L"))
    with pytest.raises(ValueError, match="declares a document type"):
        found.add(b"<!DOCTYPE r [<!ENTITY e 'x'>]><sheetData/>")


def test_a_part_that_is_no_sheet_may_be_anything():
    found = XlsxSizes(array("L"))
    for chunk in (b"<a><br></a>", b"\x89PNG", b""):
        found.add(chunk)
    found.finish()
    assert found.sheets == [SheetSize()]
    with pytest.raises(Exception, match="mismatched tag"):
        found.add(b"<sheetData/>")


def test_a_tag_that_never_ends_is_not_parsed_again_and_again():
    found = OdsSizes()
    found.add(b"<table:table-row a='" + b"x" * 2**23)
    with pytest.raises(ValueError, match="longer than 16 MB"):
        found.add(b"x" * 2**23)
