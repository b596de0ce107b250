"""Kernels from the user: functions and matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Polyharmonic,
    Polynomial,
    RationalQuadratic,
    ThinPlate,
)
from halfmoon.kernels._user_kernels import (
    KERNELS,
    FromFunction,
    Precomputed,
    as_kernel,
    with_row_numbers,
)


def inverse_distance(X, Z):
    return 1 / (1 + np.linalg.norm(X[:, None] - Z[None], axis=2))


def test_a_function_is_called_once_with_both_tables(rng):
    X, Z, calls = rng.standard_normal((5, 2)), rng.standard_normal((3, 2)), []

    def function(A, B):
        calls.append((A.shape, B.shape))
        return inverse_distance(A, B)

    kernel = FromFunction(function)
    assert_array_equal(kernel(X, Z), inverse_distance(X, Z))
    assert calls == [((5, 2), (3, 2))]
    assert_allclose(kernel.diag(X), np.ones(5), rtol=1e-15)
    assert_allclose(kernel(X), kernel(X, X), rtol=1e-15)


def test_what_a_function_returns_is_not_changed(rng):
    X = rng.standard_normal((4, 2))
    stored = inverse_distance(X, X)
    K = FromFunction(lambda A, B: stored)(X, X)
    K[0, 0] = 99
    assert stored[0, 0] == 1
    assert K.dtype == np.float64


def test_a_function_of_sparse_rows(rng):
    X = sp.random_array((6, 9), density=0.4, format="csr", rng=rng)
    kernel = FromFunction(lambda A, B: A @ B.T)  # a sparse matrix
    assert_allclose(kernel(X, X), (X @ X.T).toarray(), rtol=1e-12)
    assert_allclose(kernel.diag(X), (X**2).sum(axis=1), rtol=1e-12)


def test_functions_combine_with_other_kernels(rng):
    X = rng.standard_normal((5, 2))
    kernel = 2.0 * FromFunction(inverse_distance) + Gaussian(1.0)
    expected = 2 * inverse_distance(X, X) + Gaussian(1.0)(X)
    assert_allclose(kernel(X), expected, rtol=1e-13)


def test_what_a_function_must_return(rng):
    X, Z = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    with pytest.raises(ValueError, match=r"returned shape \(3, 5\) for 5 and 3 rows"):
        FromFunction(lambda A, B: inverse_distance(B, A))(X, Z)
    with pytest.raises(ValueError, match="returned NaN or infinity"):
        FromFunction(lambda A, B: np.full((len(A), len(B)), np.nan))(X, Z)
    with pytest.raises(TypeError, match="has no gradient"):
        FromFunction(inverse_distance).gradient_coefficients(X, Z)


def test_a_matrix_is_looked_up(rng):
    K, new = rng.standard_normal((6, 6)), rng.standard_normal((2, 6))
    fitted, rows = with_row_numbers(K), with_row_numbers(new, new=True)
    assert fitted.shape == (6, 7)
    assert_array_equal(fitted[:, -1], np.arange(6))
    kernel, chosen = Precomputed(), [4, 1, 5]
    assert_array_equal(kernel(fitted), K)
    assert_array_equal(kernel(fitted, fitted[chosen]), K[:, chosen])
    assert_array_equal(
        kernel(fitted[chosen], fitted[chosen]), K[np.ix_(chosen, chosen)]
    )
    assert_array_equal(kernel(rows, fitted[chosen]), new[:, chosen])
    assert_array_equal(kernel.diag(fitted[chosen]), np.diag(K)[chosen])


def test_two_new_rows_have_no_value(rng):
    rows = with_row_numbers(rng.standard_normal((2, 6)), new=True)
    for ask in (lambda: Precomputed()(rows), lambda: Precomputed().diag(rows)):
        with pytest.raises(ValueError, match="no values between two new rows"):
            ask()


def test_what_is_looked_up_is_a_copy(rng):
    fitted = with_row_numbers(rng.standard_normal((3, 3)))
    before = fitted.copy()
    K = Precomputed()(fitted)
    K += 1
    diag = Precomputed().diag(fitted)
    diag += 1
    assert_array_equal(fitted, before)


NAMES = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "nngp": NNGP,
    "ntk": NTK,
    "thin_plate": ThinPlate,
    "polyharmonic": Polyharmonic,
    "precomputed": Precomputed,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_kernel_with_its_defaults(name):
    kernel = as_kernel(name)
    assert type(kernel) is NAMES[name]
    assert repr(kernel) == repr(NAMES[name]())


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_is_a_kernel(name):
    assert isinstance(as_kernel(name), Kernel)


def test_objects_and_functions_are_themselves():
    kernel = Gaussian(1.0) + Linear()
    assert as_kernel(kernel) is kernel
    function = as_kernel(np.dot)
    assert isinstance(function, FromFunction)
    assert function.function is np.dot


@pytest.mark.parametrize(
    "kernel", ["Gaussian", "", 1.0, None, Gaussian, ["rbf"]], ids=repr
)
def test_what_is_not_a_kernel(kernel):
    with pytest.raises(ValueError, match=r"a function of two tables, or one of 'gau"):
        as_kernel(kernel)
