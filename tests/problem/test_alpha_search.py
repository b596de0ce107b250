"""The best alpha and mu, against trying each of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon.filters import Tikhonov
from halfmoon.problem import solve_filter, solve_ridge
from halfmoon.problem._alpha_search import search
from halfmoon.problem._folds import out_of_fold
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
