"""The minimum against a generic solver, and against plain ridge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from halfmoon import Problem
from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian, ThinPlate
from halfmoon.unpenalized import Polynomials
from halfmoon.weak._interval_newton import fit_intervals
from halfmoon.weak._row_smoother import RowCoordinates

N = 30
PROBLEMS = {
    "kernel": Problem(Exact(Gaussian(1.0))),
    "no constant": Problem(Exact(Gaussian(1.0)), unpenalized=None),
    "energy": Problem(Exact(Gaussian(1.0)), energy="gradient"),
    "landmarks": Problem(Nystrom(Gaussian(1.0), 7), unpenalized=Polynomials(1)),
    "spline": Problem(Exact(ThinPlate()), unpenalized=Polynomials(1)),
}


@pytest.fixture
def data(rng):
    X, w = rng.normal(size=(N, 2)), rng.uniform(0.5, 2.0, N)
    f = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=N)
    low, high = f - rng.exponential(0.3, N), f + rng.exponential(0.3, N)
    low[:6], high[6:12] = -np.inf, np.inf
    low[12:15] = high[12:15]
    return X, w, low, high


def generic(Z, lam, low, high):
    """J by L-BFGS-B, from its definition."""

    def J(v):
        g = Z @ v
        out = g - np.clip(g, low, high)
        return out @ out + lam * v @ v, 2 * (Z.T @ out + lam * v)

    v = np.zeros(Z.shape[1])
    for _ in range(5):  # each restart drops its memory, and goes on
        found = minimize(
            J, v, jac=True, method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 10**6, "ftol": 0, "gtol": 1e-11},
        )  # fmt: skip
        v = found.x
    return found.fun, v


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
def test_it_agrees_with_a_generic_solver(name, alpha, data):
    X, w, low, high = data
    posed = PROBLEMS[name].pose(X, np.zeros(N), sample_weight=w, rng=0)
    coordinates = RowCoordinates.of(posed)
    root_w = np.sqrt(w)
    lam = alpha * w.sum() * coordinates.penalized
    found = fit_intervals(coordinates, low, high, alpha)
    least, v = generic(coordinates.Z, lam, root_w * low, root_w * high)
    out = root_w * (found.g - np.clip(found.g, low, high))
    J = out @ out + lam @ found.v**2
    assert least * (1 + 1e-9) >= J
    assert_allclose(found.g, (coordinates.Z @ v) / root_w, atol=1e-5)
    assert_allclose(J, least, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-8, 1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_fit_is_ridge_on_the_nearest_points(name, alpha, data):
    X, w, low, high = data
    problem = PROBLEMS[name]
    posed = problem.pose(X, np.zeros(N), sample_weight=w, rng=0)
    found = fit_intervals(RowCoordinates.of(posed), low, high, alpha)
    nearest = np.clip(found.g, low, high)
    expected = problem.fit(X, nearest, alpha, sample_weight=w, rng=0).predict(X)
    assert_allclose(found.g, expected, atol=1e-8)
    assert found.steps < 50


def test_held_out_rows_do_not_matter(data):
    X, w, low, high = data
    used = np.arange(5, N)
    whole = PROBLEMS["kernel"].pose(X, np.zeros(N), sample_weight=w, rng=0)
    targets = np.where(np.arange(N) < 5, np.nan, 0.0)
    part = PROBLEMS["kernel"].pose(X, targets, sample_weight=w, rng=0)
    found = fit_intervals(RowCoordinates.of(whole), low, high, 0.01, used)
    held = 0.01 * w.sum() / w[used].sum()  # lam is that of all rows
    alone = fit_intervals(RowCoordinates.of(part), low[used], high[used], held)
    assert_allclose(found.g[used], alone.g, atol=1e-9)


def test_a_start_changes_nothing(data):
    X, _, low, high = data
    coordinates = RowCoordinates.of(PROBLEMS["kernel"].pose(X, np.zeros(N), rng=0))
    first = fit_intervals(coordinates, low, high, 1e-3)
    other = fit_intervals(coordinates, low, high, 10.0)
    again = fit_intervals(coordinates, low, high, 1e-3, start=other.v)
    assert_allclose(again.g, first.g, atol=1e-9)


def test_intervals_that_a_constant_lies_in_leave_no_loss(data):
    X, *_ = data
    coordinates = RowCoordinates.of(PROBLEMS["kernel"].pose(X, np.zeros(N), rng=0))
    low, high = np.full(N, 2.0), np.full(N, np.inf)
    found = fit_intervals(coordinates, low, high, 1.0)
    assert (found.g >= 2.0 - 1e-9).all()
    assert_allclose(found.g, found.g[0])
