"""Whitening against its definition, at full rank, at none and in between."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._whitening import identity_whitening, whitening
from halfmoon.kernels import Gaussian


def with_spectrum(values, seed=0):
    p = len(values)
    U, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(p, p)))
    return (U * values) @ U.T, U


def pseudo_inverse(values, U, rank):
    """Of the `rank` largest: values fall."""
    return (U[:, :rank] / values[:rank]) @ U[:, :rank].T


# name, spectrum (falling), rank
SPECTRA = [
    ("one", np.array([2.0]), 1),
    ("well", np.linspace(3.0, 0.5, 6), 6),
    ("ill", np.logspace(0, -10, 6), 6),
    ("nearly singular", np.logspace(3, -14, 6), 5),
    ("singular", np.array([5.0, 1.0, 0.2, 0.0, 0.0]), 3),
    ("large", 1e200 * np.array([2.0, 1.0, 0.0]), 2),
    ("small", 1e-200 * np.array([2.0, 1.0, 0.0]), 2),
    ("rank one", np.array([4.0, 0.0, 0.0, 0.0]), 1),
]


@pytest.mark.parametrize(("name", "values", "rank"), SPECTRA)
def test_identities(rng, name, values, rank):
    Q, _ = with_spectrum(values)
    w = whitening(Q)
    p, top = len(values), values[0]
    # The condition number above the cut bounds the accuracy.
    rounding = 3e-16 * p * top / values[rank - 1]
    assert w.rank == rank
    assert w.null.shape == (p, p - rank)
    assert w.truncated == (rank < p)

    # R^-T Q R^-1 = I, both by hand and by `congruence`
    inverse_root = w.unwhiten(np.eye(rank))  # R^-1, (p, rank)
    assert_allclose(w.congruence(Q), np.eye(rank), atol=rounding)
    assert_allclose(inverse_root.T @ Q @ inverse_root, np.eye(rank), atol=rounding)

    # The range and the null space together are everything.
    assert_allclose(w.null.T @ w.null, np.eye(p - rank), atol=1e-12)
    assert np.abs(Q @ w.null).max(initial=0) <= 1e-15 * p * top

    Phi, theta = rng.normal(size=(7, p)), rng.normal(size=(rank, 2))
    G = Phi.T @ Phi
    assert_allclose(w.whiten(Phi), Phi @ inverse_root, rtol=1e-9)
    assert_allclose(
        w.congruence(G),
        inverse_root.T @ G @ inverse_root,
        rtol=1e-9,
        atol=1e-12 * np.abs(inverse_root).max() ** 2,
    )
    # whiten and unwhiten go together: Phi R^-1 theta~ = Phi theta
    assert_allclose(
        w.whiten(Phi) @ theta,
        Phi @ w.unwhiten(theta),
        rtol=1e-9,
        atol=1e-10 * np.abs(inverse_root).max(),
    )


@pytest.mark.parametrize(
    ("name", "values", "rank"), [row for row in SPECTRA if row[0] != "nearly singular"]
)
def test_inner_products_are_those_of_the_pseudo_inverse(rng, name, values, rank):
    Q, U = with_spectrum(values)
    Phi = rng.normal(size=(7, len(values)))
    W = whitening(Q).whiten(Phi)
    expected = Phi @ pseudo_inverse(values, U, rank) @ Phi.T
    rounding = 1e-15 * len(values) * values[0] / values[rank - 1]
    assert_allclose(W @ W.T, expected, atol=10 * rounding * np.abs(expected).max())


def test_root_times_its_transpose_is_the_penalty():
    Q, _ = with_spectrum(np.linspace(3.0, 0.5, 6))
    R = whitening(Q).root
    assert_allclose(R, np.triu(R))
    assert_allclose(R.T @ R, Q, rtol=1e-13, atol=1e-15)


def test_norms_are_kept(rng):
    # theta'Q theta = |theta~|^2, which is what the coordinates are for
    for values, rank in [(np.linspace(3, 0.5, 6), 6), (np.array([5, 1, 0.2, 0, 0]), 3)]:
        Q, _ = with_spectrum(values)
        white = rng.normal(size=(rank, 4))
        theta = whitening(Q).unwhiten(white)
        actual = np.einsum("pt,pq,qt->t", theta, Q, theta)
        assert_allclose(actual, (white**2).sum(axis=0), rtol=1e-12)


def test_equal_landmarks_lower_the_rank(rng):
    X = rng.normal(size=(6, 2))
    Z = X[[0, 1, 2, 3, 3, 4, 0, 0]]
    kernel = Gaussian(0.7)
    w = whitening(kernel(Z))
    assert w.rank == 5
    # The span is the same as without the copies, and so is the kernel on it.
    distinct = kernel(X, X[:5])
    expected = distinct @ np.linalg.solve(kernel(X[:5]), distinct.T)
    W = w.whiten(kernel(X, Z))
    assert_allclose(W @ W.T, expected, rtol=1e-10)


def test_zero_has_rank_zero():
    w = whitening(np.zeros((3, 3)))
    assert w.rank == 0
    assert_allclose(w.null.T @ w.null, np.eye(3))
    assert w.whiten(np.ones((4, 3))).shape == (4, 0)
    assert_allclose(w.unwhiten(np.empty((0, 2))), np.zeros((3, 2)))
    assert w.congruence(np.ones((3, 3))).shape == (0, 0)


def test_negative_eigenvalues_of_rounding_are_null():
    Q, _ = with_spectrum(np.array([1.0, 0.5, -1e-12]))
    assert whitening(Q).rank == 2


@pytest.mark.parametrize("values", [[1.0, 0.5, -0.1], [-1.0, -2.0], [1.0, -1e-7]])
def test_what_is_not_positive_semi_definite_is_refused(values):
    Q, _ = with_spectrum(np.array(values))
    with pytest.raises(ValueError, match=r"not positive semi-definite: its eigenvalue"):
        whitening(Q)


def test_a_diagonal_is_divided_by_its_root(rng):
    values = np.array([4.0, 1e-6, 9.0, 1.0])
    w, Phi = whitening(np.diag(values)), rng.normal(size=(7, 4))
    assert w.root.shape == (4,)
    assert w.rank == 4
    assert_allclose(w.whiten(Phi), Phi / np.sqrt(values), rtol=1e-15)
    assert_allclose(w.unwhiten(Phi.T), Phi.T / np.sqrt(values)[:, None], rtol=1e-15)
    assert_allclose(w.congruence(np.diag(values)), np.eye(4), rtol=1e-15)
    # The same coordinates as without the short cut, up to a rotation.
    tilted = np.diag(values)
    tilted[0, 1] = tilted[1, 0] = 1e-12
    dense = whitening(tilted).whiten(Phi)
    assert_allclose(dense @ dense.T, w.whiten(Phi) @ w.whiten(Phi).T, rtol=1e-6)


def test_a_diagonal_with_zeros_is_truncated():
    w = whitening(np.diag([2.0, 0.0, 1.0]))
    assert w.truncated
    assert w.rank == 2
    assert_allclose(np.abs(w.null.ravel()), [0, 1, 0], atol=1e-15)


def test_the_identity_is_not_formed():
    root = identity_whitening(4)
    same = whitening(np.eye(4))
    Phi = np.arange(8.0).reshape(2, 4)
    assert root.root.shape == same.root.shape == (4,)
    assert (root.rank, root.null.shape) == (4, (4, 0))
    assert_allclose(root.whiten(Phi), same.whiten(Phi))
    assert_allclose(root.unwhiten(Phi.T), same.unwhiten(Phi.T))
    assert_allclose(root.congruence(Phi.T @ Phi), Phi.T @ Phi)
