"""Predicted numbers stay in the range that the labels show."""

import numpy as np
import pandas as pd
import pytest

import halfmoon
from halfmoon.table._cells.number_style import NumberStyle
from halfmoon.table._models.predictions import label_range

PERCENT = NumberStyle(suffix=" %")


@pytest.mark.parametrize(
    ("labels", "style", "least", "most"),
    [
        ([1, 2, 3, 4, 5], None, 0, np.inf),
        ([0, 2, 3, 4, 5], None, 0, np.inf),
        ([1, 2, 3, 4], None, -np.inf, np.inf),  # too few
        ([1, 2, 3, 4, -0.1], None, -np.inf, np.inf),
        ([3, 5], NumberStyle(prefix="$"), 0, np.inf),
        ([3, -5], NumberStyle(prefix="$"), -np.inf, np.inf),
        ([3, 100], PERCENT, 0, 100),
        ([3, 101], PERCENT, 0, np.inf),
        ([3, 60, 99, 98, 97], None, 0, np.inf),  # no percent sign
    ],
)
def test_range_of_labels(labels, style, least, most):
    assert label_range(labels, style) == (least, most)


def steep_line(labels=30, write=lambda y: y):
    """Amounts along a line that leads below 0, and above 100, beyond the labels."""
    x = np.linspace(0, 1, 300)
    y = 100 * x
    given = np.sort(np.random.default_rng(0).permutation(np.arange(30, 270))[:labels])
    cells = np.full(300, None, dtype=object)
    cells[given] = [write(each) for each in y[given] - 9.5]
    noise = np.random.default_rng(1).normal(size=300)
    return pd.DataFrame({"x": x, "noise": noise, "y": cells}), given


def test_amounts_are_not_below_0():
    frame, given = steep_line(write=lambda y: round(y, 2))
    assert frame["y"][given].min() >= 0
    filled = halfmoon.fill(frame.astype({"y": float}), "y", budget=1e-9).table
    blank = filled["y_source"] == "predicted"
    unbound = frame.astype({"y": float}).assign(y=lambda f: f["y"] - 50)
    moved = halfmoon.fill(unbound, "y", budget=1e-9).table
    assert (moved["y"][blank] < -50).sum() > 5  # it does lead below 0
    assert filled["y"][blank].min() == 0
    assert filled["y_low"][blank].min() == 0
    assert (filled["y_low"][blank] <= filled["y"][blank]).all()
    assert (filled["y_high"][blank] >= filled["y"][blank]).all()


def test_percentages_end_at_100():
    frame, _ = steep_line(write=lambda y: f"{y * 1.24:.1f} %")
    filled = halfmoon.fill(frame, "y", budget=1e-9).table
    ends = filled.loc[filled["y_source"] == "predicted", ["y", "y_high"]]
    text = ends["y"].str.removesuffix(" %").astype(float)
    assert text.max() == 100
    assert ends["y_high"].astype(float).max() == 100


def test_claims_are_those_of_numbers_in_the_range():
    frame, _ = steep_line(write=lambda y: round(y, 2))
    model = halfmoon.fill(frame.astype({"y": float}), "y", budget=1e-9).model
    found = model.left_out()
    assert found.predicted.min() >= 0
    assert found.low.min() >= 0


@pytest.mark.parametrize(("scale", "digits"), [(10, 0), (5, 1)])
def test_whole_labels_have_whole_predictions_if_they_vary_enough(scale, digits):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=200)
    y = np.round(scale * x + rng.normal(size=200) * scale / 20).clip(0)
    cells = [str(int(v)) if i < 40 else "" for i, v in enumerate(y)]
    frame = pd.DataFrame({"x": x, "y": cells})
    result = halfmoon.fill(frame, "y", task="numbers", budget=1e-9)
    blank = result.table["y_source"] == "predicted"
    for name in ("y", "y_low", "y_high"):
        shown = result.table.loc[blank, name].astype(float)
        assert (shown == shown.round(digits)).all()
        assert digits == 0 or (shown != shown.round()).any()
    low, high = (
        result.table.loc[blank, f"y_{end}"].astype(float) for end in ("low", "high")
    )
    exact = result.model.predict(frame.loc[blank, ["x"]])
    if digits == 0:  # rounded outwards
        assert (low == np.floor(exact.low)).all()
        assert (high == np.ceil(exact.high)).all()
        shown = result.findings.next_rows[0]
        place = list(np.flatnonzero(blank)).index(shown.number)
        assert (shown.low, shown.high) == (
            f"{low.iloc[place]:g}",
            f"{high.iloc[place]:g}",
        )
