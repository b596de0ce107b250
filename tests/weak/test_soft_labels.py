"""Probabilities of candidates, against the definition of their objective."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import Problem
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian
from halfmoon.weak import CandidateSetClassifier
from halfmoon.weak._disambiguation import Embedding, starts
from halfmoon.weak._row_smoother import RowCoordinates
from halfmoon.weak._soft_labels import (
    OMEGA,
    PSEUDO_ROWS,
    _MeanField,
    chance_corrected_errors,
    false_rates,
    soft_labels,
)

ALPHA = 0.05


def small(rng, T, n=8):
    X, w = rng.normal(size=(n, 2)), rng.uniform(0.5, 2.0, n)
    posed = Problem(Exact(Gaussian(1.0))).pose(X, np.zeros(n), sample_weight=w, rng=0)
    sets = rng.uniform(size=(n, len(T))) < 0.5
    sets[np.arange(n), rng.integers(0, len(T), n)] = True
    return RowCoordinates.of(posed), Embedding(T, sets)


def expected_loss(H, T, w, p):
    """The mean of y'M y over labels drawn from p, row by row and pair by pair."""
    n, root = len(p), np.sqrt(w)
    M, loss = np.eye(n) - H, 0.0
    for i in range(n):
        for j in range(n):
            if i == j:
                product = p[i] @ (T**2).sum(axis=1)
            else:
                product = (p[i] @ T) @ (p[j] @ T)
            loss += root[i] * M[i, j] * root[j] * product
    return loss


def free_energy(H, within, w, p):
    """F / W with the best variance and the best model, in loops."""
    T, sets = within.T, within.sets
    w = w / w.mean()
    n, C = sets.shape
    rank = 1 if T.shape[1] == 1 else C - 1
    s2 = expected_loss(H, T, w, p) / (n * rank)
    rates = np.clip(false_rates(within, w), 0.5 / n, 1 - 0.5 / n)
    F = n * rank / 2 + n * rank / 2 * np.log(s2)
    log_sets = np.zeros((n, C))
    for y in range(C):
        for c in set(range(C)) - {y}:
            count = w @ (p[:, y] * sets[:, c]) + PSEUDO_ROWS * rates[c]
            theta = count / (w @ p[:, y] + PSEUDO_ROWS)
            log_sets[:, y] += np.where(sets[:, c], np.log(theta), np.log(1 - theta))
            prior = rates[c] * np.log(theta) + (1 - rates[c]) * np.log(1 - theta)
            F -= OMEGA * PSEUDO_ROWS * prior
    for i in range(n):
        for y in np.flatnonzero(p[i]):
            F += w[i] * p[i, y] * (np.log(p[i, y]) - OMEGA * log_sets[i, y])
    return F / n


@pytest.mark.parametrize("T", [np.eye(3), np.array([[-1.0], [1.0]])])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_its_definition_and_always_falls(T, seed):
    rng = np.random.default_rng(seed)
    coordinates, within = small(rng, T)
    smoother, root_w = coordinates.smoother(ALPHA), coordinates.root_w
    for start in starts(within, 3, rng):
        field = _MeanField(smoother, within, root_w, start)
        for _ in range(4):
            assert_allclose(field.p.sum(axis=1), 1.0)
            assert (field.p[~within.sets] == 0).all()
            expected = free_energy(smoother.left, within, root_w[:, 0] ** 2, field.p)
            assert_allclose(field.objective, expected, rtol=1e-9)
            field.step()
        history = soft_labels(smoother, within, start, root_w).history
        assert (np.diff(history) < 0).all()


def test_no_probability_can_be_changed_for_the_better(rng):
    coordinates, within = small(rng, np.eye(3))
    smoother, w = coordinates.smoother(ALPHA), coordinates.root_w[:, 0] ** 2
    found = soft_labels(smoother, within, within.mean(), coordinates.root_w)
    p = found.targets  # the outputs are rows of the identity
    assert_allclose(found.history[-1], free_energy(smoother.left, within, w, p))
    for i in range(len(p)):
        for c in np.flatnonzero(within.sets[i]):
            other = p.copy()
            other[i] += 0.05 * (np.eye(3)[c] - p[i])
            least = free_energy(smoother.left, within, w, other)
            assert least > found.history[-1] - 1e-4
    assert_array_equal(found.codes, p.argmax(axis=1))


def test_single_candidates_stay_as_they_are(rng):
    coordinates, within = small(rng, np.eye(3))
    alone = Embedding(within.T, np.eye(3, dtype=bool)[rng.integers(0, 3, 8)])
    found = soft_labels(
        coordinates.smoother(ALPHA), alone, alone.mean(), coordinates.root_w
    )
    assert_array_equal(found.targets, alone.sets)
    assert len(found.history) == 1


def test_errors_are_those_of_plain_labels(rng):
    values, codes = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    within = Embedding(np.eye(3), np.eye(3, dtype=bool)[codes])
    errors = chance_corrected_errors(values, within, np.ones(20))
    assert_array_equal(errors, values.argmax(axis=1) != codes)


def test_a_class_in_every_set_gains_nothing(rng):
    sets = np.eye(4, dtype=bool)[rng.integers(1, 4, 30)]
    sets[:, 0] = True
    within = Embedding(np.eye(4), sets)
    always = chance_corrected_errors(np.eye(4)[np.zeros(30, int)], within, np.ones(30))
    assert_allclose(always, 1.0)
    second = within.T[sets[:, 1:].argmax(axis=1) + 1]
    assert chance_corrected_errors(second, within, np.ones(30)).mean() < 0.5


def test_everything_in_a_picture_is_a_candidate_of_its_parts(rng):
    """Grass is in most pictures, and three in four of its rows show grass."""
    shown = np.repeat([[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]], 40, axis=0)
    second = np.arange(len(shown)) % 4 == 0
    truth = np.where(second, shown[:, 1], shown[:, 0])
    sets = np.eye(4, dtype=bool)[shown].any(axis=1)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])
    X = centers[truth] + 0.5 * rng.normal(size=(len(truth), 2))
    model = CandidateSetClassifier(kernel=Gaussian(1.0), random_state=0).fit(X, sets)
    assert np.mean(model.disambiguated_ == truth) > 0.95
    assert np.mean(model.predict(X) == truth) > 0.95
