"""Several units, or currencies, in one column."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from halfmoon import load, save
from halfmoon.table import TableModel
from halfmoon.table._cells.number_detection import number_style
from halfmoon.table._cells.number_style import NumberStyle
from halfmoon.table._runs.output_columns import Cells


def style_of(cells):
    return number_style(pa.array(cells), 0.0, inexact=True)


@pytest.mark.parametrize(
    ("cells", "values", "words"),
    [
        (["3 kg", "5 kg", "200 g"], [3, 5, 0.2], "written with kg; g converted to kg"),
        (["1.8 m", "170 cm", "2 m"], [1.8, 1.7, 2], "m; cm converted to m"),
        (["80 kg", "70 kg", "100 lb"], [80, 70, 45.359237], "lb converted to kg"),
        (["20°C", "68°F", "-5 °C"], [20, 20, -5], "°F converted to °C"),
        (["50°F", "10°C", "32°F"], [50, 50, 32], "°C converted to °F"),
        (["1.5 V", "2 V", "300 mV"], [1.5, 2, 0.3], "mV converted to V"),
        (["4.7 kΩ", "10 kΩ", "330 Ω"], [4.7, 10, 0.33], "Ω converted to kΩ"),
        (["20 Hz", "50 Hz", "500 mHz"], [20, 50, 0.5], "mHz converted to Hz"),
        (["9 g/dL", "7 g/dL", "80 g/L"], [9, 7, 8], "g/L converted to g/dL"),
        (["5 mmol/L", "6 mmol/L", "40 µmol/L"], [5, 6, 0.04], "µmol/L converted to"),
        (["3 s", "500 ms", "2 s", "20 μs"], [3, 0.5, 2, 2e-5], "ms converted to s"),
        (["3 mg", "500 mcg", "2 mg"], [3, 0.5, 2], "mcg converted to mg"),
        (["3 ppm", "500 ppb", "2 ppm"], [3, 0.5, 2], "ppb converted to ppm"),
    ],
)
def test_units_are_converted(cells, values, words):
    style = style_of(cells)
    assert_allclose(style.read(pa.array(cells)), values)
    assert words in style.describe()


@pytest.mark.parametrize(
    "cells",
    [
        ["3 kg", "4 kg", "5 boxes"],
        ["60 dB", "70 dB", "8 B"],
        *(["₹ 3 Lakh", "₹ 4 Lakh", *(f"₹ {x} boxes" for x in range(9))],),
        ["3 kg", "4 kg", "5 m"],
        ["$5", "$6", "€7"],  # too few to compare medians
    ],
)
def test_other_units_cannot_be_compared(cells):
    assert style_of(cells) is None


def test_a_second_amount_is_no_unit():
    assert style_of([f"${i} ${i % 3 + 1}" for i in range(2, 60)]) is None
    assert style_of([f"{i} m{i % 2 + 2}" for i in range(2, 60)]) is None
    assert style_of(["9 m2", "7 m2"]).suffix == " m2"


def test_margins_of_error_are_their_size():
    cells = ["+/-538", "±1,204", "+-7", "+/- 12"]
    assert style_of(cells).read(pa.array(cells)).to_pylist() == [538, 1204, 7, 12]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["€ 59.222", "€ 233.950"], [59222, 233950]),
        (["Rp59.222", "Rp 233.950"], [59222, 233950]),
        (["1.250 €", "12.500 €", "950 €"], [1250, 12500, 950]),
        (["-59.222 EUR", "68.100 EUR"], [-59222, 68100]),
        (["€ 1.899", "€ 2.049"], [1.899, 2.049]),  # a liter of petrol
        (["€ 59.222", "€ 68.10"], [59.222, 68.1]),
        (["€ 0.222", "€ 59.222"], [0.222, 59.222]),
        (["59.222 kg", "68.100 kg"], [59.222, 68.1]),
    ],
)
def test_money_has_no_three_decimals(cells, values):
    for inexact in (False, True):
        style = number_style(pa.array(cells), 0.0, inexact=inexact)
        assert_allclose(style.read(pa.array(cells)), values)


WHOLE = ["961", "12", "440", "-7"]
POINTS = ["1.234", "12.500", "3.901", "-8.250", "100.000"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ([*WHOLE, *POINTS], [961, 12, 440, -7, 1234, 12_500, 3901, -8250, 100_000]),
        ([*WHOLE, *POINTS, "1.5"], [961, 12, 440, -7, 1.234, 12.5]),
        ([*WHOLE[:2], *POINTS], [961, 12, 1.234, 12.5]),
        (POINTS, [1.234, 12.5, 3.901]),
        ([*WHOLE, *POINTS, "2024"], [961, 12, 440, -7, 1.234]),
        ([f"{x} kg" for x in [*WHOLE, *POINTS]], [961, 12, 440, -7, 1234, 12_500]),
        ([f"{x} pts." for x in [*WHOLE, *POINTS]], [961, 12, 440, -7, 1234, 12_500]),
        (["1_234", "961", "12_500.5"], [1234, 961, 12_500.5]),
        (["1.234,-", "961,-", "59,\u2013"], [1234, 961, 59]),
        (["CHF 1'234.\u2013", "CHF 59.-", "CHF 7.50"], [1234, 59, 7.5]),
    ],
)
def test_points_among_whole_numbers(cells, values):
    for inexact in (False, True):
        style = number_style(pa.array(cells), 0.0, inexact=inexact)
        assert_allclose(style.read(pa.array(cells))[: len(values)], values)


def test_predictions_have_points_between_thousands():
    style = number_style(pa.array([*WHOLE, *POINTS]), 0.0)
    assert style.write([1234.4, 961], 0) == ["1.234", "961"]
    assert style.describe() == "written with points between thousands"


def test_two_currencies_get_the_same_median():
    amounts = np.array([10.0, 20, 30, 40, 50])
    cells = [f"${x:.2f}" for x in [*amounts, 60]] + [f"€{x / 2:.2f}" for x in amounts]
    style = style_of(cells)
    assert isinstance(style, NumberStyle)
    expected = [*amounts, 60, *amounts / 2 * (35 / 15)]  # medians 35 and 15
    assert_allclose(style.read(pa.array(cells)), expected)
    assert style.describe() == (
        "written with $; € converted to $ (times 2.33, so that the medians agree)"
    )
    assert number_style(pa.array(cells), 0.0) is None  # labels are not converted


@pytest.mark.slow
def test_a_saved_model_reads_such_cells_alike(tmp_path):
    x = np.random.default_rng(0).random(40).tolist()
    rows = pa.table(
        {
            "w": [f"{x:.2f} kg" if i % 3 else f"{x:.2f} lb" for i, x in enumerate(x)],
            "r": [f"{50 * x:.0f}-{50 * x + 4:.0f}" for x in x],
            "m": [f"{x:.2f}" if i % 9 else "-999" for i, x in enumerate(x)],
        }
    )
    labels = [None if i > 15 else "ab"[x > 0.5] for i, x in enumerate(x)]
    model = TableModel("kind", "classes", budget=1e-9).fit(rows, labels)
    save(model, tmp_path / "m.halfmoon")
    again = load(tmp_path / "m.halfmoon")
    assert [use.reading() for use in again.columns_.uses] == [
        "written with kg; lb converted to kg",
        "ranges, read as their middle",
        "-999 counted as missing",
    ]
    assert_allclose(again.transform(rows), model.transform(rows), rtol=0)


def test_a_saved_model_writes_letters_alike(tmp_path):
    x = np.random.default_rng(0).random(40)
    labels = [f"${1000 * v:.0f}M" if v < 0.5 else f"${2 * v:.2f}B" for v in x]
    rows = pa.table({"x": x.tolist()})
    model = TableModel("worth", "numbers", budget=1e-9)
    model.fit(rows, [*labels[:20], *[None] * 20])
    save(model, tmp_path / "m.halfmoon")
    cells = Cells.of(load(tmp_path / "m.halfmoon"))
    assert cells.shown(1.234e9) == "$1.23B"
    assert cells.shown(77e6) == "$77.0M"


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        (["1.5E-05", "2.25E-01", "3E+00"], ["5.21E-05", "-1.00E+03"]),
        (["1,5e-05 mg", "2,2e-01 mg"], ["5,2e-05 mg", "-1,0e+03 mg"]),
        (["1.5e-05", "0.0225", "3.1"], ["0.000052", "-1000.000000"]),  # as pandas does
    ],
)
def test_numbers_with_exponents_are_written_alike(cells, written):
    style = number_style(pa.array(cells), 0)
    assert style.write([5.21e-5, -1000.0], style.digits) == written
    assert style.read(pa.array(cells))[0].as_py() == 1.5e-5


@pytest.mark.parametrize("typed", [False, True])
def test_small_predictions_keep_their_digits(typed):
    """The spread of labels from 0.00001 to 1 says two or three decimals."""
    x = np.random.default_rng(0).random(40)
    sizes = 10 ** (-5 * x)
    labels = sizes.tolist() if typed else [f"{size:.2e}" for size in sizes]
    model = TableModel("size", "numbers", budget=1e-9)
    model.fit(pa.table({"x": x.tolist()}), [*labels[:20], *[None] * 20])
    schema = pa.schema([("size", pa.float64())]) if typed else None
    cells = Cells.of(model, schema)
    assert float(cells.shown(5.21e-5)) == pytest.approx(5.21e-5, rel=0.01)
    assert cells.digits >= 6 or not typed


def test_shares_among_percentages_are_converted():
    cells = pa.array(["63.7%", "0.27", "12%", "45.5 %", "0.9", "0.011", "3%", "8%"])
    cells = pa.concat_arrays([cells, pa.array(["0.5", "0.125"])])
    style = number_style(cells, 0, inexact=True)
    assert style.read(cells).to_pylist() == pytest.approx(
        [63.7, 27, 12, 45.5, 90, 1.1, 3, 8, 50, 12.5]
    )
    assert style.describe() == "written with %; shares such as 0.2 converted to %"
    assert not number_style(cells, 0).shares  # labels are never converted
    mixed = pa.concat_arrays([cells, pa.array(["12.5"])])
    assert not number_style(mixed, 0, inexact=True).shares


def test_decimals_in_other_digits():
    found = number_style(pa.array(["٣٤٫١", "１２．３４", "7"]), 0.0)
    assert (found.digits, found.decimal) == (2, ".")


@pytest.mark.parametrize("marks", [("DR", "CR"), ("Dr.", "Cr."), ("S", "H")])
def test_debits_are_negative(marks):
    debit, credit = marks
    cells = pa.array([f"1,090.10 {debit}", f"20.00 {credit}", f"7.5{debit}", "0.00"])
    style = number_style(cells, 0, inexact=True)
    assert style.read(cells).to_pylist() == [-1090.1, 20, -7.5, 0]
    assert style.read(cells[1:2]).to_pylist() == [20]  # whatever the other rows hold
    assert style.describe() == (
        "written with commas and marks of debit and credit, read as minus and plus"
    )


@pytest.mark.parametrize(("letters", "is_unit"), [(16, True), (17, False)])
def test_a_unit_has_16_characters_at_most(letters, is_unit):
    cells = pa.array([f"{i} {'u' * letters}" for i in range(10)])
    style = number_style(cells, 0)
    assert (style is not None and style.suffix == " " + "u" * letters) == is_unit
