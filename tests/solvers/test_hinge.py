"""The hinge loss as a quadratic program: its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from halfmoon.solvers import hinge_dual


@pytest.fixture
def K(rng):
    X = rng.normal(size=(40, 2))
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))


@pytest.fixture
def y(rng):
    return np.where(rng.uniform(size=(40, 2)) < 0.4, 1.0, -1.0)


def test_optimality(K, y, rng):
    # 0 <= y_i c_i <= C_i = w_i / (2 alpha W), sum c = 0; the margin is above 1 where
    # c = 0, below 1 where it is at its bound, and 1 between.
    w, alpha = rng.uniform(0.3, 3, 40), 0.01
    c, b = hinge_dual(K, y, w, alpha, tolerance=1e-9)
    bound = w / (2 * alpha * w.sum())
    for j in range(2):
        a, margin = y[:, j] * c[:, j], y[:, j] * (K @ c[:, j] + b[j])
        assert_allclose(c[:, j].sum(), 0, atol=1e-9)
        assert (a >= 0).all()
        assert (a <= bound * (1 + 1e-12)).all()
        between = (a > 1e-9) & (a < bound * (1 - 1e-9))
        at_bound = a >= bound * (1 - 1e-9)
        assert between.any()
        assert at_bound.any()
        assert_allclose(margin[between], 1, atol=1e-6)
        assert (margin[at_bound] <= 1 + 1e-6).all()
        assert (margin[a <= 1e-9] >= 1 - 1e-6).all()


def test_svc(K, y):
    # C = 1 / (2 alpha l)
    c, b = hinge_dual(K, y, np.ones(40), 0.02)
    for j in range(2):
        peer = SVC(C=1 / (2 * 0.02 * 40), kernel="precomputed").fit(K, y[:, j])
        assert_allclose(K @ c[:, j] + b[j], peer.decision_function(K), atol=1e-12)


def test_refusals(K, y):
    w = np.ones(40)
    with pytest.raises(ValueError, match="alpha is 0; the hinge loss needs a positive"):
        hinge_dual(K, y, w, 0)
    with pytest.raises(ValueError, match="alpha is nan"):
        hinge_dual(K, y, w, np.nan)
    with pytest.raises(ValueError, match="targets that are -1 or 1"):
        hinge_dual(K, 2 * y, w, 0.1)
    y[:, 1] = -1.0
    with pytest.raises(ValueError, match=r"Target 1 is -1 in every labeled row.*Label"):
        hinge_dual(K, y, w, 0.1)
