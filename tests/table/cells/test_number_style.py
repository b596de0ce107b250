import sys

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from halfmoon.table._cells.number_detection import number_style
from halfmoon.table._cells.number_style import PLAIN, NumberStyle

STYLES = [
    PLAIN,
    NumberStyle(digits=3),
    NumberStyle(thousands=","),
    NumberStyle(thousands=",", prefix="$", digits=2),
    NumberStyle(thousands=",", prefix="€ ", digits=2),
    NumberStyle(thousands=",", negative="(x)"),
    NumberStyle(thousands=",", prefix="$", negative="(x)", digits=2),
    NumberStyle(",", digits=2),
    NumberStyle(",", ".", digits=2),
    NumberStyle(",", ".", suffix="\u00a0€", digits=2),
    NumberStyle(",", ".", negative="x-", digits=2),
    NumberStyle(",", "\u202f", digits=1),
    NumberStyle(thousands=" ", digits=1),
    NumberStyle(thousands="\u2009", digits=1),
    NumberStyle(thousands="\u00a0"),
    NumberStyle(thousands="'", prefix="CHF ", digits=2),
    NumberStyle(thousands="\u2019", digits=2),
    NumberStyle(suffix="%", digits=1),
    NumberStyle(suffix=" kg"),
    NumberStyle(suffix=" g", digits=1),
    NumberStyle(suffix=" km/h", digits=1),
    NumberStyle(negative="\u2212x", digits=2),
    NumberStyle(thousands=",", prefix="₹ ", digits=2, indian=True),
    NumberStyle(thousands=",", prefix="₹", indian=True, no_cents="/-"),
    NumberStyle(",", ".", prefix="€ ", no_cents=",-"),
    NumberStyle(",", ".", suffix=" €", no_cents=",\u2014"),
    NumberStyle(thousands="'", prefix="Fr. ", no_cents=".\u2013"),
]


@pytest.mark.parametrize("style", STYLES, ids=repr)
def test_a_thousand_numbers_are_read_back_exactly(style):
    rng = np.random.default_rng(0)
    sizes = 10 ** rng.uniform(0, 7, 1000)
    values = np.round(rng.choice([-1, 1, 1], 1000) * sizes, style.digits)
    cells = pa.array(style.write(values, style.digits))
    found = number_style(cells, 0.0)
    assert found == style
    read = found.read(cells)
    assert_array_equal(read, values)
    parts = [found.read(cells.slice(i, 37)) for i in range(0, 1000, 37)]
    assert pa.concat_arrays(parts).equals(read)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234", "5,678"], [1234, 5678]),
        (["1,234", "987", "12,345"], [1234, 987, 12345]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["12,5", "1,234"], [12.5, 1.234]),
        (["1.234", "5.678"], [1.234, 5.678]),
        (["1.234", "1.234.567"], [1234, 1234567]),
        (["1.234", "1.234,5"], [1234, 1234.5]),
        (["1,234", "1,234.5"], [1234, 1234.5]),
        (["12,34,567", "1,00,000"], [1234567, 100000]),
        (["$1,053", "$986.50", "1"], [1053, 986.5, 1]),
        (["-$5", "$-6", "$(7)", "($8)"], [-5, -6, -7, -8]),
        (["1 year", "2 years"], [1, 2]),
        (["26 kg", "26kg", "26"], [26, 26, 26]),
        (["5 m2", "52 m2"], [5, 52]),
        (["1.234,56-", "2,00"], [-1234.56, 2]),
        (["\u22125.2", "\u20136", "7"], [-5.2, -6, 7]),
        (["8.796E+03", "1e-2"], [8796, 0.01]),
        (["'2007", "2008"], [2007, 2008]),
        (["20.2%", "7 %"], [20.2, 7]),
        (["Rs. 500", "Rs. 1,500.50"], [500, 1500.5]),
    ],
)
def test_numbers_as_people_write_them(cells, values):
    cells = pa.array(cells)
    assert number_style(cells, 0.0).read(cells).to_pylist() == values


