import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.table._cells.cell_values import (
    as_column,
    read_dates,
    read_numbers,
    read_texts,
    read_times,
    read_truths,
    without_missing,
)
from halfmoon.table._cells.number_style import NumberStyle

nan = np.nan


def test_texts_for_missing_values():
    markers = ["", "  ", "NA", "n/a", "NaN", "NULL", "None", "<NA>", "?", "-", "NaT"]
    array = pa.array([*markers, None, " a ", "nano", "--"])
    expected = [None] * (len(markers) + 1) + ["a", "nano", "--"]
    assert without_missing(array).to_pylist() == expected


@pytest.mark.parametrize(
    ("cells", "values", "unread"),
    [
        (["1", " 2.5 ", "-3e2", "+.5", "7."], [1, 2.5, -300, 0.5, 7], 0),
        (["1", "", "NA", "x", "12%", "$5", "0x1", "1_0"], [1] + [nan] * 7, 5),
        (["inf", "-Infinity", "1e999", "2"], [nan, nan, nan, 2], 3),
        (["1,234", "5"], [nan, 5], 1),
    ],
)
def test_numbers_of_text(cells, values, unread):
    actual, not_read = read_numbers(pa.array(cells))
    assert_array_equal(actual, values)
    assert not_read == unread


def test_numbers_with_a_decimal_comma():
    actual, unread = read_numbers(
        pa.array(["3,5", "4", "1.000,5", "-0,25"]), NumberStyle(",")
    )
    assert_array_equal(actual, [3.5, 4, nan, -0.25])
    assert unread == 1


@pytest.mark.parametrize(
    "typed",
    [
        pa.array([1, None, 3], pa.int8()),
        pa.array([1, None, 3], pa.uint64()),
        pa.array([1.0, nan, 3.0], pa.float32()),
        pa.array([Decimal("1"), None, Decimal("3")]),
        pa.array([dt.timedelta(seconds=1), None, dt.timedelta(seconds=3)]),
        pa.array(["1", None, "3"], pa.large_string()),
        pa.array(["1", "", "3"], pa.string_view()),
        as_column(pa.chunked_array([["1"], ["", "3"]])),
        as_column(pa.array(["1", None, "3"]).dictionary_encode()),
    ],
)
def test_numbers_of_every_type(typed):
    actual, unread = read_numbers(typed)
    assert_array_equal(actual, [1, nan, 3])
    assert unread == 0


def test_cells_that_are_not_numbers_are_counted():
    dates = pa.array([dt.date(2020, 1, 1), None])
    actual, unread = read_numbers(dates)
    assert np.isnan(actual).all()
    assert unread == 1
    assert read_numbers(pa.array([np.inf, 1.0]))[1] == 1


@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, None, False]),
        pa.array(["TRUE", "", "false"]),
        pa.array(["Yes", "?", "no"]),
        pa.array([1, None, 0]),
    ],
)
def test_truth_values(array):
    actual, unread = read_truths(array)
    assert_array_equal(actual, [1, nan, 0])
    assert unread == 0


def test_other_words_are_not_truth_values():
    actual, unread = read_truths(pa.array(["yes", "maybe", "no"]))
    assert_array_equal(actual, [1, nan, 0])
    assert unread == 1
    assert read_truths(pa.array([0, 1, 2]))[1] == 1


def test_dates_in_text_equal_typed_dates():
    days = [dt.datetime(2020, 2, 29, 13, 30), None, dt.datetime(1969, 12, 31)]
    text = pa.array(["29.02.2020 13:30", "", "31.12.1969 00:00"])
    by_text, unread = read_dates(text, "%d.%m.%Y %H:%M")
    assert unread == 0
    for type_ in (pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC")):
        by_type, unread = read_dates(pa.array(days, type_), "ISO8601")
        assert unread == 0
        pd.testing.assert_series_equal(by_type, by_text)
    dates = pa.array([dt.date(2020, 2, 29), None, dt.date(1969, 12, 31)])
    expected = by_text.dt.normalize()
    pd.testing.assert_series_equal(read_dates(dates, "")[0], expected)


def test_dates_with_zones_are_in_utc():
    read, unread = read_dates(pa.array(["2020-01-01T00:30+02:00", "soon"]), "ISO8601")
    assert str(read[0]) == "2019-12-31 22:30:00"
    assert unread == 1
    assert read_dates(pa.array([3, None]), "ISO8601")[1] == 1


def test_times_in_seconds():
    actual, unread = read_times(pa.array(["01:00:01", None, "late"]), "%H:%M:%S")
    assert_allclose(actual, [3601, nan, nan])
    assert unread == 1
    typed = pa.array([dt.time(1, 0, 1), None])
    assert_allclose(read_times(typed, "")[0], [3601, nan])


def test_texts_are_categories():
    read, _ = read_texts(pa.array(["b", " a", "b ", "NA", None]))
    assert read.tolist()[:3] == ["b", "a", "b"]
    assert read.isna().tolist() == [False, False, False, True, True]
    assert read_texts(pa.array([3, None]))[0].tolist()[0] == "3"
    assert read_texts(pa.array([[1], None]))[0].isna().all()
