"""The Fredholm kernel against loops over its double sum, and against `Smoothed`."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.svm import SVC

from halfmoon import ConditionalRegressor, FredholmRegressor
from halfmoon.bases import Exact, FredholmKernel, Smoothed
from halfmoon.bases import _smoothed as fredholm_kernel
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Laplace, Linear, Polyharmonic, ThinPlate
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors
from halfmoon.smoothers._diffusion import DiffusionKernel
from helpers import SMOOTHERS, peak_bytes

H = Gaussian(1.2)
every_smoother = pytest.mark.parametrize("name", SMOOTHERS)


@pytest.fixture
def X(rng):
    return rng.normal(size=(14, 3))


@pytest.fixture
def new(rng):
    return rng.normal(size=(5, 3))


def by_loops(kernel):
    """Return k_F(x, z): the sum over i and j of a_i(x) h(x_i, x_j) a_j(z), with D."""
    rows = kernel.smoother.rows_
    n = len(rows)
    D = kernel.smoother.spread(np.eye(n))
    h = [[kernel.inner(rows[[i]], rows[[j]])[0, 0] for j in range(n)] for i in range(n)]

    def a(row):
        A = kernel.smoother.weights(row[None])
        return ((A.toarray() if sp.issparse(A) else A) @ D)[0]

    def value(x, z):
        a_x, a_z = a(x), a(z)
        return sum(a_x[i] * h[i][j] * a_z[j] for i in range(n) for j in range(n))

    return value


@every_smoother
@pytest.mark.parametrize("inner", [H, Linear(), Laplace(0.7)], ids=repr)
def test_values_are_the_double_sum(X, new, name, inner):
    kernel = FredholmKernel(inner, SMOOTHERS[name]().fit(X))
    Z = X[[3, 0, 9]]
    k_F = by_loops(kernel)
    expected = [[k_F(x, z) for z in Z] for x in new]
    assert_allclose(kernel(new, Z), expected, rtol=1e-9, atol=1e-13)
    assert_allclose(kernel(Z, new), np.transpose(expected), rtol=1e-9, atol=1e-13)
    expected = [k_F(x, x) for x in new]
    assert_allclose(kernel.diag(new), expected, rtol=1e-9)
    assert_array_equal(kernel(new), kernel(new).T)


@every_smoother
def test_a_smoothed_exact_basis_has_this_kernel(X, new, name, rng):
    basis = Smoothed(Exact(H), SMOOTHERS[name]()).fit(X)
    kernel = FredholmKernel(H, SMOOTHERS[name]().fit(X))
    chosen, c = np.array([3, 0, 9, 13]), rng.normal(size=(4, 2))
    K = kernel(new, X[chosen])
    assert_allclose(basis.gram(chosen)(new), K, rtol=1e-9)
    assert_allclose(basis.prior_variance(new), kernel.diag(new), rtol=1e-9)
    theta = basis.lift(chosen, c)
    assert_allclose(basis.transform(new) @ theta, K @ c, rtol=1e-8, atol=1e-12)
    assert_allclose(basis.function(theta)(new), K @ c, rtol=1e-8, atol=1e-12)
    # phi_F(x)'Q^-1 phi_F(z), as of any basis
    phi = basis.transform(np.vstack([new, X[chosen]]))
    expected = phi[:5] @ np.linalg.solve(basis.penalty(), phi[5:].T)
    assert_allclose(K, expected, rtol=1e-6, atol=1e-9)


@every_smoother
def test_weights_carry_those_of_some_rows_to_all(X, new, name, rng):
    kernel = FredholmKernel(H, SMOOTHERS[name]().fit(X))
    C = rng.normal(size=(5, 2))
    A, D = kernel.smoother.weights(new), kernel.smoother.spread(np.eye(14))
    A = A.toarray() if sp.issparse(A) else A
    assert_allclose(kernel.weights(new), (A @ D).T, rtol=1e-9, atol=1e-13)
    assert_allclose(kernel.weights(new, C), (A @ D).T @ C, rtol=1e-9, atol=1e-12)
    V = rng.normal(size=(14, 2))
    assert_allclose(kernel.inner_sums(V), H(X) @ V, rtol=1e-12)


@pytest.mark.parametrize("block_rows", [1, 4, 14, 50])  # single, ragged, exact, over
def test_row_blocks_of_the_inner_kernel_add_up(X, new, block_rows):
    kernel = FredholmKernel(H, KernelWeights(Gaussian(0.9)).fit(X))
    A = KernelWeights(Gaussian(0.9)).fit(X).weights(new)
    expected = A @ H(X) @ A.T
    bytes_of_a_row = 2 * 8 * 14
    small = Stream(memory_limit=block_rows * bytes_of_a_row, n_jobs=1)
    with small.handed_down():
        assert_allclose(kernel(new), expected, rtol=1e-12)
        assert_allclose(kernel.diag(new), np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_the_diagonal_comes_in_pieces(X, new, monkeypatch, size):
    kernel = FredholmKernel(H, Neighbors(4).fit(X))
    expected = np.diag(kernel(new))
    monkeypatch.setattr(fredholm_kernel, "DIAGONAL_ROWS", size)
    assert_allclose(kernel.diag(new), expected, rtol=1e-12)


def test_a_regressor_with_this_kernel_is_the_fredholm_regressor(X, new):
    y = np.where(np.arange(14) < 8, np.sin(X[:, 0]), np.nan)
    expected = FredholmRegressor(
        Gaussian(0.9), H, unpenalized="constant", alpha=1e-3
    ).fit(X, y)
    kernel = FredholmKernel(H, KernelWeights(Gaussian(0.9)).fit(X))
    model = ConditionalRegressor(kernel, "constant", alpha=1e-3).fit(X, y)
    assert_allclose(model.predict(new), expected.predict(new), rtol=1e-7)
    assert_allclose(
        model.predict(new, return_std=True)[1],
        expected.predict(new, return_std=True)[1],
        rtol=1e-5,
    )
    assert_allclose(model.leave_one_out(), expected.leave_one_out(), rtol=1e-6)


def test_sums_and_products_with_other_kernels(X, new, rng):
    fredholm = FredholmKernel(H, Neighbors(4).fit(X))
    walk = DiffusionKernel(Diffusion(4, 0.2).fit(X))
    G, F, D = Gaussian(0.5), fredholm(new, X), walk(new, X)
    total = 0.3 * fredholm + 2.0 * (G + walk)
    expected = 0.3 * F + 2.0 * (G(new, X) + D)
    assert_allclose(total(new, X), expected, rtol=1e-12)
    C = rng.normal(size=(14, 2))
    assert_allclose(total.combination(X, C)(new), expected @ C, rtol=1e-8, atol=1e-12)
    assert_allclose((fredholm * G)(new, X), F * G(new, X), rtol=1e-12)
    factors, terms = zip(*total.terms(), strict=True)
    assert factors == (0.3, 2.0, 2.0)
    assert terms[0] is fredholm
    y = np.where(np.arange(14) < 8, np.sin(X[:, 0]), np.nan)
    model = ConditionalRegressor(total, "constant", alpha=1e-3).fit(X, y)
    twin = ConditionalRegressor("precomputed", "constant", alpha=1e-3)
    twin.fit(total(X), y)
    assert_allclose(model.predict(new), twin.predict(expected), rtol=1e-7)


def test_its_matrix_serves_a_support_vector_machine(rng):
    # Two moons' simplest sisters: two far groups, one label each.
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 8.0])
    kernel = FredholmKernel(Gaussian(2.0), KernelWeights(Gaussian(1.0)).fit(X))
    labeled = np.array([0, 20])
    machine = SVC(kernel="precomputed").fit(kernel(X[labeled]), [0, 1])
    predictions = machine.predict(kernel(X, X[labeled]))
    assert_array_equal(predictions, np.repeat([0, 1], 20))


def test_a_copy_shares_the_smoother_and_not_the_inner_kernel(X):
    kernel = FredholmKernel(Gaussian(1.2), Neighbors(4).fit(X))
    copy = clone(kernel)
    assert copy.smoother is kernel.smoother
    assert_array_equal(copy(X), kernel(X))
    copy.set_params(inner__length_scale=3.0)
    assert kernel.inner.length_scale == 1.2


def test_conditional_kernels_are_refused(X):
    for inner in (ThinPlate(), Polyharmonic(1), 2.0 * ThinPlate() + H):
        with pytest.raises(ValueError, match="needs a positive definite inner kernel"):
            FredholmKernel(inner, Neighbors(4).fit(X))


@pytest.mark.parametrize("smoother", [Neighbors(5), KernelWeights(Gaussian(1.0))])
def test_nothing_of_n_by_n_is_formed(smoother):
    X = np.random.default_rng(0).normal(size=(3_000, 3))
    kernel = FredholmKernel(H, smoother.fit(X))

    def work():
        with Stream(memory_limit="8MB", n_jobs=1).handed_down():
            kernel(X[:9], X[:9])
            kernel.diag(X[:600])
            kernel.combination(X[:50], np.ones((50, 2)))(X[:100])

    assert peak_bytes(work) < 3_000**2 * 8 / 2


def test_memory_counts_the_rows_that_are_averaged(X):
    # With few labels, the weights of a new row on all rows are what takes memory.
    kernel = FredholmKernel(H, KernelWeights(Gaussian(0.9)).fit(X))
    assert kernel.row_bytes(2) == 16 * 14 + 16 * 2
    assert (kernel + Gaussian(1.0)).row_bytes(2) == 16 * 14 + 16 * 2 + 8 * 2
    assert (0.5 * kernel).row_bytes(2) == kernel.row_bytes(2)
    assert Exact(kernel).fit(X[:2]).row_bytes == kernel.row_bytes(2)


@pytest.mark.parametrize(
    ("inner", "smoother", "message"),
    [
        (
            Gaussian(2.0),
            Gaussian(1.0),
            r"smoother is Gaussian.*KernelWeights\(kernel\)",
        ),
        (Gaussian(2.0), None, "smoother is None"),
        ("gaussian", KernelWeights(Gaussian(1.0)), "inner is 'gaussian'; a kernel of"),
        (KernelWeights(Gaussian(1.0)), Gaussian(2.0), "inner is KernelWeights"),
    ],
)
def test_the_parts_have_to_be_a_kernel_and_a_smoother(inner, smoother, message):
    with pytest.raises(TypeError, match=message):
        FredholmKernel(inner, smoother)
