import datetime as dt
import logging

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
)

from halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._table_errors import CommandError, LabelError, MemoryLimitError

# A budget that is spent with the first candidate: how fast the machine is cannot
# change the answer.
OPTIONS = {"budget": 1e-9, "random_state": 0}
SEARCHED = {"budget": 1.0, "random_state": 0}


def mixed(X, rng, n=None):
    """A typed table: the columns of X with gaps, and columns of other kinds."""
    X = X[:n]
    n = len(X)
    columns = {f"x{j}": pa.array(X[:, j]) for j in range(min(X.shape[1], 5))}
    gaps = rng.random(n) < 0.1
    columns["x0"] = pa.array(X[:, 0], mask=gaps)
    columns["color"] = pa.array(rng.choice(["red", "blue", "green"], n))
    columns["new"] = pa.array(rng.random(n) < 0.5)
    days = rng.integers(0, 500, n).tolist()
    columns["day"] = pa.array([dt.date(2020, 1, 1) + dt.timedelta(k) for k in days])
    words = [a + b for a in "bdfgklmnr" for b in "aeiouyst" + "hw"]
    notes = [f"note {words[k]} of {words[k % 7]}" for k in rng.integers(0, 90, n)]
    columns["note"] = pa.array(notes)
    columns["number"] = pa.array(np.arange(n))
    columns["nothing"] = pa.nulls(n)
    return pa.table(columns)


