r"""Weights of entries in an average, and held-out predictions of the average.

Posterior weights treat each entry as a model of the labels, with equal prior weight for
each family:

.. math:: w_i \propto exp(-charge_i) / |family(i)|

With few labels many entries get weight, with many labels only the best. Stacked
weights, for numbers, minimize the squared error of the average on held-out rows, shrunk
towards equal weights:

.. math:: min_{w \ge 0, \sum w = 1} \; |y - \sum_i w_i g_i|^2 + c |w - 1/k|^2
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.optimize import nnls

from halfmoon._rows import Array
from halfmoon._selection.target_transforms import TargetTransform

__all__ = [
    "Evaluated",
    "averaged_values",
    "group_by_transform",
    "posterior_weights",
    "stacked_weights",
]

NEGLIGIBLE = 1e-3  # weights below this share of the largest become 0
STACKED = 40  # best entries that are stacked
SHRINKING = 10.0  # c, in units of k times the smallest squared error


class Evaluated(Protocol):
    """A model with held-out losses and predictions."""

    @property
    def losses(self) -> Array:
        """Losses of the rows, shape (l,)."""

    @property
    def values(self) -> Array:
        """Predictions on the original scale, shape (l, t)."""


def posterior_weights(costs: Array, families: Sequence[str]) -> Array:
    """Return posterior weights from costs in nats, with equal family priors."""
    sizes = Counter(families)
    costs = costs + np.log([sizes[family] for family in families])
    return _drop_negligible(np.exp(costs.min() - costs))


def stacked_weights(entries: Sequence[Evaluated], y: Array, w: Array) -> Array:
    """Return stacked weights, shape (e,)."""
    losses = np.array([entry.losses for entry in entries]) @ w / w.sum()
    best = np.argsort(losses, kind="stable")[:STACKED]
    k, root_w = len(best), np.sqrt(w / w.mean())[:, None]
    scale = max(losses[best[0]], np.finfo(float).eps * float((y * y).mean() + 1e-300))
    # y - sum w_i g_i = sum w_i (y - g_i), which does not lose digits to an offset of y.
    errors = [(root_w * (y - entries[i].values)).ravel() for i in best]
    R = np.array(errors).T / scale**0.5
    pull = np.sqrt(SHRINKING * k)
    sum_to_one = 100.0 * np.sqrt(len(R) + k * SHRINKING) * np.ones((1, k))
    A = np.vstack([R, pull * np.eye(k), sum_to_one])
    b = np.concatenate([np.zeros(len(R)), np.full(k, pull / k), sum_to_one[0, :1]])
    weights = np.zeros(len(entries))
    weights[best] = nnls(A, b)[0]
    return _drop_negligible(weights)


def _drop_negligible(weights: Array) -> Array:
    weights = np.where(weights < NEGLIGIBLE * weights.max(), 0.0, weights)
    return np.asarray(weights / weights.sum())


def averaged_values(entries: Sequence[Any], weights: Array) -> Array:
    """Return held-out predictions of an average on the original scale, shape (l, t).

    Entries with the same target transform are averaged on that scale.
    """
    used = [i for i, weight in enumerate(weights) if weight > 0]
    entries, weights = [entries[i] for i in used], weights[used]
    total = np.zeros_like(entries[0].held_out)
    for target, members in group_by_transform(entries).items():
        share = float(weights[members].sum())
        held_out = [entries[i].held_out for i in members]
        mean = np.tensordot(weights[members] / share, held_out, 1)
        total += share * target.inverse(mean, entries[members[0]].y - mean)
    return total


def group_by_transform(entries: Sequence[Any]) -> dict[TargetTransform, list[int]]:
    """Return the positions of the entries with each target transform."""
    found: dict[TargetTransform, list[int]] = defaultdict(list)
    for i, entry in enumerate(entries):
        found[entry.target].append(i)
    return found
