"""Random features against their kernels, and random units against their formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import ConditionalRegressor
from halfmoon.bases import RandomFeatures, RandomUnits
from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    RationalQuadratic,
)
from halfmoon.problem import Problem, solve_ridge

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


ACTIVATIONS = {"cos": np.cos, "relu": lambda u: np.maximum(u, 0), "tanh": np.tanh}
RANGES = {"cos": (0, 2 * np.pi), "relu": (-1, 1), "tanh": (-1, 1)}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_units_are_those_of_the_definition(name, rng):
    X = rng.normal(size=(6, 3))
    units = RandomUnits(name, 4_000, deviation=0.5).fit(X, rng=1)
    u = X @ units.directions_.T + units.biases_
    assert_allclose(units.transform(X), ACTIVATIONS[name](u) / np.sqrt(4_000))
    low, high = RANGES[name]
    assert low <= units.biases_.min() < low + 0.01 * (high - low)
    assert high - 0.01 * (high - low) < units.biases_.max() <= high
    assert_allclose(units.directions_.std(), 0.5, rtol=0.02)


def test_cosines_have_half_a_gaussian_kernel(rng):
    X = rng.normal(size=(8, 2))
    units = RandomUnits("cos", 200_000, deviation=1 / 1.5).fit(X, rng=0)
    K = units.transform(X) @ units.transform(X).T
    assert_allclose(K, Gaussian(1.5)(X) / 2, atol=0.01)


def test_a_kernel_of_relu_units_is_the_integral_over_their_biases(rng):
    # One column, w given: the mean of relu(wx + b) relu(wz + b) over b in [-1, 1].
    X = np.array([[0.3], [-0.8]])
    units = RandomUnits("relu", 400_000).fit(X, rng=0)
    K = units.transform(X) @ units.transform(X).T
    w, b = np.linspace(-8, 8, 801), np.linspace(-1, 1, 801)
    p = np.exp(-(w**2) / 2) / np.exp(-(w**2) / 2).sum()
    values = [np.maximum(w[:, None] * x + b, 0) for x in X[:, 0]]
    expected = [[p @ (one * other).mean(axis=1) for other in values] for one in values]
    assert_allclose(K, expected, atol=0.01)


def test_penalized_and_free_units_in_one_fit(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    units = RandomUnits("tanh", 40)
    free = RandomUnits("relu", 3).fit(X, rng=5)
    model = ConditionalRegressor(
        basis=units, unpenalized=free.transform, alpha=0.1, random_state=0
    ).fit(X, y)
    phi = model.solution_.posed.basis.transform(X)
    F = np.c_[np.ones(60), free.transform(X)]
    A = np.block([[phi.T @ phi + 6.0 * np.eye(40), phi.T @ F], [F.T @ phi, F.T @ F]])
    coef = np.linalg.solve(A, np.r_[phi.T @ y, F.T @ y])
    assert_allclose(model.predict(X), np.c_[phi, F] @ coef, atol=1e-8)
    fit = solve_ridge(Problem(units, unpenalized=None).pose(X, y, rng=0), 0.1)
    assert fit.predict(X).shape == (60,)


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (RandomUnits("sine"), "activation is 'sine'"),
        (RandomUnits("cos", 0), "n_components is 0"),
    ],
)
def test_units_that_do_not_exist(unit, message):
    with pytest.raises(ValueError, match=message):
        unit.fit(np.zeros((2, 1)))


def test_other_columns_are_refused():
    units = RandomUnits("cos", 3).fit(np.zeros((2, 2)), rng=0)
    with pytest.raises(ValueError, match="drawn for 2"):
        units.transform(np.zeros((2, 3)))
