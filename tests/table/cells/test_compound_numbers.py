"""Numbers that are written as two or three."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from halfmoon.table._cells.cell_values import read_compounds
from halfmoon.table._cells.compound_numbers import (
    FORMS,
    duration_seconds,
    find_form,
    read_form,
)
from halfmoon.table._columns.column_kinds import Columns


@pytest.mark.parametrize(
    ("form", "cell", "value"),
    [
        ("range", "94-102", 98),
        ("range", "94 – 102", 98),
        ("range", "18 to 25", 21.5),
        ("range", "$25,000 - $49,999", 37_499.5),
        ("range", "$50-100K", 75_000),
        ("range", "$500K to $1M", 750_000),
        ("range", "1,5-2,5 kg", 2),
        ("range", "65+", 65),
        ("range", "under 18", 18),
        ("range", "70 or older", 70),
        ("range", "7", 7),
        ("range", "3-1", np.nan),
        ("range", "01-15", np.nan),
        ("range", "2024-02-05", np.nan),
        ("range", "a-b", np.nan),
        ("fraction", "1/2", 0.5),
        ("fraction", "2 3/4", 2.75),
        ("fraction", "2½", 2.5),
        ("fraction", "-1 1/2", -1.5),
        ("fraction", "7/10", 0.7),
        ("fraction", "3", 3),
        ("fraction", '8 1/4"', 8.25),
        ("fraction", "3″", 3),
        ("fraction", "3/2", np.nan),
        ("fraction", "1/0", np.nan),
        ("duration", "1h20", 4800),
        ("duration", "12 h 05", 43500),
        ("ratio", "3:1", 3),
        ("ratio", "16:9", 16 / 9),
        ("ratio", "1:0", np.nan),
        ("angle", "48°51'N", 48.85),
        ("angle", "33°52'10\"S", -(33 + 52 / 60 + 10 / 3600)),
        ("angle", "W 2.35", -2.35),
        ("angle", "20°", np.nan),
        ("feet", "5'11\"", 71),
        ("feet", "5 ft 11 in", 71),
        ("feet", "6'", 72),
        ("pounds", "8 lb 3 oz", 131),
        ("feet", "180 cm", 180 / 2.54),
        ("feet", "1,8 m", 180 / 2.54),
        ("feet", "80 kg", np.nan),
        ("pounds", "4 kg", 141.095848),
    ],
)
def test_values(form, cell, value):
    assert_allclose(read_form(pa.array([cell]), form), [value])


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["18-24", "25-34", "35-44", "65+"], "range"),
        (["<18", "18-34", "35-54", "55+"], "range"),
        (["2019-2020", "2020-2021"], "range"),
        (["1/2", "3/4", "2"], "fraction"),
        (['1 1/2"', '3/4"', '2"'], "fraction"),
        (["1h20", "45 min", "2h05"], "duration"),
        (["45/50", "38/50"], "fraction"),
        (["4 out of 5", "3 out of 5"], "fraction"),
        (["3:1", "5:2"], "ratio"),
        (["48°51'N", "33°52'S"], "angle"),
        (["5'11\"", "180 cm", "6'", "1.8 m"], "feet"),
        (["8 lb 3 oz", "4 kg", "3900 g"], "pounds"),
        (["5'11\"", "180 cm", "181 cm", "182 cm"], ""),  # one may be mistyped
        (["5'11\"", "80 kg"], ""),
        (["555-1234", "555-9876"], ""),  # telephones
        (["3-1", "0-2"], ""),  # results of games
        (["12/3", "4/17", "11/30"], ""),  # days of the year
        (["120/80", "130/85"], ""),  # blood pressure
        ([f"{i}/{i + 1}" for i in range(1, 12)], ""),  # too many denominators
        (["1", "2", "3-4", "5"] + [str(i) for i in range(6, 20)], ""),
        (["A-1", "B-2"], ""),
        (["what 5 is", "2 of 3"], ""),
        ([], ""),
    ],
)
def test_forms(cells, form):
    assert find_form(pa.array(cells, pa.string()), 0.0) == form


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["[0, 5)", "[5, 10)", "[10, inf)"], [2.5, 7.5, 10]),
        (["(-inf, 0.5]", "(0.5, 1.5]", "[1.5,2]"], [0.5, 1, 1.75]),
        (["(-1.5, -0.5]", "(-0.5, 5e-1]", "(.5, 1]"], [-1, 0, 0.75]),
        (["]0;5]", "]5;8]", "]8;+Inf["], [2.5, 6.5, 8]),
    ],
)
def test_intervals_of_histograms(cells, values):
    assert find_form(pa.array(cells), 0.0) == "interval"
    assert read_form(pa.array(cells), "interval").tolist() == values


@pytest.mark.parametrize(
    "cells",
    [["(2.35, 48.85)", "(1.2, 50)"], ["[1, 2]", "[3, 4]"], ["(5, 1]", "(7, 2]"]],
)
def test_coordinates_are_no_intervals(cells):
    assert find_form(pa.array(cells), 0.0) != "interval"


def test_ranges_of_percent():
    cells = pa.array(["10%-20%", "<10%", "20 % - 50 %", "12…15"])
    assert find_form(cells, 0.0) == "range"
    assert read_form(cells, "range").tolist() == [15, 10, 35, 13.5]


@pytest.mark.parametrize(
    "cells",
    [
        ["von 10 bis 20", "unter 10", "20 bis unter 40"],
        ["From 10 to 20 years", "Less than 10 years", "20 to less than 40 years"],
        ["entre 10 et 20", "10", "de 20 à 40"],
    ],
)
def test_ranges_in_words(cells):
    assert find_form(pa.array(cells), 0.0) == "range"
    assert read_form(pa.array(cells), "range").tolist() == [15, 10, 30]


def test_a_few_words_beside_ranges_are_missing():
    ages = ["18-24", "25-34", "35+", "Prefer not to say"] * 10
    use = Columns.of(pa.table({"age": ages})).uses[0]
    assert (use.kind, use.compound, use.strays) == ("number", "range", 10)
    assert "10 cells like 'Prefer not to say' counted as missing" in use.reading()
    for others in (
        ["18-24", "25-34", "none of these"],
        ["1-2", "3-4", "5", "a", "b", "c"],
    ):
        assert Columns.of(pa.table({"x": others * 10})).uses[0].kind == "category"


def test_a_column_of_ranges_says_so_and_reads_other_rows_alike():
    cells = ["18-24", "25-34", "35-44", "45-54", "55-64", "65+"]
    use = Columns.of(pa.table({"age": cells * 5})).uses[0]
    assert (use.kind, use.reading()) == ("number", "ranges, read as their middle")
    values, unread = use.read(pa.array(["18-24", "90-99", "old", None]))
    assert_allclose(values, [21, 94.5, np.nan, np.nan])
    assert unread == 1


def test_every_form_has_words():
    assert all(form.words for form in FORMS.values())


HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1h 30m", 5400),
        ("1h30", 5400),  # alone, a column of such cells holds times of the day
        ("2 hrs, 5 min", 2 * HOUR + 300),
        ("1 Std. 15 Min.", HOUR + 900),
        ("3 days", 3 * DAY),
        ("1 year 2 months", (365.25 + 60.875) * DAY),
        ("2 days 03:04:05", 2 * DAY + 3 * HOUR + 245),
        ("1 day, 0:00:01", DAY + 1),
        ("94:58", 94 * 60 + 58),
        ("30:10:05.5", 30 * HOUR + 605.5),
        ("-0:30", -30),
        ("PT1H30M", 5400),
        ("P1DT2S", DAY + 2),
        ("P2W", 14 * DAY),
        ("P1Y2M", (365.25 + 60.875) * DAY),
        ("P1MT1M", 30.4375 * DAY + 60),
        ("P", np.nan),
        ("", np.nan),
        ("2:1", np.nan),
        ("12 Main Street", np.nan),
        ("5'10", np.nan),
    ],
)
def test_seconds(cell, seconds):
    assert_allclose(duration_seconds(cell), seconds)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: f"{x // 60}h {x % 60}m",
        lambda x: f"{x // 1440} days {x // 60 % 24:02d}:{x % 60:02d}:00",
        lambda x: f"{x // 60 + 24}:{x % 60:02d}:00",
        lambda x: f"PT{x // 60}H{x % 60}M",
    ],
    ids=["letters", "pandas", "clock", "ISO"],
)
def test_a_column_of_durations(write):
    minutes = np.random.default_rng(0).permutation(3000)[:60]
    cells = pa.array([*map(write, minutes.tolist()), "", "later"])
    columns = Columns.of(pa.table({"x": cells}))
    use = columns.uses[0]
    assert use.kind == "number"
    assert use.reading().startswith("durations in seconds")
    values, unread = use.read(cells)
    assert_allclose(np.diff(values[:60]), 60 * np.diff(minutes))
    assert np.isnan(values[60:]).all()
    assert unread == 1
    assert read_compounds(pa.array(["soon", None]), "duration")[1] == 1
