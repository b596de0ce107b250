"""Tables and labels of every type, for every baseline."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier

from halfmoon.baselines import (
    HarmonicClassifier,
    HarmonicRegressor,
    LabelSpreadingClassifier,
    LapRLSClassifier,
    LapRLSRegressor,
    PrincipalComponentRegressor,
    RLSClassifier,
    TSVMClassifier,
)
from halfmoon.kernels import Gaussian
from optional_modules import optional

pd = optional("pandas")

CLASSIFIERS = {
    "harmonic": HarmonicClassifier(5),
    "harmonic, all pairs": HarmonicClassifier(None, 0.4),
    "spreading": LabelSpreadingClassifier(5, spread=0.9),
    "LapRLS": LapRLSClassifier(Gaussian(0.7), 0.01, 1.0, 5),
    "RLS": RLSClassifier(alpha=0.1),
    "TSVM": TSVMClassifier(tol=1e-8),
    "TSVM, Gaussian": TSVMClassifier(Gaussian(0.7), tol=1e-8),
}
REGRESSORS = {
    "harmonic, numbers": HarmonicRegressor(5),
    "LapRLS, numbers": LapRLSRegressor(Gaussian(0.7), 0.01, 1.0, 5),
    "components": PrincipalComponentRegressor(2),
}
ALL = {**CLASSIFIERS, **REGRESSORS}

each = pytest.mark.parametrize("name", ALL)
each_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


def rows(n=40):
    X = np.random.default_rng(0).normal(size=(n, 3))
    X[np.abs(X) < 0.1] = 0.0
    return X


def labels(X, model, l=16):
    f = X[:, 0] + 0.5 * X[:, 1]
    y = (f > 0).astype(float) if is_classifier(model) else f
    return np.where(np.arange(len(X)) < l, y, np.nan)


def fitted(name, X, y, **options):
    return clone(ALL[name]).set_params(**options).fit(X, y)


def values(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


@each
def test_sparse_rows(name):
    X, new = rows(), rows(60)[40:]
    y = labels(X, ALL[name])
    dense, sparse = fitted(name, X, y), fitted(name, sp.csr_array(X), y)
    assert_allclose(
        values(sparse, sp.csr_array(new)), values(dense, new), rtol=1e-4, atol=1e-5
    )


@each
def test_float32_rows(name):
    X, new = rows(), rows(60)[40:]
    y = labels(X, ALL[name])
    double, single = fitted(name, X, y), fitted(name, X.astype(np.float32), y)
    assert_allclose(
        values(single, new.astype(np.float32)), values(double, new), rtol=0, atol=1e-3
    )


@each
def test_every_kind_of_missing_label(name):
    X = rows()
    y = labels(X, ALL[name])
    expected = values(fitted(name, X, y), X)
    with_none = np.where(np.isnan(y), None, y)
    nullable = pd.Series(y).astype("Float64")  # pd.NA
    assert nullable.isna().sum() == 24
    marked = np.where(np.isnan(y), -9.0, y)
    for given, options in [
        (with_none, {}),
        (list(with_none), {}),
        (nullable, {}),
        (marked, {"unlabeled": -9.0}),
    ]:
        assert_allclose(values(fitted(name, X, given, **options), X), expected)


@each_classifier
def test_names_of_classes(name):
    X = rows()
    y = labels(X, ALL[name])
    words = np.where(np.isnan(y), None, np.where(y == 1, "yes", "no"))
    model, numbers = fitted(name, X, words), fitted(name, X, y)
    assert_array_equal(model.classes_, ["no", "yes"])
    expected = np.where(numbers.predict(X) == 1, "yes", "no")
    assert_array_equal(model.predict(X), expected)


@each
def test_no_label(name):
    with pytest.raises(ValueError, match="None of the 40 rows is labeled"):
        fitted(name, rows(), np.full(40, np.nan))


@each_classifier
def test_one_class(name):
    y = np.where(np.arange(40) < 5, 1.0, np.nan)
    with pytest.raises(ValueError, match="All 5 labels are of one class"):
        fitted(name, rows(), y)


@each
def test_missing_entries_of_rows(name):
    X = rows()
    y = labels(X, ALL[name])
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted(name, X, y)


@each
def test_a_prediction_ignores_the_other_new_rows(name):
    X, new = rows(), rows(60)[40:]
    model = fitted(name, X, labels(X, ALL[name]))
    together = values(model, new)
    alone = np.concatenate([values(model, new[i : i + 1]) for i in range(20)])
    assert_allclose(alone, together, rtol=1e-9, atol=1e-12)


@each
def test_data_frames(name):
    X = rows()
    y = labels(X, ALL[name])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = fitted(name, frame, y)
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    assert_allclose(values(model, frame), values(fitted(name, X, y), X), rtol=1e-9)
