"""The search: what is tried, and the verdict on unlabeled rows."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.candidates import (
    ALPHAS,
    Candidate,
    Entry,
    ForClasses,
    ForNumbers,
    Labeled,
    Verdict,
    squared_losses,
    try_candidates,
)


@pytest.fixture
def candidates(parts, data, constant):
    mixes = {
        "gaussian": ((parts["gaussian"], 1.0),),
        "laplace": ((parts["laplace"], 1.0),),
        "walk": ((parts["walk"], 1.0),),
        "energy": ((parts["energy"], 1.0),),
    }
    return [Candidate(name, mix, constant, data) for name, mix in mixes.items()]


def test_entries_are_candidates_at_each_alpha(candidates, data):
    entries = try_candidates(candidates, data, ForNumbers(data), 60.0)
    assert [e.candidate.name for e in entries[:: len(ALPHAS)]] == [
        "gaussian",
        "laplace",
        "walk",
        "energy",
    ]
    assert [entry.alpha for entry in entries] == 4 * list(ALPHAS)
    for i, entry in enumerate(entries):
        expected = candidates[i // len(ALPHAS)].left_out()[i % len(ALPHAS)]
        assert_array_equal(entry.left_out, expected)
        assert_allclose(entry.losses, ((expected - data.y) ** 2).mean(axis=1))


def test_logarithms_are_tried_where_the_parts_do_not_know_the_targets(candidates, data):
    positive = Labeled(data.X, data.chosen, np.exp(data.y[:, :1]), data.w)
    plain, walk = (replace(candidates[i], data=positive) for i in (0, 2))
    entries = try_candidates([plain, walk], positive, ForNumbers(positive), 60.0)
    labels = [entry.candidate.label for entry in entries[:: len(ALPHAS)]]
    assert labels == ["gaussian", "gaussian, log of y", "walk"]
    logs = entries[len(ALPHAS) + 4]
    # Losses are on the scale of the user.
    expected = squared_losses(logs.values[None], positive.y)[0]
    assert_allclose(logs.losses, expected, rtol=1e-12)
    log_data = logs.candidate.data
    on_logs = replace(candidates[0], data=log_data).left_out()[4]
    assert_array_equal(logs.left_out, on_logs)


def test_candidates_made_for_a_scale_keep_it(candidates, data):
    positive = Labeled(data.X, data.chosen, np.exp(data.y[:, :1]), data.w)
    judge = ForNumbers(positive)
    logs = judge.scales(positive)[1]
    own = replace(candidates[0], data=logs, by_folds=np.zeros((len(ALPHAS), 18, 1)))
    entries = try_candidates([own], positive, judge, 60.0)
    assert len(entries) == len(ALPHAS)
    assert entries[0].candidate.data is logs


def test_the_budget_ends_the_search_but_one_candidate_is_tried(
    candidates, data, caplog
):
    tried = iter(candidates)
    with caplog.at_level(logging.INFO, "halfmoon"):
        entries = try_candidates(tried, data, ForNumbers(data), 1e-9, logging.INFO)
    assert len(entries) == len(ALPHAS)
    assert len(list(tried)) == 3
    assert "gaussian" in caplog.messages[0]
    assert caplog.messages[1] == "The budget of 1e-09 s is spent."


@pytest.fixture
def entries(candidates, data):
    return try_candidates(candidates, data, ForNumbers(data), 60.0)


@pytest.mark.parametrize("safe", [True, False])
def test_the_comparison_is_paired_with_the_twin(entries, data, safe):
    judge, w = ForNumbers(data), data.w
    verdict = Verdict.of(entries, data, judge, safe=safe)
    table = verdict.comparison
    names = table["candidate"]
    assert names[:2] == ["supervised twin", "average of all"]
    assert sorted(names[2:]) == ["energy", "gaussian", "laplace", "walk"]
    twin = squared_losses(verdict.twin.left_out[None], data.y)[0]
    for i, name in enumerate(names):
        if i < 2:
            left_out = (verdict.twin, verdict.blend)[i].left_out
            losses = squared_losses(left_out[None], data.y)[0]
        else:
            own = [e.losses for e in entries if e.candidate.name == name]
            losses = min(own, key=lambda each: np.average(each, weights=w))
        difference = np.average(losses - twin, weights=w)
        spread = np.average((losses - twin - difference) ** 2, weights=w)
        half = 1.96 * np.sqrt(spread / 17)
        expected = [np.average(losses, weights=w), difference]
        expected += [difference - half, difference + half]
        columns = ("loo_error", "difference", "low", "high")
        assert_allclose([table[c][i] for c in columns], expected, atol=1e-12)
        assert table["unlabeled"][i] == (name in ("average of all", "walk", "energy"))
    assert [table[c][0] for c in ("difference", "low", "high")] == [0.0, 0.0, 0.0]
    assert np.all(np.diff(table["loo_error"][2:]) >= 0)  # the best first
    # The weights are those of the one that answers.
    assert_allclose(table["weight"].sum(), 1.0, rtol=1e-12)
    answers = verdict.blend if verdict.helped or not safe else verdict.twin
    assert verdict.answers is answers
    for i, name in enumerate(names):
        share = sum(
            weight
            for entry, weight in zip(answers.entries, answers.weights, strict=True)
            if entry.candidate.name == name
        )
        assert_allclose(table["weight"][i], share, rtol=1e-12)


def test_the_twin_has_no_unlabeled_entries(entries, data):
    judge = ForNumbers(data)
    verdict = Verdict.of(entries, data, judge, safe=True)
    assert not verdict.twin.unlabeled
    alone = [entry for entry in entries if not entry.candidate.unlabeled]
    expected = judge.weights(alone, data)
    assert_array_equal(verdict.twin.weights, expected[expected > 0])


class Told:
    """A judge whose losses of the average and of the twin are told."""

    safety = 2.0

    def __init__(self, by_blend, by_twin):
        self.by_both = np.array([by_blend, by_twin])

    def weights(self, entries, data):
        return np.full(len(entries), 1 / len(entries))

    def losses(self, values, data):
        return self.by_both


@pytest.mark.parametrize(("factor", "helped"), [(1 - 1e-9, False), (1 + 1e-9, True)])
def test_unlabeled_rows_help_by_more_than_some_standard_errors(
    entries, data, factor, helped
):
    data = replace(data, w=np.ones(18))
    spread = 0.3 * np.tile([-1.0, 1.0], 9)
    gain = factor * 2.0 * 0.3 / np.sqrt(17)
    by_twin = np.linspace(1, 2, 18)
    judge = Told(by_twin - gain - spread, by_twin)
    verdict = Verdict.of(entries, data, judge, safe=True)
    assert verdict.helped == helped
    assert verdict.answers is (verdict.blend if helped else verdict.twin)
    assert Verdict.of(entries, data, judge, safe=False).answers is not verdict.twin


def test_equal_losses_are_no_help(entries, data):
    judge = Told(np.ones(18), np.ones(18))
    assert not Verdict.of(entries, data, judge, safe=True).helped


def test_classes_ask_for_less_than_numbers(data):
    assert (ForClasses.safety, ForNumbers(data).safety) == (1.0, 2.0)


def test_one_label_has_a_verdict(parts, data, constant):
    one = Labeled(data.X, data.chosen[:1], data.y[:1], np.ones(1))
    plain = Candidate("g", ((parts["gaussian"].on(one), 1.0),), constant, one)
    walk = Candidate("w", ((parts["walk"].on(one), 1.0),), constant, one)
    losses = [np.ones(1), np.zeros(1)]
    entries = [
        Entry(candidate, 1.0, np.zeros((1, 2)), each)
        for candidate, each in zip((plain, walk), losses, strict=True)
    ]
    table = Verdict.of(entries, one, ForNumbers(one), safe=True).comparison
    assert all(np.isfinite(table[c]).all() for c in ("loo_error", "low", "high"))
