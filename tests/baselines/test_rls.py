"""RLSC: kernel ridge on class indicators."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier

from halfmoon.baselines import RLSClassifier
from halfmoon.kernels import Gaussian


def data(k=2, n=50, l=20):
    X = np.random.default_rng(0).normal(0.5, 1.0, (n, 4))
    c = np.digitize(X[:, 0] + X[:, 1], [1.0, 2.0][: k - 1])
    return X, np.where(np.arange(n) < l, c, np.nan)


@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        ("linear", {"kernel": "linear"}),
        (Gaussian(1.5), {"kernel": "rbf", "gamma": 1 / (2 * 1.5**2)}),
    ],
)
def test_against_kernel_ridge(kernel, peer):
    X, y = data()
    other = KernelRidge(alpha=0.6, **peer).fit(X[:20], 2 * y[:20] - 1)
    model = RLSClassifier(kernel, alpha=0.6 / 20).fit(X, y)
    assert_allclose(model.decision_function(X), other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_against_ridge_classifier(k):
    X, y = data(k)
    other = RidgeClassifier(alpha=0.6).fit(X[:20], y[:20])
    model = RLSClassifier(alpha=0.6 / 20, unpenalized="constant").fit(X, y)
    scores = model.decision_function(X)
    if k == 3:  # 0 and 1 in place of -1 and 1
        scores = 2 * scores - 1
    assert_allclose(scores, other.decision_function(X), rtol=1e-9, atol=1e-12)
    assert_array_equal(model.predict(X), other.predict(X))


def test_alpha_by_leave_one_out():
    X, y = data()
    alphas = [1e-4, 1e-2, 1.0, 100.0]
    errors = []
    for alpha in alphas:
        squares = []
        for i in range(20):
            rest = np.delete(np.arange(20), i)
            # lam = 20 alpha is held
            other = KernelRidge(alpha=20 * alpha).fit(X[rest], 2 * y[rest] - 1)
            squares.append((2 * y[i] - 1 - other.predict(X[[i]])[0]) ** 2)
        errors.append(np.mean(squares))
    model = RLSClassifier(alpha=alphas).fit(X, y)
    assert_allclose(model.loo_errors_, errors, rtol=1e-8)
    assert model.alpha_ == alphas[int(np.argmin(errors))]


def test_unlabeled_rows_are_ignored():
    X, y = data()
    model, alone = (RLSClassifier(alpha=0.1).fit(X[:n], y[:n]) for n in (50, 20))
    assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-10)
