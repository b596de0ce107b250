"""Several values in one cell: numbers, or choices."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from halfmoon.table._cells.several_values import (
    NumberPattern,
    find_pattern,
    find_separator,
    items_of,
)
from halfmoon.table._columns.column_kinds import Columns

nan = np.nan


@pytest.mark.parametrize(
    ("write", "signs", "numbers"),
    [
        ("{}/{}", "#/#", [20, 7]),
        ("{}x{}", "#x#", [20, 7]),
        ("{} × {} CM", "#x#", [20, 7]),
        ("v{}.{}.12", "v#.#.#", [20, 7, 12]),
        ("{}.5, -{}.25", "#,#", [20.5, -7.25]),
        ("({}.5,{}.25)", "(#,#)", [20.5, 7.25]),
        ("{},5x{},25", "#x#", [20.5, 7.25]),
        ("[{}, {}, 3]", "[#,#,#]", [20, 7, 3]),
        ("POINT (-{}.5 {}.1)", "point(# #)", [-20.5, 7.1]),
        ("{}Nm @ {}rpm", "#nm@#", [20, 7]),
        ("{} bed, {} bath", "#bed,#", [20, 7]),
        ("-{}.25/-{}.50", "#/#", [-20.25, -7.5]),
        ("{}-{}", "#-#", [20, 7]),
        ("#{}: {}", "№#:#", [20, 7]),
        ("{}\u00a0/\u00a0{}", "#/#", [20, 7]),
    ],
)
def test_cells_of_one_pattern_are_several_numbers(write, signs, numbers):
    cells = [write.format(i, j) for i in range(20, 28) for j in (7, 11, 5)]
    pattern = find_pattern(pa.array(cells), 0.0)
    assert pattern.signs == signs
    assert_array_equal(pattern.read(cells[:1]), [numbers])


def test_thousands_are_found_where_some_cells_have_them():
    cells = [f"{i:,} x {j}" for i in (800, 900, 1_200, 1_500) for j in (30, 40)]
    pattern = find_pattern(pa.array(cells), 0.0)
    assert_array_equal(pattern.read(["1,200 x 30"]), [[1_200, 30]])


def test_one_number_in_a_text_counts_if_there_are_many():
    cells = [f"pH {i / 10}" for i in range(60)]
    assert find_pattern(pa.array(cells), 0.0) == NumberPattern("ph#", "point")
    assert find_pattern(pa.array(cells[:39]), 0.0) is None


@pytest.mark.parametrize(
    "write",
    [
        "192.168.{}.{}",  # an address
        "555-1{}-45{}",  # a telephone number
        "+49 30 1{}4{}55",
        "A-00{}-{}",  # a code with leading zeros
        "https://ex.com/p/{}?page={}",
        "img{}.jpg (https://ex.com/{})",
        "user{}.{}@ex.com",
        "{}",
        "x{}" + 60 * "y" + "{}",
    ],
)
def test_codes_are_not_several_numbers(write):
    cells = [write.format(i, j) for i in range(20, 28) for j in (70, 11, 50)]
    assert find_pattern(pa.array(cells), 0.02) is None


def test_different_signs_are_no_pattern():
    cells = [f"{i}{sign}{i + 1}" for i in range(20) for sign in "/x+"]
    assert find_pattern(pa.array(cells), 0.02) is None


def test_other_cells_are_missing_and_counted():
    cells = [f"{110 + i}/{60 + i % 30}" for i in range(200)]
    cells[3], cells[5] = "see chart", "130"
    (use,) = Columns.of(pa.table({"pressure": cells})).uses
    assert use.kind == "several numbers"
    assert round(use.missing, 6) == 0.01
    assert use.reading() == (
        "2 in each cell; 2 cells like 'see chart' counted as missing"
    )
    values, unread = use.read(pa.array(["120/80", "n.a.", "130", ""]))
    assert values.tolist() == ["120/80", nan, nan, nan]
    assert unread == 2


def test_five_sizes_stay_categories():
    cells = ["640x480", "1280x720", "1920x1080", "2560x1440", "3840x2160"] * 20
    (use,) = Columns.of(pa.table({"screen": cells})).uses
    assert use.kind == "category"


def test_a_code_for_each_row_is_left_out():
    cells = [f"user_{1_000 + 7 * i % 9_000}" for i in range(100)]
    (use,) = Columns.of(pa.table({"user": cells})).uses
    assert use.why == "its values are codes, one for each row"
    places = [f"{48 + i / 9e3:.4f},{2 + i / 7e3:.4f}" for i in range(100)]
    (use,) = Columns.of(pa.table({"place": places})).uses
    assert use.role == "feature"


def test_the_only_number_in_a_text_is_a_number():
    cells = [f"pH {i / 10}" for i in range(60)] * 2
    (use,) = Columns.of(pa.table({"acid": cells})).uses
    assert (use.kind, use.reading()) == ("number", "taken from a text")
    values, unread = use.read(pa.array(["PH 7.5", "neutral", None]))
    assert_array_equal(values, [7.5, nan, nan])
    assert unread == 1


COLORS = ["red", "green", "blue", "gray"]
SETS = [*combinations(COLORS, 1), *combinations(COLORS, 2), *combinations(COLORS, 3)]


@pytest.mark.parametrize(
    ("join", "separator"),
    [
        (";".join, ";"),
        (" | ".join, "|"),
        ("\n".join, "\n"),
        (", ".join, ","),
        (" / ".join, "/"),
        (" + ".join, "+"),
        (lambda items: str(list(items)), ","),
        (lambda items: " ".join(f"#{item}" for item in items), " #"),
    ],
)
def test_items_are_separated(join, separator):
    cells = [join(items) for items in SETS]
    assert find_separator(pa.array(cells * 2)) == separator
    assert [items_of(cell, separator) for cell in cells] == [set(s) for s in SETS]


@pytest.mark.parametrize(
    "cells",
    [
        ["Smith, Ann", "Jones, Bob", "Brown, Cy", "Green, Di"],  # names
        ["farming/fishing", "craft/repair", "other"],  # each item has its own category
        ["S/M", "M/L", "L"],  # no more combinations than items
        [f"{a}, {b}" for a in range(50) for b in "xyz"],  # too many items
        ["a" * 501 + ";b", "b;c", "c;a", "a;b;c"],  # too long
    ],
)
def test_other_texts_are_no_choices(cells):
    assert find_separator(pa.array(cells * 3)) == ""


def test_rare_items_may_be_anything():
    cells = [";".join(items) for items in SETS] * 5
    cells[0] = "red;something else that nobody wrote before"
    (use,) = Columns.of(pa.table({"colors": cells})).uses
    assert use.kind == "several choices"
    assert use.reading() == "with semicolons between them"


def test_lists_of_numbers_have_any_length():
    X = np.random.default_rng(0).normal(size=(30, 64)).round(5)
    X[0, :3] = [1e-7, 0.0, 12]
    cells = pa.array([str(row) for row in X.tolist()])
    pattern = find_pattern(cells, 0.0)
    assert (pattern.count, pattern.describe()) == (64, "64 in each cell")
    np.testing.assert_array_equal(pattern.read(cells.to_pylist()), X)
    printed = [" ".join(str(row).split()) for row in X[:, :5]]  # as NumPy writes them
    found = find_pattern(pa.array(printed), 0.0)
    np.testing.assert_allclose(found.read(printed), X[:, :5], atol=1e-6)


def test_lists_may_lack_numbers():
    cells = [f"[{i}, {i / 4}]" for i in range(9)]
    pattern = find_pattern(pa.array(cells), 0.0)
    read = pattern.read(["[null, 2]", "[1, NaN]", "[1]", "[1, 2, 3]", "x", "[1, a]"])
    expected = [[np.nan, 2], [1, np.nan], *[[np.nan, np.nan]] * 4]
    np.testing.assert_array_equal(read, expected)


def test_objects_with_the_same_keys():
    cells = [f'{{"size": {i / 8}, "n": {i}e2, "unit": "cm"}}' for i in range(9)]
    pattern = find_pattern(pa.array(cells), 0.0)
    expected = [[i / 8, 100 * i] for i in range(9)]
    np.testing.assert_array_equal(pattern.read(cells), expected)


@pytest.mark.parametrize("write", ["FY{}", "Class of {}", "{}E"])
def test_a_few_years_in_texts_are_numbers(write):
    cells = [write.format(year) for year in range(2015, 2023)]
    pattern = find_pattern(pa.array(cells), 0.0)
    assert pattern.read(cells)[:, 0].tolist() == list(range(2015, 2023))
    assert find_pattern(pa.array([f"Room {i}" for i in range(8)]), 0.0) is None
    assert (
        find_pattern(pa.array([f"Room {195 * i}" for i in range(5, 15)]), 0.0) is None
    )
