"""Kernel weights against their formula, far from all rows, and their gradients."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon.kernels import (
    NNGP,
    Gaussian,
    Laplace,
    Linear,
    Logarithmic,
    Matern,
    Multiquadric,
    Polynomial,
    RationalQuadratic,
)
from halfmoon.smoothers import KernelWeights
from helpers import central_differences, squared_distances

KERNELS = [
    Gaussian(0.9),
    Laplace(0.9),
    Matern(1.5, 0.9),
    Matern(2.5, 0.9),
    RationalQuadratic(1.5, 0.9),
    Gaussian(0.9) * Laplace(2.0),
    0.3 * Gaussian(0.9),
    Gaussian(0.9) + Laplace(2.0),
    Polynomial(2),
    NNGP("relu"),
]


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


@pytest.fixture
def new(rng):
    return rng.normal(size=(5, 3))


def test_formula(X, new):
    k = np.exp(-squared_distances(new, X) / (2 * 0.9**2))
    plain = KernelWeights(Gaussian(0.9), normalize=False).fit(X)
    normalized = KernelWeights(Gaussian(0.9)).fit(X)
    assert_allclose(plain.weights(new), k / 11, rtol=1e-12)
    assert_allclose(normalized.weights(new), k / k.sum(axis=1)[:, None], rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel(X, new, kernel):
    k = kernel(new, X)
    plain = KernelWeights(kernel, normalize=False).fit(X).weights(new)
    normalized = KernelWeights(kernel).fit(X).weights(new)
    assert_allclose(plain, k / 11, rtol=1e-12)
    assert_allclose(normalized, k / k.sum(axis=1)[:, None], rtol=1e-11)
    assert_allclose(normalized.sum(axis=1), np.ones(5), rtol=1e-14)


def test_the_median_rule_is_that_of_the_rows(X):
    smoother = KernelWeights(Gaussian()).fit(X, 0)
    pairs = np.sqrt(squared_distances(X, X)[np.triu_indices(11, 1)])
    assert_allclose(smoother.kernel_.length_scale, np.median(pairs), rtol=1e-12)
    assert smoother.kernel.length_scale == "median"


@pytest.mark.parametrize("kernel", KERNELS[:5], ids=repr)
@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8])
def test_far_rows_are_at_their_nearest_row(kernel, distance):
    # In one column the rows are ordered, and the nearest is ahead by 1.
    X = np.arange(5.0)[:, None]
    kernel = kernel.__class__(**{**kernel.get_params(), "length_scale": 1e-2})
    w = KernelWeights(kernel).fit(X).weights(np.array([[-distance], [4 + distance]]))
    if isinstance(kernel, RationalQuadratic):  # of heavy tails: all rows count alike
        assert_allclose(w, np.full((2, 5), 0.2), rtol=0.2)
    else:
        assert_allclose(w, [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]], rtol=0, atol=1e-40)


@pytest.mark.parametrize("kernel", KERNELS[:7], ids=repr)
def test_far_rows_have_finite_weights_and_gradients(X, kernel):
    smoother = KernelWeights(kernel).fit(X)
    for distance in (30.0, 60.0, 1e3, 1e6, 1e12):
        far = np.array([[distance, 0.0, 0.0]])
        w = smoother.weights(far)
        assert_allclose(w.sum(), 1.0, rtol=1e-14)
        assert (w >= 0).all()
        assert np.isfinite(smoother.gradient(far, X)).all()


def test_far_weights_are_exact():
    # Both values underflow, and their ratio is exp(-(d1^2 - d0^2) / 2), known exactly.
    smoother = KernelWeights(Gaussian(1.0)).fit(np.array([[0.0], [1 / 128]]))
    w = smoother.weights(np.array([[-64.0]]))
    ratio = np.exp(-(64 / 128 + 0.5 / 128**2))
    assert_allclose(w, [[1 / (1 + ratio), ratio / (1 + ratio)]], rtol=1e-10)


def test_kernels_of_either_sign(X, new):
    k = new @ X.T
    w = KernelWeights(Linear()).fit(X).weights(new)
    assert_allclose(w, k / k.sum(axis=1)[:, None], rtol=1e-11)


def test_a_row_without_weight_stays_at_0():
    # A text without a known word: its inner products with all texts are 0.
    texts = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]])
    smoother = KernelWeights(Linear()).fit(texts)
    unknown = np.array([[0.0, 0.0, 3.0], [1.0, 0.0, 0.0]])
    assert_array_equal(smoother.weights(unknown), [[0.0, 0.0], [1.0, 0.0]])
    assert np.isfinite(smoother.gradient(unknown, np.eye(2))).all()


@pytest.mark.parametrize("normalize", [False, True], ids=["plain", "normalized"])
@pytest.mark.parametrize("kernel", [*KERNELS, Linear()], ids=repr)
def test_gradient_is_the_limit_of_differences(X, new, rng, kernel, normalize):
    V = rng.normal(size=(11, 4))
    smoother = KernelWeights(kernel, normalize=normalize).fit(X)
    expected = central_differences(lambda x: smoother.weights(x) @ V, new)
    actual = smoother.gradient(new, V)
    assert actual.shape == (5, 4, 3)
    scale = np.abs(expected).max()
    assert_allclose(actual, expected, rtol=1e-6, atol=1e-8 * scale)


@pytest.mark.parametrize("normalize", [False, True], ids=["plain", "normalized"])
def test_csr_and_float32_rows(X, new, normalize):
    X, new = X.astype(np.float32), new.astype(np.float32)
    V = np.arange(22.0).reshape(11, 2)
    smoother = KernelWeights(Gaussian(0.9), normalize)
    dense = clone(smoother).fit(X.astype(np.float64))
    for make in (np.asarray, sp.csr_array):
        fitted = clone(smoother).fit(make(X))
        assert fitted.rows_.dtype == np.float32  # the original dtype
        w, G = fitted.weights(make(new)), fitted.gradient(make(new), V)
        assert_allclose(w, dense.weights(new.astype(np.float64)), rtol=1e-12)
        assert_allclose(
            G, dense.gradient(new.astype(np.float64), V), rtol=1e-10, atol=1e-12
        )


def test_without_further_steps(X, rng):
    smoother = KernelWeights().fit(X)
    V = rng.normal(size=(11, 2))
    assert_array_equal(smoother.spread(V), V)
    assert_array_equal(smoother.spread_adjoint(V), V)
    assert smoother.row_bytes == 16 * 11


def test_a_refit_forgets(X, new, rng):
    smoother = KernelWeights(Gaussian()).fit(rng.normal(size=(4, 3)) * 9, 0)
    expected = KernelWeights(Gaussian()).fit(X, 0).weights(new)
    assert_array_equal(smoother.fit(X, 0).weights(new), expected)


def test_gradient_where_every_value_underflows():
    # Halfway between two rows, 50 length scales from both: a logistic curve in x,
    # whose slope at its middle is (distance of the rows) / (4 length_scale^2).
    smoother = KernelWeights(Gaussian(0.01)).fit([[0.0], [1.0]])
    assert smoother.kernel_([[0.5]], [[0.0]])[0, 0] == 0.0
    gradient = smoother.gradient([[0.5]], np.array([[0.0], [1.0]]))
    assert_allclose(gradient, [[[2500.0]]], rtol=1e-10)


def test_a_sum_of_kernels_far_from_all_rows_tends_to_the_nearest(X):
    smoother = KernelWeights(Gaussian(0.1) + Gaussian(0.2)).fit(X)
    far = X[4:5] + 1e3 * (X[4:5] - X.mean(axis=0))
    nearest = np.argmin(squared_distances(far, X)[0])
    assert_allclose(smoother.weights(far)[0], np.eye(11)[nearest], atol=1e-12)


@pytest.mark.parametrize("kernel", [Multiquadric(1.0), Logarithmic(1.0)], ids=repr)
def test_kernels_with_negative_values_only_are_no_weights(X, kernel):
    with pytest.raises(ValueError, match=r"has negative values.*Use Gaussian"):
        KernelWeights(kernel).fit(X).weights(X)
