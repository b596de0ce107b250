"""Encoders of cells with several values."""

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.testing import assert_allclose, assert_array_equal

import halfmoon
from halfmoon.table._cells.several_values import NumberPattern
from halfmoon.table._columns.column_encoders import (
    ChoicesEncoder,
    NumberEncoder,
    SeveralNumbersEncoder,
)
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._columns.column_vectors import TableEncoder


def categories(cells):
    return pd.Series(pd.Categorical(cells))


def test_each_number_is_encoded_like_a_column_of_numbers():
    numbers = np.array([[120, 80], [140, 95], [110, 60], [100, 70]])
    cells = [*(f"{a}/{b}" for a, b in numbers), None, None]
    x = categories(cells)
    encoder = SeveralNumbersEncoder.fit("p", x, NumberPattern("#/#", "point"))
    assert encoder.names == ["p_1", "p_1 is missing", "p_2"]
    columns = np.vstack([numbers, np.full((2, 2), np.nan)]).T
    first, second = (NumberEncoder.fit("x", each).transform(each) for each in columns)
    assert_allclose(encoder.transform(x), np.hstack([first, second[:, :1]]))


def test_each_item_has_a_column():
    x = categories(["Red;blue", "blue", None, "red; green", "green", "odd", None])
    encoder = ChoicesEncoder.fit("c", x, ";", 10)
    assert encoder.names == ["c_blue", "c_green", "c_red", "c is missing"]
    expected = [
        [1, 0, 1, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 1, 1, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 0],  # an item that occurs once
        [0, 0, 0, 1],
    ]
    assert_array_equal(encoder.transform(x), expected)
    assert_array_equal(encoder.transform(categories(["new;RED"])), [[0, 0, 1, 0]])


def test_a_table_is_encoded_with_both(rng):
    pressure = [f"{a}/{b}" for a, b in rng.integers(60, 180, (50, 2))]
    colors = [";".join(rng.permutation(["a", "b", "c"])[:k]) for k in [1, 2] * 25]
    table = pa.table({"pressure": pressure, "colors": colors})
    columns = Columns.of(table)
    encoder = TableEncoder.fit(columns.read(table), columns.used)
    assert encoder.names == [
        *("pressure_1", "pressure_2"),
        *("colors_a", "colors_b", "colors_c"),
    ]


def test_blood_pressures_and_choices_are_learned_from_and_saved(rng, tmp_path):
    n = 200
    high, low = rng.integers(90, 180, n), rng.integers(50, 100, n)
    taken = rng.random((n, 3)) < 0.5
    y = np.where(high + 50 * taken[:, 0] > 160, "ill", "well").astype(object)
    frame = pd.DataFrame(
        {
            "pressure": [f"{a}/{b}" for a, b in zip(high, low, strict=True)],
            "drugs": [
                "; ".join(np.array(["x1", "y2", "z3"])[each]) or "none"
                for each in taken
            ],
            "state": y,
        }
    )
    frame.loc[rng.permutation(n)[:140], "state"] = None
    blank = frame["state"].isna().to_numpy()
    result = halfmoon.fill(frame, "state", budget=1e-9)
    right = (result.table["state"].to_numpy() == y)[blank].mean()
    assert right > 0.85
    path = tmp_path / "m.halfmoon"
    halfmoon.save(result.model, path)
    again = halfmoon.load(path)
    rows = pa.table({name: frame[name] for name in ("pressure", "drugs")})
    assert_array_equal(again.transform(rows), result.model.transform(rows))
