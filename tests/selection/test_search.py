"""The search: what is tried, what the twin is, and who answers."""

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._selection.candidate import ALPHAS, Candidate, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.search import (
    LEAST_PENALTY,
    SearchOutcome,
    average_and_twin_weights,
    try_candidates,
)
from halfmoon.kernels import Gaussian
from halfmoon.kernels._user_kernels import FromFunction
from selection.search_tables import bench_of, with_targets

NAMES = ("gaussian", "laplace", "walk", "energy")


@pytest.fixture
def some(candidates):
    return [candidates[name] for name in NAMES]


@pytest.fixture
def entries(some, shared):
    return try_candidates(some, shared, NumberCriterion(), 60.0)


def test_entries_are_candidates_at_each_alpha(entries, some, shared):
    # 18 labels: at the least alpha a fit would go through every label.
    assert 18 * ALPHAS[0] < LEAST_PENALTY < 18 * ALPHAS[1]
    k = len(ALPHAS) - 1
    assert [e.candidate.name for e in entries[::k]] == list(NAMES)
    assert [entry.alpha for entry in entries] == 4 * list(ALPHAS[1:])
    for i, candidate in enumerate(some):
        own = fit_at_all_alphas(candidate, shared, NumberCriterion())[1:]
        for entry, expected in zip(entries[i * k :], own, strict=False):
            assert_array_equal(entry.held_out, expected.held_out)
            assert_array_equal(entry.theta, expected.theta)


def test_a_kernel_that_is_not_definite_is_left_out(some, shared, constant, caplog):
    kernel = FromFunction(lambda X, Z: -Gaussian(1.0)(X, Z))
    odd = Candidate("odd", "odd", kernel, constant)
    criterion = NumberCriterion()
    with caplog.at_level(logging.DEBUG, "halfmoon"):
        entries = try_candidates([odd, *some[:1]], shared, criterion, 60.0)
    assert {entry.name for entry in entries} == {"gaussian"}
    assert caplog.messages[0].startswith("odd is left out. The kernel is not positive")


def test_all_candidates_are_tried_on_the_scale_of_logarithms(some, shared):
    positive = with_targets(shared, np.exp(shared.data.y[:, :1]))
    entries = try_candidates(some[1:3], positive, NumberCriterion(), 60.0)
    names = [entry.name for entry in entries[:: len(ALPHAS) - 1]]
    assert names == ["laplace", "laplace, log of y", "walk", "walk, log of y"]


def test_the_budget_ends_the_search_but_one_candidate_is_tried(some, shared, caplog):
    tried = iter(some)
    with caplog.at_level(logging.INFO, "halfmoon"):
        entries = try_candidates(tried, shared, NumberCriterion(), 1e-9, logging.INFO)
    assert len(entries) == len(ALPHAS) - 1
    assert len(list(tried)) == 3
    assert "gaussian" in caplog.messages[0]
    assert caplog.messages[1] == "The budget of 1e-09 s is spent."


def test_the_twin_has_no_entries_that_use_unlabeled_rows(entries, data):
    criterion = NumberCriterion()
    weights, _ = average_and_twin_weights(entries, data.y, data.w, criterion)
    uses = np.array([entry.candidate.uses_unlabeled for entry in entries])
    assert_array_equal(weights["twin"][uses], 0.0)
    alone = [entry for entry in entries if not entry.candidate.uses_unlabeled]
    expected = criterion.weights(alone, data.y, data.w)
    assert_array_equal(weights["twin"][~uses], expected)
    assert_array_equal(weights["average"], criterion.weights(entries, data.y, data.w))


class Preferring(NumberCriterion):
    """A criterion that says what it is set to say."""

    def __init__(self, preferred):
        super().__init__()
        self.preferred = preferred

    def prefers_unlabeled(self, entries, y, w):
        return self.preferred


@pytest.mark.parametrize("preferred", [True, False])
@pytest.mark.parametrize("safe", [True, False])
def test_the_twin_answers_unless_it_is_beaten(entries, shared, preferred, safe):
    outcome = SearchOutcome.of(entries, shared, Preferring(preferred), safe=safe)
    assert outcome.helped == preferred
    assert outcome.chosen == ("twin" if safe and not preferred else "average")
    assert_allclose(outcome.comparison["weight"].sum(), 1.0, rtol=1e-12)
    walk = outcome.comparison["candidate"].index("walk")
    if outcome.chosen == "twin":
        assert outcome.comparison["weight"][walk] == 0.0


def test_without_unlabeled_rows_nothing_helps(entries, shared):
    alone = [entry for entry in entries if not entry.candidate.uses_unlabeled]
    outcome = SearchOutcome.of(alone, shared, Preferring(True), safe=True)
    assert (outcome.helped, outcome.chosen) == (False, "twin")
    assert_array_equal(outcome.weights["twin"], outcome.weights["average"])


def test_one_label_has_an_outcome(candidates, rng):
    X = rng.lognormal(size=(40, 3))
    one = bench_of(X, [[1.0, 2.0]])
    tried = [
        Candidate(name, name, candidates[name].kernel, None, name == "walk")
        for name in ("gaussian", "walk")
    ]
    entries = try_candidates(tried, one, NumberCriterion(), 60.0)
    table = SearchOutcome.of(entries, one, NumberCriterion(), safe=True).comparison
    assert all(np.isfinite(table[c]).all() for c in ("loo_error", "low", "high"))
