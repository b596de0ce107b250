"""Probabilities and standard deviations mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    LaplacianClassifier,
)
from halfmoon._estimators.classification import fitted_temperature, probabilities
from halfmoon.datasets import two_gaussians
from halfmoon.kernels import Gaussian
from reference import gaussian


def simulated(temperature, l, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((l, n_classes))
    p = softmax(temperature * scores, axis=1)
    codes = (rng.uniform(size=(l, 1)) > p.cumsum(axis=1)).sum(axis=1)
    return scores, np.minimum(codes, n_classes - 1)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("temperature", [0.3, 2.0, 8.0])
def test_a_known_temperature_is_recovered(temperature, n_classes):
    scores, codes = simulated(temperature, 20_000, n_classes)
    found = fitted_temperature(scores, codes, np.ones(20_000))
    assert found == pytest.approx(temperature, rel=0.05)


def test_labels_and_their_share_with_one_rows_worth_of_doubt():
    scores, codes = simulated(2.0, 30, 3)
    w = np.linspace(0.5, 2.0, 30)
    l = w.sum() ** 2 / (w**2).sum()  # labels of equal weight that know as much
    w *= l / w.sum()
    right = scores.argmax(axis=1) == codes
    share = w @ (l * right + 1 / 3) / (l + 1) / l

    def loss(T):
        p = softmax(T * scores, axis=1)
        own = np.log(p[np.arange(30), codes])
        labels = w @ (l * own + np.log(p).mean(axis=1)) / (l + 1)
        m = w @ p.max(axis=1) / l
        return -labels - l**2 / 50 * (share * np.log(m) + (1 - share) * np.log1p(-m))

    expected = minimize_scalar(loss, bounds=(1e-3, 50), method="bounded").x
    assert fitted_temperature(scores, codes, w) == pytest.approx(expected, rel=1e-3)
    # A common factor of the weights is no more knowledge.
    assert fitted_temperature(scores, codes, 7 * w) == pytest.approx(expected, rel=1e-3)


def test_labels_of_one_class_do_not_show_how_well_classes_are_told_apart():
    # Hiding one of two labels of class 0 leaves scores that hardly differ: to call
    # them right by 5 to 1, T would be 160, and other rows would be certain.
    scores = np.array([[0.505, 0.495], [0.505, 0.495], [0.5, 0.5]])
    found = fitted_temperature(scores, np.array([0, 0, 1]), np.ones(3))
    assert found == pytest.approx(np.log(5))
    free = fitted_temperature(scores[[0, 1, 0, 1]], np.array([0, 0, 1, 0]), np.ones(4))
    assert free == pytest.approx(np.log(7))  # 7 = (1 - 1/8) / (1/8), for three rows


def test_with_many_labels_mean_confidence_is_the_accuracy():
    # Every fifth label is redrawn, which no softmax of the scores shows: the
    # likelihood alone is off by .04.
    scores, codes = simulated(6.0, 4_000, 7)
    rng = np.random.default_rng(1)
    codes = np.where(rng.uniform(size=4_000) < 0.2, rng.integers(0, 7, 4_000), codes)
    T = fitted_temperature(scores, codes, np.ones(4_000))
    right = scores.argmax(axis=1) == codes
    confidence = probabilities(scores, T).max(axis=1).mean()
    assert confidence == pytest.approx(right.mean(), abs=0.005)

    def loss(T):
        return -np.log(softmax(T * scores, axis=1)[np.arange(4_000), codes]).sum()

    likeliest = minimize_scalar(loss, bounds=(1e-3, 50), method="bounded").x
    off = softmax(likeliest * scores, axis=1).max(axis=1).mean() - right.mean()
    assert abs(off) > 0.03


def test_the_only_row_of_its_class_does_not_count():
    scores, codes = simulated(3.0, 40, 3)
    codes[codes == 2] = 0
    T = fitted_temperature(scores, codes, np.ones(40))
    more, one = np.vstack([scores, [[1.0, 0.5, -3.0]]]), np.r_[codes, 2]
    assert fitted_temperature(more, one, np.ones(41)) == pytest.approx(T, rel=1e-6)
    two = np.vstack([more, more[-1:]]), np.r_[one, 2]
    assert fitted_temperature(*two, np.ones(42)) < 0.8 * T
    assert fitted_temperature(scores[:2], np.array([0, 1]), np.ones(2)) == 1.0


def test_the_temperature_stays_finite_if_all_rows_are_right():
    for l in (2, 10, 100):
        scores, codes = np.tile([1.0, -1.0], (l, 1)), np.zeros(l, dtype=int)
        T = fitted_temperature(scores, codes, np.ones(l))
        # p = 1 - doubt / 2 is where the likelihood is greatest.
        p = probabilities(scores[:1], T)[0, 0]
        assert p == pytest.approx(1 - 0.5 / (l + 1), abs=1e-3)


def test_uninformative_scores():
    rng = np.random.default_rng(0)
    scores, codes = rng.standard_normal((5_000, 2)), rng.integers(0, 2, 5_000)
    p = probabilities(scores, fitted_temperature(scores, codes, np.ones(5_000)))
    assert_allclose(p, 0.5, atol=0.05)
    # Rows that the other labels do not determine do not count.
    assert fitted_temperature(np.full((3, 2), np.inf), codes[:3], np.ones(3)) == 1.0
    some = np.vstack([scores, np.full((3, 2), -np.inf)])
    assert fitted_temperature(
        some, np.r_[codes, 0, 0, 1], np.ones(5_003)
    ) == fitted_temperature(scores, codes, np.ones(5_000))


def test_probabilities_are_a_softmax():
    scores = np.random.default_rng(0).standard_normal((6, 4))
    assert_allclose(probabilities(scores, 3.0), softmax(3 * scores, axis=1), rtol=1e-12)
    huge = probabilities(np.array([[1e308, -1e308, 0.0]]), 1e3)
    assert_allclose(huge, [[1, 0, 0]], atol=1e-300)


def calibration_error(p, right, n_bins=10):
    """Mean distance of confidence and accuracy over bins of the confidence."""
    confidence = p.max(axis=1)
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = [
        (bins == b).mean() * abs(confidence[bins == b].mean() - right[bins == b].mean())
        for b in np.unique(bins)
    ]
    return sum(gaps)


@pytest.mark.parametrize(
    "model",
    [ConditionalClassifier(), FredholmClassifier(), LaplacianClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_confidence_is_accuracy_on_new_rows(model):
    X, y = two_gaussians(2_400, n_features=2, distance=2.0, rng=0)
    known = np.where(np.arange(2_400) < 150, y, np.nan)
    model.set_params(random_state=0).fit(X[:400], known[:400])
    p = model.predict_proba(X[400:])
    right = model.predict(X[400:]) == y[400:]
    assert 0.8 < right.mean() < 0.88  # at best 84 %
    assert calibration_error(p, right) < 0.05
    # Answering with certainty would be far off.
    assert calibration_error((p > 0.5).astype(float), right) > 0.12


@pytest.mark.parametrize("options", [{}, {"n_components": 40}])
def test_standard_deviations_cover_draws_of_the_prior(options):
    # A function drawn from the prior lies within 1 (2) deviations in 68 (95) of 100.
    e, noise, l, inside = 0.3, 0.05, 40, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (70, 1))
        K = gaussian(X, X, e)
        f = rng.multivariate_normal(np.zeros(70), K, method="svd") + 3.0
        y = f + noise * rng.standard_normal(70)
        y[l:] = np.nan
        model = ConditionalRegressor(
            Gaussian(e), alpha=noise**2 / l, random_state=seed, **options
        ).fit(X, y)
        values, std = model.predict(X[l:], return_std=True)
        z = np.abs(values - f[l:]) / std
        inside.append([(z < 1).mean(), (z < 2).mean()])
    one, two = np.mean(inside, axis=0)
    spread = np.std(inside, axis=0) / np.sqrt(40)
    assert abs(one - 0.683) < 3 * spread[0] + 0.01
    assert abs(two - 0.954) < 3 * spread[1] + 0.01


def test_logarithms_of_probabilities(rng):
    # Also of rows far from the others, where a class has next to no probability.
    X = rng.normal(size=(40, 2))
    model = ConditionalClassifier(kernel="linear").fit(X, X[:, 0] > 0)
    rows = np.vstack([X, [[1e6, 0.0]]])
    logarithms = model.predict_log_proba(rows)
    assert_allclose(np.exp(logarithms), model.predict_proba(rows))
    assert_allclose(logarithms[-1], [-700.0, 0.0], atol=1e-12)
