"""Kernels of transformed rows: against transforming by hand; the table of degrees."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian, Laplace, Linear, Polynomial, ThinPlate
from halfmoon.kernels._transformed_rows import Prepared, Shifted
from halfmoon.smoothers import KernelWeights
from halfmoon.unpenalized import Polynomials
from kernels.test_base import KERNELS


@pytest.fixture
def X(rng):
    return rng.normal(size=(20, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, -2.0]


@pytest.fixture
def new(rng):
    return rng.normal(size=(6, 3))


class Counted:
    """A transformation that counts the rows it is given."""

    def __init__(self, transformer):
        self.transformer, self.rows = transformer, 0

    def __call__(self, X):
        self.rows += len(X)
        return self.transformer.transform(X)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("transformer", [StandardScaler(), PCA(2)], ids=repr)
def test_values_are_those_of_prepared_rows(X, new, rng, kernel, transformer):
    t = transformer.fit(X).transform
    prepared = Prepared(t, kernel)
    assert_array_equal(prepared(new, X), kernel(t(new), t(X)))
    assert_array_equal(prepared(X), kernel(t(X)))
    assert_array_equal(prepared.diag(X), kernel.diag(t(X)))
    C = rng.normal(size=(20, 2))
    expected = kernel(t(new), t(X)) @ C
    assert_allclose(prepared.combination(X, C)(new), expected, rtol=1e-12)


def test_the_same_rows_are_prepared_once(X, new):
    t = Counted(StandardScaler().fit(X))
    prepared = Prepared(t, Gaussian(1.0))
    prepared(X)
    assert t.rows == 20
    assert_array_equal(np.diag(prepared(X)), 1.0)  # known to be the same rows
    t.rows = 0
    function = prepared.combination(X, np.ones((20, 1)))
    assert t.rows == 20
    function(new)
    assert t.rows == 26


def test_it_is_as_conditional_as_its_kernel(X):
    assert Prepared(np.tanh, ThinPlate()).conditional_degree == 1
    assert Prepared(np.tanh, Gaussian(1.0)).conditional_degree == -1
    with pytest.raises(ValueError, match="only conditionally positive definite"):
        Prepared(np.tanh, ThinPlate()) * Gaussian(1.0)
    y = np.where(np.arange(20) < 9, X[:, 0], np.nan)
    scaled = Prepared(StandardScaler().fit(X).transform, ThinPlate())
    with pytest.raises(ValueError, match="polynomials up to degree 1"):
        ConditionalRegressor(scaled, "constant", alpha=1e-3).fit(X, y)
    model = ConditionalRegressor(scaled, "linear", alpha=1e-3).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    twin = ConditionalRegressor(ThinPlate(), "linear", alpha=1e-3).fit(Z, y)
    assert_allclose(model.predict(X), twin.predict(Z), rtol=1e-6, atol=1e-9)


def test_logarithms_do_not_underflow(X):
    prepared = Prepared(np.negative, Laplace(1.0))
    far = np.array([[1e5, 0.0, 0.0]])
    assert prepared(far, X).max() == 0.0
    assert_array_equal(prepared.log(far, X), Laplace(1.0).log(-far, -X))
    assert Prepared(np.negative, Linear()).log(far, X) is None
    # So that weights far from all rows tend to the nearest row.
    weights = KernelWeights(prepared).fit(X).weights(far)
    assert weights.argmax() == X[:, 0].argmax()
    assert_allclose(weights.sum(), 1.0)


def test_a_copy_shares_the_transformation_and_not_the_kernel(X, new):
    scaler = StandardScaler().fit(X)
    prepared = Prepared(scaler.transform, Gaussian(1.5))
    copy = clone(prepared)
    assert_array_equal(copy(new, X), prepared(new, X))
    copy.set_params(kernel__length_scale=4.0)
    assert prepared.kernel.length_scale == 1.5
    expected = Gaussian(4.0)(scaler.transform(new), scaler.transform(X))
    assert_array_equal(copy(new, X), expected)


def test_a_rule_without_a_number_says_what_to_do(X):
    with pytest.raises(
        ValueError, match=r"call kernel\.resolve\(X\).*or give a number"
    ):
        Prepared(np.tanh, Gaussian())(X)
    resolved = Prepared(np.tanh, Gaussian().resolve(np.tanh(X)))
    assert_array_equal(resolved(X), Gaussian().resolve(np.tanh(X))(np.tanh(X)))


def test_an_estimator_sees_raw_rows(X, new):
    y = np.where(np.arange(20) < 9, X[:, 0], np.nan)
    scaler = StandardScaler().fit(X)
    kernel = Prepared(scaler.transform, Gaussian(1.0)) + 0.1 * Gaussian(3.0)
    model = ConditionalRegressor(kernel, "constant", alpha=1e-3).fit(X, y)
    matrix = Gaussian(1.0)(scaler.transform(X)) + 0.1 * Gaussian(3.0)(X)
    twin = ConditionalRegressor("precomputed", "constant", alpha=1e-3).fit(matrix, y)
    matrix = Gaussian(1.0)(*map(scaler.transform, (new, X))) + 0.1 * Gaussian(3.0)(
        new, X
    )
    assert_allclose(model.predict(new), twin.predict(matrix), rtol=1e-8)


def test_memory_is_that_of_the_kernel():
    assert Prepared(np.tanh, Polynomial(2)).temporaries == Polynomial(2).temporaries
    assert Prepared(np.tanh, Gaussian(1.0)).row_bytes(5) == Gaussian(1.0).row_bytes(5)


INVARIANT = [kernel for kernel in KERNELS if kernel.origin_degree < np.inf]


@pytest.mark.parametrize("kernel", INVARIANT, ids=str)
def test_a_shift_matters_only_to_polynomials_up_to_the_degree(kernel, rng):
    d = 1 if "Periodic" in str(kernel) else 2
    X, origin = rng.normal(size=(25, d)), rng.normal(size=d)
    N = np.eye(25)
    if kernel.origin_degree >= 0:
        N = null_space(Polynomials(int(kernel.origin_degree)).fit(X).transform(X).T)
    expected = N.T @ kernel(X) @ N
    shifted = N.T @ Shifted(kernel, origin)(X) @ N
    assert_allclose(shifted, expected, atol=1e-10 * np.abs(expected).max())


def test_no_lower_degree_would_do(rng):
    X, origin = rng.normal(size=(25, 2)), rng.normal(size=2)
    for kernel in INVARIANT:
        if kernel.origin_degree < 0:
            continue
        N, below = np.eye(25), int(kernel.origin_degree) - 1
        if below >= 0:
            N = null_space(Polynomials(below).fit(X).transform(X).T)
        change = N.T @ (Shifted(kernel, origin)(X) - kernel(X)) @ N
        assert np.abs(change).max() > 1e-3
