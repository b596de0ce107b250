"""Conjugate gradients against the dense solve."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from halfmoon._solvers.preconditioned_cg import (
    conjugate_gradients,
    nystrom_preconditioner,
)


@pytest.fixture
def A(rng):
    """A spectrum that falls fast, like that of a kernel matrix."""
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    return Q * (100.0 * 0.7 ** np.arange(60)) @ Q.T


@pytest.fixture
def b(rng):
    b = rng.normal(size=(60, 4))
    b[:, 1] *= 1e-6  # each column is judged by its own size
    b[:, 2] = 0.0
    return b


def factor(A, m):
    values, vectors = np.linalg.eigh(A)
    return vectors[:, -m:] * np.sqrt(values[-m:])


@pytest.mark.parametrize("rank", [0, 5, 25])
def test_equals_the_dense_solve(A, b, rank):
    lam = 1e-2
    M = nystrom_preconditioner(factor(A, rank), lam) if rank else None
    result = conjugate_gradients(
        lambda v: A @ v + lam * v, b, preconditioner=M, tolerance=1e-12
    )
    expected = np.linalg.solve(A + lam * np.eye(60), b)
    assert result.converged
    assert_allclose(result.value, expected, rtol=1e-7, atol=1e-14)
    assert_array_equal(result.value[:, 2], 0.0)
    assert result.residual[2] == 0.0


def test_the_residual_is_the_true_one(A, b):
    lam = 1e-2
    result = conjugate_gradients(lambda v: A @ v + lam * v, b, tolerance=1e-6)
    r = b - A @ result.value - lam * result.value
    sizes = np.linalg.norm(b, axis=0)
    sizes[2] = 1.0
    assert_allclose(result.residual, np.linalg.norm(r, axis=0) / sizes, rtol=1e-6)
    assert (result.residual <= 1e-5).all()


def test_a_preconditioner_saves_iterations(A, b):
    def iterations(m):
        M = nystrom_preconditioner(factor(A, m), 1e-3) if m else None
        return conjugate_gradients(
            lambda v: A @ v + 1e-3 * v, b, preconditioner=M
        ).iterations

    counts = [iterations(m) for m in [0, 8, 30]]
    assert counts[0] > counts[1] > counts[2]
    assert 2 * counts[2] < counts[0]


def test_preconditioner_formula(A, rng):
    # M^-1 = U diag((s_m^2 + lam) / (s^2 + lam)) U' + (I - U U')
    G, lam = factor(A, 6), 0.3
    U, s, _ = np.linalg.svd(G, full_matrices=False)
    expected = U * ((s[-1] ** 2 + lam) / (s**2 + lam)) @ U.T + np.eye(60) - U @ U.T
    r = rng.normal(size=(60, 2))
    assert_allclose(nystrom_preconditioner(G, lam)(r), expected @ r, rtol=1e-10)
    # Columns that depend on others, or are 0, change nothing.
    more = np.c_[G, G[:, :2], np.zeros(60)]
    U, s, _ = np.linalg.svd(more, full_matrices=False)
    U, s = U[:, :6], s[:6]
    expected = U * ((s[-1] ** 2 + lam) / (s**2 + lam)) @ U.T + np.eye(60) - U @ U.T
    assert_allclose(nystrom_preconditioner(more, lam)(r), expected @ r, rtol=1e-9)
    assert_array_equal(nystrom_preconditioner(np.zeros((60, 3)), lam)(r), r)


def test_stopped_early(A, b):
    with pytest.warns(ConvergenceWarning, match="Raise alpha, the rank of the precond"):
        result = conjugate_gradients(lambda v: A @ v + 1e-4 * v, b, max_iterations=2)
    assert not result.converged
    assert result.iterations == 2
    assert result.residual.max() > 1e-7


def test_nothing_to_do(A):
    result = conjugate_gradients(lambda v: A @ v, np.zeros((60, 2)))
    assert result.converged
    assert result.iterations == 0
    assert_array_equal(result.value, 0.0)


def test_the_right_hand_side_is_left_alone(A, b):
    before = b.copy()
    conjugate_gradients(lambda v: A @ v + v, b)
    assert_array_equal(b, before)