def as_text(table):
    """The same table as a text file would give it."""
    return pa.table(
        {
            name: pa.array(["" if v is None else str(v) for v in column.to_pylist()])
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def labels_of(y, rng, count):
    labels = [None] * len(y)
    for i in rng.permutation(len(y))[:count]:
        labels[i] = y[i]
    return labels


@pytest.fixture(scope="module")
def iris():
    rng = np.random.default_rng(0)
    data = load_iris()
    order = rng.permutation(150)
    names = data.target_names[data.target[order]].tolist()
    labels = labels_of(names, rng, 30)
    table = mixed(data.data[order], rng)
    return (
        table,
        names,
        labels,
        TableModel("y", "classes", **OPTIONS).fit(table, labels),
    )


@pytest.fixture(scope="module")
def diabetes():
    rng = np.random.default_rng(0)
    data = load_diabetes()
    table, y = mixed(data.data, rng), data.target.tolist()
    labels = labels_of(y, rng, 60)
    return table, y, labels, TableModel("y", "numbers", **OPTIONS).fit(table, labels)


def test_classes_are_those_of_the_estimator_on_the_same_matrix(iris):
    table, names, labels, model = iris
    X = model.transform(table)
    by_hand = HalfmoonClassifier(**OPTIONS).fit(X, np.array(labels, dtype=object))
    prediction = model.predict(table)
    p = by_hand.predict_proba(X)
    assert prediction.values == by_hand.predict(X).tolist()
    assert_allclose(prediction.confidence, p.max(axis=1), rtol=1e-8)
    second = by_hand.classes_[np.argsort(p, axis=1)[:, -2]]
    assert prediction.second == second.tolist()
    assert np.mean(np.array(prediction.values) == names) > 0.7


def test_numbers_are_those_of_the_estimator_on_the_same_matrix(diabetes):
    table, y, labels, model = diabetes
    X = model.transform(table)
    targets = np.array([np.nan if v is None else v for v in labels])
    by_hand = HalfmoonRegressor(**OPTIONS).fit(X, targets)
    prediction = model.predict(table)
    assert_allclose(prediction.values, by_hand.predict(X), rtol=1e-6)
    assert (prediction.low < prediction.values).all()
    blank = np.isnan(targets)
    held = (prediction.low <= y) & (y <= prediction.high)
    assert 0.8 < held[blank].mean() < 0.98


def test_kinds_and_roles_of_columns(iris):
    *_, model = iris
    found = {use.name: (use.kind, use.role) for use in model.columns_.uses}
    assert found["x0"] == ("number", "feature")
    assert found["color"] == ("category", "feature")
    assert found["new"] == ("boolean", "feature")
    assert found["day"] == ("date", "feature")
    assert found["note"] == ("text", "feature")
    assert found["number"] == ("identifier", "left out")
    assert found["nothing"] == ("empty", "left out")
    missing = {use.name: use.missing for use in model.columns_.uses}
    assert 0.02 < missing["x0"] < 0.2
    assert missing["x1"] == 0


@pytest.mark.parametrize("fitted", ["iris", "diabetes"])
def test_text_and_typed_rows_give_the_same_predictions(fitted, request):
    table, _, labels, model = request.getfixturevalue(fitted)
    text = as_text(table)
    assert_array_equal(model.transform(text), model.transform(table))
    other = TableModel("y", model.kind, **OPTIONS)
    given = [None if label is None else str(label) for label in labels]
    other.fit(text, given)
    assert other.predict(text).values == model.predict(table).values
    assert_array_equal(other.transform(text), model.transform(table))
    kinds = {use.name: use.kind for use in model.columns_.uses}
    assert {use.name: use.kind for use in other.columns_.uses} == kinds


@pytest.mark.parametrize("fitted", ["iris", "diabetes"])
@pytest.mark.parametrize("size", [1, 7])
def test_predictions_do_not_depend_on_batches(fitted, size, request):
    table, _, _, model = request.getfixturevalue(fitted)
    table = table.slice(0, 5 * size + 3)
    whole = model.predict(table)
    parts = [model.predict(batch) for batch in table.combine_chunks().to_batches(size)]
    for name in ("values", "confidence", "low", "high", "second"):
        expected = getattr(whole, name)
        if expected is None:
            continue
        actual = [value for part in parts for value in getattr(part, name)]
        if isinstance(expected[0], str):
            assert actual == list(expected)
        else:
            assert_allclose(actual, expected, rtol=1e-5)


def test_blocks_of_rows_are_joined(iris, monkeypatch):
    table, _, _, model = iris
    whole = model.predict(table)
    monkeypatch.setattr(
        "halfmoon.table._models.table_model.MAX_BLOCK_ROWS", 64
    )  # 64, 64, 22
    cut = model.predict(table)
    assert cut.values == whole.values
    assert cut.second == whole.second
    assert_allclose(cut.confidence, whole.confidence, rtol=1e-5)


def test_no_rows(iris, diabetes):
    for table, _, _, model in (iris, diabetes):
        assert model.predict(table.slice(0, 0)).values == []


def test_leave_one_out_predictions_of_classes(iris):
    _, names, labels, model = iris
    left_out = model.left_out()
    labeled = [i for i, label in enumerate(labels) if label is not None]
    assert left_out.rows.tolist() == labeled
    assert left_out.given == [names[i] for i in labeled]
    right = np.array(left_out.given) == left_out.predicted
    assert_allclose(right.mean(), model.estimator_.loo_score_)
    assert_allclose(left_out.confidence[right], left_out.given_probability[right])
    assert (left_out.confidence[~right] > left_out.given_probability[~right]).all()


def test_leave_one_out_predictions_of_numbers(diabetes):
    _, _, labels, model = diabetes
    left_out = model.left_out()
    assert left_out.given.tolist() == [v for v in labels if v is not None]
    residuals = left_out.given - left_out.predicted
    held = model.estimator_._held_out()
    assert_allclose(residuals, (held.y - held.values)[:, 0])
    held = (left_out.low <= left_out.given) & (left_out.given <= left_out.high)
    assert 55 <= held.sum() <= 60  # the 55th of 60 residuals, and a little more


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_real_tables_with_a_tenth_of_the_labels(load):
    rng = np.random.default_rng(1)
    data = load()
    order = rng.permutation(len(data.target))[:300]
    y = data.target[order].tolist()
    table = pa.table({f"x{j}": data.data[order, j] for j in range(data.data.shape[1])})
    model = TableModel("y", "classes", **SEARCHED).fit(table, labels_of(y, rng, 30))
    prediction = model.predict(table)
    assert isinstance(prediction.values[0], int)
    right = np.mean(np.array(prediction.values) == y)
    assert right > 0.88
    assert abs(right - prediction.confidence.mean()) < 0.1


@pytest.fixture(scope="module")
def line():
    """y = 3 x + 2 a wiggle, its x learned from -1 to 1."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1, 1, (2, 120))
    y = 3 * x + 0.3 * np.sin(3 * z)
    return pa.table({"x": x, "z": z}), [v if i < 40 else None for i, v in enumerate(y)]


def test_a_known_column_is_extrapolated_linearly(line):
    table, labels = line
    model = TableModel("y", "numbers", known=["x"], **SEARCHED).fit(table, labels)
    far = pa.table({"x": [50.0, 100.0], "z": [0.0, 0.0]})
    assert_allclose(np.diff(model.predict(far).values), 150.0, rtol=0.02)
    assert model.columns_.uses[0].role == "known"


def test_a_known_column_is_unpenalized(line):
    table, labels = line
    model = TableModel("y", "numbers", known=["x"], **OPTIONS).fit(table, labels)
    X = model.transform(table)
    targets = np.array([np.nan if v is None else v for v in labels])
    by_hand = HalfmoonRegressor(unpenalized=[0], **OPTIONS).fit(X, targets)
    assert_allclose(model.predict(table).values, by_hand.predict(X), rtol=1e-6)


def test_one_column_of_a_known_category_is_redundant(line):
    table, labels = line
    group = ["a", "b", "c"] * 40
    shift = {"a": 0.0, "b": 10.0, "c": -20.0}
    labels = [
        None if v is None else v + shift[g] for v, g in zip(labels, group, strict=True)
    ]
    table = table.append_column("g", pa.array(group))
    model = TableModel("y", "numbers", known=["g"], **OPTIONS).fit(table, labels)
    assert model.estimator_.unpenalized == [3, 4]
    same = {"x": [0.0] * 3, "z": [0.0] * 3, "g": ["a", "b", "c"]}
    a, b, c = model.predict(pa.table(same)).values
    assert_allclose([b - a, c - a], [10, -20], atol=0.5)


def test_too_few_labels_for_the_known_columns(line):
    table, labels = line
    table = table.append_column("c", pa.array([f"v{i % 30}" for i in range(120)]))
    with pytest.raises(
        CommandError, match=r"29 numbers.*at least 60 labels, and there are 40"
    ):
        TableModel("y", "numbers", known=["c"], **OPTIONS).fit(table, labels)


def test_odd_cells_are_predicted(line):
    table, labels = line
    n = len(labels)
    odd = {
        "inf": pa.array([np.inf, -np.inf, np.nan] * (n // 3)),
        "mostly": pa.array([np.inf] + [1.0, 2.0] * (n // 2) + [np.nan])[:n],
        "wild": pa.array(10.0 ** np.linspace(-300, 300, n)),
        "single": pa.array(np.linspace(0, 1, n).astype(np.float32)),
        "rare": pa.array(["x"] * (n - 1) + ["y"]),
    }
    for name, column in odd.items():
        table = table.append_column(name, column)
    table = pa.concat_tables([table, table.slice(0, 30)])  # duplicate rows
    model = TableModel("y", "numbers", **OPTIONS).fit(table, labels + [None] * 30)
    values = np.array(model.predict(table).values)
    assert np.isfinite(values).all()
    assert_allclose(values[:30], values[-30:])
    assert {use.name: use.kind for use in model.columns_.uses}["inf"] == "empty"
    strange = table.slice(0, 1).set_column(6, "rare", pa.array(["never seen"]))
    assert np.isfinite(model.predict(strange).values).all()


def test_a_class_with_one_label_and_classes_of_truth_values(line):
    table, _ = line
    x = table["x"].to_numpy()
    rare = ["low" if v < 0 else "high" for v in x[:20]] + ["odd"] + [None] * 99
    model = TableModel("y", "classes", **OPTIONS).fit(table, rare)
    assert set(model.predict(table).values) <= {"low", "high", "odd"}
    truth = [bool(v < 0) if i < 20 else None for i, v in enumerate(x)]
    values = TableModel("y", "classes", **OPTIONS).fit(table, truth).predict(table)
    assert isinstance(values.values[0], bool)
    assert np.mean(np.array(values.values) == (x < 0)) > 0.9


def test_errors_in_plain_words(line):
    table, labels = line
    model = TableModel("y", "numbers", **OPTIONS)
    with pytest.raises(LabelError, match="no column but the target"):
        model.fit(table.select([]), labels)
    with pytest.raises(LabelError, match=r"No column is left.*'c': every cell is '1'"):
        model.fit(pa.table({"c": [1] * 120}), labels)
    with pytest.raises(CommandError, match="no column 'w', which is named as known"):
        TableModel("y", "numbers", known=["w"]).fit(table, labels)
    model.fit(table, labels)
    with pytest.raises(CommandError, match="no column 'z', which the model was"):
        model.predict(table.select(["x"]))


def test_too_little_memory_is_a_plain_error(line, monkeypatch):
    def fit(*args):
        raise MemoryError("The kernel needs 3 GB, more than the 512 MB allowed.")

    monkeypatch.setattr(HalfmoonRegressor, "fit", fit)
    with pytest.raises(MemoryLimitError, match="needs 3 GB"):
        TableModel("y", "numbers", **OPTIONS).fit(*line)


def test_progress_goes_from_0_to_1_and_leaves_the_log_unchanged(line):
    table, labels = line
    log = logging.getLogger("halfmoon")
    before = log.level, log.propagate, list(log.handlers)
    told = []
    model = TableModel("y", "numbers", **SEARCHED)
    model.fit(table, labels, progress=lambda done, what: told.append((done, what)))
    done = [share for share, _ in told]
    assert done[0] == 0
    assert done[-1] == 1
    assert done == sorted(done)
    assert any("gaussian" in what for _, what in told)
    assert (log.level, log.propagate, list(log.handlers)) == before


def test_a_table_and_an_estimator_are_searched_equally_long():
    assert TableModel.budget == HalfmoonClassifier.budget == HalfmoonRegressor.budget
