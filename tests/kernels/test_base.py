"""The contract of a kernel: one table, every check on each row of it."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from sklearn.base import clone

from halfmoon.bases import Nystrom
from halfmoon.bases._smoothed import FredholmKernel
from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    PeriodicSobolev,
    Polyharmonic,
    Polynomial,
    ProductLaplace,
    RationalQuadratic,
    ThinPlate,
)
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import Problem
from halfmoon.problem._posed_kernel import PosedKernel
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors
from halfmoon.smoothers._diffusion import DiffusionKernel

KERNELS = [
    Gaussian(1.5),
    Laplace(1.5),
    Matern(0.5, 1.5),
    Matern(1.5, 1.5),
    Matern(2.5, 1.5),
    RationalQuadratic(0.7, 1.5),
    ProductLaplace(1.5),
    Linear(),
    Polynomial(3, 0.5, 2.0),
    NNGP("erf"),
    NNGP("erf", depth=3, weight=1.5, bias=0.1),
    NNGP("relu"),
    NNGP("relu", depth=3, weight=1.4, bias=0.0),
    NNGP("tanh"),
    NNGP("tanh", depth=2),
    NTK(),
    NTK(depth=3, weight=1.4, bias=0.3),
    ThinPlate(),
    Polyharmonic(1),
    Polyharmonic(3),
    Polyharmonic(5),
    PeriodicSobolev(0.75),
    PeriodicSobolev(1.0),
    PeriodicSobolev(1.5),
    PeriodicSobolev(2.2),
    Linear() + Gaussian(0.5),
    Gaussian(2.0) * Matern(2.5, 1.0),
    NNGP("relu") * Gaussian(1.0),
    0.25 * NTK(depth=2),
    2.0 * ThinPlate() + Gaussian(1.0),
]

#: Rows that the kernels below were fitted on.
FITTED_ON = np.random.default_rng(12).normal(size=(40, 4))


def posed(energy):
    y = np.full(40, np.nan)
    y[0] = 0.0  # the kernel sees no label
    problem = Problem(Nystrom(Gaussian(1.5), 12, "uniform"), energy, mu=0.3)
    return PosedKernel(problem.pose(FITTED_ON, y, rng=0))


def walk(**parameters):
    # Series and factor agree to the tolerance, and here to rounding.
    return Diffusion(5, tolerance=1e-14, **parameters).fit(FITTED_ON)


def fredholm(smoother, inner=Gaussian(1.2)):  # noqa: B008 - never changed
    return FredholmKernel(inner, smoother.fit(FITTED_ON))


#: Kernels that hold what was fitted on rows.
FITTED = {
    "prepared": Prepared(np.arcsinh, Gaussian(1.5)),
    "prepared, spline": Prepared(np.arcsinh, Polyharmonic(1)),
    "short walk": DiffusionKernel(walk(restart=0.3)),
    "long walk": DiffusionKernel(walk(restart=1e-3, repeats=2)),
    "fredholm": fredholm(KernelWeights(Gaussian(0.8))),
    "fredholm, not normalized": fredholm(KernelWeights(Laplace(0.8), normalize=False)),
    "fredholm, linear": fredholm(KernelWeights(Linear(), normalize=False), Linear()),
    "fredholm, steps": fredholm(Neighbors(4, steps=3)),
    "fredholm, walk": fredholm(walk(restart=0.2)),
    "norm": posed(None),
    "energy": posed("gradient"),
    "graph": posed("graph"),
    "sum": 0.5 * posed("gradient") + DiffusionKernel(walk(restart=0.1)) + Gaussian(2.0),
    "product": fredholm(Neighbors(4)) * Gaussian(1.0),
    "prepared walk": Prepared(np.arcsinh, DiffusionKernel(walk(restart=0.1))),
}
every_kernel = pytest.mark.parametrize(
    "kernel",
    [pytest.param(kernel, id=repr(kernel)) for kernel in KERNELS]
    + [pytest.param(kernel, id=name) for name, kernel in FITTED.items()],
)
every_fitted_kernel = pytest.mark.parametrize("kernel", FITTED.values(), ids=FITTED)


def rows(kernel, n, seed, scale=1.0):
    d = 1 if isinstance(kernel, PeriodicSobolev) else 4
    return scale * np.random.default_rng(seed).normal(size=(n, d))


def polynomials(X, degree):
    columns = [np.ones(len(X))] if degree >= 0 else []
    columns += list(X.T) if degree >= 1 else []
    if degree >= 2:
        i, j = np.triu_indices(X.shape[1])
        columns += list((X[:, i] * X[:, j]).T)
    return np.array(columns).reshape(-1, len(X)).T


@every_kernel
def test_every_entry_is_the_kernel_of_its_two_rows_alone(kernel):
    X, Z = rows(kernel, 7, 0), rows(kernel, 5, 1)
    one_by_one = [[kernel(X[i : i + 1], Z[j : j + 1])[0, 0] for j in range(5)]
                  for i in range(7)]  # fmt: skip
    # Distances are centered on all of Z: a few roundings, not more.
    assert_allclose(kernel(X, Z), one_by_one, rtol=1e-11, atol=1e-11)


@every_kernel
def test_the_matrix_is_symmetric_and_none_is_the_rows_themselves(kernel):
    X, Z = rows(kernel, 30, 0), rows(kernel, 20, 1)
    assert_allclose(kernel(X, Z), kernel(Z, X).T, rtol=1e-11, atol=1e-11)
    assert_array_equal(kernel(X), kernel(X, X))
    assert_allclose(kernel(X), kernel(X).T, rtol=1e-12, atol=1e-12)


@every_kernel
def test_diag_is_the_diagonal(kernel):
    X = rows(kernel, 40, 2)
    assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-11, atol=1e-12)
    # the same rows in another array, so that nothing is known to be equal
    assert_allclose(kernel.diag(X), np.diag(kernel(X, X.copy())), rtol=1e-11, atol=1e-7)


@every_kernel
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_sparse_rows_equal_dense_rows(kernel, container):
    X, Z = rows(kernel, 12, 3), rows(kernel, 9, 4)
    X[X < 0] = 0.0
    Z[Z > 1] = 0.0
    K = kernel(X, Z)
    for left, right in [(container(X), container(Z)), (container(X), Z)]:
        assert_allclose(kernel(left, right), K, rtol=1e-7, atol=1e-7)
    assert_allclose(kernel(X, container(Z)), K, rtol=1e-7, atol=1e-7)
    assert_allclose(kernel.diag(container(X)), kernel.diag(X), rtol=1e-12)


@every_kernel
def test_positive_definite_on_what_the_polynomials_leave(kernel):
    X = rows(kernel, 60, 5)
    N = np.eye(60)
    if kernel.conditional_degree >= 0:
        # of a prepared kernel too, whose degree here is 0
        N = null_space(polynomials(X, kernel.conditional_degree).T)
    eigenvalues = np.linalg.eigvalsh(N.T @ kernel(X) @ N)
    assert eigenvalues[0] > -1e-10 * eigenvalues[-1]
    assert eigenvalues[-1] > 0


@every_kernel
def test_float32_rows_and_integers_are_lifted(kernel):
    X = rows(kernel, 10, 6).astype(np.float32)
    assert_array_equal(kernel(X), kernel(X.astype(np.float64)))
    assert kernel(X).dtype == np.float64
    whole = np.round(2 * X).astype(np.int8)
    assert_array_equal(kernel(whole), kernel(whole.astype(np.float64)))
    assert_array_equal(kernel(whole.tolist()), kernel(whole.astype(np.float64)))


@every_kernel
def test_the_rows_are_left_as_they_were(kernel):
    X, Z = rows(kernel, 10, 7), rows(kernel, 6, 8)
    X_before, Z_before = X.copy(), Z.copy()
    kernel(X, Z)
    kernel.diag(X)
    assert_array_equal(X, X_before)
    assert_array_equal(Z, Z_before)


@every_kernel
def test_parameters_make_the_round_trip(kernel):
    again = clone(kernel)
    assert again is not kernel
    X = rows(kernel, 5, 9)
    assert_array_equal(again(X), kernel(X))
    assert repr(again) == repr(kernel)
    parameters = again.get_params(deep=False)
    assert_array_equal(type(kernel)(**parameters)(X), kernel(X))


@every_kernel
def test_at_most_two_temporaries_in_addition_to_the_result(kernel):
    n, p = 2000, 500
    X, Z = rows(kernel, n, 10, 0.5), rows(kernel, p, 11, 0.5)
    kernel(X[:5], Z[:5])
    tracemalloc.start()
    try:
        kernel(X, Z)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 3.1 * 8 * n * p  # 0.1 for arrays of n and of p rows


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, np.nan]], r"X contains NaN or infinity.*NaN in row 0, column 1"),
        ([[0.0], [np.inf]], r"infinity in row 1, column 0.*Impute"),
        (sp.csr_array([[0.0, np.nan]]), r"NaN in row 0, column 1"),
        ([1.0, 2.0], r"X has shape \(2,\); a table of rows and columns.*Reshape"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.ones((0, 3)), r"X has 0 row\(s\) and 3 column\(s\); at least one"),
        (np.ones((3, 0)), r"X has 3 row\(s\) and 0 column\(s\)"),
        ([[1.0 + 2.0j]], r"X is complex; real numbers are needed"),
        (sp.csr_array([[1.0 + 2.0j]]), r"X is complex; real numbers are needed"),
        ([["a", "b"]], r"cannot be read as numbers.*Encode text"),
    ],
)
def test_rows_that_are_no_table_of_numbers_are_refused(X, message):
    for call in (Gaussian(1.0), Gaussian(1.0).diag, Linear().gradient_coefficients):
        with pytest.raises(ValueError, match=message):
            call(X)


def test_the_error_names_the_argument_that_is_wrong():
    with pytest.raises(ValueError, match=r"Z contains NaN or infinity"):
        Gaussian(1.0)([[1.0]], [[np.nan]])


def test_large_finite_rows_are_not_taken_for_infinite():
    X = np.full((2, 1), 1.7e308)  # their sum overflows
    assert_array_equal(Gaussian(1.0)(X[:1]), [[1.0]])


@every_kernel
def test_columns_must_match(kernel):
    with pytest.raises(ValueError, match=r"X has 3 columns and Z has 2; a kernel comp"):
        kernel(np.ones((4, 3)), np.ones((5, 2)))


@pytest.mark.parametrize("kernel", [NNGP("tanh"), NNGP("tanh", depth=2)], ids=repr)
def test_a_kernel_without_gradient_says_so(kernel):
    with pytest.raises(TypeError, match=r"activation='tanh'.*has no gradient. Use a"):
        kernel.gradient_coefficients(np.ones((2, 2)))


@pytest.mark.parametrize("kernel", [NNGP(), NTK(), ThinPlate(), Linear() * Linear()])
def test_a_kernel_without_second_derivatives_says_so(kernel):
    with pytest.raises(TypeError, match=r"has no second derivatives.*landmark basis"):
        kernel.second_derivatives(np.ones((2, 2)), np.ones((2, 2)))


def test_resolve_and_log_have_plain_defaults():
    kernel = Linear()
    assert kernel.resolve([[1.0]]) is kernel
    assert kernel.log([[1.0]], [[1.0]]) is None


@every_kernel
def test_memory_is_what_the_kernel_declares(kernel):
    # Blocks are sized by these counts, so that many landmarks keep to a memory limit.
    X = rows(kernel, 1_500, 0)
    unit = 1_500 * 400 * 8
    slack = 0.35  # of an n-by-p array, for what has the size of the rows
    tracemalloc.start()
    kernel(X, X[:400])
    assert tracemalloc.get_traced_memory()[1] <= (kernel.temporaries + slack) * unit
    tracemalloc.reset_peak()
    try:
        kernel.gradient_coefficients(X, X[:400])
    except TypeError:
        tracemalloc.stop()
        return
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= (kernel.gradient_temporaries + slack) * unit


@every_kernel
def test_sections_are_columns_of_the_matrix(kernel):
    X, Z = rows(kernel, 7, 0), rows(kernel, 5, 1)
    sections, expected = kernel.sections(Z), kernel(X, Z)
    for _ in range(2):  # what is kept for other rows does not change
        assert_allclose(sections(X), expected, rtol=1e-11, atol=1e-11)
    assert_allclose(sections(X[2:3]), expected[2:3], rtol=1e-11, atol=1e-11)


@every_kernel
def test_a_combination_is_the_matrix_times_its_weights(kernel):
    X, Z, C = rows(kernel, 9, 13), rows(kernel, 7, 14), rows(kernel, 7, 15)[:, :1]
    for weights in (C, np.hstack([C, -2 * C, C**2]), np.zeros((7, 2))):
        function, before = kernel.combination(Z, weights), weights.copy()
        expected = kernel(X, Z) @ weights
        assert_allclose(function(X), expected, rtol=1e-10, atol=1e-10)
        assert_allclose(function(X[:2]), expected[:2], rtol=1e-10, atol=1e-10)
        assert_array_equal(weights, before)


@every_kernel
def test_a_combination_takes_sparse_rows(kernel):
    X, Z, C = rows(kernel, 9, 13), rows(kernel, 7, 14), np.ones((7, 2))
    X[X < 0] = 0.0
    function = kernel.combination(sp.csr_array(Z), C)
    expected = kernel(X, Z) @ C
    assert_allclose(function(sp.csr_array(X)), expected, rtol=1e-7, atol=1e-7)


@every_kernel
def test_terms_add_up_to_the_kernel(kernel):
    X, Z = rows(kernel, 6, 16), rows(kernel, 5, 17)
    total = sum(factor * term(X, Z) for factor, term in kernel.terms())
    assert_allclose(total, kernel(X, Z), rtol=1e-12, atol=1e-13)
    assert all(term.terms() == [(1.0, term)] for _, term in kernel.terms())


@every_kernel
@pytest.mark.parametrize("block_rows", [1, 4, 11, 50])  # single, ragged, exact, over
def test_rows_in_blocks_give_the_same(kernel, block_rows):
    X, Z = rows(kernel, 11, 18), rows(kernel, 6, 19)
    blocks = [X[start : start + block_rows] for start in range(0, 11, block_rows)]
    by_blocks = np.vstack([kernel(block, Z) for block in blocks])
    assert_allclose(by_blocks, kernel(X, Z), rtol=1e-11, atol=1e-11)
    by_blocks = np.concatenate([kernel.diag(block) for block in blocks])
    assert_allclose(by_blocks, kernel.diag(X), rtol=1e-11)


@every_fitted_kernel
def test_a_value_may_be_written_over(kernel):
    # Sums and products write into what their first part returns.
    X = rows(kernel, 6, 20)
    before = kernel(X)
    (kernel + kernel)(X)
    (2.0 * kernel)(X)
    assert_array_equal(kernel(X), before)


@every_fitted_kernel
def test_rows_with_other_columns_than_the_fitted_ones_are_refused(kernel):
    if isinstance(kernel, Prepared) and not isinstance(kernel.kernel, DiffusionKernel):
        pytest.skip("holds no rows")
    with pytest.raises(ValueError, match=r"X has 3 columns.* 4"):
        kernel(np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"X has 3 columns.* 4"):
        kernel.diag(np.ones((4, 3)))
