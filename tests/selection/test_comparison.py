"""The comparison of candidates with the twin, recomputed row by row."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._selection.average_members import Member
from halfmoon._selection.average_weights import averaged_values
from halfmoon._selection.comparison import SUMMARIES, compare_members
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.refit import average_of_entries
from halfmoon._selection.search import SearchOutcome, try_candidates

NAMES = ("gaussian", "laplace", "walk", "energy")


@pytest.fixture
def entries(candidates, shared):
    chosen = [candidates[name] for name in NAMES]
    return try_candidates(chosen, shared, NumberCriterion(), 60.0)


def row_of(losses, twin, w):
    """loo_error, difference, low and high, from the losses of each row."""
    difference = np.average(losses - twin, weights=w)
    spread = np.average((losses - twin - difference) ** 2, weights=w)
    half = 1.96 * np.sqrt(spread / (len(w) - 1))
    error = np.average(losses, weights=w)
    return [error, difference, difference - half, difference + half]


COLUMNS = ("loo_error", "difference", "low", "high")


@pytest.mark.parametrize("safe", [True, False])
def test_the_comparison_is_paired_with_the_twin(entries, shared, safe):
    y, w = shared.data.y, shared.data.w
    outcome = SearchOutcome.of(entries, shared, NumberCriterion(), safe=safe)
    table = outcome.comparison
    names = table["candidate"]
    assert tuple(names[:2]) == SUMMARIES
    assert sorted(names[2:]) == sorted(NAMES)
    values = {n: averaged_values(entries, outcome.weights[n]) for n in outcome.weights}
    by = {n: ((v - y) ** 2).mean(axis=1) for n, v in values.items()}
    for i, name in enumerate(names):
        if i < 2:
            losses = by[("twin", "average")[i]]
        else:
            own = [e.losses for e in entries if e.name == name]
            losses = min(own, key=lambda each: np.average(each, weights=w))
        expected = row_of(losses, by["twin"], w)
        assert_allclose([table[c][i] for c in COLUMNS], expected, atol=1e-12)
        assert table["unlabeled"][i] == (name in ("average of all", "walk", "energy"))
        assert table["labels"][i] == 18
    assert [table[c][0] for c in ("difference", "low", "high")] == [0.0, 0.0, 0.0]
    assert np.all(np.diff(table["loo_error"][2:]) >= 0)  # the best first
    # The weights are those of the one that answers.
    for i, name in enumerate(names):
        shares = zip(entries, outcome.weights[outcome.chosen], strict=True)
        expected = sum(weight for entry, weight in shares if entry.name == name)
        assert_allclose(table["weight"][i], expected, rtol=1e-12, atol=1e-15)
    assert_allclose(table["weight"].sum(), 1.0, rtol=1e-12)


@pytest.fixture
def answers(entries, data):
    """A twin of one member, and an answer of two with one name."""
    at = {e.name: e for e in entries if e.alpha == 0.1}
    twin = average_of_entries([at["gaussian"]], np.ones(1), data, None)
    answer = average_of_entries(
        [at["walk"], at["energy"]], np.array([0.3, 0.7]), data, None
    )
    members = [replace(member, name="alike") for member in answer.members]
    return replace(answer, members=members), twin


def test_members_of_the_answer_have_rows_of_their_own(entries, shared, answers):
    answer, twin = answers
    y, w = shared.data.y, shared.data.w
    before = SearchOutcome.of(entries, shared, NumberCriterion(), safe=True).comparison
    table = compare_members(before, answer, twin, NumberCriterion())
    n = len(before["candidate"])
    assert table["candidate"] == [*before["candidate"], "alike", "alike (2)"]
    for name in ("labels", *COLUMNS, "unlabeled"):
        assert_allclose(table[name][:n], before[name])
    assert_allclose(table["weight"], [*np.zeros(n), 0.3, 0.7])
    by_twin = ((twin.held_out - y) ** 2).mean(axis=1)
    for i, member in enumerate(answer.members):
        losses = ((member.held_out - y) ** 2).mean(axis=1)
        expected = row_of(losses, by_twin, w)
        assert_allclose([table[c][n + i] for c in COLUMNS], expected, atol=1e-12)
        assert table["unlabeled"][n + i]
        assert table["labels"][n + i] == 18


@pytest.mark.parametrize("who", ["chosen", "twin", "both"])
def test_rows_that_were_left_out_are_those_of_either(entries, shared, answers, who):
    # Of a fit at landmarks, some labeled rows have held-out values.
    answer, twin = answers
    y, w, rows = shared.data.y, shared.data.w, np.array([1, 4, 8, 9, 15])

    def at_rows(average):
        member = average.members[0]
        few = Member("few", member.fit, 1.0, member.held_out[rows], y[rows], True)
        return replace(average, members=[few], rows=rows)

    expected_twin, first = twin.held_out[rows], answer.members[0].held_out[rows]
    if who in ("chosen", "both"):
        answer = at_rows(answer)
    if who in ("twin", "both"):
        twin = at_rows(twin)
    before = SearchOutcome.of(entries, shared, NumberCriterion(), safe=True).comparison
    table = compare_members(before, answer, twin, NumberCriterion())
    n = len(before["candidate"])
    assert table["labels"][n] == 5
    losses, by_twin = (
        ((values - y[rows]) ** 2).mean(axis=1) for values in (first, expected_twin)
    )
    expected = row_of(losses, by_twin, w[rows])
    assert_allclose([table[c][n] for c in COLUMNS], expected, atol=1e-12)
