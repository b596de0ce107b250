"""What the laplacian experiments measure and compare, where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.laplacian.figure_1 import right
from experiments.laplacian.figure_2 import at_even_steps, frequency, shares, within
from experiments.laplacian.gaussians import (
    BEST_ERROR,
    draw,
    errors,
    exact,
    graph,
    kernelized,
    least_square,
    sigma,
)
from experiments.laplacian.pictures import plane, shown
from experiments.laplacian.theorem_1 import slope, trend
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import norm

circle = np.repeat(np.arange(4), [25, 32, 32, 43])


def test_signs_of_nothing_are_half_right():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    assert right(np.array([3.0, 1.0, 0.0, 1e-14]), y) == (1 + 0 + 0.5 + 0.5) / 4


def test_even_steps_close_each_circle():
    X = at_even_steps(circle)
    assert_allclose(np.hypot(*X.T), circle + 1.0)
    for c in range(4):
        on = X[circle == c]
        steps = np.hypot(*(on - np.roll(on, 1, axis=0)).T)
        assert_allclose(steps, 2 * (c + 1) * np.sin(np.pi / len(on)))


def test_measures_of_eigenvectors():
    X = at_even_steps(circle)
    angle = np.arctan2(X[:, 1], X[:, 0])
    flat = np.where(circle == 2, 7.0, 0.0)
    wave = np.where(circle == 3, np.sin(2 * angle), 0.0)
    # 1 + sqrt(2) cos has mean square 1 + 1, half of which is within the circle.
    mixed = np.where(circle == 1, 1 + np.sqrt(2) * np.cos(angle), 0.0)
    V = np.column_stack([flat, wave, mixed])
    assert_allclose(within(V, circle), [0, 1, 0.5], atol=1e-12)
    assert_allclose(shares(flat + 7.0, circle), np.array([25, 32, 128, 43]) / 228)
    assert [frequency(v, circle, angle) for v in V.T[:2]] == [0, 2]


def test_slope_of_an_exact_power_and_its_error(rng):
    ns = np.array([100.0, 400.0, 1_600.0])
    power = [np.full(4, 5 * n**-0.7) for n in ns]
    assert_allclose(slope(ns, power), [-0.7, 0], atol=1e-12)
    # Against many repetitions: the deviation of the slope is the error that it states.
    noise = rng.gamma(100, 0.01, (2_000, 3, 12))
    found = [slope(ns, list(ns[:, None] ** -0.5 * each)) for each in noise]
    slopes, stated = np.transpose(found)
    assert_allclose(slopes.mean(), -0.5, atol=0.003)
    assert_allclose(stated.mean(), slopes.std(), rtol=0.08)


def test_trend_over_doublings():
    # -1 + 0.1 log2 d at d = 1, 2, 4; weights -1/2, 0, 1/2 on errors 0.2, 0.5, 0.2.
    slopes = {1: (-1.0, 0.2), 2: (-0.9, 0.5), 4: (-0.8, 0.2)}
    assert_allclose(trend(slopes), [0.1, np.sqrt(2) * 0.1])


def test_least_errors_of_two_gaussians(rng):
    assert_allclose(BEST_ERROR, norm.cdf(-1.5), rtol=1e-5)
    x = rng.standard_normal(400_000) + 3  # of one class
    g = (norm.pdf(x - 3) - norm.pdf(x)) / (norm.pdf(x - 3) + norm.pdf(x))
    assert_allclose(least_square(), (1 - g**2).mean(), atol=0.002)


def test_errors_count_unlabeled_rows_only():
    table = draw(40, 0)
    hidden = np.isnan(table.known)
    assert (~hidden).sum() == 4
    assert_array_equal(table.known[~hidden], table.y[~hidden])
    g = 0.5 * table.y
    g[~hidden] = -100
    assert errors(table, g) == (0, 0, 0.25)
    # A shift turns signs, but not the sides of the median.
    assert errors(table, g + 1) == (0.5, 0, 1.25)


def test_graph_is_the_harmonic_function():
    table = draw(60, 1)
    W = np.exp(-cdist(table.X, table.X, "sqeuclidean") / (2 * sigma(60) ** 2))
    hidden = np.isnan(table.known)
    L = np.diag(W.sum(axis=1)) - W
    expected = np.linalg.solve(
        L[np.ix_(hidden, hidden)], -L[np.ix_(hidden, ~hidden)] @ table.y[~hidden]
    )
    assert_allclose(graph(table)[hidden], expected, rtol=1e-7)


@pytest.mark.parametrize("covariance", ["labeled", "all"])
def test_kernelized_is_algorithm_1(covariance):
    table, n = draw(40, 2), 40  # p = n: no landmarks are drawn
    K = np.exp(-cdist(table.X, table.X, "sqeuclidean") / (2 * sigma(n) ** 2))
    steps = table.X[:, None, :] - table.X[None, :, :]
    Z = (-K[:, :, None] * steps / sigma(n) ** 2).transpose(0, 2, 1).reshape(-1, n)
    L = Z.T @ Z / n
    known = ~np.isnan(table.known)
    K_l = K[known]
    Sigma = K_l.T @ K_l / 4 if covariance == "labeled" else K @ K / n
    c = np.linalg.solve(Sigma + L + K / n, K_l.T @ table.y[known] / 4)
    values = kernelized(table, 2, covariance=covariance)
    assert_allclose(values, K @ c, atol=1e-6)


def test_exact_has_less_to_pay_than_landmarks():
    # Equation 5 at its minimizer is y'(y - g) / l over labeled rows: least when exact.
    table = draw(40, 3)
    known = ~np.isnan(table.known)
    y = table.y[known]
    paid = [(y @ (y - g[known])) / 4 for g in (exact(table), kernelized(table, 3))]
    assert paid[0] < paid[1]


def test_shown_surfaces_keep_sign_and_order():
    assert_array_equal(shown(np.array([-4.0, 0.0, 1.0])), [-100, 0, 50])
    assert plane().shape[1] == 2
