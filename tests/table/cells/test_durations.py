"""Durations in text, in seconds."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from halfmoon.table._cells.cell_values import read_compounds
from halfmoon.table._cells.durations import duration_seconds
from halfmoon.table._columns.column_kinds import Columns

HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1h 30m", 5400),
        ("1h30", np.nan),  # a time of the day
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
