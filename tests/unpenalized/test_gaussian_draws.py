"""Draws of a Gaussian process: their covariance, and what they are off the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from halfmoon._whitening import whitening
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, Linear, Matern
from halfmoon.problem import Problem
from halfmoon.unpenalized import GaussianDraws


@pytest.fixture
def X(rng):
    return rng.normal(size=(12, 2))


@pytest.mark.parametrize("n_components", [None, 6])
def test_covariance_over_many_draws(X, n_components):
    """Mean of f(x) f(z) over draws is k, or what the landmarks carry of it."""
    kernel, m = Matern(1.5, 1.0), 2_400
    total = np.zeros((12, 12))
    rng = np.random.default_rng(3)
    features = GaussianDraws(6, kernel, constant=False, n_components=n_components)
    for _ in range(m // 6):
        F = features.fit(X, rng).transform(X)
        total += F @ F.T
    count = 6 * (m // 6)
    if n_components is None:
        expected = kernel(X)
        # Standard errors of products of normals: sqrt((K_ii K_jj + K_ij^2) / m).
        error = np.sqrt((1 + expected**2) / count)
        assert (np.abs(total / count - expected) < 5 * error).all()
    else:  # landmarks differ from draw to draw; the variance is never above k's
        variance = np.diag(total) / count
        assert (variance < 1 + 5 * np.sqrt(2 / count)).all()
        assert variance.mean() < 0.98  # something is missing


@pytest.mark.parametrize("kernel", [Matern(1.5, 1.0), Gaussian(3.0)], ids=repr)
def test_off_the_rows_they_interpolate(X, rng, kernel):
    """K(x, X) K^-1 g: scikit-learn's posterior mean without noise, of the values g."""
    new = rng.normal(size=(5, 2))
    features = GaussianDraws(3, kernel, constant=False).fit(X, rng=1)
    g = features.transform(X)
    expected = kernel(new, X) @ np.linalg.lstsq(kernel(X), g, rcond=1e-14)[0]
    assert_allclose(features.transform(new), expected, atol=1e-5)
    if isinstance(kernel, Gaussian):
        reference = GaussianProcessRegressor(RBF(3.0), alpha=1e-12, optimizer=None)
        expected = reference.fit(X, g).predict(new)
        assert_allclose(features.transform(new), expected, atol=1e-3)


def test_a_singular_covariance_is_drawn_at_its_rank(rng):
    X = np.repeat(rng.normal(size=(5, 3)), 4, axis=0)
    features = GaussianDraws(3, Linear(), constant=False).fit(X, rng=0)
    F = features.transform(X)
    assert_allclose(F[0], F[3], atol=1e-12)  # equal rows, equal values
    # A draw of a linear kernel is w'x with w standard normal.
    w, *_ = np.linalg.lstsq(X, F, rcond=None)
    assert_allclose(X @ w, F, atol=1e-12)
    draws = np.array(
        [
            np.linalg.lstsq(X, GaussianDraws(3, Linear()).fit(X, s).transform(X))[0]
            for s in range(400)
        ]
    )[:, :, 1:]  # after the constant
    assert_allclose(draws.mean(axis=(0, 2)), 0, atol=5 / np.sqrt(1_200))
    assert_allclose(draws.var(axis=(0, 2)), 1, atol=5 * np.sqrt(2 / 1_200))


def test_more_draws_than_the_rank_are_capped(rng):
    X = rng.normal(size=(20, 3))
    with pytest.warns(UserWarning, match="k is 4, .* has numerical rank 3 on the 20"):
        features = GaussianDraws(4, Linear()).fit(X)
    assert features.k_ == 3
    assert features.names_ == ["1", "draw 1", "draw 2", "draw 3"]
    assert features.degree_ == 0


def test_the_seed_decides(X):
    def values(seed):
        return GaussianDraws(2, Gaussian(1.0)).fit(X, seed).transform(X)

    assert_array_equal(values(4), values(4))
    assert np.abs(values(4) - values(5)).max() > 0.1
    generator = np.random.default_rng(4)
    first = GaussianDraws(2, Gaussian(1.0)).fit(X, generator).transform(X)
    again = GaussianDraws(2, Gaussian(1.0)).fit(X, generator).transform(X)
    assert np.abs(first - again).max() > 0.1


def test_as_many_draws_as_rows_leave_nothing_to_penalize(X, rng):
    """If k is the rank of K, the fit interpolates for any alpha."""
    kernel, y = Matern(1.5, 1.0), rng.standard_normal(12)
    features = GaussianDraws(12, kernel, constant=False)
    fit = Problem(Exact(kernel), unpenalized=features).fit(X, y, 10.0, rng=0)
    assert_allclose(fit.predict(X), y, atol=1e-8)


def test_none_at_all(X):
    features = GaussianDraws(0, Gaussian(1.0)).fit(X)
    assert_array_equal(features.transform(X), np.ones((12, 1)))


def test_several_k_are_for_an_estimator(X):
    with pytest.raises(ValueError, match="chooses by K-fold"):
        GaussianDraws([1, 2]).fit(X)


def test_values_at_landmarks_have_the_kernel_as_covariance(X):
    """R' z at the landmarks themselves: the weights are R^-1 z."""
    kernel = Matern(1.5, 1.0)
    features = GaussianDraws(3, kernel, constant=False, n_components=5).fit(X, 2)
    Z = features.expansion_.rows
    z = whitening(kernel(Z)).whiten(features.transform(Z).T.copy()).T
    assert Z.shape == (5, 2)
    assert 0.1 < np.mean(z**2) < 3
    assert_allclose(features.transform(Z), kernel(Z) @ features.expansion_.weights)
