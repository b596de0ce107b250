"""Several choices in one cell."""

from itertools import combinations

import pyarrow as pa
import pytest

from halfmoon.table._cells.several_choices import find_separator, items_of
from halfmoon.table._columns.column_kinds import Columns

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
