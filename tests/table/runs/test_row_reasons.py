from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import load, save
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.row_reasons import Reasons, reasons_of

OPTIONS = {"budget": 1e-9}


def groups(n=40, labels=10):
    rng = np.random.default_rng(0)
    side = np.arange(n) % 2
    rows = pa.table({"x": rng.normal(size=n) + 8 * side, "z": rng.normal(size=n)})
    truth = np.where(side, "right", "left").tolist()
    given = [truth[i] if i < labels else None for i in range(n)]
    # The rows that were learned from are every third of their table.
    return rows, given, 3 * np.arange(n)


def test_reasons_are_the_weights_of_the_smoother_matrix():
    rows, given, numbers = groups()
    model = TableModel("side", "classes", **OPTIONS).fit(rows, given, positions=numbers)
    new = rows.slice(20, 3)
    told = model.explain(new)
    H = model.estimator_.smoother_matrix(model.transform(new))
    assert_allclose(told.weights, H, atol=1e-12)
    assert_array_equal(told.rows, 3 * np.arange(10))
    reasons = reasons_of(model, new, first_row=2)
    assert len(reasons) == 3
    for i, each in enumerate(reasons):
        answer = model.predict(new).values[i]
        assert {reason.label for reason in each.speaks_for} == {answer}
        assert min(reason.weight for reason in each.speaks_for) > 0
        for reason in (*each.speaks_for, *each.speaks_against):
            place = (reason.row - 2) // 3
            assert reason.label == given[place]
            assert_allclose(reason.weight, H[i, place], atol=1e-12)
        pulls = [abs(reason.weight) for reason in each.speaks_for]
        assert pulls == sorted(pulls, reverse=True)


def test_a_label_is_no_reason_for_its_own_row():
    rows, given, numbers = groups()
    model = TableModel("side", "classes", **OPTIONS).fit(rows, given, positions=numbers)
    (own,) = reasons_of(model, rows.slice(3, 1), 2, ["left"], [9])
    assert 11 not in {r.row for r in (*own.speaks_for, *own.speaks_against)}
    assert {r.label for r in own.speaks_against} == {"right"}


def test_a_saved_model_knows_the_rows(tmp_path):
    rows, given, numbers = groups()
    model = TableModel("side", "classes", **OPTIONS).fit(rows, given, positions=numbers)
    save(model, tmp_path / "kept.halfmoon")
    again = load(tmp_path / "kept.halfmoon")
    one, two = (reasons_of(each, rows.slice(30, 2), 2) for each in (model, again))
    assert [r.row for r in one[0].speaks_for] == [r.row for r in two[0].speaks_for]
    assert_allclose(one[1].speaks_for[0].weight, two[1].speaks_for[0].weight)


def test_no_rows_and_too_many_labels(monkeypatch):
    rows, given, numbers = groups()
    model = TableModel("side", "classes", **OPTIONS).fit(rows, given, positions=numbers)
    assert reasons_of(model, rows.slice(0, 0), 2) == []

    monkeypatch.setattr("halfmoon.table._runs.row_reasons.MAX_LANDMARK_LABELS", 5)
    one = rows.slice(20, 1)
    assert reasons_of(model, one, 2)[0].all  # few labels are not at landmarks
    solution = model.estimator_.solution_
    every = np.arange(len(solution.y))  # held-out values of rows by number: landmarks
    model.estimator_.solution_ = replace(solution, rows=every)
    assert reasons_of(model, one, 2) == [Reasons()]
    assert reasons_of(model, one, 2, patient=True)[0].all

    def refuse(*args):
        raise MemoryError

    monkeypatch.setattr(TableModel, "explain", refuse)
    assert reasons_of(model, rows.slice(0, 2), 2) == [Reasons(), Reasons()]
