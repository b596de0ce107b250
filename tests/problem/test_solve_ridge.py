"""The robust solve against direct minimization of equation (1), for every lever."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from halfmoon.bases import Nystrom
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem, solve_ridge
from halfmoon.problem._fit import ridge_solution
from halfmoon.unpenalized import Constant, Polynomials
from reference import (
    BASES,
    LEVERS,
    UNPENALIZED,
    columns,
    minimizer,
    objective,
    problem,
    table,
    twin,
)

ALPHA = 0.02


def pieces(data, dense):
    """Phi, F, Q, y, w of the labeled rows."""
    rows = data.X[data.labeled]
    y, w = columns(data.y)[data.labeled], data.w[data.labeled]
    return dense.phi(rows), dense.f(rows), dense.Q, y, w


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("l", [6, 18])  # fewer and more labeled rows than functions
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_equals_direct_minimization(basis, lever, unpenalized, l, weights, t):
    data = table(l=l, t=t, weights=weights)
    stated = problem(basis, lever, UNPENALIZED[unpenalized], data)
    given = data.w if weights else None
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=given, rng=0)
    dense = twin(basis, lever, unpenalized, data, fit.posed)
    Phi, F, Q, y, w = pieces(data, dense)
    theta, beta = minimizer(Phi, F, Q, y, w, ALPHA)
    expected = dense.phi(data.new) @ theta + dense.f(data.new) @ beta
    assert_allclose(columns(fit.predict(data.new)), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(fit.beta, beta, rtol=1e-10, atol=1e-10)
    assert fit.predict(data.new).shape == (data.new.shape[0],) + (t,) * (t > 1)
    # J itself is as low, and its gradient in theta and beta is 0.
    assert_allclose(
        objective(fit.theta, fit.beta, Phi, F, Q, y, w, ALPHA),
        objective(theta, beta, Phi, F, Q, y, w, ALPHA),
        rtol=1e-10,
    )
    r = w[:, None] * (y - Phi @ fit.theta - F @ fit.beta) / w.sum()
    assert_allclose(Phi.T @ r, ALPHA * Q @ fit.theta, atol=1e-11)
    assert_allclose(F.T @ r, 0, atol=1e-12)


@pytest.mark.parametrize("lever", LEVERS)
def test_equals_numerical_minimization(lever):
    data = table(l=12)
    fit = problem("nystrom", lever, UNPENALIZED["linear"], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    dense = twin("nystrom", lever, "linear", data)
    Phi, F, Q, y, w = pieces(data, dense)
    p = len(Q)

    def J(x):
        return objective(x[:p, None], x[p:, None], Phi, F, Q, y, w, ALPHA)

    result = minimize(J, np.zeros(p + 3), method="BFGS", options={"gtol": 1e-9})
    theta, beta = result.x[:p], result.x[p:]
    expected = dense.phi(data.new) @ theta + dense.f(data.new) @ beta
    assert_allclose(fit.predict(data.new), expected, atol=1e-5)
    reached = objective(fit.theta, fit.beta, Phi, F, Q, y, w, ALPHA)
    assert reached <= result.fun + 1e-14
    assert_allclose(reached, result.fun, rtol=1e-10)


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("l", [6, 18])
def test_perturbed_solutions_are_worse(lever, l, rng):
    data = table(l=l)
    fit = problem("nystrom", lever, UNPENALIZED["constant"], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    dense = twin("nystrom", lever, "constant", data)
    lowest = objective(fit.theta, fit.beta, *pieces(data, dense), ALPHA)
    for _ in range(20):
        theta = fit.theta + 1e-3 * rng.standard_normal(fit.theta.shape)
        beta = fit.beta + 1e-3 * rng.standard_normal(fit.beta.shape)
        assert objective(theta, beta, *pieces(data, dense), ALPHA) > lowest


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_one_factorization_serves_every_alpha(basis, lever):
    data = table(t=2)
    stated = problem(basis, lever, UNPENALIZED["linear"], data)
    posed = stated.pose(data.X, data.y, sample_weight=data.w, rng=0)
    for alpha in [1e-6, 1e-2, 10.0]:
        expected = stated.fit(data.X, data.y, alpha, sample_weight=data.w, rng=0)
        actual = solve_ridge(posed, alpha)
        assert_allclose(
            actual.predict(data.new), expected.predict(data.new), rtol=1e-12
        )


def test_the_chosen_alpha_has_the_least_leave_one_out_error():
    data = table(l=20, t=2)
    stated = problem("nystrom", "gradient", UNPENALIZED["constant"], data)
    alphas = [1e-6, 1e-4, 1e-2, 1.0, 100.0]
    fit = stated.fit(data.X, data.y, alphas, sample_weight=data.w)
    w = data.w[data.labeled]
    scores = []
    for alpha in alphas:
        one = stated.fit(data.X, data.y, alpha, sample_weight=data.w)
        assert one.loo_scores is None
        scores.append((w[:, None] * one.leave_one_out() ** 2).sum() / (2 * w.sum()))
        if alpha == alphas[np.argmin(scores)]:
            best = one
    assert_allclose(fit.loo_scores, scores, rtol=1e-9)
    assert fit.alpha == alphas[np.argmin(scores)]
    assert 0 < np.argmin(scores) < len(alphas) - 1  # a choice, not an end
    assert_allclose(fit.predict(data.new), best.predict(data.new), rtol=1e-12)


@pytest.mark.parametrize("as_type", [list, tuple, np.array])
def test_alpha_of_any_kind_of_sequence(as_type):
    data = table()
    stated = problem("exact", "none", None, data)
    fit = stated.fit(data.X, data.y, as_type([0.1, 0.01]))
    one = stated.fit(data.X, data.y, as_type([0.1]))
    assert fit.loo_scores.shape == (2,)
    assert one.alpha == 0.1


@pytest.mark.parametrize("unpenalized", [None, Constant(), Polynomials(1)])
def test_a_single_alpha_is_a_point_of_the_path(rng, unpenalized):
    # More labeled rows than functions: one alpha by Cholesky, several by the path.
    X = rng.standard_normal((80, 2))
    y, w = rng.standard_normal((80, 2)), rng.uniform(0.5, 2.0, 80)
    statement = Problem(
        Nystrom(Gaussian(1.0), landmarks=X[:15]), unpenalized=unpenalized
    )
    posed = statement.pose(X, y, sample_weight=w)
    theta, beta = ridge_solution(posed, 1e-3)
    assert "path" not in posed.__dict__  # it was not needed
    assert_allclose(theta, posed.whitening.unwhiten(posed.path.theta(1e-3)), rtol=1e-7)
    assert_allclose(beta, posed.path.beta(1e-3), rtol=1e-9)


def test_a_single_alpha_too_small_for_cholesky_goes_by_the_path(rng):
    X = rng.standard_normal((60, 1))
    few = np.repeat(X[:6], 10, axis=0)  # they see 6 functions only
    for rows in (X, few):
        posed = Problem(Nystrom(Gaussian(3.0), landmarks=X[:20])).pose(
            rows, np.sin(rows)
        )
        fit = solve_ridge(posed, 1e-18)
        assert ("path" in posed.__dict__) == (rows is few)
        # s^2 is known to eps: s to its root
        assert_allclose(fit.predict(rows), np.sin(rows), atol=1e-3)


@pytest.mark.parametrize("p", [12, 40])
@pytest.mark.parametrize("alpha", [1e-4, 1e-8])
def test_smooth_kernels_at_landmarks_keep_their_digits(rng, p, alpha):
    # K_ZZ has a condition above 1e12: moments whitened after they are summed lose all
    # digits of the small directions, which at these alphas are part of the fit.
    X, y = rng.normal(size=(150, 1)), rng.normal(size=150)
    posed = Problem(Nystrom(Gaussian(2.0), landmarks=X[:p])).pose(X, y)
    fit, whitening = solve_ridge(posed, alpha), posed.whitening
    assert whitening.ill_conditioned
    # least squares on the rows themselves, by orthogonal transformations
    Phi = whitening.whiten(posed.on_labeled())
    A = np.vstack([Phi, np.sqrt(150 * alpha) * np.eye(whitening.rank)])
    ones = np.r_[np.ones(150), np.zeros(whitening.rank)]
    coef = np.linalg.lstsq(np.c_[A, ones], np.r_[y, 0 * A[150:, 0]])[0]
    new = np.linspace(-2, 2, 7)[:, None]
    whitened = whitening.whiten(posed.basis.transform(new))
    expected = whitened @ coef[:-1] + coef[-1]
    assert_allclose(fit.predict(new), expected, rtol=1e-6, atol=1e-7)
