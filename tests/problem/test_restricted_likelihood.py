"""Restricted likelihood, against the density of y with the features projected out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.problem._alpha_search import search
from halfmoon.problem._restricted_likelihood import restricted_deviances
from halfmoon.unpenalized import Polynomials
from reference import table

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
