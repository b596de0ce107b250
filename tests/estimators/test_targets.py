"""Labels of every make give the same fit; what is no label is refused in words."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import DataConversionWarning

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    LaplacianClassifier,
)
from halfmoon._labels import as_labels, class_codes, numeric_targets

pd = pytest.importorskip("pandas")

N = 40
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 2))
CODES = (X[:, 0] + 0.1 * X[:, 1] > 0).astype(int)
HIDDEN = np.arange(N) % 3 > 0


def hidden(values, missing):
    """A list of the values with `missing` in the hidden rows."""
    return [
        missing if out else value
        for value, out in zip(values, HIDDEN, strict=True)
    ]  # fmt: skip


TEXT = ["no", "yes"]
STRINGS = [TEXT[code] for code in CODES]
BOOLS = [bool(code) for code in CODES]
INTS = [int(code) for code in CODES]


def as_objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


#: y of each make, and its two classes.
MAKES = {
    "strings": (hidden(STRINGS, None), TEXT),
    "strings, NaN": (hidden(STRINGS, float("nan")), TEXT),
    "array of objects": (as_objects(hidden(STRINGS, None)), TEXT),
    "bools": (hidden(BOOLS, None), [False, True]),
    "ints": (hidden(INTS, None), [0, 1]),
    "floats": (np.array(hidden(INTS, np.nan), dtype=float), [0, 1]),
    "float32": (np.array(hidden(INTS, np.nan), dtype=np.float32), [0, 1]),
    "Int64": (pd.array(hidden(INTS, pd.NA), dtype="Int64"), [0, 1]),
    "series of Int64": (pd.Series(hidden(INTS, pd.NA), dtype="Int64"), [0, 1]),
    "boolean": (pd.Series(hidden(BOOLS, pd.NA), dtype="boolean"), [False, True]),
    "string": (pd.Series(hidden(STRINGS, pd.NA), dtype="string"), TEXT),
    "series of objects": (pd.Series(hidden(STRINGS, None), dtype=object), TEXT),
    "categorical": (pd.Categorical(hidden(STRINGS, None)), TEXT),
    "series of categories": (pd.Series(hidden(STRINGS, None), dtype="category"), TEXT),
    "index out of order": (
        pd.Series(hidden(STRINGS, None), index=np.arange(N)[::-1]),
        TEXT,
    ),
}

MODELS = [
    ConditionalClassifier(alpha=0.01),
    FredholmClassifier(alpha=0.01),
    LaplacianClassifier(alpha=0.01),
]


def check(model, y, classes):
    expected = model.fit(X, MAKES["floats"][0])
    p, answer = expected.predict_proba(X), expected.predict(X).astype(int)
    model.fit(X, y)
    assert list(model.classes_) == classes
    assert_allclose(model.predict_proba(X), p, rtol=1e-12)
    assert list(model.predict(X)) == [classes[code] for code in answer]
    assert model.n_labeled_ == (~HIDDEN).sum()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("make", MAKES)
def test_any_make_of_labels(make, model):
    check(model, *MAKES[make])


@pytest.mark.parametrize("make", ["strings", "bools", "ints"])
def test_polars_series(make):
    pl = pytest.importorskip("polars")
    y, classes = MAKES[make]
    check(MODELS[0], pl.Series("label", y), classes)


@pytest.mark.parametrize("make", ["strings", "bools", "ints"])
def test_arrow_arrays(make):
    pa = pytest.importorskip("pyarrow")
    y, classes = MAKES[make]
    check(MODELS[0], pa.array(y), classes)


def test_a_value_that_means_no_label():
    y = np.array(hidden(INTS, -1))
    check(ConditionalClassifier(alpha=0.01, unlabeled=-1), y, [0, 1])
    y = np.array(hidden(STRINGS, "?"))
    check(ConditionalClassifier(alpha=0.01, unlabeled="?"), y, TEXT)


def test_minus_one_as_a_class_gives_a_warning():
    y = np.array(hidden(INTS, -1))
    model = ConditionalClassifier(alpha=0.01)
    with pytest.warns(UserWarning, match=r"-1 is treated as a class.*unlabeled=-1"):
        model.fit(X, y)
    assert list(model.classes_) == [-1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, 2 * CODES - 1)  # two classes, -1 and 1: no reason to warn
    assert list(model.classes_) == [-1, 1]


REGRESSION_MAKES = {
    "floats": lambda y: y,
    "list": lambda y: hidden(y.tolist(), None),
    "objects": lambda y: as_objects(hidden(y.tolist(), None)),
    "Float64": lambda y: pd.Series(hidden(y.tolist(), pd.NA), dtype="Float64"),
    "column": lambda y: pd.Series(y, dtype=float),
}


@pytest.mark.parametrize("make", REGRESSION_MAKES)
def test_any_make_of_numbers(make):
    y = np.where(HIDDEN, np.nan, X[:, 0] ** 2)
    expected = ConditionalRegressor(alpha=0.01).fit(X, y).predict(X)
    model = ConditionalRegressor(alpha=0.01).fit(X, REGRESSION_MAKES[make](y))
    assert_allclose(model.predict(X), expected, rtol=1e-12)


def test_several_targets_as_a_frame_or_with_a_value_for_no_label():
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    Y[HIDDEN] = np.nan
    expected = ConditionalRegressor(alpha=0.01).fit(X, Y).predict(X)
    for y in (pd.DataFrame(Y), pd.DataFrame(Y).astype("Float64")):
        model = ConditionalRegressor(alpha=0.01).fit(X, y)
        assert_allclose(model.predict(X), expected, rtol=1e-12)
    model = ConditionalRegressor(alpha=0.01, unlabeled=-99)
    model.fit(X, np.where(np.isnan(Y), -99, Y))
    assert_allclose(model.predict(X), expected, rtol=1e-12)


def test_a_column_of_targets_stays_a_column():
    y = X[:, :1] ** 2
    one = ConditionalRegressor(alpha=0.01).fit(X, y[:, 0])
    column = ConditionalRegressor(alpha=0.01).fit(X, y)
    assert_array_equal(column.predict(X), one.predict(X)[:, None])
    sparse = ConditionalRegressor(alpha=0.01).fit(X, sp.csr_array(y))
    assert_allclose(sparse.predict(X), column.predict(X), rtol=1e-12)


def test_a_column_of_classes_is_made_a_vector_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = ConditionalClassifier(alpha=0.01).fit(X, CODES[:, None])
    assert_array_equal(model.predict(X).shape, (N,))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([None] * N, "None of the 40 rows is labeled"),
        (np.full(N, np.nan), "None of the 40 rows is labeled"),
        (hidden(["a"] * N, None), "labels are of one class, 'a'"),
        (CODES[:-1], r"inconsistent numbers of samples: y has shape \(39,\)"),
        (3, "inconsistent numbers of samples"),
        (np.where(CODES == 1, np.inf, 0.0), "contains infinity"),
        (X[:, 0], "Unknown label type"),
        (np.c_[CODES, CODES], "one class for each row is needed"),
        (["a", 1] * (N // 2), "mixes labels of type int, str"),
        (hidden([True, 0] * (N // 2), None), "mixes labels of type bool, int"),
    ],
    ids=str,
)
def test_bad_classes_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ConditionalClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(N, np.nan), "None of the 40 rows is labeled"),
        (np.where(CODES == 1, np.inf, 0.0), "contains infinity"),
        (STRINGS, "a regression needs numbers. Use a classifier"),
        (X[:, 0] + 1j, "Complex data not supported"),
        (np.zeros((N, 2, 2)), r"y has shape \(40, 2, 2\)"),
        (np.zeros((N, 0)), r"y has shape \(40, 0\)"),
        (X[:-1, 0], "inconsistent numbers of samples"),
    ],
    ids=str,
)
def test_bad_numbers_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ConditionalRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (np.zeros(N), "sample_weight is zero in every row"),
        (np.where(HIDDEN, 1.0, 0.0), "rows is labeled"),
        (-np.ones(N), "negative"),
        (np.full(N, np.nan), "sample_weight"),
        (np.ones(N - 1), "sample_weight"),
    ],
    ids=str,
)
def test_all_weights_0_is_refused(w, message):
    for model, y in (
        (ConditionalRegressor(), np.where(HIDDEN, np.nan, X[:, 0])),
        (ConditionalClassifier(), MAKES["strings"][0]),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, w)


def test_codes_are_those_of_the_sorted_classes():
    labels = as_labels(["b", None, "a", "c", "b"], 5)
    classes, codes = class_codes(labels)
    assert list(classes) == ["a", "b", "c"]
    assert list(codes) == [1, -1, 0, 2, 1]
    classes, codes = class_codes(np.array([3, 9, 5, 9]), unlabeled=9)
    assert list(classes) == [3, 5]
    assert list(codes) == [0, -1, 1, -1]
    targets = numeric_targets(as_labels([1, None, 7.5], 3), unlabeled=1)
    assert_array_equal(targets, [np.nan, np.nan, 7.5])
