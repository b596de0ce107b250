"""Rows that repeat the header in the middle of a table."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from halfmoon.table._runs.rows_without_data import (
    TotalsRow,
    TotalsRows,
    description_note,
    description_rows,
    empty_note,
    empty_rows,
    header_note,
    repeated_headers,
    totals_note,
)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ({"day": ["Mon", "day"], "n": ["1", " n "]}, [False, True]),
        ({"day": ["\ufeffday", "day"], "n": ["n", "2"]}, [True, False]),
        ({"day": ["day", None], "": ["", None]}, [True, False]),
        ({"day": ["day", "Mon"], "n": [1, 2]}, [False, False]),
        ({"day": ["day", "Mon"]}, [False, False]),  # one column may hold its name
    ],
)
def test_repeated_headers(cells, found):
    assert_array_equal(repeated_headers(pa.record_batch(cells)), found)


def test_empty_rows():
    text = ["", " \u00a0", None, "", "x"]
    numbers = pa.array([None, None, None, 0.0, None])
    views = pa.array(["", "", None, "", ""], pa.string_view())
    nan = pa.array([np.nan, np.nan, np.nan, np.nan, np.nan])
    rows = pa.record_batch({"a": text, "b": numbers, "c": views, "d": nan})
    assert empty_rows(rows).tolist() == [True, True, True, False, False]
    assert empty_note(1).text == (
        "1 row is empty: it was not learned from and not filled."
    )


def test_a_blank_beside_a_blank_label_is_a_row():
    rows = pa.record_batch({"text": ["", "a", None], "label": [None, "", ""]})
    assert empty_rows(rows).tolist() == [False, False, False]


def test_an_empty_batch():
    assert empty_rows(pa.record_batch({"a": pa.array([], pa.string())})).shape == (0,)
    assert repeated_headers(
        pa.record_batch({"a": pa.array([], pa.string())})
    ).shape == (0,)


def test_the_note():
    assert header_note([102]).text == (
        "Row 102 repeats the header: it was not learned from and not filled."
    )
    assert header_note([12, 23, 34, 1045]).text == (
        "4 rows repeat the header (rows 12, 23, 34 and 1 more): they were not learned "
        "from and not filled."
    )


NUMBERS = [str(i) for i in range(20)]
COLORS = ["red", "blue"] * 10


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ([["mm", "kg", ""]], 1),
        ([["mm", "kg", "-"]], 1),
        ([["How tall are you?", "How heavy are you?", "What color?"]], 1),
        ([["How tall?", "How heavy?", "Color?"], ['{"id": 1}', '{"id": 2}', "{}"]], 2),
        ([], 0),
        ([["", "", "no color"]], 0),  # no word in a column of numbers
        ([["mm", "", ""]], 0),  # one word may be a mistake
        ([["n.a.", "unknown", "pink"]], 0),  # missing numbers
        ([["mm", "kg", "red"]], 0),  # a row of data
        ([["mm", "5", ""]], 0),
        ([["1", "2", "red"], ["mm", "kg", ""]], 0),  # not below the header
    ],
)
def test_rows_that_describe_the_columns(first, found):
    columns = zip(*first, strict=True) if first else [[]] * 3
    below = (NUMBERS, NUMBERS, COLORS)
    cells = [[*a, *b] for a, b in zip(columns, below, strict=True)]
    rows = pa.record_batch(dict(zip("abc", cells, strict=True)))
    assert description_rows(rows) == found


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_the_only_rows_of_a_table_describe_nothing(n):
    cells = {f"x{i}": [str(i + k) for k in range(n)] for i in range(5)}
    assert description_rows(pa.record_batch(cells)) == 0
    words = {f"x{i}": [f"a{i} {k}" for k in range(n)] for i in range(5)}
    assert description_rows(pa.record_batch(words)) == 0


def test_rows_of_types_and_of_roles():
    """As Orange writes them: the second row says which column is the class."""
    columns = {f"x{i}": ["c", "", *NUMBERS] for i in range(5)}
    coded = {"answer": ["0 1", "", *("01" * 10)]}
    label = {"kind": ["d", "class", *COLORS]}
    assert description_rows(pa.record_batch(columns | coded | label)) == 2
    label = {"kind": ["d", "red", *COLORS]}  # the class of the first row of data
    assert description_rows(pa.record_batch(columns | coded | label)) == 1
    columns["x0"][1] = "7"
    assert description_rows(pa.record_batch(columns | coded)) == 1


def answers(*first):
    """Columns of a few words, each with other words in the first rows."""
    words = [["yes", "no"], ["often", "rarely", "never"], ["yes", "no"], ["a", "b"]]
    return pa.record_batch(
        {
            f"Q{i}": [*(row[i] for row in first), *(each * 9)]
            for i, each in enumerate((pair * 3)[:6] for pair in words)
        }
    )


def test_questions_above_answers_in_words():
    questions = ["Do you?", "How often?", "Would you?", "Which?"]
    ids = [f'{{"ImportId":"QID{i}"}}' for i in range(4)]
    assert description_rows(answers()) == 0
    assert description_rows(answers(questions)) == 1
    assert description_rows(answers(questions, ids)) == 2
    assert description_rows(answers([*questions[:3], "b"])) == 0  # an answer
    assert description_rows(answers([*questions[:3], ""])) == 0  # too few


def test_the_note_on_descriptions():
    assert description_note(2, 2).text == (
        "Rows 2 and 3 below the header describe the columns: they were not learned "
        "from and not filled."
    )


ROWS = [["Mon", "1", "a"], ["Tue", "2", ""], ["Wed", "3", "b"]]


def found_in(rows, size=10):
    """In batches of some rows, the last column being the target."""
    totals = TotalsRows("kind")
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        columns = dict(zip(("day", "n", "kind"), zip(*some, strict=True), strict=True))
        blank = [not row[2] for row in some]
        totals.see(pa.record_batch(columns), start, pa.array(blank).to_numpy(False))
    return totals.found


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("word", ["Total", "GRAND TOTAL", "total:", " Sum ", "Average"])
def test_a_row_of_totals(word, size):
    rows = [*ROWS, [word, "", ""]]
    assert found_in(rows, size) == [TotalsRow(3, word.strip(), True)]


def test_totals_in_all_columns_of_numbers():
    assert found_in([*ROWS, ["Total", "6", ""]]) == [TotalsRow(3, "Total", True)]
    assert found_in([*ROWS, ["Total", "6", "$91,000"]])[0].word == "Total"


@pytest.mark.parametrize("end", ["# end of file", "\x1a"])
def test_the_end_of_a_file_is_no_row(end):
    assert found_in([*ROWS, [end, "", ""]]) == [TotalsRow(3, end, True)]
    assert found_in([*ROWS, ["# 3 rows", " 2024", ""]])[0].number == 3


def test_the_word_may_follow_empty_cells():
    rows = [*ROWS, ["", "Total", ""]]
    assert found_in(rows) == [TotalsRow(3, "Total", True)]


def test_several_rows_and_totals_among_the_labels():
    rows = [*ROWS, ["Total", "6", ""], ["", "", "Mean"]]
    assert found_in(rows, 4) == [
        TotalsRow(3, "Total", True),
        TotalsRow(4, "Mean", False),
    ]


@pytest.mark.parametrize("note", ["Source: us", "* estimated", "https://x.example"])
def test_notes_below_the_table(note):
    rows = [*ROWS, ["Total", "6", ""], [note, "", ""], ["Notes: see page 3", "", ""]]
    assert found_in(rows, 4) == [
        TotalsRow(3, "Total", True),
        TotalsRow(4, note, True),
        TotalsRow(5, "Notes: see page 3", True),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [*ROWS, ["Source: us", "4", ""]],  # a row with cells
        [*ROWS, ["Sourdough bread", "", ""]],
        [["Source: us", "", ""], *ROWS],
        [["Total", "", ""], *ROWS],  # not at the end
        [*ROWS, ["Total", "5", "a"]],  # a row with cells
        [*ROWS, ["Totals of it", "", ""]],
        [["Average", "1", "a"], *ROWS, ["Average", "", ""]],  # an ordinary value
        [*ROWS, ["Thu", "Total", ""]],
    ],
)
def test_ordinary_rows_are_no_totals(rows):
    assert found_in(rows) == []


WIDE = [
    ["Mon", "1", "2", "x", "a"],
    ["Tue", "2", "", "y", ""],
    ["Wed", "", "", "", "b"],
]


@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([*WIDE, ["Acme Inc", *[""] * 4], ["By: Ann", *[""] * 4]], [3, 4]),
        ([*WIDE, ["Closing", *[""] * 4], ["Total", "3", *[""] * 3]], [3, 4]),
        ([["Acme", *[""] * 4], *WIDE, ["By: Ann", *[""] * 4]], []),  # so empty before
        ([*WIDE, ["7.5", *[""] * 4]], []),
        ([*WIDE, ["Thu", "", "", "z", ""]], []),
        ([*WIDE, ["Thu", "", "", "", "a"]], []),
    ],
)
def test_words_alone_below_a_wide_table(rows, found, size):
    totals = TotalsRows("kind")
    names = ("day", "n", "m", "note", "kind")
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        batch = pa.record_batch(dict(zip(names, zip(*some, strict=True), strict=True)))
        blank = np.array([not row[-1] for row in some])
        totals.see(batch, start, blank)
    assert [row.number for row in totals.found] == found


def test_the_note_on_totals():
    one = totals_note([TotalsRow(3, "Total", True)])
    assert one.text == (
        "The last row ('Total') looks like totals or notes below the table: it was "
        "not learned from and not filled."
    )
    two = totals_note([TotalsRow(3, "Total", True), TotalsRow(4, "Mean", False)])
    assert two.text.startswith("The last 2 rows ('Total' and 'Mean') look like totals")
    assert one.important
