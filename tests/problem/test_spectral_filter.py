"""Spectral filters against a dense generalized eigenproblem."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
from numpy.testing import assert_allclose

from halfmoon.bases import Exact, Nystrom
from halfmoon.filters import (
    Cutoff,
    GradientFlow,
    Heat,
    IteratedTikhonov,
    Landweber,
    Tikhonov,
)
from halfmoon.kernels import Gaussian, ThinPlate
from halfmoon.problem import Problem, solve_filter, solve_ridge
from halfmoon.unpenalized import Polynomials
from reference import BASES, LEVERS, UNPENALIZED, columns, problem, table, twin

ALPHA = 0.02
# Each psi as printed; the eigenvalues here are far from 0 where 1 / s is taken.
FILTERS = {
    "Tikhonov": (Tikhonov(ALPHA), lambda s: 1 / (s + ALPHA)),
    "Cutoff": (Cutoff(ALPHA), lambda s: np.where(s > ALPHA, 1 / s, 0)),
    "IteratedTikhonov": (
        IteratedTikhonov(ALPHA, 3),
        lambda s: (1 - (ALPHA / (s + ALPHA)) ** 3) / s,
    ),
    "Landweber": (Landweber(40, 0.5), lambda s: (1 - (1 - 0.5 * s) ** 40) / s),
    "GradientFlow": (GradientFlow(ALPHA), lambda s: (1 - np.exp(-s / ALPHA)) / s),
    "Heat": (Heat(ALPHA), lambda s: np.exp(-ALPHA / s) / s),
}


def algorithm_1(dense, data, psi, over):
    """theta = sum psi(s) u u'b and beta, by scipy's generalized eigenproblem.

    F is projected out of Sigma over the rows of Sigma, and out of b over the labeled
    ones; beta is least squares on what theta leaves.
    """
    rows, y = data.X[data.labeled], columns(data.y)[data.labeled]
    w = data.w[data.labeled]
    Phi, F = dense.phi(rows), dense.f(rows)

    def projected(M, F, w):
        # M less its weighted least squares fit on F
        root = np.sqrt(w)[:, None]
        return M - F @ np.linalg.lstsq(root * F, root * M, rcond=None)[0]

    if over == "labeled":
        M, weights = projected(Phi, F, w), w / w.sum()
    else:
        n = len(data.X)
        M, weights = dense.phi(data.X), np.full(n, 1 / n)
        M = projected(M, dense.f(data.X), weights)
    Sigma = M.T @ (weights[:, None] * M)
    b = Phi.T @ (w[:, None] * projected(y, F, w)) / w.sum()
    s, U = sla.eigh(Sigma, dense.Q)
    theta = U @ (psi(s)[:, None] * (U.T @ b))
    root = np.sqrt(w)[:, None]
    beta = np.linalg.lstsq(root * F, root * (y - Phi @ theta), rcond=None)[0]
    return theta, beta


@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_tikhonov_is_ridge(basis, lever, unpenalized, l):
    data = table(l=l, t=2)
    posed = problem(basis, lever, UNPENALIZED[unpenalized], data).pose(
        data.X, data.y, sample_weight=data.w, rng=0
    )
    ridge = solve_ridge(posed, ALPHA)
    fit = solve_filter(posed, Tikhonov(ALPHA), covariance="labeled")
    assert_allclose(fit.predict(data.new), ridge.predict(data.new), atol=1e-9)
    assert_allclose(fit.beta, ridge.beta, atol=1e-9)


@pytest.mark.parametrize("over", ["labeled", "all"])
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("name", FILTERS)
def test_equals_a_dense_eigenproblem(name, lever, unpenalized, over):
    psi, formula = FILTERS[name]
    data = table(l=20, p=6, t=2)
    posed = problem("nystrom", lever, UNPENALIZED[unpenalized], data).pose(
        data.X, data.y, sample_weight=data.w
    )
    fit = solve_filter(posed, psi, covariance=over)
    dense = twin("nystrom", lever, unpenalized, data)
    theta, beta = algorithm_1(dense, data, formula, over)
    expected = dense.phi(data.new) @ theta + dense.f(data.new) @ beta
    assert_allclose(fit.predict(data.new), expected, rtol=1e-7, atol=1e-8)
    assert_allclose(fit.beta, beta, rtol=1e-7, atol=1e-8)


def test_covariance_of_all_rows_matters():
    data = table(l=18)
    posed = problem("nystrom", "gradient", None, data).pose(data.X, data.y)
    labeled = solve_filter(posed, Tikhonov(ALPHA)).predict(data.new)
    everywhere = solve_filter(posed, Tikhonov(ALPHA), covariance="all")
    assert np.abs(everywhere.predict(data.new) - labeled).max() > 1e-2
    # Where all rows are labeled, with equal weights, there is no difference.
    full = table(n=30, l=30, weights=False)
    posed = problem("nystrom", "gradient", UNPENALIZED["linear"], full).pose(
        full.X, full.y
    )
    for over in ["labeled", "all"]:
        fit = solve_filter(posed, Heat(ALPHA), covariance=over)
        if over == "labeled":
            expected = fit.predict(full.new)
    assert_allclose(fit.predict(full.new), expected, rtol=1e-8)


def test_limits_of_the_filters():
    # Many steps, no penalty and no time are all least squares.
    data = table(l=20, p=4)
    posed = problem("nystrom", "gradient", UNPENALIZED["constant"], data).pose(
        data.X, data.y, sample_weight=data.w
    )
    expected = solve_ridge(posed, 0.0).predict(data.new)
    for psi in [
        Tikhonov(0.0),
        Cutoff(0.0),
        IteratedTikhonov(1e-3, 5_000),
        GradientFlow(1e-9),
        Heat(1e-14),
        Landweber(1_000_000, 0.5),
    ]:
        actual = solve_filter(posed, psi).predict(data.new)
        assert_allclose(actual, expected, rtol=1e-6, err_msg=repr(psi))


def test_refusals():
    data = table()
    posed = problem("nystrom", "none", None, data).pose(data.X, data.y)
    with pytest.raises(ValueError, match="covariance is 'both'; 'labeled' or 'all'"):
        solve_filter(posed, Tikhonov(0.1), covariance="both")
    with pytest.raises(ValueError, match="alpha is -1; a positive number is needed"):
        solve_filter(posed, Tikhonov(-1))
    spline = Problem(Exact(ThinPlate()), unpenalized=Polynomials(1))
    with pytest.raises(
        ValueError, match="only conditionally positive definite; a spectral"
    ):
        solve_filter(spline.pose(data.X, data.y), Tikhonov(0.1))


@pytest.mark.parametrize("covariance", ["labeled", "all"])
@pytest.mark.parametrize("alpha", [1e-4, 1e-8])
def test_smooth_kernels_at_landmarks_keep_their_digits(rng, alpha, covariance):
    X, y = rng.normal(size=(150, 1)), rng.normal(size=150)
    posed = Problem(Nystrom(Gaussian(2.0), landmarks=X[:12])).pose(X, y)
    fit = solve_filter(posed, Tikhonov(alpha), covariance=covariance)
    new = np.linspace(-2, 2, 7)[:, None]
    expected = solve_ridge(posed, alpha).predict(new)
    assert_allclose(fit.predict(new), expected, rtol=1e-6, atol=1e-6)
