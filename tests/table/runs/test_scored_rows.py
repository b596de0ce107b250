"""Predictions compared with known labels, and unseen values."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import t
from sklearn.metrics import r2_score

from halfmoon._report.quality_scores import wilson_interval
from halfmoon.table._columns.column_kinds import Columns, ColumnUse
from halfmoon.table._models.predictions import Prediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.running_counts import cell_keys, value_keys
from halfmoon.table._runs.scored_rows import ScoredRows, Unseen

TEXT = Columns([ColumnUse("x", "text")])


def model_of(learned=(), merged=False):
    """What a model tells of itself here, and nothing more."""
    rows = pa.table({"x": pa.array([str(x) for x in learned], pa.string())})
    return SimpleNamespace(
        columns_=TEXT,
        learned_keys_=value_keys(rows, TEXT),
        record_={"settings": {"merge_labels": merged}},
        style_=None,
        level=0.9,
    )


def batch(x):
    return pa.record_batch({"x": pa.array([str(v) for v in x])})


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_batches_of_numbers_add_up(rng, cut):
    y = 1e6 + rng.normal(size=50)
    guess = y + 0.3 * rng.normal(size=50)
    low, high = guess - 0.4, guess + 0.4
    scored = ScoredRows(model_of())
    for start in range(0, 50, cut):
        some = slice(start, start + cut)
        part = Prediction(guess[some].tolist(), low=low[some], high=high[some])
        scored.add(pa.array(y[some]), part, batch(range(50)[some]))
    told = scored.record()
    errors = np.abs(y - guess)
    half = t.ppf(0.975, 49) * errors.std(ddof=1) / np.sqrt(50)
    error = told["mean_absolute_error"]
    assert error["value"] == pytest.approx(errors.mean(), rel=1e-9)
    assert error["low"] == pytest.approx(errors.mean() - half, rel=1e-6)
    assert error["high"] == pytest.approx(errors.mean() + half, rel=1e-6)
    assert told["r2"] == pytest.approx(r2_score(y, guess), abs=1e-6)
    inside = ((low <= y) & (y <= high)).mean()
    assert told["inside"]["value"] == inside
    assert (told["rows"], told["is_test"]) == (50, True)


def test_classes(rng):
    given = np.array(["a", "b", "b", " a ", "c", "b"])
    prediction = Prediction(
        ["a", "b", "a", "a", "b", "b"], np.linspace(0.5, 1, 6), second=["b"] * 6
    )
    scored = ScoredRows(model_of())
    scored.add(pa.array(given), prediction, batch(range(6)))
    told = scored.record()
    assert told["accuracy"]["value"] == pytest.approx(4 / 6)
    assert (told["accuracy"]["low"], told["accuracy"]["high"]) == wilson_interval(4, 6)
    assert told["accuracy"]["naive"] == pytest.approx(3 / 6)
    assert told["mean_confidence"] == pytest.approx(0.75)
    (sentence,) = scored.sentences()
    assert sentence.replace("\u00a0", " ") == (
        "On 6 rows with a known label, 4 of 6 predictions were right: 67 % (95 % "
        "interval 30–90 %). Always guessing the most common class, 'b', would be right "
        "for 50 %."
    )


def test_whole_numbers_and_spellings():
    prediction = Prediction([1, 2], np.ones(2), second=[2, 1])
    scored = ScoredRows(model_of())
    scored.add(pa.array([1.0, 2.0]), prediction, batch("ab"))
    assert scored.record()["accuracy"]["value"] == 1.0
    scored = ScoredRows(model_of(merged=True))
    prediction = Prediction(["New York"] * 2, np.ones(2), second=["b"] * 2)
    scored.add(pa.array(["new-york", "Boston"]), prediction, batch("ab"))
    assert scored.record()["accuracy"]["value"] == 0.5


def test_rows_that_were_learned_from_are_no_test():
    prediction = Prediction(["a"] * 4, np.ones(4), second=["b"] * 4)
    labels = pa.array(["a", "a", "b", "a"])
    scored = ScoredRows(model_of(learned=[1, 2]))
    scored.add(labels, prediction, batch([1, 2, 3, 4]))
    told = scored.record()
    assert (told["rows"], told["rows_learned_from"]) == (2, 2)
    assert told["accuracy"]["value"] == 0.5
    (sentence,) = scored.sentences()
    assert "On 2 rows with a known label that the model did not learn from" in sentence
    assert sentence.endswith(
        "2 more rows with a known label were learned from and do not count."
    )
    scored = ScoredRows(model_of(learned=[1, 2, 3, 4]))
    scored.add(labels, prediction, batch([1, 2, 3, 4]))
    assert scored.record()["is_test"] is False
    assert "so this is not a test" in scored.sentences()[0]


def test_no_sentences_without_known_labels():
    scored = ScoredRows(model_of())
    assert (scored.record(), scored.sentences()) == (None, [])


def test_keys_of_cells_do_not_depend_on_their_type():
    typed = pa.table({"x": [1.5, 2.0], "n": [1, None]})
    text = pa.table({"x": ["1.5", " 2.0"], "n": ["1", ""]})
    keys = cell_keys(typed, ["x", "n"])
    np.testing.assert_array_equal(keys, cell_keys(text, ["x", "n"]))
    assert keys[0] != keys[1]
    assert cell_keys(typed, ["n", "x"])[0] != keys[0]


def test_unseen_values():
    island = ["Dream", "Biscoe", "Torgersen"] * 10
    x = np.arange(30) % 3 + 0.01 * np.arange(30)
    labels = [f"c{i % 3}" if i < 15 else None for i in range(30)]
    rows = pa.table({"island": island, "x": x})
    model = TableModel("kind", "classes", budget=1e-9).fit(rows, labels)
    unseen = Unseen(model)
    unseen.see(rows.to_batches()[0])
    assert list(unseen.notes()) == []
    for cells in (["Mars", "Dream", None], ["Mars", "Venus", ""]):
        unseen.see(pa.record_batch({"island": pa.array(cells), "x": [0.0] * 3}))
    (note,) = unseen.notes()
    assert str(note) == (
        "3 cells in 'island' have a value that the model has not seen, such as "
        "'Mars', 'Venus'. Predictions of these rows are based on the other columns."
    )


def test_values_that_cannot_be_read():
    x = np.arange(30) % 3 + 0.25
    labels = [f"c{i % 3}" if i < 15 else None for i in range(30)]
    some = pa.array([None, *(x[1:] + 1.0)])
    rows = pa.table({"x": pa.array(x).cast(pa.string()), "y": some})
    unseen = Unseen(TableModel("kind", "classes", budget=0.1).fit(rows, labels))
    unseen.see(pa.record_batch({"x": ["1,5", "0.5", ""], "y": [None, 1.0, None]}))
    (note,) = unseen.notes()  # y was missing before
    assert note.text == (
        "'x' has no value that can be read in 2 of 3 rows, but had one in each row "
        "that the model learned from. Their predictions may be wrong, also with a high "
        "confidence."
    )
    unseen.see(pa.record_batch({"x": ["1.5"] * 17, "y": [1.0] * 17}))
    assert list(unseen.notes()) == []  # 2 of 20


def test_keys_of_values_do_not_depend_on_their_spelling():
    columns = Columns([ColumnUse("n", "number"), ColumnUse("c", "category")])
    one = pa.table({"n": ["21", "1e3", "NA", "2"], "c": ["a", " b", "", "a"]})
    other = pa.table({"n": ["21.0", "1000", "", "3"], "c": ["a ", "b", "NA", "a"]})
    same = value_keys(one, columns) == value_keys(other, columns)
    np.testing.assert_array_equal(same, [True, True, True, False])
    assert columns.unread == {}
    typed = pa.table({"n": [21, 1000, None, 2], "c": ["a", "b", None, "a"]})
    np.testing.assert_array_equal(value_keys(typed, columns), value_keys(one, columns))
