"""Synthetic tables: the sizes, places and labels that the papers give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from halfmoon.datasets import (
    concentric_circles,
    noisy_circles,
    noisy_line,
    reveal,
    two_gaussians,
)


def test_circles_have_their_radii_and_alternate():
    X, y, circle = concentric_circles(202, 4, rng=0)
    assert_allclose(np.hypot(*X.T), circle + 1.0)
    assert_array_equal(np.bincount(circle), [51, 50, 51, 50])
    assert_array_equal(y, [-1.0 if c in (0, 2) else 1.0 for c in circle])
    again, _, _ = concentric_circles(202, 4, rng=0)
    assert_array_equal(X, again)


def test_gaussians_are_three_apart_with_unit_deviation():
    X, y = two_gaussians(40_000, 10, rng=1)
    assert y.sum() == 0
    means = X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
    assert_allclose(means[0] - means[1], [3.0] + [0.0] * 9, atol=0.05)
    assert_allclose(X[y > 0].std(axis=0), 1.0, atol=0.03)


def test_line_is_uniform_with_noise_in_every_column():
    X, y = noisy_line(40_000, 5, noise=0.2, rng=2)
    variances = [1 / 3 + 0.04, 0.04, 0.04, 0.04, 0.04]
    assert_allclose(np.cov(X.T), np.diag(variances), atol=0.005)
    assert_array_equal(y, np.sign(X[:, 0]))
    clean, _ = noisy_line(40_000, 5, noise=0.0, rng=2)
    assert_allclose(np.quantile(clean[:, 0], [0, 0.25, 1]), [-1, -0.5, 1], atol=0.02)
    assert_array_equal(clean[:, 1:], 0.0)


def error_of_best(models, draw, per_class, n_draws):
    """Mean over draws of the least error that one of the models has on other rows."""
    errors = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        X, y = draw(2_000, rng=rng)
        labeled = ~np.isnan(reveal(y, y, per_group=per_class, rng=rng))
        values = (m.fit(X[labeled], y[labeled]).predict(X[~labeled]) for m in models)
        errors.append(min(np.mean(np.sign(v) != y[~labeled]) for v in values))
    return np.mean(errors)


def test_ridge_errs_on_the_line_as_in_the_paper():
    models = [Ridge(alpha, fit_intercept=False) for alpha in (1.0, 10.0, 100.0)]
    assert_allclose(error_of_best(models, noisy_line, 8, 40), 0.10, atol=0.01)


def test_kernel_ridge_errs_on_the_circle_as_in_the_paper():
    models = [KernelRidge(0.1, kernel="rbf", gamma=gamma) for gamma in (0.5, 1, 1.5, 2)]
    assert_allclose(error_of_best(models, noisy_circles, 16, 30), 0.174, atol=0.015)


def test_arcs_alternate_around_a_unit_circle():
    X, y = noisy_circles(4_000, 6, noise=0.0, rng=3)
    assert_allclose(np.hypot(X[:, 0], X[:, 1]), 1.0)
    assert_array_equal(X[:, 2:], 0.0)
    assert_array_equal(y, np.sign(X[:, 0] * X[:, 1]))
    noisy, y = noisy_circles(40_000, 6, noise=0.2, rng=3)
    variances = [0.54, 0.54, 0.04, 0.04, 0.04, 0.04]
    assert_allclose(np.cov(noisy.T), np.diag(variances), atol=0.01)
    assert_array_equal(y, np.sign(noisy[:, 0] * noisy[:, 1]))  # of the row, not before


@pytest.mark.parametrize("n_arcs", [2, 4, 6])
def test_arcs_are_as_many_as_asked_for(n_arcs):
    X, y = noisy_circles(5_000, 2, n_arcs, noise=0.0, rng=4)
    angle = np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi)
    around = y[np.argsort(angle)]
    assert around[0] == 1.0
    assert (np.diff(around) != 0).sum() == n_arcs - 1
    assert abs(y.mean()) < 0.05


def test_arcs_that_cannot_alternate_are_refused():
    with pytest.raises(ValueError, match="n_arcs is 3"):
        noisy_circles(n_arcs=3)
    with pytest.raises(ValueError, match="n_features is 1 "):
        noisy_circles(n_features=1)


def test_reveal_shows_some_of_each_group():
    y = np.arange(12.0)
    groups = np.repeat([0, 1, 2], 4)
    shown = reveal(y, groups, per_group=2, rng=0)
    known = ~np.isnan(shown)
    assert_array_equal(np.bincount(groups[known]), [2, 2, 2])
    assert_array_equal(shown[known], y[known])
