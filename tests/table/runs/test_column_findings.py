from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from halfmoon._report.bar_charts import of_distributions
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs import column_findings as module
from halfmoon.table._runs.column_findings import column_distributions, column_importance
from halfmoon.table._runs.first_pass import Scan


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "noise": rng.normal(size=n),
            "color": rng.choice(["red", "blue", "green"], n).tolist(),
        }
    )


def labels_of(y, count):
    return [v if i < count else None for i, v in enumerate(y.tolist())]


def fitted(kind, y, rows, count=60, budget=1e-9):
    model = TableModel("y", kind, keep=rows.column_names, budget=budget)
    return model.fit(rows, labels_of(y, count))


@pytest.fixture(scope="module")
def model_of_x():
    rows = table()
    return fitted("numbers", rows["x"].to_numpy(), rows), rows


def test_only_the_relevant_column_is_important():
    rows = table()
    side = np.where(rows["x"].to_numpy() > 0, "a", "b")
    found = column_importance(fitted("classes", side, rows), rows)
    assert found["x"].value > 0.35  # half of the rows are wrong by chance
    assert abs(found["noise"].value) < 0.05
    assert abs(found["color"].value) < 0.05


def test_importance_is_in_the_unit_of_the_target():
    rows = table()
    x = rows["x"].to_numpy()
    found = column_importance(fitted("numbers", 10 * x, rows), rows)
    # A shuffled x is another draw: |10 (x - x')| on average, with x' from all rows.
    lost = np.abs(10 * (x[:60, None] - x)).mean()
    assert_allclose(found["x"].value, lost, rtol=0.15)
    assert abs(found["noise"].value) < 0.3
    positive = column_importance(fitted("numbers", np.exp(x), rows), rows)
    assert positive["x"].value > 0.5 > 5 * abs(positive["noise"].value)


def test_labels_that_are_alone_in_their_class_do_not_count():
    rows = table(n=40)
    one_each = fitted("classes", np.array([f"c{i}" for i in range(40)]), rows, count=5)
    assert column_importance(one_each, rows) == {}
    side = np.where(rows["x"].to_numpy() > 0, "a", "b").astype(object)
    side[:3] = ["c", "d", "e"]
    model = fitted("classes", side, rows, count=30)
    assert list(module._tested(model)) == list(range(3, 30))


def test_predictions_are_leave_one_out():
    rows, rng = table(), np.random.default_rng(1)
    y = rng.normal(size=150)  # noise, which only its own label predicts
    model = TableModel("y", "numbers", budget=1e-9).fit(rows, labels_of(y, 60))
    some = np.arange(10, 40)
    solution = model.estimator_.solution_
    # Only the heaviest candidate stays: the formula is exact for one.
    heaviest = max(solution.members, key=lambda member: member.weight)
    solution = replace(solution, members=[replace(heaviest, weight=1.0)])
    model.estimator_.solution_ = solution
    values, targets = solution.loo_predictor(some), solution.y[some]
    X = model.transform(rows.take(pa.array(some)))
    assert_allclose(targets[:, 0], y[some])
    assert_allclose(values(X), solution.held_out[some], rtol=1e-6, atol=1e-6)
    error = np.abs(solution.held_out[some, 0] - y[some]).mean()
    (errors,) = module._errors(model, some)(X)
    assert_allclose(errors.mean(), error, rtol=1e-6)
    both = module._errors(model, some)(np.stack([X[::-1], X]))
    reversed_error = np.abs(values(X[::-1])[:, 0] - y[some]).mean()
    assert_allclose(both.mean(axis=1), [reversed_error, error], rtol=1e-6)


def test_the_same_seed_gives_the_same_importance(model_of_x):
    model, rows = model_of_x
    one, two, three = (column_importance(model, rows, seed) for seed in (0, 0, 1))
    assert one == two != three


@pytest.mark.slow
def test_more_labels_than_are_predicted():
    rows = table(900)
    x = rows["x"].to_numpy()
    model = fitted("numbers", np.sin(2 * x), rows, count=700)
    found = column_importance(model, rows)
    assert found["x"].value > 0.4 > 20 * abs(found["noise"].value)


