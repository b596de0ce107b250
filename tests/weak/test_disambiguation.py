"""Steps against their definition: brute force over all labelings, and dense ridge."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import Problem
from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian
from halfmoon.problem import solve_ridge
from halfmoon.unpenalized import Polynomials
from halfmoon.weak._disambiguation import (
    Embedding,
    best_candidates,
    disambiguate,
    starts,
)
from halfmoon.weak._row_smoother import RowCoordinates

ALPHA = 0.02


@pytest.fixture
def weighted(rng):
    X, w = rng.normal(size=(25, 2)), rng.uniform(0.5, 2.0, 25)
    known = np.where(np.arange(25) < 20, 0.0, np.nan)
    return X, known, w


@pytest.mark.parametrize(
    "problem",
    [
        Problem(Exact(Gaussian(1.0))),
        Problem(Exact(Gaussian(1.0)), unpenalized=None),
        Problem(Exact(Gaussian(1.0)), energy="gradient", unpenalized=Polynomials(1)),
        Problem(Nystrom(Gaussian(1.0), 6)),  # fewer functions than labeled rows
    ],
)
@pytest.mark.parametrize("held_out", [[], [0, 7, 19]])
def test_coordinates_give_the_fit_of_the_engine(problem, held_out, weighted, rng):
    X, known, w = weighted
    posed = problem.pose(X, known, sample_weight=w, rng=0)
    y = rng.normal(size=(20, 2))
    used = np.delete(np.arange(20), held_out)
    coordinates = RowCoordinates.of(posed)
    smoother = coordinates.smoother(ALPHA, used)
    actual = smoother.values(posed.root_w[used] * y[used]) / posed.root_w
    targets = np.full((25, 2), np.nan)
    targets[used] = y[used]
    held = ALPHA * w[:20].sum() / w[used].sum()  # lam is that of all rows
    expected = problem.fit(X, targets, held, sample_weight=w, rng=0).predict(X[:20])
    assert_allclose(actual, expected, atol=1e-9)
    (by_fold,) = coordinates.without(ALPHA, [np.array(held_out, dtype=int)])
    assert_array_equal(by_fold.rows, used)
    again = by_fold.values(posed.root_w[used] * y[used]) / posed.root_w
    assert_allclose(again, expected, atol=1e-9)


def value(posed, T, codes):
    """J of the fit to these labels, from its definition."""
    fit_targets = T[list(codes)]
    fit = solve_ridge(posed.with_targets(fit_targets), ALPHA)
    residual = fit_targets - fit.predict(posed.X_l)
    penalty = np.einsum("pt,pq,qt->", fit.theta, posed.penalty, fit.theta)
    w = posed.w[:, None]
    return (w * residual**2).sum() / w.sum() + ALPHA * penalty


def small(rng, l=6, C=3):
    X, w = rng.normal(size=(l, 2)), rng.uniform(0.5, 2.0, l)
    posed = Problem(Exact(Gaussian(1.0))).pose(X, np.zeros(l), sample_weight=w, rng=0)
    sets = rng.uniform(size=(l, C)) < 0.6
    sets[np.arange(l), rng.integers(0, C, l)] = True
    return posed, Embedding(np.eye(C), sets)


@pytest.mark.parametrize("seed", range(4))
def test_no_single_label_can_be_changed_for_the_better(seed):
    rng = np.random.default_rng(seed)
    posed, within = small(rng)
    smoother = RowCoordinates.of(posed).smoother(ALPHA)
    found = disambiguate(smoother, within, within.mean(), posed.root_w)
    assert within.sets[np.arange(6), found.codes].all()
    J = value(posed, within.T, found.codes)
    assert_allclose(found.history[-1], J, rtol=1e-9, atol=1e-12)
    for i in range(6):
        for c in np.flatnonzero(within.sets[i]):
            other = found.codes.copy()
            other[i] = c
            assert value(posed, within.T, other) >= J - 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_several_starts_find_the_least_of_all_labelings(seed):
    rng = np.random.default_rng(seed)
    posed, within = small(rng)
    smoother = RowCoordinates.of(posed).smoother(ALPHA)
    every = itertools.product(*(np.flatnonzero(row) for row in within.sets))
    least = min(value(posed, within.T, codes) for codes in every)
    found = [
        disambiguate(smoother, within, start, posed.root_w).history
        for start in starts(within, 20, rng)
    ]
    assert_allclose(min(history[-1] for history in found), least, rtol=1e-9, atol=1e-12)
    for history in found:
        assert (np.diff(history) < 0).all()


def test_the_first_start_is_the_mean_of_the_candidates(rng):
    within = Embedding(np.eye(3), np.array([[1, 1, 0], [0, 0, 1]], dtype=bool))
    assert_array_equal(starts(within, 3, rng)[0], [[0.5, 0.5, 0], [0, 0, 1]])
    alone = Embedding(np.eye(3), np.eye(3, dtype=bool))
    assert len(starts(alone, 5, rng)) == 1  # nothing to choose


def test_smoothers_of_few_and_of_many_rows(rng, monkeypatch):
    posed, _ = small(rng)
    folds, y = [np.array([1, 4]), np.array([0])], rng.normal(size=(6, 2))
    coordinates = RowCoordinates.of(posed)

    def every():
        whole = coordinates.smoother(ALPHA)
        return [whole, *coordinates.without(ALPHA, folds)]

    few = every()
    monkeypatch.setattr("halfmoon.weak._row_smoother.MAX_DENSE_ROWS", 0)
    for one, other in zip(few, every(), strict=True):
        assert (one.right is None, other.right is None) == (True, False)
        some = y[one.rows]
        assert_allclose(one.values(some), other.values(some), atol=1e-12)
        assert_allclose(one.diagonal(), other.diagonal(), atol=1e-12)
        for i in range(len(some)):
            unit = np.eye(len(some))[:, [i]]
            expected = other.values(unit)[one.rows, 0]
            assert_allclose(one.column(i), expected, atol=1e-12)
            assert_allclose(other.column(i), expected, atol=1e-12)


def test_nearest_candidates_in_blocks(rng, monkeypatch):
    T, g = rng.normal(size=(5, 2)), rng.normal(size=(11, 2))
    sets = rng.uniform(size=(11, 5)) < 0.5
    sets[:, 2] = True
    distance = ((g[:, None] - T) ** 2).sum(axis=2)
    expected = np.where(sets, distance, np.inf).argmin(axis=1)
    for block in (1, 20, 10_000):  # single rows, ragged, all at once
        monkeypatch.setattr("halfmoon.weak._disambiguation.BLOCK_ENTRIES", block)
        assert_array_equal(best_candidates(g, Embedding(T, sets)), expected)
