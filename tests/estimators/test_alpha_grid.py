"""The unit of "auto" against its dense formula, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon._estimators.fit_problem import AUTO_ALPHAS, Alphas, unit_of
from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian, Linear
from halfmoon.problem import Problem
from halfmoon.problem._alpha_search import restricted_deviances
from halfmoon.unpenalized import Constant, Polynomials
from reference import table

PROBLEMS = {
    "dual": Problem(Exact(Gaussian(0.8)), unpenalized=Constant()),
    "energy": Problem(Exact(Gaussian(0.8)), "gradient", 0.1, Polynomials(1)),
    "nothing free": Problem(Exact(Gaussian(0.8)), "gradient", 0.1, None),
    "few landmarks": Problem(Nystrom(Gaussian(0.8), 6), unpenalized=Constant()),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_unit_is_a_trace(problem):
    data = table()
    posed = problem.pose(data.X, data.y, sample_weight=data.w, rng=0)
    root = np.sqrt(posed.w)[:, None]
    Phi, F = root * posed.on_labeled(), root * posed.F
    K = Phi @ np.linalg.solve(posed.penalty, Phi.T)
    P = F @ np.linalg.pinv(F)
    I = np.eye(len(P))
    expected = np.trace((I - P) @ K @ (I - P)) / posed.w.sum()
    assert_allclose(unit_of(posed), expected, rtol=1e-5)


def test_where_nothing_varies_the_unit_is_1():
    posed = Problem(Exact(Gaussian(1.0))).pose(np.eye(3), [1.0, np.nan, np.nan])
    assert unit_of(posed) == 1.0


def test_the_numbers_of_a_user_are_used_as_they_are():
    data = table()
    posed = PROBLEMS["energy"].pose(data.X, data.y)
    assert Alphas.of(0.3).at(posed) == [0.3]
    assert Alphas.of(AUTO_ALPHAS).at(posed) == list(AUTO_ALPHAS)
    assert_allclose(Alphas.of("auto").at(posed), unit_of(posed) * np.array(AUTO_ALPHAS))
    model = LaplacianRegressor(Gaussian(0.8), AUTO_ALPHAS).fit(data.X, data.y)
    assert model.alpha_ in AUTO_ALPHAS


MODELS = {
    "laplacian": LaplacianRegressor(mu=0.01),
    "conditional": ConditionalRegressor(),
    "fredholm": FredholmRegressor(),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_x_changes_nothing(model, factor):
    data = table()
    expected = clone(model).fit(data.X, data.y).predict(data.new)
    if "mu" in model.get_params():  # relative to squared gradients, in 1 / X^2
        model = clone(model).set_params(mu=model.mu / factor**2)
    model = clone(model).fit(factor * data.X, data.y)
    assert_allclose(model.predict(factor * data.new), expected, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_a_kernel_changes_nothing(factor):
    data = table()
    expected = ConditionalRegressor(Linear()).fit(data.X, data.y).predict(data.new)
    model = ConditionalRegressor(Linear()).fit(factor * data.X, data.y)
    assert_allclose(model.predict(factor * data.new), expected, rtol=1e-6)
    scaled = ConditionalRegressor(factor * Linear()).fit(data.X, data.y)
    assert_allclose(scaled.predict(data.new), expected, rtol=1e-6)
    path = ConditionalRegressor(factor * Linear()).fit(data.X, data.y)
    path = path.hard_threshold_path(data.X, data.y)
    assert_allclose(
        path.alphas, unit_of(scaled.solution_.posed) * np.array(AUTO_ALPHAS)
    )


def test_the_norm_of_the_exact_basis_is_computed_once(monkeypatch):
    calls = []
    penalty = Exact.penalty
    monkeypatch.setattr(Exact, "penalty", lambda self: calls.append(1) or penalty(self))
    data = table()
    LaplacianRegressor().fit(data.X, data.y)
    assert len(calls) == 1


LEVERS = [LaplacianClassifier, ConditionalClassifier, FredholmClassifier]


@pytest.mark.parametrize("lever", LEVERS)
def test_a_class_with_one_label_is_left_to_likelihood(lever):
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    X = rng.standard_normal((60, 2)) + 3 * np.eye(3)[truth][:, :2]
    y = np.full(60, np.nan)
    y[:7] = truth[:7]  # 3, 2 and 2 labels
    assert lever().fit(X, y).loo_errors_ is not None
    y[5] = np.nan  # one of the third class
    model = lever().fit(X, y)
    posed = model.solution_.posed
    alphas = Alphas.of("auto").at(posed)
    best = int(np.argmin(restricted_deviances(posed, alphas)))
    assert model.alpha_ == alphas[best]
    assert model.loo_errors_ is None
    assert 0 < model.loo_score_ < 1  # the label that is alone is never predicted
    # Of a user's own the best is taken by leave-one-out, here as well.
    own = lever(alpha=alphas).fit(X, y)
    assert own.alpha_ == alphas[int(np.argmin(own.loo_errors_))]