def test_the_most_correlated_of_many_columns(model_of_x, monkeypatch):
    monkeypatch.setattr(module, "MAX_MEASURED_COLUMNS", 2)
    monkeypatch.setattr(module, "CORRELATED", 1)
    model, rows = model_of_x
    assert list(column_importance(model, rows)) == ["x"]


def test_time_is_bounded(model_of_x, monkeypatch):
    monkeypatch.setattr(module, "BUDGET_SECONDS", 0.0)
    model, rows = model_of_x
    assert set(column_importance(model, rows)) == set(rows.column_names)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_column_that_was_left_out_has_no_importance(kind):
    rows = table().append_column("same", pa.array(["x"] * 150))
    x = rows["x"].to_numpy()
    y = np.where(x > 0, "a", "b") if kind == "classes" else x
    model = fitted(kind, y, rows, budget=1e-9)
    assert "same" not in column_importance(model, rows)


def scanned(rows, labels):
    n = rows.num_rows
    numbers = np.arange(n)
    known = sum(label is not None for label in labels)
    return Scan(n, known, rows, labels, numbers, None)


def test_distributions_of_labeled_and_unlabeled_rows():
    rows = pa.table(
        {
            "x": [1.0, 2.0, 3.0, 10.0, None, 11.0],
            "color": ["red", "red", None, "blue", "blue", "red"],
            "text": ["a b", "c d", "e f", "g h", "i j", "k l"],
            "new": [True, True, False, False, False, False],
        }
    )
    found = column_distributions(
        Columns.of(rows).uses,
        scanned(rows, ["a", "b", "a", None, None, None]),
        {"new": 0.1, "color": 0.3, "x": 0.2, "text": 0.9},
    )
    by_name = {each.name: each for each in found}
    assert [each.name for each in found if each.name != "text"] == ["color", "x", "new"]
    assert by_name["color"].labeled == {"red": 2 / 3, "(missing)": 1 / 3}
    assert by_name["color"].unlabeled == {"blue": 2 / 3, "red": 1 / 3}
    assert by_name["new"].labeled == {"yes": 2 / 3, "no": 1 / 3}
    assert by_name["new"].unlabeled == {"no": 1.0}
    x = by_name["x"]
    # Whole numbers in a short range have a bin each.
    assert_allclose(x.labeled.edges, np.arange(0.5, 12))
    assert_allclose(x.labeled.edges, x.unlabeled.edges)
    assert x.labeled.counts.sum() == 3
    assert x.unlabeled.counts.sum() == 2
    assert x.labeled.counts[:4].sum() == 3  # 1, 2 and 3 of 1 to 11
    assert x.unlabeled.counts[-2:].sum() == 2


def test_no_distributions_without_both_kinds_of_rows():
    rows = pa.table({"x": [1.0, 2.0]})
    uses = Columns.of(rows).uses
    assert column_distributions(uses, scanned(rows, ["a", "b"]), {"x": 1.0}) == ()


def test_a_range_that_would_overflow_can_be_drawn():
    rows = pa.table({"x": [-1e308, 1.0, 1e308, 2.0, 3.0, 1.7e308]})
    (found,) = column_distributions(
        Columns.of(rows).uses, scanned(rows, [1.0, 2.0, 3.0, *[None] * 3]), {"x": 1.0}
    )
    assert np.isfinite(np.ptp(found.labeled.edges))
    assert found.labeled.counts[[0, -1]].tolist() == [1, 1]
    assert found.unlabeled.counts[-1] == 1
    assert np.isfinite(found.unlabeled.mean)
    (drawn,) = of_distributions(SimpleNamespace(distributions=(found,)))
    assert "on average" in drawn.alt


def test_a_standard_error_tells_chance_from_importance():
    rng = np.random.default_rng(3)
    names = [f"noise {j}" for j in range(12)]
    columns = {name: rng.normal(size=200) for name in names}
    rows = pa.table({"x": rng.normal(size=200), **columns})
    y = 2 * rows["x"].to_numpy() + rng.standard_t(3, size=200)
    found = column_importance(fitted("numbers", y, rows, count=40), rows)
    assert found["x"].value > 4 * found["x"].error
    clear = [found[name].value > 2 * found[name].error for name in names]
    assert sum(clear) <= 2
    lost = [np.array([1.0, 3.0]), np.array([3.0, 5.0])]
    assert module._mean_and_error(lost) == (3.0, 1.0)