@pytest.mark.parametrize(
    "cells",
    [
        ["3 kg", "200 g"],
        ["$5", "€5"],
        ["10 am", "11 pm"],
        ["1st", "2nd"],
        ["12A", "13", "14"],
        ["01099", "12345"],
        ["192.168.100.101", "192.168.100.102"],
        ["1.2.3", "1.2.4"],
        ["05.02.2024"],
        ["2024-02-05"],
        ["13:28"],
        ["555-1234"],
        ["030 123 456", "030 123 457"],
        ["+49 170 123 456", "+49 171 123 456"],
        ["732 829 320", "732 829 321"],
        ["2-", "3"],
        ["65+", "12"],
        ["10-20"],
        ["A12", "A13"],
        ["4.5/5"],
        ["1,23", "1.23", "1,2,3"],
        ["", "x"],
        ["5e"],
    ],
)
def test_other_cells_are_not_numbers(cells):
    assert number_style(pa.array(cells), 0.0) is None


def test_a_few_cells_may_be_something_else():
    cells = pa.array([*(f"${x:,}" for x in range(950, 1045)), *["call us"] * 5])
    assert number_style(cells, 0.05).describe() == "written with $ and commas"
    assert number_style(cells, 0.04) is None


def test_a_million_cells_take_as_many_calls_as_a_thousand():
    """Arrow reads them, in a third of a second; Python does nothing for each cell."""
    thousand = pa.array([f"${x:,}.50" for x in range(1000)])
    million = thousand.take(pa.array(np.arange(1_000_000) % 1000))
    style, calls = number_style(thousand, 0.0), []

    def read(cells):
        def count(frame, event, argument):
            calls[-1] += event in {"call", "c_call"}

        calls.append(0)
        sys.setprofile(count)
        try:
            return style.read(cells)
        finally:
            sys.setprofile(None)

    read(thousand)  # what is compiled or imported once
    read(thousand)
    assert np.asarray(read(million)).sum() == 1000 * (999 * 1000 / 2 + 500)
    assert calls[2] == calls[1] < 1000


@pytest.mark.parametrize(
    ("style", "words"),
    [
        (PLAIN, ""),
        (NumberStyle(prefix="$", thousands=","), "written with $ and commas"),
        (NumberStyle(suffix="%"), "written with %"),
        (NumberStyle(",", digits=2), "written with decimal commas"),
        (NumberStyle(",", "."), "written with points between thousands"),
        (
            NumberStyle(thousands="\u2019", suffix=" kg"),
            "written with apostrophes between thousands and kg",
        ),
    ],
)
def test_styles_in_words(style, words):
    assert style.describe() == words


def test_zero_has_no_sign():
    assert NumberStyle(prefix="$").write([-0.001, 0.0], 2) == ["$0.00", "$0.00"]


def test_points_and_commas_for_decimals_in_one_column():
    cells = pa.array(["12.5", "7,25", "100", "0,5", "1,234"])
    style = number_style(cells, 0.0)
    assert style.either
    assert style.read(cells).to_pylist() == [12.5, 7.25, 100, 0.5, 1.234]
    assert style.describe() == "written with decimal points and decimal commas"


def test_one_mistyped_decimal_does_not_turn_thousands_into_decimals():
    cells = [f"{1000 + 7 * i:,}.5" for i in range(50)] + ["1,234", "12,5"]
    style = number_style(pa.array(cells), 0.05)
    assert not style.either
    assert style.read(pa.array(["1,234"])).to_pylist() == [1234.0]


def test_thousands_of_two_countries_are_not_numbers():
    assert number_style(pa.array(["1,234,567", "1.234.567"] * 5), 0.0) is None


def test_a_mantissa_has_no_thousands():
    style = number_style(pa.array(["1,275E+03", "8,796E+02"]), 0.0)
    assert style.read(pa.array(["1,275E+03"])).to_pylist() == [1275.0]


def test_labels_that_are_not_exact_are_not_numbers():
    assert number_style(pa.array(["<5", "12", "13"]), 0.0) is None


def test_letters_for_thousands_and_millions():
    cells = pa.array(["$892.7K", "$1.2M", "$3B", "$950"])
    style = number_style(cells, 0.0, inexact=True)
    assert style.read(cells).to_pylist() == [892_700, 1_200_000, 3e9, 950]
    assert style.describe() == (
        "written with $ and letters or powers for thousands or millions"
    )


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["950", "1.2K", "17k"], [950, 1200, 17_000]),
        (["1.5 GB", "500 MB"], [1.5e9, 5e8]),
        (["3 Mio.", "1,5 Mrd."], [3e6, 1.5e9]),
    ],
)
def test_magnitudes_differ_from_cell_to_cell(cells, values):
    for inexact in (False, True):
        style = number_style(pa.array(cells), 0.0, inexact=inexact)
        assert style.read(pa.array(cells)).to_pylist() == values


