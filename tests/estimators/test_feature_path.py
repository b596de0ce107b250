"""Errors with the first j unpenalized features, against a fit with each."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian
from halfmoon.unpenalized import Features


def first(j):
    """1, x and x^2 up to the j-th of them."""
    powers = np.arange(j)
    return Features(lambda X: X**powers, constant=False) if j else None


def test_every_j_is_the_fit_with_the_first_j_features():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (30, 1))
    y = 1 + X[:, 0] ** 2 + 0.1 * rng.standard_normal(30)
    known = np.where(np.arange(30) < 18, y, np.nan)
    models = [
        ConditionalRegressor(Gaussian(0.7), first(j), alpha=0.3).fit(X, known)
        for j in range(4)
    ]
    path = models[3].feature_path(X[18:], y[18:])
    assert len(path.names) == 3
    for j, model in enumerate(models):
        error = np.mean((model.predict(X[18:]) - y[18:]) ** 2)
        assert_allclose(path.errors[j], error, rtol=1e-9)
        loo = np.mean(model.leave_one_out() ** 2)
        assert_allclose(path.loo_errors[j], loo, rtol=1e-9)
    assert_allclose(path.solutions.coef(3)[:, 0], models[3].coef_, rtol=1e-9)


def test_unlabeled_test_rows_do_not_count():
    X = np.linspace(0, 1, 6)[:, None]
    model = ConditionalRegressor(Gaussian(0.5), alpha=0.1).fit(X, X[:, 0])
    y = [0.3, None, 0.2, None, 0.9, 0.1]
    labeled = [0, 2, 4, 5]
    expected = model.feature_path(X[labeled], [y[i] for i in labeled]).errors
    assert_allclose(model.feature_path(X, y).errors, expected)
    with pytest.raises(ValueError, match="None of the 6 rows"):
        model.feature_path(X, [None] * 6)
