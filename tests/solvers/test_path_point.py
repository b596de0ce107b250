"""One point of the path by Cholesky, compared with the path itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._solvers.cholesky_ridge import factor_of_path, path_point
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual

S, LAM = 14, 0.3


@pytest.fixture
def data(rng):
    Z = rng.normal(size=(S, 2))
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1))
    F = np.column_stack([np.ones(S), Z[:, 0], 40.0 + rng.normal(size=S)])
    return K, F, rng.normal(size=(S, 2)) + 5, rng.uniform(0.2, 3, S)


@pytest.mark.parametrize("alpha", [1e-6, 0.05, 1e3])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_point_answers_as_the_path_does(data, rng, k, alpha):
    K, F, y, w = data
    root, other = np.sqrt(w)[:, None], rng.normal(size=(S, 3))
    K, F, y = root * K * root.T, root * F[:, :k], root * y
    path = ridge_dual(K, y, Elimination(F), w.sum())
    found = path_point(K, y, Elimination(F), w.sum(), alpha)
    for targets in (y, other):
        path, found = path.with_targets(targets), found.with_targets(targets)
        c = path.theta(alpha)
        assert_allclose(found.theta(alpha), c, rtol=1e-8, atol=1e-10 * np.abs(c).max())
        assert_allclose(found.beta(alpha), path.beta(alpha), rtol=1e-7)
        assert_allclose(found.scales(alpha), path.scales(alpha), rtol=1e-8)
        e = path.leave_one_out([alpha])
        assert_allclose(found.leave_one_out([alpha]), e, rtol=1e-7)
    k_x, f_x = 0.1 * rng.normal(size=(5, S)) @ K, rng.normal(size=(5, k))
    k_xx = np.full(5, 40.0)
    expected = factor_of_path(path, path.lam(alpha)).variance(k_x, k_xx, f_x)
    none, variance = found.factor.variance_parts(k_x, k_xx, f_x)
    assert_allclose(variance + none, expected, rtol=1e-7)


def test_a_point_without_degrees_of_freedom(data):
    K, F, y, _ = data
    found = path_point(K[:2, :2], y[:2], Elimination(F[:2], quiet=True), 1.0, LAM)
    assert np.isinf(found.scales(LAM)).all()
    assert np.isinf(found.leave_one_out([LAM])).all()


def test_no_point_where_features_leave_nothing_to_an_indefinite_kernel(capfd):
    K, F = np.array([[0.0, -1.0], [-1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    assert path_point(K, np.ones((2, 1)), Elimination(F), 1.0, LAM) is None
    assert "".join(capfd.readouterr()) == ""  # LAPACK would name its bad argument


@pytest.mark.parametrize("alpha", [1e-5, 0.05, 1e3])
def test_a_point_where_the_kernel_is_definite_only_without_F(rng, data, alpha):
    _, F, y, w = data
    x = rng.uniform(size=S)
    K, F = -np.abs(x[:, None] - x), F[:, :1]
    path = ridge_dual(K, y, Elimination(F), w.sum())
    found = path_point(K, y, Elimination(F), w.sum(), alpha)
    assert_allclose(found.theta(alpha), path.theta(alpha), rtol=1e-8, atol=1e-11)
    assert_allclose(found.beta(alpha), path.beta(alpha), rtol=1e-9)
    assert_allclose(found.scales(alpha), path.scales(alpha), rtol=1e-9)
    e = path.leave_one_out([alpha])
    assert_allclose(found.leave_one_out([alpha]), e, rtol=1e-8)
    k_x, f_x, k_xx = -np.abs(x[:4, None] + 0.3 - x), np.ones((4, 1)), np.zeros(4)
    expected = factor_of_path(path, path.lam(alpha)).variance(k_x, k_xx, f_x)
    _, variance = found.factor.variance_parts(k_x, k_xx, f_x)
    assert_allclose(variance, expected, rtol=1e-8)
    assert path_point(K, y, Elimination(F[:, :0]), w.sum(), alpha) is None


@pytest.mark.parametrize("shift", [0.0, 1e-8])
@pytest.mark.parametrize("lam", [1e-18, 1e-3, 1e3])
def test_no_point_of_an_indefinite_or_singular_matrix(data, lam, shift):
    # An eigenvalue of -shift times the largest: more than 1e-6 is no error of K.
    K, F, y, _ = data
    values, vectors = np.linalg.eigh(K)
    for least, is_error in ((-shift, True), (-1e-3, False)):
        values[0] = least * values[-1]
        A = (vectors * values) @ vectors.T
        found = path_point(A, y, Elimination(F[:, :0]), 1.0, lam)
        assert (found is None) == (lam == 1e-18 or not is_error)
