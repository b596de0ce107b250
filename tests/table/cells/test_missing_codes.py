"""Numbers and dates that stand for a missing value."""

import numpy as np
import pandas as pd
import pytest
from tests.optional_modules import far_dates

from halfmoon.table._cells.missing_codes import missing_codes, missing_dates
from halfmoon.table._labels.label_checks import checked_labels
from halfmoon.table._run_settings import Settings

AGES = [18.0, 25, 33, 47, 52, 61, 70]


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ([*AGES, -999, -999], (-999,)),
        ([*AGES, 9999, 9999, np.nan], (9999,)),
        ([*AGES, 999.9, 999.9], (999.9,)),
        ([*AGES, -9, -9], ()),  # as near as the ages are to each other
        ([1, 2, 3, 4, 5, -9, -9], (-9,)),
        ([0, 1, 2, 3, 4, 5, 97, 98, 99, 99], (97, 98, 99)),
        ([0, 1, 2, 3, 4, 5, 98, 98], ()),  # without nines, it is a number
        ([*AGES, -999], ()),  # once may be a mistake, or a number
        ([*AGES, 99, 99], ()),  # an age
        ([1, 2, -999, -999, -999], ()),  # too few others to judge by
        ([*AGES, 1000, 1000], ()),
        ([], ()),
    ],
)
def test_codes(numbers, codes):
    assert missing_codes(np.array(numbers, dtype=float)) == codes


def test_labels_that_are_codes_are_ignored_with_a_note():
    labels = [*map(str, AGES), "-999", None, "-999.0", "33.5"]
    checked = checked_labels(labels, Settings("age"))
    assert checked.labels == [*AGES, None, None, None, 33.5]
    assert checked.n_ignored == 2
    (note,) = checked.notes
    assert note.text == (
        "2 labels of 'age' are -999, far from all others, as a mark for a blank would "
        "be. They were ignored and not changed."
    )
    assert note.command == "unlabeled='-999'"


@pytest.mark.parametrize("code", [-(2.0**31), 1e20, -1e30, np.finfo(float).max])
def test_fill_values_of_programs_are_missing(code):
    numbers = np.array([3.5, 1, 4, 2, 5, code, code])
    assert missing_codes(numbers) == (code,)
    assert missing_codes(numbers[:-1]) == ()  # once
    assert missing_codes(np.append(numbers, 0.9 * code)) == ()  # not far


VISITS = [
    "2019-03-04",
    "2020-07-01",
    "2021-12-31",
    "2022-02-28",
    "2023-05-06",
    "2023-06-07",
]
BIRTHS = [
    "1940-01-01",
    "1951-05-06",
    "1967-08-09",
    "1988-01-01",
    "2004-02-03",
    "1999-09-09",
    "1977-07-08",
]


@pytest.mark.parametrize(
    ("dates", "codes"),
    [
        ([*VISITS, "1900-01-01", "1900-01-01", None], ["1900-01-01"]),
        pytest.param(
            [*VISITS, "9999-12-31", "9999-12-31"], ["9999-12-31"], marks=far_dates
        ),
        ([*VISITS, *["1970-01-01"] * 2, *["2099-12-31"] * 2], None),
        ([*BIRTHS, "1900-01-01", "1900-01-01"], ["1900-01-01"]),
        ([*BIRTHS, "1935-01-01", "1935-01-01"], []),  # as near as the others
        ([*VISITS, "1900-01-01"], []),  # once may be a mistake, or a date
        ([*VISITS, "1900-05-17", "1900-05-17"], []),
        ([*VISITS[:3], "1900-01-01", "1900-01-01"], []),  # too few others
        ([*VISITS, "1900-01-01 08:00", "1900-01-01 08:00"], []),
        ([], []),
    ],
)
def test_dates_for_none(dates, codes):
    found = missing_dates(pd.Series(pd.to_datetime(dates, format="mixed")))
    expected = ["1970-01-01", "2099-12-31"] if codes is None else codes
    days = [
        np.datetime64(each).astype("datetime64[D]").astype(int) for each in expected
    ]
    assert found == tuple(map(float, days))
