"""Hinge loss: scikit-learn's support vector machine with any of the levers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem, solve_hinge
from halfmoon.unpenalized import Constant, Features, Polynomials
from reference import LEVERS, UNPENALIZED, gaussian, problem, table, twin

ALPHA = 0.03


def two_classes(l=20, t=1, seed=1):
    data = table(n=30, l=l, t=t, seed=seed)
    data.y = np.where(np.isnan(data.y), np.nan, np.where(data.y > 1.2, 1.0, -1.0))
    return data


def hinge_objective(theta, b, Phi, Q, y, w, alpha):
    margin = np.maximum(0, 1 - y * (Phi @ theta + b))
    return (w * margin).sum() / w.sum() + alpha * theta @ Q @ theta


def test_equals_svc():
    # C = 1 / (2 alpha l) without weights
    data = two_classes()
    rows, y = data.X[data.labeled], data.y[data.labeled]
    peer = SVC(C=1 / (2 * ALPHA * 20), gamma=1 / (2 * 0.8**2)).fit(rows, y)
    posed = Problem(Exact(Gaussian(0.8))).pose(data.X, data.y)
    fit = solve_hinge(posed, ALPHA)
    expected = peer.decision_function(data.new)
    assert_allclose(fit.predict(data.new), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(fit.beta[0], peer.intercept_, rtol=1e-9)


def test_weights():
    # C_i = w_i / (2 alpha W)
    data = two_classes()
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    peer = SVC(C=1 / (2 * ALPHA), kernel="precomputed", tol=1e-10)
    peer.fit(gaussian(rows, rows), y, sample_weight=w / w.sum())
    posed = Problem(Exact(Gaussian(0.8))).pose(data.X, data.y, sample_weight=data.w)
    fit = solve_hinge(posed, ALPHA)
    expected = peer.decision_function(gaussian(data.new, rows))
    assert_allclose(fit.predict(data.new), expected, atol=2e-3)  # SVC's own tolerance
    plain = solve_hinge(Problem(Exact(Gaussian(0.8))).pose(data.X, data.y), ALPHA)
    assert np.abs(plain.predict(data.new) - expected).max() > 0.05


def test_several_targets_are_several_machines():
    data = two_classes(t=2)
    stated = Problem(Exact(Gaussian(0.8)))
    both = solve_hinge(stated.pose(data.X, data.y), ALPHA).predict(data.new)
    for j in range(2):
        one = solve_hinge(stated.pose(data.X, data.y[:, j]), ALPHA)
        assert_allclose(both[:, j], one.predict(data.new), rtol=1e-12)


def test_primal_equals_dual():
    data = two_classes()
    dual = Problem(Exact(Gaussian(0.8))).pose(data.X, data.y, sample_weight=data.w)
    primal = Problem(Nystrom(Gaussian(0.8))).pose(data.X, data.y, sample_weight=data.w)
    assert dual.dual
    assert not primal.dual
    assert_allclose(
        solve_hinge(primal, ALPHA).predict(data.new),
        solve_hinge(dual, ALPHA).predict(data.new),
        atol=1e-6,
    )


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", ["exact", "nystrom"])
def test_no_perturbed_solution_is_better(basis, lever, rng):
    data = two_classes(l=20)
    posed = problem(basis, lever, Constant(), data).pose(
        data.X, data.y, sample_weight=data.w
    )
    fit = solve_hinge(posed, ALPHA)
    dense = twin(basis, lever, "constant", data)
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    theta, b = fit.theta[:, 0], fit.beta[0, 0]
    pieces = dense.phi(rows), dense.Q, y, w, ALPHA
    lowest = hinge_objective(theta, b, *pieces)
    # SVC stops 1e-3 from optimal, which is second order in J.
    for size in [1e-2, 1e-1, 1.0]:
        for _ in range(20):
            moved = theta + size * rng.standard_normal(len(theta))
            value = hinge_objective(moved, b + size * rng.standard_normal(), *pieces)
            assert value > lowest - 1e-5
    # Nor one that is scaled: a wrong factor in C would show.
    for factor in [0.5, 0.8, 1.25, 2.0]:
        assert hinge_objective(factor * theta, factor * b, *pieces) > lowest + 1e-4


@pytest.mark.parametrize(
    "unpenalized", [None, Polynomials(1), Features([0], constant=False)]
)
def test_only_the_constant_may_be_free(unpenalized):
    data = two_classes()
    posed = Problem(Exact(Gaussian(0.8)), unpenalized=unpenalized).pose(data.X, data.y)
    with pytest.raises(ValueError, match=r"use unpenalized=Constant\(\)"):
        solve_hinge(posed, ALPHA)


def test_a_constant_of_another_size_is_a_constant():
    data = two_classes()
    twos = Features(lambda x: np.full(len(x), 2.0), constant=False)
    expected = solve_hinge(Problem(Exact(Gaussian(0.8))).pose(data.X, data.y), ALPHA)
    posed = Problem(Exact(Gaussian(0.8)), unpenalized=twos).pose(data.X, data.y)
    fit = solve_hinge(posed, ALPHA)
    assert_allclose(fit.predict(data.new), expected.predict(data.new), rtol=1e-12)


def test_refusals():
    data = two_classes()
    stated = Problem(Exact(Gaussian(0.8)), unpenalized=UNPENALIZED["constant"])
    posed = stated.pose(data.X, data.y)
    for alpha in [0.0, -1.0]:
        with pytest.raises(ValueError, match=f"alpha is {alpha}; the hinge loss needs"):
            solve_hinge(posed, alpha)
    zero_one = (data.y + 1) / 2
    with pytest.raises(ValueError, match="needs targets that are -1 or 1"):
        solve_hinge(stated.pose(data.X, zero_one), ALPHA)
    ones = np.where(np.isnan(data.y), np.nan, 1.0)
    with pytest.raises(ValueError, match="Target 0 is 1 in every labeled row"):
        solve_hinge(stated.pose(data.X, ones), ALPHA)
