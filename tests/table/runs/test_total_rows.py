"""Rows of totals at the end of a table."""

import pyarrow as pa
import pytest

from halfmoon.table._runs.total_rows import TotalsRow, TotalsRows, totals_note

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


def test_the_note_on_totals():
    one = totals_note([TotalsRow(3, "Total", True)])
    assert one.text == (
        "The last row ('Total') looks like totals or notes below the table: it was "
        "not learned from and not filled."
    )
    two = totals_note([TotalsRow(3, "Total", True), TotalsRow(4, "Mean", False)])
    assert two.text.startswith("The last 2 rows ('Total' and 'Mean') look like totals")
    assert one.important
