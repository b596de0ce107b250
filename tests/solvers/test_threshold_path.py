"""Hard threshold: every k and alpha from one eigendecomposition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon import Problem
from halfmoon._solvers.feature_path import hard_threshold
from halfmoon.bases import Exact
from halfmoon.kernels import NNGP, Gaussian, Linear
from halfmoon.unpenalized import Features


@pytest.fixture
def data(rng):
    X, X_test = rng.standard_normal((40, 3)), rng.standard_normal((15, 3))
    return X, rng.standard_normal((40, 2)), X_test, rng.standard_normal((15, 2))


@pytest.mark.parametrize("k", [0, 1, 7, 39])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0])
def test_unpenalized_eigenfunctions_of_the_general_solver(data, k, alpha):
    X, y, X_test, _ = data
    kernel = NNGP("erf")
    path = hard_threshold(kernel(X), y)
    features = Features(
        lambda rows: kernel(rows, X) @ (path.U[:, :k] / path.s[:k]), constant=False
    )
    problem = Problem(Exact(kernel), unpenalized=features if k else None)
    expected = problem.fit(X, y, alpha).predict(X_test)
    actual = kernel(X_test, X) @ path.dual_coef(k, alpha)
    assert_allclose(actual, expected, atol=1e-7 * np.abs(expected).max())


def test_errors_are_those_of_each_k_and_alpha_alone(data):
    X, y, X_test, y_test = data
    kernel, alphas = NNGP("erf"), [0.0, 1e-3, 0.5]
    path, K_x = hard_threshold(kernel(X), y), kernel(X_test, X)
    errors = path.errors(K_x, y_test, alphas)
    assert errors.shape == (3, 41)
    for j, alpha in enumerate(alphas):
        for k in range(41):
            residual = y_test - K_x @ path.dual_coef(k, alpha)
            assert_allclose(errors[j, k], np.mean(residual**2), rtol=1e-9)


def test_without_a_threshold_it_is_kernel_ridge(data):
    X, y, _, _ = data
    K = Gaussian(1.0)(X)
    expected = np.linalg.solve(K + 40 * 0.1 * np.eye(40), y)
    assert_allclose(hard_threshold(K, y).dual_coef(0, 0.1), expected, atol=1e-12)


def test_modes_beyond_the_rank_do_not_count(data):
    X, y, X_test, y_test = data
    path = hard_threshold(Linear()(X), y)
    assert path.s.shape == (3,)
    # With every mode free it is least squares on the three columns.
    w, *_ = np.linalg.lstsq(X, y, rcond=None)
    actual = Linear()(X_test, X) @ path.dual_coef(3, 1.0)
    assert_allclose(actual, X_test @ w, rtol=1e-10)
    errors = path.errors(Linear()(X_test, X), y_test, [1.0])
    assert_allclose(errors[0, -1], np.mean((y_test - X_test @ w) ** 2), rtol=1e-10)


def test_a_kernel_of_zeros_predicts_zero(data):
    _, y, _, y_test = data
    path = hard_threshold(np.zeros((40, 40)), y)
    errors = path.errors(np.zeros((15, 40)), y_test, [1.0])
    assert_allclose(errors, [[np.mean(y_test**2)]])
