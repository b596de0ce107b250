"""Synthetic tables: the sizes, places and labels that the papers give."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.datasets import concentric_circles, reveal, two_gaussians


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


def test_reveal_shows_some_of_each_group():
    y = np.arange(12.0)
    groups = np.repeat([0, 1, 2], 4)
    shown = reveal(y, groups, per_group=2, rng=0)
    known = ~np.isnan(shown)
    assert_array_equal(np.bincount(groups[known]), [2, 2, 2])
    assert_array_equal(shown[known], y[known])
