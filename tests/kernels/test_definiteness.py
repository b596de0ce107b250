"""Definiteness of kernels and of user functions, tested on rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon import ConditionalRegressor
from halfmoon.kernels import (
    Gaussian,
    Laplace,
    Logarithmic,
    Multiquadric,
    Polyharmonic,
    ThinPlate,
    conditional_degree_of,
    least_eigenvalue,
)

KERNELS = [
    Gaussian(1.0), Laplace(1.0), Multiquadric(0.7), Logarithmic(0.7, 1.0),
    Polyharmonic(1.5), Polyharmonic(3), Polyharmonic(4.5), ThinPlate(), ThinPlate(4),
]  # fmt: skip


@pytest.fixture
def X(rng):
    return rng.uniform(size=(60, 2))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_degree_that_a_kernel_declares_is_the_one_that_rows_show(kernel, X):
    assert conditional_degree_of(kernel, X) == kernel.conditional_degree


def test_it_is_the_least_eigenvalue_of_what_is_left(X):
    K, F = ThinPlate()(X), np.c_[np.ones(60), X]
    Q = np.linalg.qr(F)[0]
    P = np.eye(60) - Q @ Q.T
    s = np.linalg.eigvalsh(P @ K @ P)  # those of N'KN, and three zeros
    expected = np.sort(s[np.abs(s) > 1e-9 * s.max()])[0] / s.max()
    assert_allclose(least_eigenvalue(ThinPlate(), X, F), expected, rtol=1e-6)
    assert least_eigenvalue(ThinPlate(), X) < -0.1


def test_a_function_with_respect_to_features_of_its_own(X):
    """k is positive definite but for a multiple of f f'."""

    def f(rows):
        return np.sin(7 * rows[:, :1])

    def kernel(A, B):
        return Gaussian(0.5)(A, B) - 50.0 * f(A) @ f(B).T

    assert conditional_degree_of(kernel, X) is None
    assert least_eigenvalue(kernel, X) < -0.5
    assert least_eigenvalue(kernel, X, f(X)) > -1e-10
    y = np.cos(3 * X[:, 1])
    setting = {"alpha": 1e-4, "unpenalized": f}
    ours = ConditionalRegressor(kernel, **setting).fit(X, y).predict(X)
    plain = ConditionalRegressor(Gaussian(0.5), **setting).fit(X, y).predict(X)
    assert_allclose(ours, plain, atol=1e-8)


def test_what_is_no_kernel(X):
    with pytest.raises(ValueError, match="not symmetric"):
        least_eigenvalue(lambda A, B: A[:, :1] @ np.ones((1, len(B))), X)
    with pytest.raises(ValueError, match="too few"):
        conditional_degree_of(lambda A, B: -Gaussian(1.0)(A, B), X[:3])
