"""Averages of candidates: their weights, and values as sums over the entries."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from halfmoon.candidates import (
    ALPHAS,
    Blend,
    Candidate,
    Entry,
    Labeled,
    Logarithm,
    NullSpace,
    blend,
    posterior_weights,
    squared_losses,
    stacked_weights,
)
from halfmoon.unpenalized import Constant, Polynomials


def entry_at(candidate, alpha):
    data, left_out = candidate.data, candidate.left_out()[ALPHAS.index(alpha)]
    return Entry(candidate, alpha, left_out, squared_losses(left_out[None], data.y)[0])


def values(entry, X):
    """Of one entry, on the scale of its targets."""
    candidate, C = entry.candidate, entry.candidate.dual_coef(entry.alpha)
    total = candidate.null_space.features(X) @ candidate.coef(entry.alpha)
    return total + sum(a * part.function(C)(X) for part, a in candidate.mix)


@pytest.fixture
def entries(parts, data, constant, prepare):
    columns = Polynomials(1).fit(data.X)
    linear = NullSpace("columns", columns.transform)
    plain = Candidate(
        "plain", ((parts["linear"], 0.5), (parts["laplace"], 0.5)), constant, data
    )
    mixed = Candidate(
        "mixed", ((parts["walk"], 1.0), (parts["gaussian"], 0.2)), constant, data
    )
    free = Candidate("free", ((parts["gaussian"], 1.0),), linear, data)
    energy = Candidate("energy", ((parts["energy"], 1.0),), constant, data)
    return [
        entry_at(plain, 0.01),
        entry_at(plain, 1.0),
        entry_at(mixed, 0.1),
        entry_at(free, 0.001),
        entry_at(energy, 0.1),
    ]


WEIGHTS = np.array([0.3, 0.1, 0.25, 0.15, 0.2])


def fake_entries(rng, n_entries, l=30, t=1, offset=0.0, noise=(0.5, 1.5)):
    """Entries whose left-out values are targets and noise, and their data."""
    y = offset + rng.normal(size=(l, t))
    w = rng.uniform(0.3, 2.0, size=l)
    data = Labeled(np.zeros((l, 1)), np.arange(l), y, w)
    none = NullSpace("none", Constant().transform)
    common = rng.normal(size=(l, t))
    made = []
    for scale in np.linspace(*noise, n_entries):
        left_out = y + scale * (0.5 * common + rng.normal(size=(l, t)))
        losses = squared_losses(left_out[None], y)[0]
        made.append(Entry(Candidate("", (), none, data), 1.0, left_out, losses))
    return made, y, w


def test_posterior_weights_are_likelihoods_of_the_labels(rng):
    entries, _, _ = fake_entries(rng, 5, l=4)
    w = np.array([1.0, 2.0, 0.5, 0.5])
    L = np.array([np.average(entry.losses, weights=w) for entry in entries])
    expected = np.exp(-4 * (L - L.min()))
    expected[expected < 1e-3] = 0.0
    assert_allclose(posterior_weights(entries, w), expected / expected.sum())
    # A common factor of the weights is no more knowledge.
    assert_allclose(posterior_weights(entries, 9 * w), expected / expected.sum())


def test_posterior_weights_below_a_thousandth_of_the_largest_are_left_out(rng):
    entries, _, _ = fake_entries(rng, 3, l=2)
    for loss, kept in ((6.9, True), (6.92, False)):  # log 1000 is 6.908
        some = [
            replace(entries[0], losses=np.zeros(2)),
            replace(entries[1], losses=np.full(2, loss / 2)),
        ]
        assert (posterior_weights(some, np.ones(2))[1] > 0) == kept
    # Losses without bound are no trouble beside those that are numbers.
    some[1] = replace(entries[1], losses=np.full(2, 1e6))
    assert_array_equal(posterior_weights(some, np.ones(2)), [1.0, 0.0])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize(("n_entries", "t"), [(2, 1), (6, 1), (6, 2), (12, 1)])
def test_stacked_weights_minimize_the_squared_error(rng, n_entries, t, offset):
    entries, y, w = fake_entries(rng, n_entries, t=t, offset=offset)
    actual = stacked_weights(entries, y, w)
    root_w = np.sqrt(w / w.mean())[:, None]
    R = np.array([(root_w * (e.left_out - y)).ravel() for e in entries]).T
    least = min(np.average(e.losses, weights=w) for e in entries)
    k = n_entries

    def objective(weights):
        pulled = 10 * k * ((weights - 1 / k) ** 2).sum()
        return ((R @ weights) ** 2).sum() / least + pulled

    found = minimize(
        objective,
        np.full(k, 1 / k),
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1_000},
    )
    assert_allclose(actual.sum(), 1.0, rtol=1e-14)
    assert_allclose(actual, found.x, atol=2e-4)
    assert objective(actual) <= found.fun + 1e-4


def test_an_entry_that_hurts_has_hardly_a_say(rng):
    entries, y, w = fake_entries(rng, 4, noise=(0.2, 8.0))
    weights = stacked_weights(entries, y, w)
    assert weights[0] > 0.4
    assert weights[-1] < 0.02


def test_only_the_best_entries_are_stacked(rng, monkeypatch):
    entries, y, w = fake_entries(rng, 8)
    monkeypatch.setattr(blend, "STACKED", 3)
    weights = stacked_weights(entries, y, w)
    losses = [np.average(entry.losses, weights=w) for entry in entries]
    assert set(np.flatnonzero(weights)) <= set(np.argsort(losses)[:3])
    best = [entries[i] for i in np.argsort(losses)[:3]]
    assert_allclose(np.sort(weights[weights > 0]), np.sort(stacked_weights(best, y, w)))


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_entries_that_are_all_exact_share_alike(rng, value):
    entries, y, w = fake_entries(rng, 4)
    y = np.full_like(y, value)
    exact = [replace(e, left_out=y, losses=np.zeros(len(y))) for e in entries]
    assert_allclose(stacked_weights(exact, y, w), np.full(4, 0.25), rtol=1e-6)


def test_values_are_the_weighted_sum_of_the_entries(entries, new):
    average = Blend(entries, WEIGHTS)
    expected = sum(w * values(e, new) for w, e in zip(WEIGHTS, entries, strict=True))
    assert_allclose(average(new), expected, rtol=1e-9, atol=1e-11)
    left_out = sum(w * e.left_out for w, e in zip(WEIGHTS, entries, strict=True))
    assert_allclose(average.left_out, left_out, rtol=1e-12)
    assert average.unlabeled
    assert not Blend(entries[:2], np.array([0.4, 0.6])).unlabeled


def test_entries_without_weight_are_dropped(entries, new):
    average = Blend(entries, np.array([0.0, 0.0, 1.0, 0.0, 0.0]))
    assert average.entries == [entries[2]]
    assert_array_equal(average.weights, [1.0])
    assert_allclose(average(new), values(entries[2], new), rtol=1e-9, atol=1e-11)


def test_logarithms_are_averaged_before_they_are_brought_back(parts, data, new, rng):
    y = np.exp(data.y[:, :1])
    plain = Labeled(data.X, data.chosen, y, data.w)
    target = Logarithm.of(y)
    logs = replace(plain, y=target.forward(y), target=target)
    constant = NullSpace("constant", Constant().transform)
    entries = []
    for scale in (plain, logs):
        for name in ("gaussian", "laplace"):
            candidate = Candidate(name, ((parts[name], 1.0),), constant, scale)
            entries.append(entry_at(candidate, 0.01))
    shares = np.array([0.1, 0.3, 0.4, 0.2])
    average = Blend(entries, shares)

    def held(a, b):
        on_logs = (0.4 * a + 0.2 * b) / 0.6
        room = (logs.y.max() - logs.y.min()) / 2
        return np.clip(on_logs, logs.y.min() - room, logs.y.max() + room)

    residuals = logs.y - (0.4 * entries[2].left_out + 0.2 * entries[3].left_out) / 0.6
    smearing = np.exp(residuals).mean()
    assert 1.0 < smearing < 2.0
    for at in (lambda e: values(e, new), lambda e: e.left_out):
        g = [at(entry) for entry in entries]
        expected = 0.1 * g[0] + 0.3 * g[1]
        expected += 0.6 * (np.exp(held(g[2], g[3])) * smearing - target.shift)
        actual = average(new) if len(g[0]) == 7 else average.left_out
        assert_allclose(actual, expected, rtol=1e-9)
    own = np.exp(logs.y - entries[2].left_out).mean()
    expected = np.exp(entries[2].left_out) * own - target.shift
    assert_allclose(entries[2].values, expected, rtol=1e-9)
    assert_array_equal(entries[0].values, entries[0].left_out)
    assert average.scale == "mixed"
    with pytest.raises(ValueError, match="logarithm of the targets, so that it does"):
        average.refuse_logarithms()
    one = Blend(entries[2:3], np.ones(1))
    assert one.scale == "log"
    weights = one.with_targets(np.eye(18))(new)
    assert_allclose(weights @ logs.y, values(entries[2], new), rtol=1e-9)
    # Of one entry the values without the own labels are the left-out ones.
    some = np.array([3, 0, 11])
    rows = data.X_l[some]
    assert_allclose(one.without_own(some)(rows), one.left_out[some], rtol=1e-9)
    both = Blend([entries[0], entries[2]], np.array([0.3, 0.7]))
    assert_allclose(both.without_own(some)(rows), both.left_out[some], rtol=1e-9)


def test_values_elsewhere_without_the_own_labels(parts, data, constant, new):
    candidate = Candidate("", ((parts["gaussian"], 1.0),), constant, data)
    average, some = Blend([entry_at(candidate, 0.01)], np.ones(1)), np.arange(7)
    actual = average.without_own(some)(new)
    for i in some:
        y = data.y.copy()
        y[i] = average.left_out[i]  # by which the i-th label says nothing
        assert_allclose(actual[i], average.with_targets(y)(new[i : i + 1])[0])


def test_other_targets_keep_entries_and_weights(entries, new, rng):
    average, y = Blend(entries, WEIGHTS), rng.normal(size=(18, 3))
    other = average.with_targets(y)
    expected = 0.0
    for weight, entry in zip(WEIGHTS, entries, strict=True):
        old = entry.candidate
        data = replace(old.data, y=y)
        again = Candidate("", old.mix, old.null_space, data)
        expected = expected + weight * values(entry_at(again, entry.alpha), new)
    assert_allclose(other(new), expected, rtol=1e-9, atol=1e-11)
    H = average.with_targets(np.eye(18))(new)
    assert_allclose(H @ entries[0].candidate.data.y, average(new), rtol=1e-7, atol=1e-9)
    assert_array_equal(other.weights, WEIGHTS)
    # Entries of one candidate still share it.
    assert other.entries[0].candidate is other.entries[1].candidate
    assert len(entries[0].candidate.data.y[0]) == 2  # as it was


def test_a_stored_blend_answers_alike(entries, new):
    average = Blend(entries, WEIGHTS)
    expected = average(new)
    again = pickle.loads(pickle.dumps(average))
    assert_array_equal(again(new), expected)
    assert_array_equal(again.left_out, average.left_out)
