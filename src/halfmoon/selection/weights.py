r"""Weights of entries in an average, and the held-out values of the average.

By the posterior of the entries, as if each were a model of the labels and each family
as likely as any other before they were seen:

.. math:: w_i \propto exp(-charge_i) / |family(i)|

With few labels, which tell little, many entries have a say; with many only the best. Or
by stacking, for numbers: the weights of the best entries minimize the squared error of
their average on held-out rows, and are drawn towards equal ones:

.. math:: min_{w \ge 0, \sum w = 1} \; |y - \sum_i w_i g_i|^2 + c |w - 1/k|^2
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.optimize import nnls

from halfmoon.rows import Array
from halfmoon.selection.target_transforms import Target

__all__ = [
    "Tried",
    "blended_values",
    "by_target",
    "posterior_weights",
    "stacked_weights",
]

NEGLIGIBLE = 1e-3  # of the largest weight: smaller ones become 0
STACKED = 40  # entries whose average is sought
SHRINKING = 10.0  # c, in units of k times the least squared error


class Tried(Protocol):
    """What was tried on held-out rows."""

    @property
    def losses(self) -> Array:
        """Of each row, shape (l,)."""

    @property
    def values(self) -> Array:
        """At each row, on the user's scale, shape (l, t)."""


def posterior_weights(charges: Array, families: Sequence[str]) -> Array:
    """Weights by charges in nats, each family as a whole as likely as any other."""
    sizes = Counter(families)
    charges = charges + np.log([sizes[family] for family in families])
    return _without_negligible(np.exp(charges.min() - charges))


def stacked_weights(entries: Sequence[Tried], y: Array, w: Array) -> Array:
    """Weights of least squared error, drawn towards equal ones, shape (e,)."""
    losses = np.array([entry.losses for entry in entries]) @ w / w.sum()
    best = np.argsort(losses, kind="stable")[:STACKED]
    k, root_w = len(best), np.sqrt(w / w.mean())[:, None]
    scale = max(losses[best[0]], np.finfo(float).eps * float((y * y).mean() + 1e-300))
    # y - sum w_i g_i = sum w_i (y - g_i), which no offset of y can blur.
    errors = [(root_w * (y - entries[i].values)).ravel() for i in best]
    R = np.array(errors).T / scale**0.5
    pull = np.sqrt(SHRINKING * k)
    sum_to_one = 100.0 * np.sqrt(len(R) + k * SHRINKING) * np.ones((1, k))
    A = np.vstack([R, pull * np.eye(k), sum_to_one])
    b = np.concatenate([np.zeros(len(R)), np.full(k, pull / k), sum_to_one[0, :1]])
    weights = np.zeros(len(entries))
    weights[best] = nnls(A, b)[0]
    return _without_negligible(weights)


def _without_negligible(weights: Array) -> Array:
    weights = np.where(weights < NEGLIGIBLE * weights.max(), 0.0, weights)
    return np.asarray(weights / weights.sum())


def blended_values(entries: Sequence[Any], weights: Array) -> Array:
    """Held-out values of an average of entries on the user's scale, shape (l, t).

    Entries with one scale of targets are averaged on that scale.
    """
    used = [i for i, weight in enumerate(weights) if weight > 0]
    entries, weights = [entries[i] for i in used], weights[used]
    total = np.zeros_like(entries[0].held_out)
    for target, members in by_target(entries).items():
        share = float(weights[members].sum())
        held_out = [entries[i].held_out for i in members]
        mean = np.tensordot(weights[members] / share, held_out, 1)
        total += share * target.back(mean, entries[members[0]].y - mean)
    return total


def by_target(entries: Sequence[Any]) -> dict[Target, list[int]]:
    """Places of the entries, by the scale of their targets."""
    found: dict[Target, list[int]] = defaultdict(list)
    for i, entry in enumerate(entries):
        found[entry.target].append(i)
    return found
