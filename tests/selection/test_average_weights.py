"""Weights of entries: posteriors with equal families, stacking, and averages."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from halfmoon._selection import (
    average_weights as weights,
)
from halfmoon._selection.average_weights import (
    averaged_values,
    greedy_weights,
    group_by_transform,
    posterior_weights,
    stacked_weights,
)
from halfmoon._selection.target_transforms import IDENTITY, Logarithm


def tried(rng, n_entries, l=30, t=1, offset=0.0, noise=(0.5, 1.5)):
    """Entries whose held-out values are targets and noise, with y and w."""
    y = offset + rng.normal(size=(l, t))
    w = rng.uniform(0.3, 2.0, size=l)
    common = rng.normal(size=(l, t))
    entries = []
    for scale in np.linspace(*noise, n_entries):
        values = y + scale * (0.5 * common + rng.normal(size=(l, t)))
        losses = ((values - y) ** 2).mean(axis=1)
        entries.append(SimpleNamespace(values=values, losses=losses))
    return entries, y, w


def test_posterior_weights_are_likelihoods_of_the_labels():
    costs = np.array([3.0, 1.0, 2.5])
    expected = np.exp(-costs) / np.exp(-costs).sum()
    assert_allclose(posterior_weights(costs, ["a", "a", "a"]), expected)
    assert_allclose(posterior_weights(costs + 1e6, ["a", "b", "c"]), expected)


def test_families_share_their_weight():
    # Equal charges: each family has a third, however many entries it has.
    families = ["one", "three", "three", "three", "two", "two"]
    found = posterior_weights(np.zeros(6), families)
    assert_allclose(found, [1 / 3, 1 / 9, 1 / 9, 1 / 9, 1 / 6, 1 / 6])
    # Ten copies of an entry do not outvote the one that is a nat better.
    found = posterior_weights(np.array([0.0, *np.ones(10)]), ["a", *10 * ["b"]])
    assert_allclose(found[0] / found[1:].sum(), np.e)


def test_posterior_weights_below_a_thousandth_of_the_largest_are_left_out():
    for charge, kept in ((6.9, True), (6.92, False)):  # log 1000 is 6.908
        found = posterior_weights(np.array([0.0, charge]), ["a", "b"])
        assert (found[1] > 0) == kept
        assert_allclose(found.sum(), 1.0, rtol=1e-14)
    found = posterior_weights(np.array([0.0, 1e6]), ["a", "b"])
    assert_array_equal(found, [1.0, 0.0])
    # The size of a family counts too.
    found = posterior_weights(np.array([0.0, 6.0, 6.0, 6.0]), ["a", "b", "b", "b"])
    assert_array_equal(found, [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize(("n_entries", "t"), [(2, 1), (6, 1), (6, 2), (12, 1)])
def test_stacked_weights_minimize_the_squared_error(rng, n_entries, t, offset):
    entries, y, w = tried(rng, n_entries, t=t, offset=offset)
    actual = stacked_weights(entries, y, w)
    root_w = np.sqrt(w / w.mean())[:, None]
    R = np.array([(root_w * (e.values - y)).ravel() for e in entries]).T
    least = min(np.average(e.losses, weights=w) for e in entries)
    k = n_entries

    def objective(shares):
        pulled = 10 * k * ((shares - 1 / k) ** 2).sum()
        return ((R @ shares) ** 2).sum() / least + pulled

    found = minimize(
        objective,
        np.full(k, 1 / k),
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1_000},
    )
    assert_allclose(actual.sum(), 1.0, rtol=1e-14)
    assert_allclose(actual, found.x, atol=2e-4)
    assert objective(actual) <= found.fun + 1e-4


def test_an_entry_that_hurts_has_hardly_a_say(rng):
    entries, y, w = tried(rng, 4, noise=(0.2, 8.0))
    found = stacked_weights(entries, y, w)
    assert found[0] > 0.4
    assert found[-1] < 0.02


def test_only_the_best_entries_are_stacked(rng, monkeypatch):
    entries, y, w = tried(rng, 8)
    monkeypatch.setattr(weights, "STACKED", 3)
    found = stacked_weights(entries, y, w)
    losses = [np.average(entry.losses, weights=w) for entry in entries]
    assert set(np.flatnonzero(found)) <= set(np.argsort(losses)[:3])
    best = [entries[i] for i in np.argsort(losses)[:3]]
    assert_allclose(np.sort(found[found > 0]), np.sort(stacked_weights(best, y, w)))


def of_values(*values):
    """Entries with held-out values; those before others were better on their own."""
    return [
        SimpleNamespace(
            values=np.asarray(v, dtype=float)[:, None], losses=np.full(2, i)
        )
        for i, v in enumerate(values)
    ]


@pytest.mark.parametrize("steps", [1, 4, 20])
def test_greedy_weights_add_what_lowers_the_loss_most(steps):
    # The mean of all that were added is to be (1, 1): only 0 and 1 can get there.
    entries = of_values([2, 0], [0, 2], [3, 3])

    def loss(values):
        return ((values - 1.0) ** 2).sum(axis=(1, 2))

    found = greedy_weights(entries, loss, np.ones(2), steps)
    assert_allclose(found, [1, 0, 0] if steps == 1 else [0.5, 0.5, 0], rtol=1e-12)


def test_greedy_weights_look_at_the_best_entries_only(monkeypatch):
    monkeypatch.setattr(weights, "STACKED", 1)
    entries = of_values([2, 0], [1, 1])

    def loss(values):
        return ((values - 1.0) ** 2).sum(axis=(1, 2))

    assert_array_equal(greedy_weights(entries, loss, np.ones(2), 4), [1.0, 0.0])


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_entries_that_are_all_exact_share_alike(value):
    y = np.full((30, 1), value)
    exact = [SimpleNamespace(values=y, losses=np.zeros(30)) for _ in range(4)]
    assert_allclose(stacked_weights(exact, y, np.ones(30)), np.full(4, 0.25), rtol=1e-6)


def test_logarithms_are_averaged_before_they_are_brought_back(rng):
    y = np.exp(rng.normal(size=(18, 1)))
    target = Logarithm.of(y)
    logs = target.forward(y)
    entries = [
        SimpleNamespace(
            target=scale, y=own, held_out=own + 0.3 * rng.normal(size=own.shape)
        )
        for scale, own in ((IDENTITY, y), (target, logs), (IDENTITY, y), (target, logs))
    ]
    assert group_by_transform(entries) == {IDENTITY: [0, 2], target: [1, 3]}
    shares = np.array([0.1, 0.4, 0.3, 0.2])
    g = [entry.held_out for entry in entries]
    on_logs = (0.4 * g[1] + 0.2 * g[3]) / 0.6
    room = (logs.max() - logs.min()) / 2
    held = np.clip(on_logs, logs.min() - room, logs.max() + room)
    smearing = np.exp(logs - on_logs).mean()
    expected = 0.1 * g[0] + 0.3 * g[2]
    expected += 0.6 * (np.exp(held) * smearing - target.shift)
    assert_allclose(averaged_values(entries, shares), expected, rtol=1e-12)
    # What has no weight is not looked at, whatever it says.
    entries[3].held_out = np.full_like(y, np.nan)
    only = averaged_values(entries, np.array([1.0, 0.0, 0.0, 0.0]))
    assert_array_equal(only, g[0])
