"""The best alpha and mu, against trying each of them.

Restricted likelihood, against the density of y with the features projected out.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from halfmoon.bases import Exact, Nystrom
from halfmoon.filters import Tikhonov
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem, solve_filter, solve_ridge
from halfmoon.problem._alpha_search import restricted_deviances, search
from halfmoon.problem._folds import out_of_fold
from halfmoon.unpenalized import Polynomials
from reference import LEVERS, UNPENALIZED, problem, table

ALPHAS, MUS = [1e-4, 1e-2, 1.0], [0.03, 0.3]


def posed_on(data, lever="gradient", basis="nystrom"):
    stated = problem(basis, lever, UNPENALIZED["constant"], data)
    return stated.pose(data.X, data.y, sample_weight=data.w, rng=0)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("lever", LEVERS)
def test_by_ridge_it_is_the_least_leave_one_out_error(lever, targets):
    data = table(t=targets)
    posed = posed_on(data, lever)
    best = search(posed, ALPHAS, MUS)
    tried = {}
    for mu in MUS:
        for alpha in ALPHAS:
            fit = solve_ridge(posed.with_mu(mu), alpha)
            residuals = fit.leave_one_out().reshape(18, -1)
            squares = (data.w[data.labeled, None] * residuals**2).sum()
            tried[mu, alpha] = squares / (data.w[data.labeled].sum() * targets)
    assert_allclose(best.loo_score, min(tried.values()), rtol=1e-9)
    expected = [tried[best.posed.mu, alpha] for alpha in ALPHAS]
    assert_allclose(best.loo_scores, expected, rtol=1e-9)
    chosen = solve_ridge(posed.with_mu(best.posed.mu), best.alpha)
    assert_allclose(best.predict(data.new), chosen.predict(data.new), rtol=1e-9)


def test_one_alpha_and_several_mus():
    data = table()
    posed = posed_on(data)
    scores = [solve_ridge(posed.with_mu(mu), 0.01).loo_score for mu in MUS]
    best = search(posed, 0.01, MUS)
    assert best.posed.mu == MUS[int(np.argmin(scores))]
    assert best.alpha == 0.01


def test_mu_none_is_the_one_that_was_posed():
    posed = posed_on(table())
    assert search(posed, 0.01).posed is posed
    assert search(posed, 0.01, posed.mu).posed is posed


@pytest.mark.parametrize("solve", [None, solve_ridge])
def test_one_mu_that_was_not_posed(solve):
    data = table()
    posed = posed_on(data)
    fit = search(posed, 0.01, 5.0, solve)
    expected = solve_ridge(posed.with_mu(5.0), 0.01)
    assert fit.posed.mu == 5.0
    assert_allclose(fit.predict(data.new), expected.predict(data.new), rtol=1e-10)
    other = solve_ridge(posed, 0.01)
    assert np.abs(fit.predict(data.new) - other.predict(data.new)).max() > 1e-3


def by_filter(posed, alpha):
    return solve_filter(posed, Tikhonov(alpha))


@pytest.mark.parametrize("targets", [1, 2])
def test_by_folds_it_is_the_least_mean_square(targets):
    data = table(t=targets)
    posed = posed_on(data)
    best = search(posed, ALPHAS, MUS, by_filter)
    w, tried = data.w[data.labeled, None], {}
    for mu in MUS:
        for alpha in ALPHAS:
            values = out_of_fold(
                posed.with_mu(mu), lambda p, alpha=alpha: by_filter(p, alpha)
            )
            off = (posed.y - values) ** 2
            tried[mu, alpha] = (w * off).sum() / (w.sum() * targets)
    mu, alpha = min(tried, key=tried.get)
    assert best.posed.mu == mu
    assert_allclose(best.loo_scores, [tried[mu, a] for a in ALPHAS], rtol=1e-9)
    expected = by_filter(posed.with_mu(mu), alpha).predict(data.new)
    assert_allclose(best.predict(data.new), expected, rtol=1e-9)


def test_a_single_choice_is_solved_without_folds():
    data = table(l=1)  # which would have none
    fit = search(posed_on(data), 0.01, solve=by_filter)
    assert fit.loo_scores is None
    with pytest.raises(ValueError, match="folds need at least two"):
        search(posed_on(data), ALPHAS, solve=by_filter)


ALPHAS = [1e-4, 1e-2, 1.0, 30.0]
PROBLEMS = {
    "dual": Problem(Exact(Gaussian(0.8)), unpenalized=Polynomials(1)),
    "energy": Problem(Exact(Gaussian(0.8)), "gradient", 0.1, Polynomials(1)),
    "none": Problem(Exact(Gaussian(0.8)), "gradient", 0.1, None),
    "overdetermined": Problem(Nystrom(Gaussian(0.8), 6), unpenalized=Polynomials(1)),
}


def dense(posed, alpha):
    """-2 log p of N'y at the tau that maximizes it, by the density itself."""
    root = np.sqrt(posed.w)[:, None]
    Phi, F, y = root * posed.on_labeled(), root * posed.F, root * posed.y
    N = sla.null_space(F.T) if F.shape[1] else np.eye(len(F))
    K = Phi @ np.linalg.solve(posed.penalty, Phi.T)
    C = N.T @ K @ N + posed.w.sum() * alpha * np.eye(N.shape[1])
    z, total = N.T @ y, 0.0
    for column in z.T:
        tau = column @ np.linalg.solve(C, column) / len(column)
        total -= 2 * multivariate_normal(cov=tau * C).logpdf(column)
    return total


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_differences_are_those_of_the_density(problem, targets):
    data = table(t=targets)
    posed = problem.pose(data.X, data.y, sample_weight=data.w, rng=0)
    expected = np.array([dense(posed, alpha) for alpha in ALPHAS])
    ours = restricted_deviances(posed, ALPHAS)
    assert_allclose(ours - ours[0], expected - expected[0], rtol=1e-5, atol=1e-5)


def test_targets_that_the_features_explain_say_nothing():
    data = table(t=2)
    y = data.y.copy()
    problem = Problem(Exact(Gaussian(0.8)), unpenalized=Polynomials(1))
    alone = restricted_deviances(problem.pose(data.X, y[:, 0]), ALPHAS)
    y[:, 1] = np.where(data.labeled, 2.0, np.nan)
    both = restricted_deviances(problem.pose(data.X, y), ALPHAS)
    assert_allclose(both, alone)
    y[:, 0] = y[:, 1]
    assert not restricted_deviances(problem.pose(data.X, y), ALPHAS).any()


def test_the_likeliest_of_all_alphas_and_mus_is_found():
    data, mus = table(), [0.03, 0.3, 3.0]
    posed = PROBLEMS["energy"].pose(data.X, data.y, sample_weight=data.w)
    tried = {
        (mu, alpha): dense(posed.with_mu(mu), alpha) for mu in mus for alpha in ALPHAS
    }
    best = search(posed, lambda _: ALPHAS, mus, likeliest=True)
    assert (best.posed.mu, best.alpha) == min(tried, key=tried.get)
    assert best.loo_scores is None
