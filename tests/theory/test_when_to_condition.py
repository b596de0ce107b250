"""When to condition: the sign of the prediction against simulated fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon import ConditionalRegressor
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.feature_path import nested_features
from halfmoon._solvers.ridge import ridge_dual
from halfmoon.kernels import Gaussian, PeriodicSobolev
from halfmoon.theory import (
    eigenlearning,
    should_condition,
    should_condition_from_data,
)
from halfmoon.unpenalized import Polynomials

MODES = 41


def waves(X):
    """1, sqrt 2 cos(ix), sqrt 2 sin(ix), ...: eigenfunctions on the circle."""
    n = np.arange(1, MODES // 2 + 1)
    pairs = np.stack([np.cos(X * n), np.sin(X * n)], axis=2) * np.sqrt(2)
    return np.hstack([np.ones((len(X), 1)), pairs.reshape(len(X), MODES - 1)])


def simulated(rng, target, f, sigma, alpha, N=60, repetitions=60):
    """Mean risks with the first f waves free and with none free."""
    kernel, grid = PeriodicSobolev(1.0), 2 * np.pi * np.arange(128)[:, None] / 128
    risks = []
    for _ in range(repetitions):
        X = rng.uniform(0, 2 * np.pi, (N, 1))
        y = waves(X) @ target[:, None] + sigma * rng.standard_normal((N, 1))
        path = nested_features(kernel(X), waves(X)[:, :f], y, alpha * N)
        K, F = kernel(grid, X), waves(grid)
        risks.append(path.errors(K, F[:, :f], F @ target[:, None])[[f, 0]])
    return sigma**2 + np.mean(risks, axis=0)


def compared(rng, problems, repetitions):
    """Return predicted and simulated decisions and margins for random problems."""
    i = np.repeat(np.arange(1, 1001.0), 2)
    spectrum = np.append(1.0, i**-2 / 2)
    found, simulations = [], []
    for _ in range(problems):
        f = int(rng.integers(1, 12))
        target = np.zeros(MODES)
        size = rng.choice([0.0, 0.2, 1.0, 3.0])
        target[:f] = size * rng.standard_normal(f)
        sigma, alpha = rng.choice([0.3, 1.0]), 10.0 ** rng.uniform(-3, -1)
        padded = np.append(target, np.zeros(spectrum.size - MODES))
        found.append(
            should_condition(
                spectrum,
                60,
                alpha,
                n_unpenalized=f,
                target=padded,
                noise_variance=sigma**2,
                tail=1 + np.pi**2 / 6 - spectrum.sum(),
            )
        )
        with_f, without = simulated(
            rng, target, f, sigma, alpha, repetitions=repetitions
        )
        simulations.append(with_f < without)
    return found, np.array(simulations)


@pytest.mark.parametrize(
    ("problems", "repetitions"),
    [(24, 40), pytest.param(100, 40, marks=pytest.mark.slow)],
)
def test_the_sign_agrees_with_simulation(rng, problems, repetitions):
    """Random problems on the circle, some with much signal in the modes, some none."""
    found, simulations = compared(rng, problems, repetitions)
    answers = np.array([each.answer for each in found])
    # Where the two hardly differ either answer is right.
    hardly = np.array([abs(each.margin) < 0.02 for each in found])
    assert np.mean((answers == simulations) | hardly) >= 0.95
    assert 0.25 <= answers.mean() <= 0.85  # both answers are among them
    for each in found:
        assert each.margin == pytest.approx(1 - each.risk / each.risk_without)


def test_the_risks_are_those_of_eigenlearning():
    s, v = np.array([1.0, 0.5, 0.2, 0.1]), np.array([2.0, 1.0, 0.0, 0.3])
    common = {"target": v, "noise_variance": 0.5, "tail": 0.1}
    found = should_condition(s, 10, 0.05, n_unpenalized=2, **common)
    assert found.risk == eigenlearning(s, 10, 0.05, n_unpenalized=2, **common).risk
    assert found.risk_without == eigenlearning(s, 10, 0.05, **common).risk
    assert found.noise_variance == 0.5
    nothing = should_condition(s, 10, 0.05, n_unpenalized=0, **common)
    assert not nothing
    assert str(nothing).endswith("change nothing.")


@pytest.mark.parametrize(("slope", "pays"), [(0.0, False), (3.0, True)])
def test_from_data_agrees_with_test_errors(rng, slope, pays):
    """A linear trend in six columns: free where there is one, penalized where not."""
    kernel, X_new = Gaussian(2.5), rng.uniform(-1, 1, (500, 6))
    features = Polynomials(1)
    answers, errors = [], []
    for _ in range(15):
        X = rng.uniform(-1, 1, (40, 6))
        y = slope * X[:, :1] + 0.5 * rng.standard_normal((40, 1))
        found = should_condition_from_data(kernel, features, X, y[:, 0], 0.1)
        answers.append(found.answer)
        risks = []
        for F, F_new in (
            (np.hstack([np.ones((40, 1)), X]), np.hstack([np.ones((500, 1)), X_new])),
            (np.zeros((40, 0)), np.zeros((500, 0))),
        ):
            names = [str(j) for j in range(F.shape[1])]
            path = ridge_dual(kernel(X), y, Elimination(F, names), 40.0)
            g = kernel(X_new, X) @ path.theta(0.1) + F_new @ path.beta(0.1)
            risks.append(0.25 + ((g - slope * X_new[:, :1]) ** 2).mean())
        errors.append((risks[0], found.risk))
        assert (risks[0] < risks[1]) == pays
    assert np.mean(np.array(answers) == pays) >= 0.85
    measured, predicted = np.mean(errors, axis=0)
    assert_allclose(predicted, measured, rtol=0.2)


def test_unlabeled_rows_are_ignored(rng):
    X = rng.normal(size=(30, 2))
    y = np.where(np.arange(30) < 20, X[:, 0] + rng.normal(size=30), np.nan)
    kernel, features = Gaussian(1.0), Polynomials(1)
    some = should_condition_from_data(kernel, features, X[:20], y[:20], 0.1)
    assert should_condition_from_data(kernel, features, X, y, 0.1) == some


def test_bad_input(rng):
    X, y = rng.normal(size=(4, 5)), np.arange(4.0)
    with pytest.raises(ValueError, match="alpha is 0"):
        should_condition_from_data(Gaussian(1.0), Polynomials(1), X, y, 0)
    with pytest.raises(ValueError, match="fit any labels exactly"):
        should_condition_from_data(Gaussian(1.0), Polynomials(1), X, y, 0.1)
    with pytest.raises(ValueError, match="None of the 4 rows is labeled"):
        should_condition_from_data(Gaussian(1.0), Polynomials(1), X, y * np.nan, 0.1)


def test_the_regressor_warns_where_features_hurt(rng):
    X = rng.uniform(-1, 1, (40, 15))
    y = rng.standard_normal(40) + 20
    model = ConditionalRegressor(Gaussian(2.5), "linear", alpha=0.1)
    with pytest.warns(UserWarning, match="predicted to raise the mean squared error"):
        model.fit(X, y)
    model.fit(X, y + 10 * X[:, 0])  # a trend
    ConditionalRegressor(Gaussian(2.5), alpha=0.1).fit(X, y)  # the constant alone
