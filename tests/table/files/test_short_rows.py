"""Rows of CSV with fewer cells than the header."""

import io

import pytest

from halfmoon.table import Settings, fill_table, open_table
from halfmoon.table._table_errors import ReadError


def opened(text):
    return open_table(io.BytesIO(text.encode()))


def cells_of(table):
    return [tuple(row.values()) for b in table.batches() for row in b.rows.to_pylist()]


def test_missing_cells_at_the_end_are_empty_and_noted_once():
    with opened("a,b,c\n1,2,3\n4\n\n5,6\n7,8,9\n") as table:
        for _ in range(2):
            assert cells_of(table) == [
                ("1", "2", "3"),
                ("4", "", ""),
                ("5", "6", ""),
                ("7", "8", "9"),
            ]
    (note,) = table.notes
    assert note.text == "2 rows have fewer cells than the header (lines 3, 5)."
    assert note.important


def test_the_text_of_a_short_row_gets_its_delimiters():
    with opened('a;b;c\r\n1;"x;y"\r\n4;5;6') as table:
        (batch,) = table.batches()
    assert list(batch.raw) == ['1;"x;y";\r\n', "4;5;6"]


def test_quick_and_slow_reading_agree_on_short_rows():
    plain = "a,b\n" + "1,2\n" * 5 + "3\n" + "4,5\n" * 5
    quoted = plain.replace("4,5", '"4",5')
    with opened(plain) as first, opened(quoted) as second:
        assert cells_of(first) == cells_of(second)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2\n3,4\n", "the header has 3 cells, but every row has 2. If a name"),
        (
            "a,b,c\n1,2,3\n4,x\ny,6\n7,8,9\n",
            "line 3 has 2 of 3 cells, and the next line",
        ),
        ("a,b\n1,2\n3\n4,5,6\n", "line 4 has 3 cells, but the header has 2"),
    ],
)
def test_cells_that_may_belong_elsewhere_are_errors(text, message):
    with opened(text) as table, pytest.raises(ReadError, match=message):
        cells_of(table)


def test_a_filled_table_has_all_cells_in_their_columns(tmp_path):
    sizes = [2 * i for i in range(30)]
    rows = [f"{x},{'ab'[x > 29]}" if x % 3 == 0 else f"{x}" for x in sizes]
    given, filled = tmp_path / "t.csv", tmp_path / "f.csv"
    given.write_text("\n".join(["x,kind", *rows]) + "\n")
    with open_table(given) as table:
        fill_table(table, filled, Settings("kind", budget=1.0))
    header, *lines = filled.read_text().splitlines()
    assert header.split(",")[:3] == ["x", "kind", "kind_source"]
    assert {len(line.split(",")) for line in lines} == {len(header.split(","))}
    assert [line.split(",")[0] for line in lines] == [str(x) for x in sizes]
    kinds = [line.split(",")[1] for line in lines]
    right = [kind == "ab"[x > 29] for x, kind in zip(sizes, kinds, strict=True)]
    assert sum(right) >= 28
    assert all(right[i] for i in range(0, 30, 3))  # labels stay
