"""Rows to label next are unsure, no copies, and far from each other."""

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table._models.predictions import Prediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.rows_to_label import far_apart, next_rows
from halfmoon.table._runs.running_counts import UnsureRows


def offered(unsure, x, confidence, cut=None, **columns):
    n = len(x)
    rows = pa.record_batch({"x": pa.array(x), **columns})
    for start in range(0, n, cut or n):
        some = slice(start, min(n, start + (cut or n)))
        prediction = Prediction(["a"] * n, np.asarray(confidence), second=["b"] * n)
        part = Prediction(
            prediction.values[some], prediction.confidence[some], second=["b"] * n
        )
        numbers = np.arange(n)[some]
        unsure.offer(part, rows.slice(some.start, len(numbers)), numbers)
    return unsure


def kept(unsure):
    return [unsure.row(i).number for i in range(len(unsure))]


@pytest.mark.parametrize("cut", [1, 7, 100, 500])
def test_the_least_sure_rows_for_every_batch_size(rng, cut):
    confidence = rng.uniform(0.3, 1, 500)
    unsure = UnsureRows(max_rows=40)
    offered(unsure, np.arange(500), confidence, cut)
    assert kept(unsure) == np.argsort(confidence)[:40].tolist()
    np.testing.assert_allclose(unsure.doubt, 1 - np.sort(confidence)[:40])


@pytest.mark.parametrize("cut", [3, 60])
def test_rows_with_equal_features_are_kept_once(cut):
    x = np.arange(60) % 6
    note = [f"n{i}" for i in range(60)]
    confidence = 0.5 + 0.05 * x
    unsure = offered(UnsureRows(["x"]), x, confidence, cut, note=note)
    assert kept(unsure) == [0, 1, 2, 3, 4, 5]
    assert unsure.row(0).cells == {"x": "0", "note": "n0"}
    assert len(offered(UnsureRows(), x, confidence, cut, note=note)) == 60


def test_a_thousand_copies_do_not_hide_the_others():
    x = np.concatenate([np.zeros(1000), np.arange(1, 30)])
    confidence = np.where(x == 0, 0.4, 0.9)
    unsure = offered(UnsureRows(["x"], max_rows=25), x, confidence, 100)
    assert kept(unsure) == [0, *range(1000, 1024)]


@pytest.mark.parametrize("distinct", [30, 300, 3_000])
def test_batches_give_the_rows_that_sorting_all_would_give(rng, distinct):
    x = rng.integers(0, distinct, 2_000)
    confidence = rng.choice([0.2, 0.5, 0.9], distinct)[x]
    first = np.sort(np.unique(x, return_index=True)[1])
    order = first[np.argsort(confidence[first], kind="stable")]
    for cut in (7, 500, 2_000):
        unsure = offered(UnsureRows(["x"], max_rows=25), x, confidence, cut)
        assert kept(unsure) == order[:25].tolist()


def test_memory_is_limited_for_wide_rows(rng):
    texts = ["x" * 1000 + str(i) for i in range(300)]
    unsure = UnsureRows(max_bytes=100_000)
    offered(unsure, np.arange(300), rng.uniform(size=300), 50, t=texts)
    assert 80 <= len(unsure) <= 100
    assert unsure.table().nbytes < 110_000


def test_lists_and_missing_cells_are_different():
    columns = {"l": pa.array([[1], [1, 2], None, [1]]), "s": [None, "a", "a", None]}
    unsure = offered(UnsureRows(["l", "s"]), np.zeros(4), np.full(4, 0.5), **columns)
    assert kept(unsure) == [0, 1, 2]


def test_rows_of_unknown_doubt_are_not_kept():
    assert kept(offered(UnsureRows(), np.arange(3), [0.5, np.nan, 0.4])) == [2, 0]


def test_spread_out_by_the_formula(rng):
    X, doubt = rng.normal(size=(40, 3)), rng.uniform(0.1, 1, 40)
    away = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    m = np.median(away[np.triu_indices(40, 1)])
    expected = [int(doubt.argmax())]
    for _ in range(9):
        k = np.exp(-(away[:, expected] ** 2) / (2 * m**2))
        expected.append(int((doubt * (1 - k.max(axis=1) ** 2)).argmax()))
    assert far_apart(X, doubt, 10) == expected


def test_no_row_twice_and_no_near_copy():
    X = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 5, axis=0)
    X[:5, 0] += 1e-4 * np.arange(5)
    chosen = far_apart(X, np.linspace(1, 0.5, 15), 10)
    assert sorted(i // 5 for i in chosen) == [0, 1, 2]
    assert far_apart(np.ones((4, 2)), np.ones(4), 3) == [0]
    assert far_apart(np.ones((4, 0)), np.zeros(4), 3) == [0]


def test_a_small_group_is_represented(rng):
    # 200 rows that are a little less sure in one place, 5 in another.
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(5, 2)) + 20])
    chosen = far_apart(X, np.repeat([0.5, 0.4], [200, 5]), 10)
    assert any(i >= 200 for i in chosen)


def test_rows_of_one_group_come_after_others(rng):
    X, doubt = rng.normal(size=(30, 2)), np.linspace(1, 0.1, 30)
    groups = np.arange(30) // 10
    chosen = far_apart(X, doubt, 5, groups)
    assert chosen[0] == 0
    assert sorted(groups[chosen[:3]]) == [0, 1, 2]
    assert len(set(chosen)) == 5


def test_a_sentence_is_chosen_once(rng):
    texts = ["it does not work at all", "please call me back", "where is my invoice"]
    rows = pa.table(
        {
            "text": [texts[0]] * 30 + [texts[1]] * 20 + [texts[2]] * 10,
            "mail": [f"u{i}@x.org" for i in range(60)],
            "x": rng.normal(size=60),
        }
    )
    labels = [None] * 60
    labels[::4] = ["a", "b", "c"] * 5
    model = TableModel("kind", "classes", keep=["text"], budget=1e-9).fit(rows, labels)
    unsure = UnsureRows(["text", "x"])
    batch = rows.combine_chunks().to_batches()[0]
    unsure.offer(model.predict(batch), batch, np.arange(60))
    found = next_rows(model, unsure, 5)
    assert sorted(row.cells["text"] for row in found[:3]) == sorted(texts)
    assert len(found) == 5


def test_next_rows_of_a_model(rng):
    x = np.concatenate([rng.normal(size=30), rng.normal(size=30) + 6])
    labels = [None] * 60
    labels[:3], labels[30:33] = ["low"] * 3, ["high"] * 3
    rows = pa.table({"x": x})
    model = TableModel("side", "classes", budget=1e-9).fit(rows, labels)
    unsure = UnsureRows(["x"])
    blank = np.array([label is None for label in labels])
    batch = rows.filter(pa.array(blank)).combine_chunks().to_batches()[0]
    unsure.offer(model.predict(batch), batch, np.flatnonzero(blank))
    found = next_rows(model, unsure, 4)
    assert found[0].number == unsure.row(0).number
    assert len({row.number for row in found}) == 4
    assert all(row.cells == {"x": str(x[row.number])} for row in found)
    assert next_rows(model, UnsureRows(), 4) == []
