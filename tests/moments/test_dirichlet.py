"""Dirichlet energy against the (n d)-by-p matrix of all gradients."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._moments import dirichlet, dirichlet_and_covariance
from halfmoon.bases import (
    Exact,
    Nystrom,
    RandomFeatures,
    Smoothed,
    WithDerivatives,
)
from halfmoon.blocks import Stream
from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    PeriodicSobolev,
    Polynomial,
)
from halfmoon.smoothers import KernelWeights, Neighbors
from helpers import BASES, BLOCK_ROWS, DIFFERENTIABLE, central_differences, peak_bytes

RADIAL = [kernel for kernel in DIFFERENTIABLE if kernel.radial]
# One for each way that the energy is summed.
WAYS = {
    "Gaussian": Nystrom(Gaussian(1.3), 5, "uniform"),
    "radial": Nystrom(Matern(2.5, 1.3), 5, "uniform"),
    "coefficients": Nystrom(NNGP("erf"), 5, "uniform"),
    "features": RandomFeatures(Gaussian(1.3), 6),
    "gradients": Smoothed(Nystrom(Gaussian(1.3), 5, "uniform"), KernelWeights()),
}


def stacked(gradients):
    """The (n d)-by-p matrix of gradients (n, p, d), a row for each (i, coordinate)."""
    return np.vstack([G.T for G in gradients])


def naive(gradients):
    """1/n sum_i <grad phi_a(x_i), grad phi_b(x_i)>."""
    S = stacked(gradients)
    return S.T @ S / len(gradients)


def section_gradients(kernel, X, Z):
    """From the kernel's coefficients; by differences x - z where it is radial."""
    A, B = kernel.gradient_coefficients(X, Z)
    if kernel.radial:
        return A[:, :, None] * (X[:, None, :] - Z[None, :, :])
    return A[:, :, None] * X[:, None, :] + B[:, :, None] * Z[None, :, :]


def assert_close(actual, expected, tolerance=1e-12):
    assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


@pytest.fixture
def Z(rng):
    return rng.normal(size=(6, 3)) * 0.7


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=repr)
def test_every_kernel(X, Z, kernel):
    basis = Nystrom(kernel, landmarks=Z).fit(X)
    L = dirichlet(basis, X)
    assert_close(L, naive(section_gradients(kernel, X, Z)))
    # and from the values of the basis alone
    differences = central_differences(basis.transform, X)
    assert_close(L, naive(differences), 1e-7)
    assert_allclose(L, L.T, rtol=1e-13, atol=1e-13 * np.abs(L).max())


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=repr)
def test_rows_that_are_landmarks(X, kernel):
    # At x = z the gradient of a kink is 0: its distance must be exactly 0 there.
    basis = Exact(kernel).fit(X)
    L = dirichlet(basis, X, stream=Stream(block_rows=4))
    assert_close(L, naive(section_gradients(kernel, X, X)))
    if kernel.radial:
        A, _ = kernel.gradient_coefficients(X, X)
        differences = A[:, :, None] * (X[:, None, :] - X[None, :, :])
        assert_array_equal(differences[np.arange(11), np.arange(11)], np.zeros((11, 3)))


def test_periodic_rows(rng):
    X = rng.uniform(0, 2 * np.pi, size=(11, 1))
    basis = Nystrom(PeriodicSobolev(2.0), 5, "uniform").fit(X, 0)
    differences = central_differences(basis.transform, X)
    assert_close(dirichlet(basis, X), naive(differences), 1e-6)


@pytest.mark.parametrize("case", [c for c in BASES if c.smooth], ids=lambda c: c.name)
def test_every_basis(X, case):
    basis = case.build().fit(X, 0)
    rows = np.vstack([X + 0.3, X - 0.2])
    expected = naive(basis.gradient(rows))
    L, Sigma = dirichlet_and_covariance(basis, rows, stream=Stream(block_rows=5))
    assert_close(L, expected)
    Phi = basis.transform(rows)
    assert_close(Sigma, Phi.T @ Phi / 22)
    assert_close(dirichlet(basis, rows), expected)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("way", WAYS)
def test_blocks_add_up(X, way, block_rows, n_jobs):
    basis = WAYS[way].fit(X, 0)
    stream = Stream(n_jobs=n_jobs, block_rows=block_rows)
    expected = naive(basis.gradient(X))
    assert_close(dirichlet(basis, X, stream=stream), expected)
    L, Sigma = dirichlet_and_covariance(basis, X, stream=stream)
    Phi = basis.transform(X)
    assert_close(L, expected)
    assert_close(Sigma, Phi.T @ Phi / 11)


