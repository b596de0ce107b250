import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.svm import SVC

from halfmoon.plotting._planes import (
    as_numbers_table,
    column_numbers,
    label_values,
    model_values,
    table_like,
)


def test_a_table_that_is_not_numbers_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"Pass X.toarray\(\)"):
        as_numbers_table(sp.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="could not convert string"):
        as_numbers_table([["red", "1"], ["blue", "2"]])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        as_numbers_table([1.0, 2.0, 3.0])


def test_columns_by_number_from_the_end_or_by_name():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]})
    assert column_numbers(frame, ("c", 0), 3) == [2, 0]
    assert column_numbers(np.ones((1, 3)), (-1, 1), 3) == [2, 1]
    with pytest.raises(ValueError, match=r"columns is \('z', 'a'\)"):
        column_numbers(frame, ("z", "a"), 3)
    same = table_like(frame, np.array([[4.0, 5.0, 6.0]]))
    assert same.columns == ["a", "b", "c"]
    assert same.row(0) == (4.0, 5.0, 6.0)


X = np.arange(4.0)[:, None]


def test_labels_are_class_numbers_or_nan():
    model = DummyClassifier().fit(X, ["b", "a", "c", "a"])
    values = label_values(model, ["c", None, "a", float("nan")], 4)
    assert_array_equal(values, [2, np.nan, 0, np.nan])
    numbers = DummyClassifier().fit(X, [1, 0, 1, 0])
    # A column with missing values is one of floats: 1.0 is the class 1.
    assert_array_equal(label_values(numbers, [1.0, np.nan, 0.0, 0.0], 4),
                       [1, np.nan, 0, 0])  # fmt: skip
    assert_array_equal(label_values(numbers, [1, -1, 0, 0], 4, -1), [1, np.nan, 0, 0])
    assert np.isnan(label_values(numbers, None, 4)).all()


def test_targets_are_themselves():
    model = DummyRegressor().fit(X, X[:, 0])
    assert_array_equal(label_values(model, [7.5, None, 2, 0], 4), [7.5, np.nan, 2, 0])
    assert_array_equal(model_values(model, X)[0], [1.5] * 4)


def test_two_classes_by_probability_or_score():
    y = [0, 0, 0, 1]
    values, border = model_values(DummyClassifier(strategy="prior").fit(X, y), X)
    assert_array_equal(values, [0.25] * 4)
    assert border == 0.5
    machine = SVC(kernel="linear").fit(X, y)
    values, border = model_values(machine, X)
    assert_array_equal(values, machine.decision_function(X))
    assert border == 0.0


def test_an_unknown_label_is_refused():
    model = DummyClassifier().fit(X, ["b", "a", "b", "a"])
    with pytest.raises(ValueError, match="label 'z', which is not a class"):
        label_values(model, ["a", "z", None, None], 4)
