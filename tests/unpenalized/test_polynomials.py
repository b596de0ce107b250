"""Polynomials against scikit-learn's, on centered columns."""

from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from halfmoon import ConditionalRegressor
from halfmoon.unpenalized import Constant, Polynomials


@pytest.fixture
def X(rng):
    return rng.normal(loc=[0.0, 5.0, -2.0], size=(11, 3))


@pytest.mark.parametrize("degree", [0, 1, 2, 4])
def test_monomials_of_centered_columns(X, rng, degree):
    features = Polynomials(degree).fit(X)
    new = rng.normal(size=(5, 3))
    reference = PolynomialFeatures(degree)
    expected = reference.fit_transform(new - X.mean(axis=0))
    assert expected.shape == (5, comb(3 + degree, degree))
    assert_allclose(features.transform(new), expected, rtol=1e-13)
    assert len(features.names_) == expected.shape[1]
    assert features.degree_ == degree


def test_names():
    features = Polynomials(2).fit(np.ones((1, 2)))
    assert features.names_ == ["1", "x0", "x1", "x0 x0", "x0 x1", "x1 x1"]


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_an_offset_costs_no_digits(X, degree):
    X = np.round(X * 2**20) / 2**20  # exact after adding 2^20
    expected = Polynomials(degree).fit(X).transform(X)
    actual = Polynomials(degree).fit(X + 2**20).transform(X + 2**20)
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_and_float32_rows(X, degree, dtype):
    X = X.astype(dtype)
    expected = Polynomials(degree).fit(X.astype(np.float64)).transform(X)
    sparse = Polynomials(degree).fit(sp.csr_array(X))
    assert_allclose(sparse.transform(sp.csr_array(X)), expected, rtol=1e-12, atol=1e-13)
    assert_array_equal(Polynomials(degree).fit(X).transform(X), expected)
    assert expected.dtype == np.float64


def test_the_center_is_a_mean_in_float64():
    X = np.full((100_000, 1), 0.1, dtype=np.float32)
    features = Polynomials(1).fit(X)
    assert_allclose(features.center_, float(np.float32(0.1)), rtol=1e-12)


@pytest.mark.parametrize("degree", [-1, 1.5])
def test_degrees_are_checked(X, degree):
    with pytest.raises(ValueError, match=f"degree is {degree}; 0, 1, 2"):
        Polynomials(degree).fit(X)


def test_rows_are_checked(X):
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="first NaN in row 3, column 1"):
        Polynomials(1).fit(X).transform(X)


def test_refit_and_clone(X, rng):
    features = Polynomials(2)
    features.fit(rng.normal(size=(4, 2)))
    assert_array_equal(features.fit(X).transform(X), Polynomials(2).fit(X).transform(X))
    assert clone(features).get_params() == {"degree": 2}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, list])
def test_constant(X, make):
    features = Constant().fit(make(X))
    assert_array_equal(features.transform(make(X)), np.ones((11, 1)))
    assert features.names_ == ["1"]
    assert features.degree_ == 0


@pytest.mark.parametrize(("d", "degree"), [(3, 10**9), (2_000, 3)])
def test_too_many_polynomials_are_refused_before_they_are_made(d, degree):
    message = r"polynomials of .* columns, up to degree .*, need .*B, beyond memory_lim"
    with pytest.raises(MemoryError, match=message):
        Polynomials(degree).fit(np.eye(4, d))


def test_too_many_features_of_the_labeled_rows_are_refused():
    X = np.random.default_rng(0).normal(size=(200, 60))
    model = ConditionalRegressor(unpenalized=2, memory_limit="2MB")
    message = "1,891 unpenalized features of 200 labeled rows need 3.03 MB, beyond"
    with pytest.raises(MemoryError, match=message):
        model.fit(X, X[:, 0])
