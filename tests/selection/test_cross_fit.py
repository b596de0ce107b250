"""Held-out values of the whole procedure, the choice of weights included."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._selection.average_weights import averaged_values
from halfmoon._selection.candidate import Candidate, Entry
from halfmoon._selection.criteria import ClassCriterion, NumberCriterion
from halfmoon._selection.search import cross_fit_predictions, try_candidates
from halfmoon._selection.target_transforms import IDENTITY


@pytest.fixture
def entries(candidates, shared):
    chosen = [candidates[name] for name in ("gaussian", "laplace", "walk", "energy")]
    return try_candidates(chosen, shared, NumberCriterion(), 60.0)


def restricted(entry, rows):
    """An entry tried on some of the rows only."""
    return SimpleNamespace(values=entry.held_out[rows], losses=entry.losses[rows])


@pytest.mark.parametrize("safe", [True, False])
def test_weights_are_chosen_without_the_label_that_they_answer(entries, data, safe):
    y, w, criterion = data.y, data.w, NumberCriterion()
    found = cross_fit_predictions(entries, y, w, criterion, safe=safe)
    limits = criterion.limits(y)
    for i in range(18):  # of 18 labels each is a fold of its own
        kept = np.delete(np.arange(18), i)
        values, losses = {}, {}
        for name, chosen in (
            ("average", entries),
            ("twin", [e for e in entries if not e.candidate.uses_unlabeled]),
        ):
            known = [restricted(entry, kept) for entry in chosen]
            weights = criterion.weights(known, y[kept], w[kept])
            mean = sum(a * e.held_out for a, e in zip(weights, chosen, strict=True))
            values[name] = np.clip(mean, *limits)
            losses[name] = ((mean[kept] - y[kept]) ** 2).mean(axis=1)
            assert_allclose(found[name][i], values[name][i], rtol=1e-9)
        gains = losses["twin"] - losses["average"]
        gain = np.average(gains, weights=w[kept])
        spread = np.average((gains - gain) ** 2, weights=w[kept])
        helped = gain > 2.0 * np.sqrt(spread / 16)
        who = "average" if helped or not safe else "twin"
        assert_array_equal(found["answer"][i], found[who][i])


def fake(values, losses, family="plain", prior=(0.0, 0.0)):
    candidate = Candidate("fake", family, None, None)
    return Entry(
        candidate,
        alpha=0.1,
        target=IDENTITY,
        y=np.zeros_like(values),
        held_out=values,
        values=values,
        losses=losses,
        theta=None,
        beta=None,
        prior=prior,
    )


def test_what_labels_cannot_tell_looks_as_bad_as_it_is(rng):
    # Values that know nothing of y: the best weights only seem to know something.
    y, w = rng.normal(size=(18, 1)), np.ones(18)
    entries = []
    for _ in range(200):
        values = rng.normal(size=(18, 1))
        entries.append(fake(values, ((values - y) ** 2)[:, 0]))
    criterion = NumberCriterion(limited=False)
    hopeful = averaged_values(entries, criterion.weights(entries, y, w))
    honest = cross_fit_predictions(entries, y, w, criterion, safe=True)["answer"]
    assert ((hopeful - y) ** 2).mean() < 0.9 * ((honest - y) ** 2).mean()
    assert ((honest - y) ** 2).mean() > 0.9 * y.var()


def test_classes_and_folds_of_more_than_one_label(rng):
    signs, w = np.tile([-1.0, 1.0], 30)[:, None], np.ones(60)
    codes = (signs[:, 0] > 0).astype(int)
    criterion = ClassCriterion(codes, 2, np.zeros((60, 0), dtype=np.intp))
    entries = []
    for scale, family in ((0.1, "a"), (0.2, "b"), (3.0, "b")):
        values = signs + scale * rng.normal(size=(60, 1))
        losses = criterion.losses(values[None], signs, w)[0]
        prior = (0.7, 0.0) if family == "a" else (0.0, 0.0)
        entries.append(fake(values, losses, family, prior))
    found = cross_fit_predictions(entries, signs, w, criterion, safe=True)["answer"]
    for first in range(20):
        fold = np.arange(first, 60, 20)
        kept = np.delete(np.arange(60), fold)
        costs = np.array([e.losses[kept].sum() + e.prior[0] for e in entries])
        weights = np.exp(costs.min() - costs) / [1, 2, 2]
        weights[weights < 1e-3 * weights.max()] = 0.0
        weights /= weights.sum()
        mean = sum(a * e.held_out for a, e in zip(weights, entries, strict=True))
        assert_allclose(found[fold], mean[fold], rtol=1e-9)


def test_one_label_is_what_it_is():
    entries = [fake(np.zeros((1, 2)), np.ones(1))]
    y, criterion = np.array([[1.0, 2.0]]), NumberCriterion(limited=False)
    found = cross_fit_predictions(entries, y, np.ones(1), criterion, safe=True)
    assert_array_equal(found["answer"], [[0.0, 0.0]])
