"""Headers with two rows, and headers that lack a cell."""

import io

import pytest

from halfmoon.table._files import new_table, open_table
from halfmoon.table._files.header_rows import (
    grouped_names,
    header_number,
    nameless_column,
)
from halfmoon.table._files.workbook_table import SheetLayout, find_layout
from halfmoon.table._table_errors import ReadError

DATA = "1,2.5,x\n3,4,\n5,6,y\n"
# Each: the text above the data, the names, a part of the note.
GROUPED = {
    "Measures,,Other\nx,z,kind\n": (["x", "z", "kind"], "Line 2 was read as"),
    "Size,Size,Kind\nx,z,kind\n": (["x", "z", "kind"], "Line 2 was read as"),
    "Size,Size,kind\nmean,std,\n": (
        ["Size mean", "Size std", "kind"],
        "Lines 1 to 2 were read as one header, with names such as 'Size mean'.",
    ),
    "Size,,kind\nmean,std,\n": (["Size mean", "Size std", "kind"], "Lines 1 to 2"),
    ",b,b\n,mean,std\nid,,\n": (["id", "mean", "std"], "Lines 1 to 3"),
}


def filled(text):
    """Return the table, and its text with a label and a new column."""
    made = io.BytesIO()
    with (
        open_table(io.BytesIO(text.encode())) as table,
        new_table(made, like=table) as out,
    ):
        for batch in table.batches():
            out.write(batch, append={"new": ["n"] * len(batch)})
    return table, made.getvalue().decode()


@pytest.mark.parametrize("above", GROUPED)
@pytest.mark.parametrize("data", [DATA, DATA.replace("\n", ",\n")])
def test_a_header_of_two_rows(above, data):
    names, note = GROUPED[above]
    table, text = filled(above + data)
    assert list(table.columns[:3]) == names
    assert table.n_rows == 3
    assert note in str(table.notes[0])
    lines, old = text.splitlines(), (above + data).splitlines()
    n = above.count("\n")
    assert lines[: n - 1] == old[: n - 1]
    assert lines[n - 1].startswith(old[n - 1])
    assert lines[n:] == [line + ",n" for line in old[n:]]
    assert {len(line.split(",")) for line in lines[n - 1 :]} == {len(table.columns) + 1}
    again, _ = filled(text.replace("new", "more"))
    assert again.columns == (*table.columns, "more")


@pytest.mark.parametrize(
    "rows",
    [
        ["a,,b", "x,y,z", "x,u,v", "x,u,w", "x,y,t"],  # no numbers
        ["a,b,c", "x,y,z", "1,2,3", "4,5,6", "7,8,9"],  # units, or a question
        ["a,,c", "1,2,3", "4,5,6", "7,8,9", "1,2,3"],
        [",a,kind", ",mean,mean", "1,2,3", "4,5,6", "7,8,9"],  # one in each group
        ["a,a,c", "x,x,z", "1,2,3", "4,5,6", "7,8,9"],  # still twice
    ],
)
def test_other_first_rows_are_no_groups(rows):
    assert grouped_names([row.split(",") for row in rows]) is None


@pytest.mark.parametrize(
    ("text", "names", "header"),
    [
        ("a,b\n5,x,\n6,,\n", ["a", "b", ""], "a,b,"),
        ("a;b\r\n5,5;x;\r\n6;;\r\n", ["a", "b", ""], "a;b;"),
        ('"a"\t"b"\n"1"\t5\tx\n"2"\t6\t\n', ["", "a", "b"], '\t"a"\t"b"'),
    ],
)
def test_a_header_that_lacks_a_cell(text, names, header):
    table, made = filled(text)
    sign = table.format.delimiter
    assert list(table.columns) == names
    assert len(table.notes) == 1
    lines = made.splitlines()
    assert lines[0] == header + sign + "new"
    assert lines[1:] == [line + sign + "n" for line in text.splitlines()[1:]]


@pytest.mark.parametrize(
    "rows",
    [
        ["a,b", "5,x,y", "6,,"],  # a comma within a cell
        ["a,b", "2,x,y", "3,x,y"],  # begins with decimals, or with another number
        ["a,b", "1,x,y", "2,x"],
        ["a,b", "1,x,"],  # one row may be wrong itself
    ],
)
def test_other_long_rows_stay_errors(rows):
    assert nameless_column([row.split(",") for row in rows]) is None


def test_names_of_rows_without_a_comma_among_them():
    rows = [["size", "kind"], ["Fiat 128", "32.4", "a"], ["Merc 230", "22.8", "b"]]
    assert nameless_column(rows, named=True) == 0
    assert nameless_column(rows) is None
    assert nameless_column([*rows, ["Fiat 128", "1", "a"]], named=True) is None


def test_years_are_names_of_columns():
    data = [["Oslo", "5.1", "2.5", "a"], ["Rome", "7", "", "b"], ["Riga", "1", "2", ""]]
    header = ["city", "2019", "2020", "kind"]
    title = ["Source", "World Bank", "", ""]
    assert header_number([title, header, *data]) == 1
    assert header_number([title, ["city", "2019", "5", "kind"], *data]) == 0


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (["Measures", "", "Other"], ("x", "z", "kind")),  # merged cells
        (["Size", "Size", "Other"], ("x", "z", "kind")),
    ],
)
@pytest.mark.parametrize("title", [[], [["Flowers", "", ""], ["", "", ""]]])
def test_groups_in_a_sheet(groups, names, title):
    data = [[1.0, 2.5, "a"], [3.0, 4.0, ""], [5.0, 6.0, "b"]]
    layout = find_layout([*title, groups, ["x", "z", "kind"], *data])
    assert layout == SheetLayout(len(title) + 1, (0, 1, 2), names)
    joined = find_layout([*title, groups, ["mean", "std", ""], *data])
    group = groups[0]
    assert joined.names == (f"{group} mean", f"{group} std", "Other")


@pytest.mark.parametrize(
    "lead",
    [
        "Account;DE12 3456\nBalance;1.234,56 EUR\n\n",
        "# exported 2024; by device 7\n# units; of; weights\n",
        "Account;DE12 3456\n",
    ],
)
def test_lines_of_a_few_cells_above_the_header(tmp_path, lead):
    rows = "".join(f"{i};{i % 7};a;{i / 2}\n" for i in range(9))
    (tmp_path / "t.csv").write_text(
        f"{lead}id;day;kind;size;city;note\n" + (rows.replace("\n", ";x;y\n"))
    )
    with open_table(tmp_path / "t.csv") as table:
        assert table.columns == ("id", "day", "kind", "size", "city", "note")
        assert table.lead == lead
        (batch,) = table.batches()
    assert batch.rows.to_pylist()[3]["size"] == "1.5"
    assert len(batch) == 9


def test_a_header_of_half_the_cells_is_no_title(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n" + "1;2;x;y\n" * 5)
    said = "line 2 has 4 cells, but the header has 2"
    with (
        open_table(tmp_path / "t.csv", delimiter=";") as table,
        pytest.raises(ReadError, match=said),
    ):
        list(table.batches())
