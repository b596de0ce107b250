"""Intervals about predictions, and the variance of the noise, of every regressor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score

from halfmoon import (
    ConditionalRegressor,
    FredholmRegressor,
    HalfmoonRegressor,
    LaplacianRegressor,
)
from halfmoon._estimators.intervals import Intervals
from halfmoon.kernels import Gaussian

REGRESSORS = {
    "conditional": ConditionalRegressor(Gaussian(0.8), alpha=0.01),
    "fredholm": FredholmRegressor(Gaussian(0.5), Gaussian(0.8), alpha=1e-4),
    "laplacian": LaplacianRegressor(Gaussian(0.8), alpha=0.01),
    "landmarks": ConditionalRegressor(Gaussian(0.8), alpha=0.01, n_components=60),
    "filter": LaplacianRegressor(Gaussian(0.8), alpha=0.01, filter="heat"),
    "halfmoon": HalfmoonRegressor(budget=1.0, random_state=0),
}
NOISE = 0.5


def draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + NOISE * rng.normal(size=n)


@pytest.fixture(scope="module", params=REGRESSORS)
def fitted(request):
    X, y = draw(260, 0)
    y[120:] = np.nan
    return clone(REGRESSORS[request.param]).fit(X, y), X, y


def test_intervals_come_from_leave_one_out_residuals(fitted):
    model, _, y = fitted
    new, _ = draw(20, 1)
    low, high = model.predict_interval(new, 0.8)
    held = model._held_out()
    assert_array_equal(held.y[:, 0], y[:120])
    expected = Intervals.of(y[:120], held.values[:, 0], 0.8)(model.predict(new))
    assert_allclose((low, high), expected, rtol=1e-12)
    assert_allclose(model.loo_score_, r2_score(y[:120], held.values[:, 0]))
    # A filter has folds instead, and the weights of the search are chosen by folds.
    if not (getattr(model, "filter", None) or isinstance(model, HalfmoonRegressor)):
        left_out = y[:120] - model.leave_one_out()
        assert_allclose(left_out, held.values[:, 0], atol=1e-10)


def test_new_labels_are_held_as_often_as_asked_for(fitted):
    model, _, _ = fitted
    new, labels = draw(4_000, 2)
    for level in (0.5, 0.9):
        low, high = model.predict_interval(new, level)
        assert low.shape == high.shape == (4_000,)
        held = ((low <= labels) & (labels <= high)).mean()
        assert abs(held - level) < 0.07


def test_the_noise_is_found(fitted):
    model, _, _ = fitted
    assert isinstance(model.noise_variance_, float)
    assert 0.75 < model.noise_variance_ / NOISE**2 < 1.35


def test_the_noise_variance_is_recovered():
    X, y = draw(50, 0)
    model = ConditionalRegressor(Gaussian(0.8), alpha=0.01).fit(X, y)
    _, std = model.predict(X, return_std=True)
    expected = np.mean(model.leave_one_out() ** 2) - np.mean(std**2)
    assert_allclose(model.noise_variance_, expected, rtol=1e-12)
    w = np.where(np.arange(50) < 25, 2.0, 0.5)
    model.fit(X, y, w)
    _, std = model.predict(X, return_std=True)
    expected = np.average(model.leave_one_out() ** 2 - std**2, weights=w)
    assert_allclose(model.noise_variance_, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [REGRESSORS["conditional"], HalfmoonRegressor(budget=1e-9, random_state=0)],
    ids=["conditional", "halfmoon"],
)
def test_each_of_several_targets_has_its_intervals(model):
    X, y = draw(60, 0)
    both = clone(model).fit(X, np.column_stack([y, 10 * y]))
    low, high = both.predict_interval(X[:7])
    assert low.shape == (7, 2)
    assert_allclose(10 * low[:, 0], low[:, 1])
    assert_allclose(10 * high[:, 0], high[:, 1])
    assert_allclose(100 * both.noise_variance_[0], both.noise_variance_[1])


def test_bad_levels_are_refused():
    X, y = draw(30, 0)
    with pytest.raises(NotFittedError):
        ConditionalRegressor().predict_interval(X)
    assert not hasattr(ConditionalRegressor(), "noise_variance_")
    model = ConditionalRegressor(alpha=0.01).fit(X, y)
    with pytest.raises(ValueError, match=r"level is 90; a share between 0 and 1"):
        model.predict_interval(X, level=90)
    for level in ("90 %", None, [0.5, 0.9]):
        with pytest.raises(ValueError, match=r"level is .*; a share between 0 and 1"):
            model.predict_interval(X, level=level)


def test_intervals_contain_the_share_of_the_weight():
    # Noise of a tenth where the weight is: other labels do not widen the intervals.
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 1))
    heavy = rng.random(400) < 0.5
    y = np.sin(3 * X[:, 0]) + rng.normal(size=400) * np.where(heavy, 0.1, 1.0)
    model = ConditionalRegressor(Gaussian(0.8), alpha=1e-4)
    low, high = model.fit(X, y, np.where(heavy, 1.0, 1e-6)).predict_interval(X)
    held = np.mean((y >= low) & (y <= high) & heavy) / heavy.mean()
    assert abs(held - 0.9) < 0.03
    wide = model.fit(X, y).predict_interval(X)
    assert (high - low).mean() < 0.3 * (wide[1] - wide[0]).mean()
