"""Rows that repeat the header in the middle of a table."""

import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from halfmoon.table._header_rows import header_note, header_rows


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
