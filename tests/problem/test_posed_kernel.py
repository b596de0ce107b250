"""The kernel of a posed problem against phi Q^-1 phi', and against its own fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon import ConditionalRegressor
from halfmoon.bases import Exact, Nystrom, RandomFeatures
from halfmoon.kernels import Gaussian
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import Problem, solve_ridge
from halfmoon.problem._posed_kernel import PosedKernel
from halfmoon.unpenalized import Constant
from reference import BASES, LEVERS, UNPENALIZED, problem, table, twin


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", ["nystrom", "features"])
def test_values_are_phi_by_the_inverse_penalty(basis, lever):
    data = table()
    posed = problem(basis, lever, None, data).pose(data.X, data.y, rng=0)
    kernel, dense = PosedKernel(posed), twin(basis, lever, None, data, posed)
    phi_new, phi_X = dense.phi(data.new), dense.phi(data.X)
    expected = phi_new @ np.linalg.solve(dense.Q, phi_X.T)
    assert_allclose(kernel(data.new, data.X), expected, rtol=1e-6, atol=1e-8)
    assert_allclose(kernel(data.X, data.new), expected.T, rtol=1e-6, atol=1e-8)
    C = np.column_stack([np.cos(np.arange(30)), np.ones(30)])
    actual = kernel.combination(data.X, C)(data.new)
    assert_allclose(actual, expected @ C, rtol=1e-6, atol=1e-7)
    expected = np.diag(phi_new @ np.linalg.solve(dense.Q, phi_new.T))
    assert_allclose(kernel.diag(data.new), expected, rtol=1e-6)


@pytest.mark.parametrize("features", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_ridge_with_the_kernel_is_ridge_with_the_problem(basis, lever, features):
    data, alpha = table(t=2), 0.02
    if basis == "exact":  # rows that make the kernel matrix well-conditioned
        data.X = 4.0 * data.X
    unpenalized = UNPENALIZED[features]
    stated = problem(basis, lever, unpenalized, data)
    primal = stated.pose(data.X, data.y, sample_weight=data.w, rng=0)
    dual = Problem(Exact(PosedKernel(primal)), unpenalized=unpenalized)
    dual = dual.pose(data.X, data.y, sample_weight=data.w, rng=0)
    assert dual.dual
    one, other = solve_ridge(primal, alpha), solve_ridge(dual, alpha)
    assert_allclose(other.predict(data.new), one.predict(data.new), atol=1e-8)
    assert_allclose(other.beta, one.beta, rtol=1e-8, atol=1e-8)
    assert_allclose(other.leave_one_out(), one.leave_one_out(), rtol=1e-7, atol=1e-8)


def test_labels_do_not_affect_the_kernel():
    data = table()
    basis = Nystrom(Gaussian(0.8), landmarks=data.Z)
    stated = Problem(basis, "gradient", mu=0.1)
    one = PosedKernel(stated.pose(data.X, data.y))
    y = np.full(30, np.nan)
    y[0] = -7.0
    other = PosedKernel(stated.pose(data.X, y))
    assert_array_equal(one(data.new), other(data.new))


def test_functions_without_penalty_must_be_unpenalized():
    # At mu = 0 the constants of a graph's energy cost nothing: they are the primal
    # problem's free directions, and the kernel's unpenalized features.
    data = table(weights=False)
    basis = Exact(Gaussian(0.5))
    X = 3.0 * data.X
    primal = Problem(basis, "graph", mu=0.0, unpenalized=Constant()).pose(X, data.y)
    assert primal.whitening.rank == 29  # of 30
    dual = Problem(Exact(PosedKernel(primal)), unpenalized=Constant()).pose(X, data.y)
    one, other = solve_ridge(primal, 1e-2), solve_ridge(dual, 1e-2)
    assert_allclose(other.predict(X), one.predict(X), atol=1e-7)


def test_sums_with_other_kernels(rng):
    data = table(weights=False)
    stated = Problem(Nystrom(Gaussian(0.8), landmarks=data.Z), "gradient", mu=0.1)
    energy = PosedKernel(stated.pose(np.tanh(data.X), data.y))
    kernel = 0.5 * Prepared(np.tanh, energy) + Gaussian(1.0)
    expected = 0.5 * energy(np.tanh(data.new), np.tanh(data.X))
    expected += Gaussian(1.0)(data.new, data.X)
    assert_allclose(kernel(data.new, data.X), expected, rtol=1e-12)
    model = ConditionalRegressor(kernel, "constant", alpha=1e-2).fit(data.X, data.y)
    twin = ConditionalRegressor("precomputed", "constant", alpha=1e-2)
    twin.fit(kernel(data.X), data.y)
    assert_allclose(model.predict(data.new), twin.predict(expected), rtol=1e-8)


def test_random_features_are_not_whitened():
    data = table()
    posed = Problem(RandomFeatures(Gaussian(0.8), 9)).pose(data.X, data.y, rng=0)
    phi = posed.basis.transform
    expected = phi(data.new) @ phi(data.X).T
    assert_allclose(PosedKernel(posed)(data.new, data.X), expected, rtol=1e-13)


def test_a_copy_shares_the_problem():
    data = table()
    posed = problem("nystrom", "gradient", None, data).pose(data.X, data.y)
    kernel = PosedKernel(posed)
    copy = clone(kernel)
    assert copy is not kernel
    assert copy.posed is posed
    assert_array_equal(copy(data.X), kernel(data.X))


def test_memory_counts_the_functions_of_the_basis():
    data = table()
    posed = problem("nystrom", "gradient", None, data).pose(data.X, data.y)
    expected = posed.basis.row_bytes + 8 * 8 + 16 * 3
    assert PosedKernel(posed).row_bytes(3) == expected
