"""Rows far from 0: fits that do not depend on the origin lose no digits."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from halfmoon import (
    ConditionalRegressor,
    FredholmRegressor,
    HalfmoonRegressor,
    LaplacianRegressor,
)
from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed, WithDerivatives
from halfmoon.kernels import NNGP, Gaussian, Laplace, Linear, Matern, Polynomial
from halfmoon.kernels._base import Sum
from halfmoon.kernels._length_scales import middle_of
from halfmoon.kernels._transformed_rows import Shifted
from halfmoon.problem import Problem
from halfmoon.smoothers import KernelWeights, Neighbors
from halfmoon.unpenalized import Constant, Polynomials

N, L, D = 24, 15, 2
OFFSET = 2.0**21  # sums with multiples of 1 / 1024 are exact


@pytest.fixture
def near(rng):
    """Rows around 0 that stay exact in a sum with OFFSET, their middle at 0."""
    X = np.round(1024 * rng.standard_normal((N, D))) / 1024
    return X - middle_of(X)


@pytest.fixture
def y(near, rng):
    y = np.sin(near).sum(axis=1) + 0.1 * rng.standard_normal(N)
    y[L:] = np.nan
    return y


KERNELS = {
    "linear": (Linear(), Constant()),
    "linear and gaussian": (0.5 * Linear() + Gaussian(1.0), Constant()),
    "polynomial": (Polynomial(2, offset=0.5), Polynomials(1)),
    "linear, more polynomials": (Linear(), Polynomials(1)),
}
BASES = {
    "exact": Exact,
    "landmarks": lambda kernel: Nystrom(kernel, landmarks=np.arange(8)),
    "pivots": lambda kernel: Nystrom(kernel, N),
    "smoothed": lambda kernel: Smoothed(Exact(kernel), KernelWeights(Gaussian(0.5))),
    "smoothed landmarks": lambda kernel: Smoothed(
        Nystrom(kernel, landmarks=np.arange(8)), Neighbors(4)
    ),
}


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("energy", [None, "gradient"])
def test_an_offset_changes_nothing(near, y, basis, kernel, energy):
    if energy and basis == "smoothed landmarks":
        pytest.skip("neighbors have no gradient")
    kernel, features = KERNELS[kernel]
    problem = Problem(BASES[basis](kernel), energy, unpenalized=features)
    expected = problem.fit(near, y, alpha=1e-3, rng=0)
    fit = problem.fit(near + OFFSET, y, alpha=1e-3, rng=0)
    tolerance = {"rtol": 1e-8, "atol": 1e-8}
    assert_allclose(fit.predict(near + OFFSET), expected.predict(near), **tolerance)
    assert_allclose(fit.std(near + OFFSET), expected.std(near), **tolerance)
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), **tolerance)


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_offset_changes_nothing_with_derivatives(near, y, kernel):
    kernel, features = KERNELS[kernel]
    problem = Problem(WithDerivatives(kernel), "gradient", 0.1, unpenalized=features)
    expected = problem.fit(near, y, alpha=1e-2).predict(near)
    fit = problem.fit(near + OFFSET, y, alpha=1e-2)
    assert_allclose(fit.predict(near + OFFSET), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_components", [None, 8])
@pytest.mark.parametrize("model", [ConditionalRegressor, LaplacianRegressor])
def test_estimators_keep_the_digits_of_sums(near, y, model, n_components, form):
    model = model("linear", alpha=1e-3, n_components=n_components, random_state=0)
    model.set_params(unpenalized="constant")
    expected = model.fit(near, y).predict(near)
    slopes = np.linalg.lstsq(
        np.c_[near, np.ones(N)], expected - model.coef_, rcond=None
    )[0]
    X = form(near + OFFSET)
    model.fit(X, y)
    assert_allclose(model.predict(X), expected, rtol=1e-9, atol=1e-9)
    # the constant is the value at 0, as without an offset
    at_zero = expected[0] - (near[0] + OFFSET) @ slopes[:D]
    assert_allclose(model.coef_, at_zero, rtol=1e-6)


@pytest.mark.parametrize("features", [Constant(), Polynomials(1)])
@pytest.mark.parametrize("basis", [Exact(Linear()), Nystrom(Linear(), 9)])
def test_the_constant_is_the_value_at_0(near, y, features, basis):
    X = near + 64.0
    fit = Problem(basis, unpenalized=features).fit(X, y, alpha=0.1, rng=0)
    assert isinstance(fit.posed.basis.sections.kernel, Shifted)
    by_kernel = X @ X[:L].T @ fit.dual_coef()[:, 0]
    assert_allclose(by_kernel + fit.posed.features(X) @ fit.coef, fit.predict(X))


def test_other_unpenalized_features_may_need_the_given_origin(near, y):
    X = near + 64.0
    posed = Problem(Nystrom(Linear(), 9)).pose(X, y, rng=0)
    assert isinstance(posed.basis.sections.kernel, Shifted)
    other = posed.with_unpenalized(None)
    assert_allclose(other.basis.transform(X), X @ other.basis.sections.Z.T)
    assert_allclose(other.basis.sections.Z, posed.basis.sections.Z)


@pytest.mark.parametrize(
    ("kernel", "features"),
    [(Linear(), None), (Polynomial(2), Constant()), (NNGP("relu"), Constant())],
)
def test_a_warning_where_digits_are_lost(near, y, kernel, features):
    problem = Problem(Exact(kernel), unpenalized=features)
    warns_of_lost_digits(problem, near, y)


def test_no_warning_where_nothing_is_lost(near, y):
    Problem(Exact(Linear()), unpenalized=None).pose(np.full((3, 2), 7.0), y[:3])
    HalfmoonRegressor(budget=1e-9).fit(near + OFFSET, y)


def test_a_warning_for_a_linear_outer_kernel(near, y):
    smoother = KernelWeights(Linear(), normalize=False)
    warns_of_lost_digits(Problem(Smoothed(Exact(Gaussian(1.0)), smoother)), near, y)


def warns_of_lost_digits(problem, near, y):
    with pytest.warns(UserWarning, match="farther from 0 than from each other"):
        problem.pose(near + OFFSET, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem.pose(near + 64.0, y)


def test_functions_of_the_difference_need_no_shift(near, y):
    for kernel in (Gaussian(1.0), Laplace(1.0) + Matern(1.5, 1.0)):
        posed = Problem(Exact(kernel)).pose(near + OFFSET, y)
        assert type(posed.basis.kernel_) is type(kernel)


@pytest.mark.parametrize(
    ("kernel", "degree"),
    [
        (Gaussian(1.0) * Laplace(1.0), -1),
        (Linear() + Gaussian(1.0), 0),
        (2.0 * (Polynomial(3) + Linear()), 2),
        (Linear() * Gaussian(1.0), np.inf),
        (NNGP() + Linear(), np.inf),
    ],
)
def test_degree_from_which_the_origin_does_not_matter(kernel, degree):
    assert kernel.origin_degree == degree


def test_gradients_of_a_shifted_kernel(near):
    origin = np.array([3.0, -5.0])
    kernel = Shifted(Sum(Polynomial(2), Gaussian(1.0)), origin)
    basis, h = Exact(kernel).fit(near), 1e-5
    G = basis.gradient(near)
    for c in range(D):
        step = h * np.eye(D)[c]
        by_differences = kernel(near + step, near) - kernel(near - step, near)
        assert_allclose(G[:, :, c], by_differences / (2 * h), rtol=1e-6, atol=1e-6)


def test_waves_of_rows_far_from_0(near, rng):
    X = near + 2.0**34
    for kernel in (Gaussian(1.0), Laplace(1.0)):
        phi = RandomFeatures(kernel, 4_000).fit(X, rng).transform(X)
        assert_allclose(phi @ phi.T, kernel(X), atol=0.12)
        few = RandomFeatures(kernel, 10)
        expected = few.fit(near, 0).transform(near)  # the middle of these is 0
        assert_allclose(few.fit(X, 0).transform(X), expected, atol=1e-12)


def test_the_default_features_need_no_warning(near):
    plane = near @ [1.0, -2.0]
    y = np.where(np.arange(N) < L, plane, np.nan)
    model = LaplacianRegressor("linear", alpha=1e-9).fit(near + OFFSET, y)
    assert_allclose(model.predict(near + OFFSET), plane, atol=1e-6)


def test_a_smoothed_linear_kernel_far_from_0(near, y):
    model = FredholmRegressor(Gaussian(0.5), "linear", alpha=1e-3)
    expected = model.fit(near, y).predict(near)
    X = near + OFFSET
    assert_allclose(model.fit(X, y).predict(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("normalize", [True, False])
def test_gradients_of_averages_far_from_0(near, rng, normalize):
    smoother, V = KernelWeights(Gaussian(1.0), normalize), rng.standard_normal((N, 2))
    expected = smoother.fit(near).gradient(near, V)
    X = near + 2.0**34
    assert_allclose(smoother.fit(X).gradient(X, V), expected, rtol=1e-12, atol=1e-12)


def test_derivatives_of_kernels_far_from_0(near):
    basis = WithDerivatives(Gaussian(1.0))
    expected = basis.fit(near).transform(near), basis.gradient(near), basis.penalty()
    X = near + 2.0**34
    found = basis.fit(X).transform(X), basis.gradient(X), basis.penalty()
    for values, others in zip(found, expected, strict=True):
        assert_allclose(values, others, rtol=1e-12, atol=1e-12)
