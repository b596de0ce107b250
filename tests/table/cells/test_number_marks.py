"""Flags beside numbers are ignored; arrows are signs."""

import pyarrow as pa
import pytest

from halfmoon.table._cells.number_detection import number_style
from halfmoon.table._cells.number_marks import find_marks, minus_arrows


def style_of(cells):
    return number_style(pa.array(cells), 0.0, inexact=True)


@pytest.mark.parametrize(
    ("cells", "values", "marks"),
    [
        (["7.2", "9.1 H", "6.8", "3.4 L", "7"], [7.2, 9.1, 6.8, 3.4, 7], ("H", "L")),
        (["7.2", "9.1H", "6.8", "2.4LL"], [7.2, 9.1, 6.8, 2.4], ("H", "LL")),
        (["7.2", "H 9.1", "6.8", "L 3.4"], [7.2, 9.1, 6.8, 3.4], ("H", "L")),
        (["7.2", "*9.1", "6.8", "* 3.4"], [7.2, 9.1, 6.8, 3.4], ("*",)),
        (["7.2", "9.1 (H)", "6.8", "<5 H"], [7.2, 9.1, 6.8, 5], ("H",)),
        (["7.2", "9.1 ↑", "6.8", "3.4 ↓"], [7.2, 9.1, 6.8, 3.4], ("↑", "↓")),
        (["12.5", "13.1 p", "9.8", "7 b"], [12.5, 13.1, 9.8, 7], ("b", "p")),
        (["1.250,5", "3,1 e", "9", "8"], [1250.5, 3.1, 9, 8], ("e",)),
        (["7.2", "9.1 high", "6.8", "7"], [7.2, 9.1, 6.8, 7], ("high",)),
        (["7.2", "9.1²", "6.8", "7 ³"], [7.2, 9.1, 6.8, 7], ("²", "³")),
    ],
)
def test_flags_are_ignored(cells, values, marks):
    style = style_of(cells)
    assert style.marks == marks
    assert style.read(pa.array(cells)).to_pylist() == values
    # Rows are read one by one in the same way.
    assert [style.read(pa.array([cell]))[0].as_py() for cell in cells] == values
    shown = " and ".join(marks[:2])
    assert f"marks such as {shown}, which were ignored" in style.describe()


@pytest.mark.parametrize(
    "cells",
    [
        ["7", "5 m", "6", "8"],  # a unit
        ["7", "5 mV", "6", "8"],
        ["98.6 F", "37.1", "36.9", "37.0 C"],
        ["1.2 b", "950", "800"],
        ["250.83", "V27", "276", "E11", "401"],  # codes of diagnoses
        ["12", "12A", "7", "7B", "9", "11"],  # house numbers
        ["7 H", "9 L", "3 N", "5"],  # most have one
        ["1", "2 a", "3 b", "4 c", "5", "6 d", "7 e", "8 f", "9 g", "10", "11", "12"],
        ["7.2", "9.1 boxes", "6.8"],
    ],
)
def test_units_and_codes_have_no_flags(cells):
    assert find_marks(cells) == ()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["▲ 2.5 %", "▼ 1.2 %", "0.0 %"], [2.5, -1.2, 0]),
        (["2.5% ▲", "1.2% ▼", "3% ▲"], [2.5, -1.2, 3]),
        (["⬆️ 2,500.10", "⬇️ 1.20"], [2500.1, -1.2]),
        (["3.5", "▲1,200.5", "△0.7"], [3.5, -1200.5, -0.7]),
        (["3.5", "▼1.2", "0.7"], [3.5, -1.2, 0.7]),
    ],
)
def test_arrows_are_signs(cells, values):
    style = style_of(cells)
    assert style.read(pa.array(cells)).to_pylist() == values
    assert [style.read(pa.array([cell]))[0].as_py() for cell in cells] == values
    assert "arrows, read as plus and minus" in style.describe()


def test_arrows_beside_numbers_with_a_sign_say_nothing():
    assert minus_arrows(["▲ 2.5", "▼ -1.2"]) == ""
    assert minus_arrows(["▲ 2.5", "▲ 1.2"]) == ""
