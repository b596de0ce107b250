r"""Weights of entries in an average, and held-out predictions of the average.

Posterior weights treat each entry as a model of the labels, with equal prior weight for
each family:

.. math:: w_i \propto exp(-charge_i) / |family(i)|

With few labels many entries get weight, with many labels only the best. Stacked
weights, for numbers, minimize the squared error of the average on held-out rows, shrunk
towards equal weights:

.. math:: min_{w \ge 0, \sum w = 1} \; |y - \sum_i w_i g_i|^2 + c |w - 1/k|^2

Greedy weights minimize any loss, such as that of classes, one entry at a time (Caruana,
Niculescu-Mizil, Crew and Ksikes, *Ensemble selection from libraries of models*, 2004).

**Shrinkage to the constant.** With few labels and a weak signal, an average of the best
entries follows noise and predicts worse than the mean of the labels, or the class
shares. Cross-fitted predictions g show how far to go from the mean m:

.. math:: s = \frac{\sum_i w_i (y_i - m_i)(g_i - m_i)}{\sum_i w_i (g_i - m_i)^2},
          \quad 0 \le s \le 1

Here m_i is the mean of the other labels. This s is itself uncertain, by the variance v
of a slope estimated by least squares. If S is the share that is best in truth, then c s
has the smallest expected error for :math:`c = S^2 / (S^2 + v)`, where s stands in for
S. The weights of the entries are multiplied by c s, and the constant gets the remaining
1 - c s. A clear signal has a c near 1, pure noise one near 1/2 of an s near 0.

For classes, g and m are scores. Labels that are alone in their class do not count,
because nothing can predict them, and at least a tenth of the way is gone: class shares
alone would not tell one row from another. Only the average without unlabeled rows is
shrunk: where clusters are clear, held-out predictions of a handful of labels fail.

**First guess**, for numbers. With a handful of labels, held-out errors can neither tell
good entries from lucky ones nor find s. So a linear fit with a moderate penalty, chosen
before any label was seen, gets the share

.. math:: \frac{6^2}{6^2 + l^2}

which is 2/3 with four labels and nothing with hundreds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from halfmoon._rows import EPS, Array
from halfmoon._selection.target_transforms import TargetTransform

__all__ = [
    "LEAST_CLASS_SHARE",
    "add_first_guess",
    "averaged_values",
    "greedy_weights",
    "group_by_transform",
    "posterior_weights",
    "shrink_to_constant",
    "stacked_weights",
]

NEGLIGIBLE = 1e-3  # weights below this share of the largest become 0
STACKED = 40  # best entries that are stacked
SHRINKING = 10.0  # c, in units of k times the smallest squared error
FIRST_GUESS_LABELS = 6.0  # with so many, the first guess has half of the weight
FIRST_GUESS_ALPHA = 0.1
LEAST_CLASS_SHARE = 0.1  # of the way from the class shares


def posterior_weights(costs: Array, families: Sequence[str]) -> Array:
    """Return posterior weights from costs in nats, with equal family priors."""
    sizes = Counter(families)
    costs = costs + np.log([sizes[family] for family in families])
    return _drop_negligible(np.exp(costs.min() - costs))


def stacked_weights(entries: Sequence[Any], y: Array, w: Array) -> Array:
    """Return stacked weights, shape (e,), by the `losses` and `values` of entries."""
    losses = np.array([entry.losses for entry in entries]) @ w / w.sum()
    best = np.argsort(losses, kind="stable")[:STACKED]
    k, root_w = len(best), np.sqrt(w / w.mean())[:, None]
    scale = max(losses[best[0]], EPS * float((y * y).mean() + 1e-300))
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


def greedy_weights(
    entries: Sequence[Any],
    loss: Callable[[Array], Array],  # from values, (e, l, t), to (e,)
    w: Array,
    steps: int,
) -> Array:
    """Return weights of a mixture that grows by one entry in each step, shape (e,).

    It is the entry with which the mean of all chosen so far has the smallest loss.
    """
    losses = np.array([entry.losses for entry in entries]) @ w
    best = np.argsort(losses, kind="stable")[:STACKED]
    values = np.array([entries[i].values for i in best])
    total, chosen = np.zeros_like(values[0]), np.zeros(len(entries))
    for step in range(1, steps + 1):
        place = int(np.argmin(loss((total + values) / step)))
        total += values[place]
        chosen[best[place]] += 1
    return chosen / steps


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


def shrink_to_constant(
    entries: Sequence[Any],
    weights: Array,  # (e,)
    held_out: Array,  # (l, t)
    y: Array,  # (l, t)
    w: Array,  # (l,)
    least: float = 0.0,
) -> tuple[Array, Array]:
    """Return weights, and cross-fitted predictions, shrunk to the constant.

    At least the share `least` of the way from the constant is gone. Without the
    constant among the entries, nothing changes.
    """
    constant = _constant(entries)
    if constant is None:
        return weights, held_out
    mean = entries[constant].held_out
    way, needed = held_out - mean, y - mean
    share = max(least, _certain_share(way, needed, w[:, None]))
    weights = share * weights
    weights[constant] += 1.0 - share
    return weights, np.asarray(mean + share * way)


def _certain_share(way: Array, needed: Array, w: Array) -> float:
    """Return c s of the formula: the share of the way that is worth going."""
    size = float((w * way**2).sum())
    if size <= 0:
        return 1.0  # nowhere to go
    share = float((w * way * needed).sum()) / size
    if share <= 0:
        return 0.0
    error = float((w * (needed - share * way) ** 2).sum())
    variance = error / max(1, way.size - 1) / size
    return min(1.0, share) * share**2 / (share**2 + variance)


def add_first_guess(
    entries: Sequence[Any],
    weights: Array,  # (e,)
    held_out: Array,  # (l, t)
) -> tuple[Array, Array]:
    """Return weights and held-out predictions mixed with the first guess.

    It is the first candidate that was tried, which is linear, at an alpha of 0.1.
    Without the constant among the entries, nothing changes: the user has chosen what is
    unpenalized.
    """
    l = len(held_out)
    share = FIRST_GUESS_LABELS**2 / (FIRST_GUESS_LABELS**2 + l**2)
    if share < NEGLIGIBLE or _constant(entries) is None:
        return weights, held_out
    first = entries[0].candidate
    place = next(
        i
        for i, entry in enumerate(entries)
        if entry.candidate is first
        and entry.alpha == FIRST_GUESS_ALPHA
        and not entry.target.suffix
    )
    weights = (1.0 - share) * weights
    weights[place] += share
    guess = entries[place].held_out
    return weights, np.asarray((1.0 - share) * held_out + share * guess)


def _constant(entries: Sequence[Any]) -> int | None:
    """Return the place of the constant among the entries, or None."""
    places = (
        i
        for i, entry in enumerate(entries)
        if entry.candidate.family == "constant" and not entry.target.suffix
    )
    return next(places, None)
