"""Leave-one-out predictions agree with refits without the row's label."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon._estimators.classification import probabilities
from halfmoon.kernels import Gaussian
from halfmoon.problem import _posed
from halfmoon.weak import CandidateSetClassifier, IntervalRegressor, StructuredPredictor
from reference import table

ALPHA = 0.02

REGRESSORS = {
    "conditional": ConditionalRegressor(Gaussian(0.8), "linear", ALPHA),
    "laplacian": LaplacianRegressor(Gaussian(0.8), ALPHA, unpenalized=None),
    "landmarks": ConditionalRegressor(
        Gaussian(0.8), alpha=ALPHA, n_components=6, random_state=0
    ),
}
CLASSIFIERS = {
    "conditional": ConditionalClassifier(Gaussian(0.8), alpha=ALPHA),
    "laplacian": LaplacianClassifier(Gaussian(0.8), ALPHA, unpenalized=None),
    "fredholm": FredholmClassifier(Gaussian(0.5), Gaussian(0.8), alpha=ALPHA),
}


def without(model, data, y, i, blank):
    """The model fitted without the label of row i, at the same lam."""
    W = data.w[data.labeled].sum()
    other = y.copy()
    other[i] = blank
    return (
        clone(model)
        .set_params(alpha=ALPHA * W / (W - data.w[i]))
        .fit(data.X, other, data.w)
    )


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_values_equal_refits(model, targets):
    data = table(t=targets)
    fitted = clone(model).fit(data.X, data.y, data.w)
    expected = [
        without(model, data, data.y, i, np.nan).predict(data.X[[i]])[0]
        for i in np.flatnonzero(data.labeled)
    ]
    found = fitted.leave_one_out_predictions()
    assert_allclose(found, expected, atol=1e-8)
    residuals = data.y[fitted.labeled_] - fitted.leave_one_out()
    assert_allclose(found, residuals, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_probabilities_equal_refits(model, n_classes):
    data = table()
    edges = np.nanquantile(data.y, np.arange(1, n_classes) / n_classes)
    y = np.array(["a", "b", "c"], dtype=object)[np.digitize(data.y, edges)]
    y[np.isnan(data.y)] = None
    fitted = clone(model).fit(data.X, y, data.w)
    expected = []
    for i in np.flatnonzero(data.labeled):
        scores = without(model, data, y, i, None).decision_function(data.X[[i]])
        if n_classes == 2:
            scores = np.column_stack([-scores, scores])
        expected.append(probabilities(scores, fitted.temperature_)[0])
    found = fitted.leave_one_out_predictions()
    assert_allclose(found, expected, atol=1e-8)
    right = fitted.classes_[found.argmax(axis=1)] == y[fitted.labeled_]
    accuracy = np.average(right, weights=data.w[data.labeled])
    assert fitted.loo_score_ == pytest.approx(accuracy)


def test_each_output_has_the_rows_that_it_is_known_in():
    data = table(t=2, weights=False)
    y = data.y.copy()
    rows = np.flatnonzero(data.labeled)
    y[rows[:3], 1] = np.nan
    model = ConditionalRegressor(Gaussian(0.8), alpha=ALPHA).fit(data.X, y)
    found = model.leave_one_out_predictions()
    assert_array_equal(np.isnan(found), np.isnan(y[rows]))
    for output in (0, 1):
        one = ConditionalRegressor(Gaussian(0.8), alpha=ALPHA)
        one.fit(data.X, y[:, output])
        known = ~np.isnan(found[:, output])
        alone = one.leave_one_out_predictions()
        assert_allclose(found[known, output], alone, atol=1e-9)


def test_all_rows_are_predicted_where_scores_take_a_sample(monkeypatch):
    data = table(n=60, l=40, weights=False)
    model = ConditionalRegressor(
        Gaussian(0.8), alpha=ALPHA, n_components=6, random_state=0
    ).fit(data.X, data.y)
    expected = model.leave_one_out_predictions()
    monkeypatch.setattr(_posed, "MAX_SAMPLE_ROWS", 10)
    assert len(model._held_out().values) == 10
    assert_allclose(model.leave_one_out_predictions(), expected, atol=1e-12)


def test_nan_where_the_other_labels_do_not_determine_a_row():
    X, y = np.arange(4.0)[:, None], [1.0, np.nan, 2.0, np.nan]
    model = ConditionalRegressor(Gaussian(1.0), "linear", ALPHA)
    with pytest.warns(UserWarning, match="unpenalized features"):
        model.fit(X, y)
    assert np.isnan(model.leave_one_out_predictions()).all()


def test_the_search_predicts_without_the_label_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.where(np.arange(60) < 20, X[:, 0], np.nan)
    model = HalfmoonRegressor(budget=1e-9, random_state=0).fit(X, y)
    found = model.leave_one_out_predictions()
    assert found.shape == (20,)
    assert model.loo_score_ == pytest.approx(
        1 - np.sum((y[:20] - found) ** 2) / np.sum((y[:20] - y[:20].mean()) ** 2)
    )
    labels = np.where(np.isnan(y), np.nan, y > 0)
    classifier = HalfmoonClassifier(budget=1e-9, random_state=0).fit(X, labels)
    p = classifier.leave_one_out_predictions()
    assert_allclose(p.sum(axis=1), 1.0)
    assert classifier.loo_score_ == np.mean(p.argmax(axis=1) == labels[:20])


def test_weak_labels():
    data = table(weights=False)
    rows = np.flatnonzero(data.labeled)
    intervals = IntervalRegressor(kernel=Gaussian(0.8), alpha=ALPHA)
    intervals.fit(data.X, data.y)
    plain = ConditionalRegressor(Gaussian(0.8), alpha=ALPHA).fit(data.X, data.y)
    expected = plain.leave_one_out_predictions()
    assert_allclose(intervals.leave_one_out_predictions(), expected, atol=1e-6)
    y = np.where(data.y > np.nanmedian(data.y), "high", "low").astype(object)
    y[~data.labeled] = None
    classes = ConditionalClassifier(Gaussian(0.8), alpha=ALPHA).fit(data.X, y)
    sets = CandidateSetClassifier(kernel=Gaussian(0.8), alpha=ALPHA).fit(data.X, y)
    p = classes.leave_one_out_predictions()
    assert_allclose(sets.leave_one_out_predictions(), p, atol=1e-6)
    outputs = StructuredPredictor(kernel=Gaussian(0.8), alpha=ALPHA).fit(data.X, y)
    found = outputs.leave_one_out_predictions()
    assert_array_equal(found, classes.classes_[p.argmax(axis=1)])
    assert len(found) == len(rows)