@pytest.mark.parametrize(
    ("cells", "values", "written"),
    [
        (["$630M", "$4.87B"], [1.5e9, 77e6, 0], ["$1.50B", "$77.0M", "$0M"]),
        (["5,2 Mio. €", "1,1 Mrd. €"], [2e9, -3e5], ["2,00 Mrd. €", "-0,300 Mio. €"]),
        (["950", "1.2K"], [812.4, 15_300, 0.5], ["812", "15.3K", "0.500"]),
        (["512 MB", "1.5 GB"], [2e9, 64e6], ["2.00 GB", "64.0 MB"]),
        (["936 B", "1.2 KB"], [5300, 64], ["5.30 KB", "64.0 B"]),
        (["936 views", "1.2K views"], [5300, 64], ["5.30K views", "64.0 views"]),
        (["95 Lakh", "1.2 Cr"], [2.5e7, 7.2e6], ["2.50 Cr", "72.0 Lakh"]),
        (["9500万円", "1.25億円"], [3e8, 7.2e7], ["3.00億円", "7200万円"]),
    ],
)
def test_letters_are_written_as_in_the_cells(cells, values, written):
    style = number_style(pa.array(cells), 0.0)
    assert style.abbreviate(values) == written
    assert style.abbreviate([None, np.nan]) == [None, None]
    back = style.read(pa.array(written)).to_pylist()
    np.testing.assert_allclose(back, values, rtol=0.005)


def test_a_unit_that_begins_like_a_letter_is_none():
    assert number_style(pa.array(["5 mbox", "3 kbox"]), 0.0, inexact=True) is None
    assert number_style(pa.array(["5 mmol", "3 kmol"]), 0.0) is None


def test_a_single_letter_is_a_unit():
    for cells in (["1.3k", "2.5k"], ["5 m", "7"]):
        assert not number_style(pa.array(cells), 0.0, inexact=True).magnitudes


@pytest.mark.parametrize(
    "cells",
    [["3 kg", "4 KG", "5 kg.", "6 Kgs"], ["1 year", "2 Years"]],
)
def test_spellings_of_one_unit(cells):
    style = number_style(pa.array(cells), 0.0)
    assert style.read(pa.array(cells)).to_pylist() == [float(cell[0]) for cell in cells]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["144,38 -", "1.041,74", "3,00-"], [-144.38, 1041.74, -3]),
        (["144,38- EUR", "1.041,74 EUR"], [-144.38, 1041.74]),
        (["144.38-€", "1,041.74€"], [-144.38, 1041.74]),
        (["59,- EUR", "1.041,74 EUR"], [59, 1041.74]),
        (['="1,053.5"', '="-7"', "3"], [1053.5, -7, 3]),  # as spreadsheets protect them
    ],
)
def test_minus_signs_after_a_number(cells, values):
    for inexact in (False, True):
        style = number_style(pa.array(cells), 0.0, inexact=inexact)
        assert style.read(pa.array(cells)).to_pylist() == values


def test_a_byte_is_no_billion_in_any_row():
    style = number_style(pa.array(["936 B", "1.2 KB", "3 MiB"]), 0.0)
    assert style.read(pa.array(["936 B"])).to_pylist() == [936]
    assert style.read(pa.array(["7 bytes", "2 GB"])).to_pylist() == [7, 2e9]


def test_milliwatts_are_not_megawatts():
    assert number_style(pa.array(["3 mW", "4 MW"]), 0.0) is None


def test_two_currencies_before_and_after_are_not_numbers():
    assert number_style(pa.array(["¥1500", "12 €"] * 5), 0.05) is None
    cells = pa.array(["$15", "12 USD"])
    assert number_style(cells, 0.0).read(cells).to_pylist() == [15, 12]


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 6, 13])
def test_plain_numbers_are_rounded_as_python_does(digits):
    middle = (np.arange(-2_000, 2_000) + 0.5) / 10.0**digits
    values = [*middle, *np.nextafter(middle, np.inf), *(10.0 ** np.arange(-15, 15))]
    expected = [f"{value:.{digits}f}" for value in values]
    zero = f"{-0.0:.{digits}f}"
    expected = [text[1:] if text == zero else text for text in expected]
    assert PLAIN.write(values, digits) == expected


def test_zero_has_no_sign_and_no_number_no_text():
    assert PLAIN.write([0.0, -0.0, -1e-9, np.nan, None], 2) == ["0.00"] * 3 + [None] * 2
    assert PLAIN.write([], 2) == []
