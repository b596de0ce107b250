"""Lines above the header of a text table."""

import io

import pytest

from halfmoon.table._files import new_table, open_table
from halfmoon.table._files.header_rows import header_number
from halfmoon.table._table_errors import ReadError

TITLED = {
    "Flowers of 2024\nname;size;kind\nrose;1,5;a\niris;2;\n": ";",
    "Flowers,,\n,,\nname,size,kind\nrose,1,a\niris,2,\n": ",",
    "Flowers of 2024\nby hand\n\nname\tsize\tkind\nrose\t1\ta\niris\t2\t\n": "\t",
    "sep=;\r\nname;size;kind\r\nrose;1,5;a\r\niris;2;\r\n": ";",
    '"sep=|"\nname|size|kind\nrose|1|a\niris|2|\n': "|",
    "Report\n\n\nname,kind\nrose,a\niris,\n": ",",
}


def again(text, **options):
    made = io.BytesIO()
    with (
        open_table(io.BytesIO(text.encode()), **options) as table,
        new_table(made, like=table) as out,
    ):
        for batch in table.batches():
            label = [
                "z" if row["kind"] == "" else None for row in batch.rows.to_pylist()
            ]
            out.write(batch, {"kind": label}, {"new": ["n"] * len(batch)})
    return table, made.getvalue().decode()


@pytest.mark.parametrize("text", TITLED, ids=range(len(TITLED)))
@pytest.mark.parametrize("batch_rows", [1, 100])
def test_lines_above_the_header_are_kept(text, batch_rows):
    table, made = again(text, batch_rows=batch_rows)
    delimiter = TITLED[text]
    assert table.columns[0] == "name"
    assert table.columns[-1] == "kind"
    assert table.n_rows == 2
    lines, old = made.splitlines(), text.splitlines()
    header = len(old) - 3
    assert lines[:header] == old[:header]
    assert lines[header] == old[header] + delimiter + "new"
    assert lines[-2] == old[-2] + delimiter + "n"
    assert lines[-1] == old[-1] + "z" + delimiter + "n"
    spreadsheet = header + 2 - (1 if "sep=" in text else 0)
    assert table.first_row == spreadsheet


def test_a_note_says_which_line_is_the_header():
    table, _ = again("Flowers of 2024\n\nname,size,kind\nrose,1,a\niris,2,\n")
    assert str(table.notes[0]).startswith("Line 3 was read as the header;")
    table, _ = again("sep=;\nname;kind\nrose;a\niris;\n")
    assert table.notes == []


def test_the_separator_line_is_dropped_if_the_delimiter_changes(tmp_path):
    with (
        open_table(io.BytesIO(b"sep=;\na;b\n1;2\n")) as table,
        new_table(tmp_path / "t.tsv", like=table) as out,
    ):
        for batch in table.batches():
            out.write(batch)
    assert (tmp_path / "t.tsv").read_text() == "a\tb\n1\t2\n"


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,3\n4,5,6\n",  # row names without a column name
        "a\n1,2\n3,4\n",  # numbers are not names
        "1,1\n1,2\n3,4\n",  # numbers that repeat are no names
        ",,,\n1,2,3,4\n5,6,7,8\n",
    ],
)
def test_unclear_headers_are_refused(text):
    with pytest.raises(ReadError), open_table(io.BytesIO(text.encode())) as table:
        list(table.batches())


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["a"]],
        [["a", "b"]],
        [["a", ""], ["x", "y"]],
        [["a", "", ""], ["x", "y", "z"], ["x", "y"]],
        [["a", "b", ""], ["x", "y", "z"], ["u", "v", "w"]],
    ],
    ids=range(6),
)
def test_tables_without_a_title(rows):
    assert header_number(rows) == 0


@pytest.mark.parametrize("data", [b"a,b,y\n+3/8", b"a,b\n1,+3/8-\n"])
def test_half_a_character_is_no_marked_byte(data):
    with (
        pytest.raises(ReadError, match=r"half a character, '\\udfff'"),
        open_table(io.BytesIO(data), encoding="utf-7") as table,
    ):
        list(table.batches())
