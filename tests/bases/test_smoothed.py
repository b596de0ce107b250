"""Smoothed bases against the triple sum of the Fredholm kernel."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.kernels import Gaussian, Kernel, Laplace, Linear, Matern, ThinPlate
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors
from helpers import SMOOTHERS, peak_bytes, squared_distances


@pytest.fixture
def X(rng):
    return rng.normal(size=(14, 3))


@pytest.fixture
def new(rng):
    return rng.normal(size=(5, 3))


@pytest.mark.parametrize("normalize", [False, True], ids=["plain", "normalized"])
def test_fredholm_kernel_is_the_triple_sum(X, new, normalize):
    def h(A, B):
        return np.exp(-squared_distances(A, B) / (2 * 1.2**2))

    def a(A):
        k = np.exp(-np.sqrt(squared_distances(A, X)) / 0.9)
        return k / (k.sum(axis=1)[:, None] if normalize else 14)

    chosen = np.array([3, 0, 9, 13])
    basis = Smoothed(Exact(Gaussian(1.2)), KernelWeights(Laplace(0.9), normalize))
    basis.fit(X)
    expected = np.einsum("xi,ij,zj->xz", a(new), h(X, X), a(X[chosen]))
    assert_allclose(basis.gram(chosen)(new), expected, rtol=1e-11)
    expected = np.einsum("xi,ij,xj->x", a(new), h(X, X), a(new))
    assert_allclose(basis.prior_variance(new), expected, rtol=1e-11)
    assert_allclose(basis.transform(new), a(new) @ h(X, X), rtol=1e-11)


@pytest.mark.parametrize("name", SMOOTHERS)
@pytest.mark.parametrize(
    "inner",
    [
        Exact(Gaussian(1.2)),
        Nystrom(Matern(2.5), 6, "uniform"),
        RandomFeatures(Gaussian(), 8),
    ],
    ids=["exact", "landmarks", "features"],
)
def test_values_are_averages_over_the_rows(X, new, name, inner):
    basis = Smoothed(inner, SMOOTHERS[name]()).fit(X, 0)
    A, D = basis.smoother_.weights(new), basis.smoother_.spread(np.eye(14))
    A = A.toarray() if sp.issparse(A) else A
    expected = A @ D @ basis.basis_.transform(X)
    assert_allclose(basis.transform(new), expected, rtol=1e-10, atol=1e-12)
    assert_array_equal(basis.penalty(), basis.basis_.penalty())


@pytest.mark.parametrize("name", SMOOTHERS)
def test_dual_is_the_kernel_through_all_steps(X, new, name):
    # A D H D'A': a D for its transpose shows for Neighbors, which are not symmetric.
    basis = Smoothed(Exact(Gaussian(1.2)), SMOOTHERS[name]()).fit(X)
    D, H = basis.smoother_.spread(np.eye(14)), Gaussian(1.2)(X)

    def a(rows):
        A = basis.smoother_.weights(rows)
        return A.toarray() if sp.issparse(A) else A

    chosen = np.array([2, 11])
    expected = a(new) @ D @ H @ D.T @ a(X[chosen]).T
    assert_allclose(basis.gram(chosen)(new), expected, rtol=1e-9)
    expected = np.diag(a(new) @ D @ H @ D.T @ a(new).T)
    assert_allclose(basis.prior_variance(new), expected, rtol=1e-9)


@dataclass(eq=False, repr=False)
class Delta(Kernel):
    """n where the rows are equal, else 0."""

    n: float = 1.0

    def _value(self, X, Z):
        return self.n * (X[:, None] == Z[None]).all(axis=-1).astype(float)

    def _diag(self, X):
        return np.full(len(X), self.n)


@pytest.mark.parametrize("normalize", [False, True], ids=["plain", "normalized"])
def test_delta_outer_kernel_leaves_the_inner_one(X, normalize):
    # k = n 1[x = u] keeps a single term of each sum, so k_F must equal h.
    inner = Gaussian(1.2)
    basis = Smoothed(Exact(inner), KernelWeights(Delta(14.0), normalize)).fit(X)
    assert_allclose(basis.gram(np.arange(6))(X[:5]), inner(X[:5], X[:6]), rtol=1e-13)
    assert_allclose(basis.transform(X), inner(X), rtol=1e-13)


def test_a_constant_outer_kernel_leaves_the_mean(X, new):
    basis = Smoothed(Exact(Gaussian(1.2)), KernelWeights(Gaussian(1e9))).fit(X)
    mean = Gaussian(1.2)(X).mean(axis=0)
    assert_allclose(basis.transform(new), np.tile(mean, (5, 1)), rtol=1e-12)


def test_linear_kernels_have_closed_forms(X, new):
    # Outer linear, FredLin1: k_F = x'(X'H X / n^2) z. Inner linear: (a(x)'X) (X'a(z)).
    H = Gaussian(1.2)(X)
    chosen = np.arange(4)
    first = Smoothed(Exact(Gaussian(1.2)), KernelWeights(Linear(), False)).fit(X)
    expected = new @ (X.T @ H @ X / 14**2) @ X[:4].T
    assert_allclose(first.gram(chosen)(new), expected, rtol=1e-10, atol=1e-14)
    second = Smoothed(Exact(Linear()), KernelWeights(Gaussian(0.9), False)).fit(X)
    mean = Gaussian(0.9)(new, X) @ X / 14
    at_chosen = Gaussian(0.9)(X[:4], X) @ X / 14
    assert_allclose(second.gram(chosen)(new), mean @ at_chosen.T, rtol=1e-10)


@pytest.mark.parametrize("smoother", [KernelWeights(Gaussian(0.1)), Neighbors(3)])
def test_far_rows_take_the_values_of_a_near_row(X, smoother):
    basis = Smoothed(Nystrom(Gaussian(1.2), 5, "uniform"), smoother).fit(X, 0)
    far = basis.transform(np.array([[1e4, 0.0, 0.0]]))
    values = basis.basis_.transform(X)
    assert np.isfinite(far).all()
    assert values.min() <= far.min()
    assert far.max() <= values.max()
    if isinstance(smoother, KernelWeights):
        assert_allclose(far[0], values[X[:, 0].argmax()], rtol=1e-10)


def test_the_parts_are_copies(X):
    inner, smoother = Nystrom(Gaussian(), 5, "uniform"), Neighbors(3)
    basis = Smoothed(inner, smoother).fit(X, 0)
    assert basis.basis is inner
    assert not hasattr(inner, "sections_")
    assert not hasattr(smoother, "rows_")
    assert basis.features_.shape == (14, 5)
    assert Smoothed().fit(X).features_ is None


def test_conditional_kernels_are_refused(X):
    with pytest.raises(ValueError, match="needs a positive definite inner kernel"):
        Smoothed(Exact(ThinPlate())).fit(X)


@pytest.mark.parametrize("smoother", [Neighbors(5, steps=3), Diffusion(5, 0.1)])
def test_nothing_of_n_by_n_is_formed(smoother):
    X = np.random.default_rng(0).normal(size=(4_000, 3))
    basis = Smoothed(Nystrom(Gaussian(1.0), 20, "uniform"), smoother)

    def work():
        basis.fit(X, 0)
        basis.transform(X)
        basis.function(np.ones((20, 2)))(X)

    assert peak_bytes(work) < 4_000**2 * 8 / 10
