"""Columns that leak the labels, copies of the target, and ordinary columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._columns.leaking_columns import (
    APART,
    DEFAULT,
    ONLY_LABELED,
    ONLY_UNLABELED,
    LeakingColumns,
    leave_out_leaking,
)
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._table_errors import LabelError


def found_in(columns, labels):
    rows = pa.table(columns)
    read = Columns.of(rows)
    return LeakingColumns.of(read.read(rows), read.used, labels)


def where(labeled, values, otherwise=None):
    return [x if y else otherwise for x, y in zip(values, labeled, strict=True)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def labeled(rng):
    """30 of 150 rows."""
    return np.isin(np.arange(150), rng.permutation(150)[:30])


@pytest.fixture
def classes(rng, labeled):
    return where(labeled, rng.choice(["cat", "dog", "eel"], 150).tolist())


def test_columns_with_values_only_in_labeled_rows(rng, labeled, classes):
    x = rng.normal(size=150)
    days = [f"2024-02-{1 + i % 28:02d}" for i in range(150)]
    columns = {
        "x": x.tolist(),
        "reviewer": where(labeled, rng.choice(["ann", "bob"], 150).tolist()),
        "one": where(labeled, ["ann"] * 150),
        "when": where(labeled, days),
        "score": where(labeled, x.tolist()),
        "some": where(labeled & (np.arange(150) % 2 == 0), ["ann"] * 150),
        "open": where(~labeled, rng.choice(["ann", "bob"], 150).tolist()),
        "half": where(x > 0, x.tolist()),
    }
    found = found_in(columns, classes)
    assert found.left_out == {
        **dict.fromkeys(("reviewer", "one", "when", "score", "some"), ONLY_LABELED),
        "open": ONLY_UNLABELED,
    }
    assert found.copies == ()


def test_a_few_values_in_unlabeled_rows_change_nothing(labeled, classes):
    reviewer = where(labeled, ["ann", "bob"] * 75)
    others = np.flatnonzero(~labeled)
    reviewer[others[0]] = "ann"
    reviewer[others[1]] = "bob"
    assert found_in({"r": reviewer}, classes).left_out == {"r": ONLY_LABELED}
    for i in others[:20]:  # a sixth
        reviewer[i] = "ann"
    found = found_in({"r": reviewer}, classes)
    assert (found.left_out, found.shifted) == ({}, ("r",))


def test_a_column_without_common_values(rng, labeled, classes):
    state = where(labeled, rng.choice(["done", "checked"], 150).tolist(), "open")
    assert found_in({"state": state}, classes).left_out == {"state": APART}
    state[int(np.flatnonzero(~labeled)[0])] = "done"
    found = found_in({"state": state}, classes)
    assert (found.left_out, found.shifted) == ({}, ("state",))


def test_values_that_occur_once_are_not_compared(labeled, classes):
    names = [f"n{i // 2}" for i in range(30)] + ["m"] * 120
    found = found_in({"name": names}, ["cat"] * 15 + ["dog"] * 15 + [None] * 120)
    assert found.left_out == {}


def test_copies_of_classes(rng, labeled, classes):
    truth = rng.choice(["cat", "dog", "eel"], 150)
    code = np.char.upper(truth)
    number = np.searchsorted(["cat", "dog", "eel"], truth) + 10
    labels = where(labeled, truth.tolist())
    nearly = code.tolist()
    nearly[int(np.flatnonzero(labeled)[0])] = "OTHER"
    columns = {"code": code.tolist(), "number": number.tolist(), "nearly": nearly}
    found = found_in(columns, labels)
    assert (found.left_out, found.copies) == ({}, ("code", "number"))
    few = np.flatnonzero(labeled)[:12]  # too few to say
    labels = where(np.isin(np.arange(150), few), truth.tolist())
    assert found_in(columns, labels).copies == ()


@pytest.mark.parametrize("default", [0, -1])
def test_a_number_that_is_the_default_in_all_unlabeled_rows(
    rng, labeled, classes, default
):
    score = where(labeled, rng.integers(1, 6, 150).tolist(), default)
    assert found_in({"score": score}, classes).left_out == {"score": DEFAULT}
    score[int(np.flatnonzero(labeled)[0])] = default
    assert found_in({"score": score}, classes).left_out == {}


def test_a_copy_whose_unlabeled_values_occur_in_no_labeled_row(rng, labeled):
    truth = rng.choice(["cat", "dog", "eel"], 150)
    code = (np.searchsorted(["cat", "dog", "eel"], truth) + 1).tolist()
    labels = where(labeled, truth.tolist())
    found = found_in({"code": where(labeled, code, 99)}, labels)
    assert found.left_out == {"code": APART}
    y = (rng.normal(size=150) * 100).tolist()
    found = found_in(
        {"grams": where(labeled, [1000 * x for x in y], -999.0)}, where(labeled, y)
    )
    assert found.left_out == {"grams": APART}


def test_copies_of_numbers(rng, labeled):
    y = rng.normal(size=150) * 100
    columns = {
        "grams": (1000 * y).round(2).tolist(),
        "celsius": ((y - 32) / 1.8).tolist(),
        "close": (y + rng.normal(size=150)).tolist(),
        "square": (y**2).tolist(),
    }
    found = found_in(columns, where(labeled, y.tolist()))
    assert (found.left_out, found.copies) == ({}, ("grams", "celsius"))


def test_numbers_with_few_values_are_copies_as_classes_are(rng):
    y = np.arange(60) % 3 == 0
    columns = {"copy": (10 - y).tolist()}
    assert found_in(columns, y.astype(float).tolist()).copies == ("copy",)
    few = [*y[:15].astype(float), *[None] * 45]
    assert found_in(columns, few).copies == ()  # as with 15 labels of text


@pytest.mark.parametrize(("ones", "copies"), [(1, ()), (2, ()), (12, ("rare",))])
def test_a_rare_value_in_the_same_rows_may_be_chance(ones, copies):
    # Of 40 rows, one or two are the same ones by chance with a probability of 1/40 or
    # 1/780.
    y = np.where(np.arange(60) < ones, "yes", "no")
    labels = where(np.arange(60) < 40, y.tolist())
    assert found_in({"rare": np.char.upper(y).tolist()}, labels).copies == copies


def test_nearly_equal_numbers_of_all_sizes_are_no_copies(rng, labeled):
    y = np.exp(3 * rng.normal(size=150))  # such as populations
    y[np.flatnonzero(labeled)[:2]] = 1e6  # they explain the variance of all
    before = y * np.where(y == 1e6, 0.98, rng.uniform(0.97, 0.99, 150))
    found = found_in({"year before": before.tolist()}, where(labeled, y.tolist()))
    assert found.copies == ()


def test_a_shift_is_noted(rng, labeled, classes):
    x = rng.normal(size=150)
    columns = {
        "shifted": (x + 3 * labeled).tolist(),
        "slightly": (x + 0.3 * labeled).tolist(),
        "year": np.where(labeled, 2020, 2021 + (x > 0)).tolist(),
        "month": where(labeled & (x > -1), ["May"] * 150, "June"),
    }
    found = found_in(columns, classes)
    assert (found.left_out, found.copies) == ({}, ())
    assert found.shifted == ("shifted", "year", "month")


def test_a_shift_of_several_values_together_is_noted(rng):
    places = np.array(["Asia", "Africa", "Oceania", "Europe", "America"])
    place = places[rng.integers(0, 5, 500)]
    y = [
        "ab"[i % 2] if p in ("Europe", "America") and i < 150 else None
        for i, p in enumerate(place)
    ]
    found = found_in({"x": rng.normal(size=500), "place": place.tolist()}, y)
    assert found.shifted == ("place",)
    assert found.left_out == {}


@pytest.mark.parametrize("draws", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_rare_values_are_no_shift(draws, rng):
    noted = 0
    for _ in range(draws):
        place = [f"p{k}" for k in rng.geometric(0.08, 400)]
        y = where(np.isin(np.arange(400), rng.permutation(400)[:25]), ["a", "b"] * 200)
        noted += found_in({"x": rng.normal(size=400), "place": place}, y).shifted != ()
    assert noted == 0


@pytest.mark.parametrize(
    "load",
    [
        load_iris,
        load_diabetes,
        pytest.param(load_wine, marks=pytest.mark.slow),
        pytest.param(load_breast_cancer, marks=pytest.mark.slow),
    ],
)
def test_ordinary_tables_do_not_leak(load, rng):
    data = load(as_frame=True)
    frame = data.data
    # Cells that are missing by chance, and columns of few values.
    for k, name in enumerate(frame.columns[:3]):
        frame[f"rare {k}"] = frame[name].where(rng.random(len(frame)) < 0.1)
        frame[f"holes {k}"] = frame[name].mask(rng.random(len(frame)) < 0.3)
        frame[f"kind {k}"] = pd.cut(frame[name], 4 - k, labels=[*"abcd"[: 4 - k]])
        frame[f"kind {k}"] = frame[f"kind {k}"].astype("str")
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    columns = Columns.of(rows)
    read = columns.read(rows)
    truth = data.target.tolist()
    for labels in (10, 20, 60):
        for _ in range(20):
            chosen = np.isin(np.arange(len(read)), rng.permutation(len(read))[:labels])
            found = LeakingColumns.of(read, columns.used, where(chosen, truth))
            assert (found.left_out, found.copies, found.shifted) == ({}, (), ())


def test_columns_are_left_out_unless_they_are_named(labeled, classes, rng):
    rows = pa.table(
        {
            "x": rng.normal(size=150),
            "by": where(labeled, ["ann", "bob"] * 75),
            "code": where(labeled, [str(c).upper() for c in classes]),
        }
    )
    read = Columns.of(rows)
    frame = leave_out_leaking(read.read(rows), read.used, classes, {"by"})
    assert list(frame) == ["x", "by"] == [use.name for use in read.used]
    assert (read.uses[2].role, read.uses[2].why) == ("left out", ONLY_LABELED)


def test_an_error_if_all_columns_leak(labeled, classes):
    rows = pa.table({"code": where(labeled, [str(c).upper() for c in classes])})
    with pytest.raises(
        LabelError, match=r"No column is left.*'code': it has values on"
    ):
        TableModel("kind", "classes", budget=1e-9).fit(rows, classes)
