"""The conditional learner and the cost of conditioning, on the circle."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, PeriodicSobolev
from halfmoon.problem import Problem
from halfmoon.theory import conditional_learner, cost_of_conditioning
from halfmoon.unpenalized import Constant, Features


@pytest.fixture
def rows(rng):
    return rng.normal(size=(30, 2)), rng.normal(size=(9, 2))


# Section 6 of the paper: the circle, with sines and cosines unpenalized.

GRID = 2 * np.pi * np.arange(128)[:, None] / 128  # the uniform distribution


def waves(k):
    def values(X):
        angle = X * np.arange(1, k + 1)
        return np.hstack([np.cos(angle), np.sin(angle)])

    return Features(values)


def truth(X):
    return np.cos(X * np.arange(6)) @ np.arange(6.0)


def sample(rng, n, noise=1.0):
    X = rng.uniform(0, 2 * np.pi, (n, 1))
    return X, truth(X) + noise * rng.standard_normal(n)


def test_the_learner_knows_the_part_in_the_span(rng):
    """By its definition: ridge with the tail of the series, on y less that part."""
    X, y = sample(rng, 40)
    kernel, alpha, s = PeriodicSobolev(2.0), 0.01, 2.0
    learned = conditional_learner(
        kernel, waves(2), X, y, alpha, truth=truth, population=GRID
    )

    def tail(A, B):  # the series from its third term on: waves 0, 1, 2 are taken out
        i = np.arange(3, 64)
        return np.cos((A - B.T)[:, :, None] * i) @ i ** (-2 * s)

    def known(X):
        return np.cos(X[:, 0]) + 2 * np.cos(2 * X[:, 0])

    c = np.linalg.solve(tail(X, X) + 40 * alpha * np.eye(40), y - known(X))
    new = rng.uniform(0, 2 * np.pi, (7, 1))
    assert learned(new).shape == (7,)
    # The grid has 128 rows, so waves beyond 64 are seen as others: 64^-4 = 6e-8.
    assert_allclose(learned(new), known(new) + tail(new, X) @ c, atol=1e-4)


def test_cost_is_a_distance_in_two_parts(rng):
    """Definition 4.1: a part in the span and one orthogonal to it."""
    X, y = sample(rng, 40)
    kernel, features, alpha = PeriodicSobolev(1.0), waves(2), 0.01
    settings = {"truth": truth, "population": GRID}
    cost = cost_of_conditioning(kernel, features, X, y, alpha, **settings)
    ours = Problem(Exact(kernel), unpenalized=features).fit(X, y, alpha).predict
    theirs = conditional_learner(kernel, features, X, y, alpha, **settings)
    apart = ours(GRID) - theirs(GRID)
    F = features.fit(GRID).transform(GRID)
    inside = F @ np.linalg.lstsq(F, apart, rcond=None)[0]
    parts = np.mean(inside**2) + np.mean((apart - inside) ** 2)
    assert_allclose(cost, parts, rtol=1e-9)
    new = rng.uniform(0, 2 * np.pi, (13, 1))
    elsewhere = cost_of_conditioning(
        kernel, features, X, y, alpha, **settings, rows=new
    )
    assert_allclose(elsewhere, np.mean((ours(new) - theirs(new)) ** 2), rtol=1e-9)
    two = cost_of_conditioning(
        kernel, features, X, np.column_stack([y, y]), alpha, rows=GRID,
        truth=lambda X: np.column_stack([truth(X), truth(X)]), population=GRID,
    )  # fmt: skip
    assert_allclose(two, cost, rtol=1e-9)


def mean_cost(rng, n, noise=1.0, k=5, repeats=60):
    costs = np.empty(repeats)
    for i in range(repeats):
        X, y = sample(rng, n, noise)
        costs[i] = cost_of_conditioning(
            PeriodicSobolev(1.0), waves(k), X, y, 0.01, truth=truth, population=GRID
        )
    return costs.mean(), costs.std() / np.sqrt(repeats)


@pytest.mark.parametrize("n", [100, 150])
def test_cost_is_about_the_noise_times_dim_over_n(rng, n):
    """About 1.1 sigma^2 dim F / N for a truth in the span, here of 11 dimensions.

    The standard error of the mean is 6 percent with 60 repeats, and dim F / N = .1 adds
    another tenth: 1.1 to 1.2, give or take three standard errors.
    """
    mean, error = mean_cost(rng, n)
    unit = 11 / n
    assert error < 0.09 * unit
    assert 1.1 * unit - 3 * error < mean < 1.2 * unit + 3 * error


def test_cost_scales_with_the_variance_of_the_noise():
    few = [
        mean_cost(np.random.default_rng(5), 60, noise, repeats=3)[0]
        for noise in (1.0, 3.0)
    ]
    assert_allclose(few[1] / few[0], 9.0, rtol=1e-6)  # the truth is in the span
    assert mean_cost(np.random.default_rng(5), 60, 0.0, repeats=1)[0] < 1e-16


def test_the_part_outside_the_span_costs_too():
    """Without waves 3 to 5 the cost is several times that of the noise alone."""
    mean, _ = mean_cost(np.random.default_rng(5), 100, k=2, repeats=10)
    assert mean > 2 * 1.1 * 5 / 100


def test_errors_say_what_to_do(rows):
    X, _ = rows
    settings = {"truth": lambda X: X[:, 0], "population": X}
    with pytest.raises(ValueError, match="1 of the 30 rows have no label"):
        cost_of_conditioning(
            Gaussian(1.0), Constant(), X, np.r_[np.nan, X[1:, 0]], 0.1, **settings
        )
    with pytest.raises(ValueError, match="for the 30 rows of the population; one val"):
        conditional_learner(
            Gaussian(1.0), Constant(), X, X[:, 0], 0.1,
            truth=lambda X: X[:3, 0], population=X,
        )  # fmt: skip
