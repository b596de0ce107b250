"""Random features: their products tend to the kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import RandomFeatures
from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    RationalQuadratic,
)

KERNELS = [
    Gaussian(1.3),
    Laplace(1.3),
    Matern(0.5, 1.3),
    Matern(1.5, 1.3),
    Matern(2.5, 0.7),
    NNGP("relu", weight=1.4, bias=0.5),
    NNGP("erf", weight=1.4, bias=0.5),
    NNGP("tanh", weight=1.4, bias=0.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_products_tend_to_the_kernel(rng, kernel):
    X, p = rng.normal(size=(6, 3)), 40_000
    basis = RandomFeatures(kernel, p).fit(X, 1)
    Phi = basis.transform(X)
    products = Phi[:, None, :] * Phi[None, :, :]
    m = basis.directions_.shape[0]
    if m < p:  # a cosine and its sine are one draw
        products = products[:, :, :m] + products[:, :, m:]
    K = products.sum(axis=-1)
    error = (m * products).std(axis=-1) / np.sqrt(m)
    assert error.max() < 0.03
    assert (np.abs(K - kernel(X)) <= 4.5 * error + 1e-9).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_error_falls_as_one_over_root_m(rng, kernel):
    X = rng.normal(size=(6, 3))
    K = kernel(X)

    def error(p):
        fits = [
            RandomFeatures(kernel, p).fit(X, seed).transform(X) for seed in range(9)
        ]
        return np.sqrt(np.mean([(Phi @ Phi.T - K) ** 2 for Phi in fits]))

    assert_allclose(error(100) / error(10_000), 10, rtol=0.4)


def test_cosines_and_sines_have_norm_1(rng):
    # cos^2 + sin^2 = 1 for any draw: k(x, x) is exact.
    X = rng.normal(size=(5, 3))
    Phi = RandomFeatures(Gaussian(0.3), 8).fit(X, 0).transform(X)
    assert_allclose((Phi**2).sum(axis=1), np.ones(5), rtol=1e-14)


@pytest.mark.parametrize(("p", "expected"), [(1, 2), (7, 8), (8, 8)])
def test_cosines_come_with_sines(rng, p, expected):
    X = rng.normal(size=(5, 3))
    basis = RandomFeatures(Gaussian(1.0), p).fit(X, 0)
    assert basis.n_components_ == expected == basis.transform(X).shape[1]
    assert RandomFeatures(NNGP(), p).fit(X, 0).n_components_ == p


def test_draws_follow_the_seed(rng):
    X = rng.normal(size=(5, 3))
    first, same, other = (
        RandomFeatures(Gaussian(1.0), 8).fit(X, seed).transform(X) for seed in (0, 0, 1)
    )
    assert_array_equal(first, same)
    assert np.abs(first - other).max() > 0.1


def test_penalty_is_the_identity(rng):
    basis = RandomFeatures(Gaussian(1.0), 8).fit(rng.normal(size=(5, 3)), 0)
    assert_array_equal(basis.penalty(), np.eye(8))


@pytest.mark.parametrize("p", [0, -1, 2.5])
def test_the_number_is_checked(p):
    with pytest.raises(ValueError, match=f"n_components is {p}; 1, 2, 3"):
        RandomFeatures(Gaussian(1.0), p).fit(np.ones((2, 2)))


@pytest.mark.parametrize(
    "kernel", [Linear(), NTK(), NNGP(depth=2), RationalQuadratic(1.0, 1.0)], ids=repr
)
def test_other_kernels_are_refused(kernel):
    with pytest.raises(
        ValueError, match=r"No random features are known.*Nystrom basis"
    ):
        RandomFeatures(kernel, 4).fit(np.ones((2, 2)))
