"""Rows that repeat the header in the middle of a table."""

import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from halfmoon.table._runs.header_rows import (
    description_note,
    description_rows,
    header_note,
    header_rows,
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
def test_header_rows(cells, found):
    assert_array_equal(header_rows(pa.record_batch(cells)), found)


def test_an_empty_batch():
    assert header_rows(pa.record_batch({"a": pa.array([], pa.string())})).shape == (0,)


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


def test_the_note_on_descriptions():
    assert description_note(2, 2).text == (
        "Rows 2 and 3 below the header describe the columns: they were not learned "
        "from and not filled."
    )
