"""Tables that break naive solvers: equal rows, flat columns, wild scales, few rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon.kernels import Gaussian, Linear, Polynomial

ESTIMATORS = {
    "FredholmRegressor": FredholmRegressor(),
    "LaplacianRegressor": LaplacianRegressor(),
    "graph": LaplacianRegressor(energy="graph"),
    "ConditionalRegressor": ConditionalRegressor(),
    "landmarks": ConditionalRegressor(n_components=15),
    "FredholmClassifier": FredholmClassifier(),
    "LaplacianClassifier": LaplacianClassifier(),
    "ConditionalClassifier": ConditionalClassifier(),
}

each = pytest.mark.parametrize("name", ESTIMATORS)


def rows(n=40, d=2):
    return np.random.default_rng(0).uniform(-1, 1, (n, d))


def labels(X, model, known=20):
    f = X[:, 0] / max(np.abs(X[:, 0]).max(), 1e-300)
    y = np.sign(f) if is_classifier(model) else f
    return np.where(np.arange(len(X)) < known, y, np.nan)


def fitted(name, X, y=None, **options):
    model = clone(ESTIMATORS[name]).set_params(random_state=0, **options)
    return model.fit(X, labels(X, model) if y is None else y)


def values(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


@each
def test_rows_that_repeat(name):
    # Loss, energy and averages are means over rows: three copies change none of them.
    X = rows()
    options = {"kernel": Gaussian(0.5), "alpha": 1e-3}
    if "Fredholm" in name:
        options["inner_kernel"] = Gaussian(0.5)
    if "Laplacian" in name or name == "graph":
        options["mu"] = 0.02
    once = values(fitted(name, X, **options), X)
    y = np.tile(labels(X, ESTIMATORS[name]), 3)
    actual = values(fitted(name, np.vstack([X] * 3), y, **options), X)
    assert np.isfinite(actual).all()
    if name not in ("graph", "landmarks"):  # which depend on the number of rows
        assert_allclose(actual, once, atol=1e-6)


@each
def test_columns_that_are_flat(name):
    X = rows()
    # The distances, and so the length scale, do not see a flat column.
    once = values(fitted(name, X, alpha=1e-3), X)
    flat = np.c_[X, np.full(40, 7.0), np.zeros(40)]
    assert_allclose(values(fitted(name, flat, alpha=1e-3), flat), once, atol=1e-6)


@each
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
def test_a_singular_gram_matrix(name, kernel):
    X = rows()
    key = "inner_kernel" if "Fredholm" in name else "kernel"
    for alpha in (0.0, 1e-12, 1e-3):
        model = fitted(name, X, alpha=alpha, **{key: kernel})
        assert np.isfinite(values(model, X)).all()
        assert model.rank_ <= 6


@each
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_columns_of_any_scale(name, scale):
    X = rows()
    model = fitted(name, scale * X)
    actual = values(model, scale * X)
    assert np.isfinite(actual).all()
    if "Laplacian" not in name:  # whose gradients have the inverse of the scale
        assert_allclose(actual, values(fitted(name, X), X), atol=1e-6)


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "Classifier" not in n])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_targets_of_any_scale(name, scale):
    X = rows()
    y = labels(X, ESTIMATORS[name])
    model = fitted(name, X, scale * y)
    expected = fitted(name, X, y)
    assert_allclose(model.predict(X) / scale, expected.predict(X), atol=1e-6)
    assert model.alpha_ == expected.alpha_
    _, std = model.predict(X, return_std=True)
    assert_allclose(std / scale, expected.predict(X, return_std=True)[1], rtol=1e-4)


@each
@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_scales_whose_powers_overflow_are_refused(name, scale):
    X = rows()
    with pytest.raises(ValueError, match="Rescale the columns"):
        fitted(name, scale * X, labels(X, ESTIMATORS[name]))


@each
@pytest.mark.filterwarnings("error")
def test_weights_of_any_scale(name):
    X = rows()
    model = clone(ESTIMATORS[name]).set_params(random_state=0, alpha=0.01)
    y, w = labels(X, model), np.linspace(0.5, 2.0, len(X))
    known = model.fit(X, y, w).leave_one_out_predictions()
    for scale in (2.0**-700, 2.0**700):
        other = model.fit(X, y, scale * w).leave_one_out_predictions()
        assert_allclose(other, known, rtol=1e-6, atol=1e-9)


@each
def test_two_rows(name):
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    model = fitted(name, X, np.array([-1.0, 1.0]), **_without_graph(name))
    assert_allclose(np.sign(values(model, X)), [-1, 1])


def _without_graph(name):
    return {"energy": "gradient"} if name == "graph" else {}


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "Classifier" not in n])
def test_one_labeled_row(name):
    # With the constant free, the one label answers everywhere, and nothing is sure.
    X = rows()
    y = np.where(np.arange(40) < 1, 5.0, np.nan)
    model = fitted(name, X, y)
    assert_allclose(model.predict(X), 5.0, rtol=1e-6)
    assert np.isnan(model.loo_score_)
    assert np.isinf(model.leave_one_out()).all()


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "Classifier" not in n])
def test_one_labeled_row_without_a_constant(name):
    # K is a number then: g = y k(x, x_1) / (k(x_1, x_1) + alpha), here 5 / (1 + alpha).
    X = rows()
    y = np.where(np.arange(40) < 1, 5.0, np.nan)
    model = fitted(name, X, y, alpha=0.25, unpenalized=None)
    if name == "ConditionalRegressor":
        assert_allclose(model.predict(X[:1]), 5 / 1.25, rtol=1e-10)
    assert 0 < model.predict(X[:1])[0] < 5
    assert_allclose(model.leave_one_out(), [5.0])  # without its label it is 0


@each
def test_alpha_0_meets_the_labels(name):
    X = rows()
    model = fitted(name, X, alpha=0.0, n_components=None)
    known = labels(X, model)
    assert_allclose(values(model, X)[:20], known[:20], atol=1e-4)


@each
def test_alpha_0_among_others(name):
    X = rows()
    model = fitted(name, X, alpha=[0.0, 1e-6, 1e-2])
    assert np.isfinite(values(model, X)).all()
    assert model.alpha_ in (0.0, 1e-6, 1e-2)


@each
def test_rows_far_away(name):
    X = rows()
    model = fitted(name, X, alpha=1e-3)
    far = values(model, np.array([[1e6, -1e6], [1e100, 1e100]]))
    assert np.isfinite(far).all()
    if "Fredholm" not in name:  # a Gaussian kernel is 0 there: the constant is left
        assert_allclose(far, float(model.coef_[0]), atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@each
def test_rows_that_are_not_finite(name, bad):
    X = rows()
    y = labels(X, ESTIMATORS[name])
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted(name, X, y)


@each
def test_rows_that_are_all_equal(name):
    X = np.ones((10, 2))
    y = np.where(np.arange(10) % 2 == 0, 1.0, -1.0)
    with pytest.raises(ValueError, match="Give the length scale as a number"):
        fitted(name, X, y)
    key = {"inner_kernel": Gaussian(1.0)} if "Fredholm" in name else {}
    if name == "graph":
        return  # of equal rows there is no graph to speak of
    model = fitted(name, X, y, kernel=Gaussian(1.0), alpha=1e-3, **key)
    assert_allclose(values(model, X), 0.0, atol=1e-9)  # the mean of the labels
