"""The Laplace kernel by columns, against scikit-learn and products of columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import laplacian_kernel

from halfmoon.kernels import Laplace, ProductLaplace


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_equals_scikit_learn(rng, offset):
    X, Z = offset + rng.normal(size=(25, 3)), offset + rng.normal(size=(20, 3))
    expected = laplacian_kernel(X, Z, gamma=1 / 1.7)
    assert_allclose(ProductLaplace(1.7)(X, Z), expected, rtol=1e-12)
    assert_allclose(ProductLaplace(1.7)(X), laplacian_kernel(X, gamma=1 / 1.7))
    assert_array_equal(np.diag(ProductLaplace(1.7)(X)), 1.0)
    assert_array_equal(ProductLaplace(1.7).diag(X), np.ones(25))


def test_is_a_product_over_columns(rng):
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    by_column = [Laplace(0.8)(X[:, [c]], Z[:, [c]]) for c in range(3)]
    assert_allclose(ProductLaplace(0.8)(X, Z), np.prod(by_column, axis=0), rtol=1e-12)


def test_is_positive_definite(rng):
    K = ProductLaplace(2.0)(rng.normal(size=(40, 4)))
    assert np.linalg.eigvalsh(K)[0] > 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_the_median_is_that_of_sums_of_absolute_differences(rng, make):
    X = np.round(rng.normal(size=(30, 4)), 1)
    X = np.vstack([X, X[:5]])  # equal rows do not count
    distances = pdist(X, "cityblock")
    expected = np.median(distances[distances > 0])
    assert ProductLaplace().resolve(make(X)).length_scale == pytest.approx(expected)
    assert_allclose(ProductLaplace(1.1)(make(X)), ProductLaplace(1.1)(X))


def test_the_median_of_many_rows_is_that_of_some(rng):
    X = rng.normal(size=(1_500, 3))
    expected = np.median(pdist(X, "cityblock"))
    found = ProductLaplace().resolve(X, 0).length_scale
    assert found == pytest.approx(expected, rel=0.03)
    assert found == ProductLaplace().resolve(X, 0).length_scale


def test_a_number_is_left_as_it_is(rng):
    kernel = ProductLaplace(3.0)
    assert kernel.resolve(rng.normal(size=(4, 2))) is kernel


def test_errors():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="two rows that differ; got n_samples = 4"):
        ProductLaplace().resolve(X)
    for scale in (0.0, -1.0, np.inf, np.nan, "median"):
        with pytest.raises(ValueError, match=f"length_scale is {scale!r}; a positive"):
            ProductLaplace(scale)(X)
        with pytest.raises(ValueError, match="a positive number is needed"):
            ProductLaplace(scale).diag(X)
