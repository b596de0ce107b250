"""Leave-one-out values of the whole procedure, the choice of weights included."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.candidates import (
    ALPHAS,
    Blend,
    Candidate,
    Entry,
    ForClasses,
    ForNumbers,
    Labeled,
    cross_fitted,
    try_candidates,
)


@pytest.fixture
def entries(parts, data, constant):
    names = ("gaussian", "laplace", "walk", "energy")
    made = [Candidate(n, ((parts[n], 1.0),), constant, data) for n in names]
    return try_candidates(made, data, ForNumbers(data), 60.0)


def restricted(entry, rows):
    """An entry tried on some of the rows only."""
    data = entry.candidate.data
    some = Labeled(data.X, data.chosen[rows], data.y[rows], data.w[rows])
    candidate = replace(entry.candidate, data=some)
    return Entry(candidate, entry.alpha, entry.left_out[rows], entry.losses[rows])


@pytest.mark.parametrize("safe", [True, False])
def test_weights_are_chosen_without_the_label_that_they_answer(entries, data, safe):
    found = cross_fitted(entries, data, ForNumbers(data), safe=safe)
    low, high = ForNumbers(data).limits(data)
    w = data.w
    for i in range(18):  # of 18 labels each is a fold of its own
        kept = np.delete(np.arange(18), i)
        some = Labeled(data.X, data.chosen[kept], data.y[kept], w[kept])
        values = {}
        for name, chosen in (
            ("average", entries),
            ("twin", [e for e in entries if not e.candidate.unlabeled]),
        ):
            known = [restricted(entry, kept) for entry in chosen]
            weights = ForNumbers(some).weights(known, some)
            mean = sum(a * e.left_out for a, e in zip(weights, chosen, strict=True))
            values[name] = np.clip(mean, low, high)
            assert_allclose(found[name][i], values[name][i], rtol=1e-9)
        loss = {
            name: ((v[kept] - some.y) ** 2).mean(axis=1) for name, v in values.items()
        }
        gains = loss["twin"] - loss["average"]
        gain = np.average(gains, weights=some.w)
        spread = np.average((gains - gain) ** 2, weights=some.w)
        helped = gain > 2.0 * np.sqrt(spread / 16)
        who = "average" if helped or not safe else "twin"
        assert_array_equal(found["answer"][i], found[who][i])


def test_what_labels_cannot_tell_looks_as_bad_as_it_is(parts, data, constant, rng):
    # Values that know nothing of y: the best weights only seem to know something.
    y = rng.normal(size=(18, 1))
    noise = replace(data, y=y, w=np.ones(18))
    plain = Candidate("g", ((parts["gaussian"], 1.0),), constant, noise)
    entries = []
    for _ in range(200):
        values = rng.normal(size=(18, 1))
        losses = ((values - y) ** 2)[:, 0]
        entries.append(Entry(plain, ALPHAS[0], values, losses))
    judge = ForNumbers(noise, limited=False)
    hopeful = Blend(entries, judge.weights(entries, noise))
    honest = cross_fitted(entries, noise, judge, safe=True)["answer"]
    assert ((hopeful.left_out - y) ** 2).mean() < 0.9 * ((honest - y) ** 2).mean()
    assert ((honest - y) ** 2).mean() > 0.9 * y.var()


def test_classes_and_folds_of_more_than_one_label(parts, data, constant, rng):
    signs = np.tile([-1.0, 1.0], 30)[:, None]
    many = replace(data, chosen=np.arange(60), y=signs, w=np.ones(60))
    plain = Candidate("g", ((parts["gaussian"], 1.0),), constant, many)
    judge = ForClasses()
    entries = []
    for scale in (0.1, 1.0, 3.0):
        values = signs + scale * rng.normal(size=(60, 1))
        losses = judge.losses(values[None], many)[0]
        entries.append(Entry(plain, ALPHAS[0], values, losses))
    found = cross_fitted(entries, many, judge, safe=True)["answer"]
    for first in range(20):
        fold = np.arange(first, 60, 20)
        kept = np.delete(np.arange(60), fold)
        likelihood = np.array([np.exp(-entry.losses[kept].sum()) for entry in entries])
        weights = likelihood / likelihood.sum()
        weights[weights < 1e-3 * weights.max()] = 0.0
        weights /= weights.sum()
        mean = sum(a * e.left_out for a, e in zip(weights, entries, strict=True))
        assert_allclose(found[fold], mean[fold], rtol=1e-9)


def test_one_label_is_what_it_is(parts, data, constant):
    one = Labeled(data.X, data.chosen[:1], data.y[:1], np.ones(1))
    plain = Candidate("g", ((parts["gaussian"].on(one), 1.0),), constant, one)
    entries = [Entry(plain, 1.0, np.zeros((1, 2)), np.ones(1))]
    found = cross_fitted(entries, one, ForNumbers(one, limited=False), safe=True)
    assert_array_equal(found["answer"], [[0.0, 0.0]])