@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("way", WAYS)
def test_workers_do_not_change_a_bit(X, way, block_rows):
    basis = WAYS[way].fit(X, 0)
    sums = [
        dirichlet_and_covariance(
            basis, X, stream=Stream(n_jobs=n, block_rows=block_rows)
        )
        for n in (1, 2, 3, -1, None)
    ]
    for L, Sigma in sums[1:]:
        assert_array_equal(L, sums[0][0])
        assert_array_equal(Sigma, sums[0][1])


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_an_offset_costs_no_digits(X, Z, kernel):
    X, Z = (np.round(R * 2**20) / 2**20 for R in (X, Z))  # exact after adding 1000
    expected = dirichlet_and_covariance(Nystrom(kernel, landmarks=Z).fit(X), X)
    moved = Nystrom(kernel, landmarks=Z + 1000).fit(X + 1000)
    actual = dirichlet_and_covariance(moved, X + 1000)
    for far, near in zip(actual, expected, strict=True):
        assert_close(far, near, 1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block_rows", [4, 50])
def test_float32_rows_are_lifted(X, way, block_rows):
    low, stream = X.astype(np.float32), Stream(block_rows=block_rows)
    wide = low.astype(np.float64)
    expected = dirichlet_and_covariance(WAYS[way].fit(wide, 0), wide, stream=stream)
    actual = dirichlet_and_covariance(WAYS[way].fit(low, 0), low, stream=stream)
    for one, other in zip(actual, expected, strict=True):
        assert_close(one, other, 1e-14)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block_rows", [4, 50])
def test_memory_maps_are_rows(X, way, block_rows, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    stream = Stream(block_rows=block_rows)
    expected = dirichlet(WAYS[way].fit(X, 0), X, stream=stream)
    assert_array_equal(
        dirichlet(WAYS[way].fit(mapped, 0), mapped, stream=stream), expected
    )


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=repr)
def test_csr_rows_of_every_kernel(X, Z, kernel):
    X[X < 0.3], Z[Z < 0.1] = 0, 0
    expected = dirichlet_and_covariance(Nystrom(kernel, landmarks=Z).fit(X), X)
    sparse = Nystrom(kernel, landmarks=sp.csr_array(Z)).fit(sp.csr_array(X))
    actual = dirichlet_and_covariance(
        sparse, sp.csr_array(X), stream=Stream(block_rows=4)
    )
    for one, other in zip(actual, expected, strict=True):
        assert type(one) is np.ndarray
        assert_close(one, other, 1e-10)


@pytest.mark.parametrize("way", WAYS)
def test_csr_rows_of_every_way(X, way):
    sparse = sp.csr_array(X)
    expected = dirichlet(WAYS[way].fit(X, 0), X)
    actual = dirichlet(WAYS[way].fit(sparse, 0), sparse, stream=Stream(block_rows=4))
    assert_close(actual, expected, 1e-10)


def test_constants_have_no_energy(X):
    # A linear function has a constant gradient: its energy is that of its slope.
    theta = np.array([1.0, -2.0, 0.5, 0.0, 1.0])
    basis = Nystrom(Linear(), landmarks=X[:5]).fit(X)
    slope = X[:5].T @ theta
    assert_allclose(theta @ dirichlet(basis, X) @ theta, slope @ slope, rtol=1e-13)
    # phi_1 - phi_2 = 0 for a landmark and its copy
    twice = Nystrom(Gaussian(1.0), landmarks=X[[0, 0, 1]]).fit(X)
    copies = np.array([1.0, -1.0, 0.0])
    assert_allclose(copies @ dirichlet(twice, X) @ copies, 0.0, atol=1e-14)


def test_landmarks_with_derivatives_span_the_same_energy(X):
    # The energy of a function does not depend on the basis it is written in.
    theta = np.random.default_rng(1).normal(size=11)
    sections = dirichlet(Exact(Gaussian(1.3)).fit(X), X)
    both = dirichlet(WithDerivatives(Gaussian(1.3)).fit(X), X)
    assert_allclose(both[:11, :11], sections, rtol=1e-10, atol=1e-13)
    padded = np.concatenate([theta, np.zeros(33)])
    assert_allclose(padded @ both @ padded, theta @ sections @ theta, rtol=1e-11)


def test_what_has_no_gradient_is_refused(X):
    for basis in (
        Exact(NNGP("tanh")),
        Smoothed(Exact(Gaussian(1.0)), Neighbors(3)),
    ):
        with pytest.raises(TypeError, match="energy of a graph"):
            dirichlet(basis.fit(X), X)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.0),
        Laplace(1.0),
        Matern(1.5, 1.0),
        Matern(2.5, 1.0),
        Polynomial(2),
        NNGP("erf"),
    ],
    ids=repr,
)
def test_memory_keeps_to_its_limit(kernel, n_jobs):
    n, p, limit = 30_000, 50, 3_000_000  # all values at once would take 12 MB
    X = np.random.default_rng(0).normal(size=(n, 2))
    basis = Nystrom(kernel, p, "uniform").fit(X, 0)
    stream = Stream(limit, n_jobs=n_jobs)
    results = 8 * p**2 * 3 * (n_jobs + 3)  # three matrices, as many as wait
    peak = peak_bytes(lambda: dirichlet_and_covariance(basis, X, stream=stream))
    assert peak < 1.1 * limit + results


@pytest.mark.parametrize("way", ["features", "gradients"])
def test_memory_of_other_ways_keeps_to_its_limit(way):
    limit, p = 4_000_000, 40
    X = np.random.default_rng(0).normal(size=(2_000, 2))
    basis = {
        "features": RandomFeatures(Gaussian(1.0), p),
        "gradients": Smoothed(
            Nystrom(Gaussian(1.0), p, "uniform"), KernelWeights(Gaussian(1.0))
        ),
    }[way].fit(X, 0)
    stream = Stream(limit, n_jobs=1)
    results = 8 * p**2 * 3 * 4
    peak = peak_bytes(lambda: dirichlet_and_covariance(basis, X, stream=stream))
    assert peak < 1.1 * limit + results


def test_deep_kernels_too(X, Z):
    for kernel in (NTK(depth=3), NNGP("erf", depth=3)):
        basis = Nystrom(kernel, landmarks=Z).fit(X)
        assert_close(dirichlet(basis, X), naive(section_gradients(kernel, X, Z)))
