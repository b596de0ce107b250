r"""What makes an entry good: for numbers squared error, for classes three terms.

With few labels of classes, leave-one-out alone cannot see structure: leaving out the
only label of a cluster can never succeed. So an entry is charged, in nats, for

.. math::
    \sum_i -\log p_i + \min(l \, KL(q || s), B) - x B \frac{0.03}{cut + 0.03}

- the log loss of held-out labels, with one row's worth of doubt spread over the
  classes, so that four right labels are no certainty;
- a difference between the shares q of the classes among the labels (each with one label
  more) and the shares s of its answers at all points: an answer of one class is not
  smooth, it is empty. That is at most B nats: classes that are rare and hard to tell
  are seldom answered by the best of models;
- cuts through dense regions: the mean over points of :math:`-\log((a + 1/2)/(k + 1))`,
  a of the k nearest points being answered alike, less its least value. An answer
  without cuts gains B nats, which labels overrule where there are enough of them;
- times x, the part of the labels that it explains: one less its log loss over that of
  the shares of the classes, from 0 to 1. Many tables have clusters that tell nothing of
  the classes. A class of one label, which cannot be explained, is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array, Indices
from halfmoon.selection.target_transforms import AS_GIVEN, Logarithm, Target
from halfmoon.selection.weights import (
    Tried,
    blended_values,
    posterior_weights,
    stacked_weights,
)

__all__ = [
    "Criterion",
    "ForClasses",
    "ForNumbers",
    "class_scores",
    "explained",
    "log_losses",
    "mean_and_error",
    "squared_losses",
]

TEMPERATURES = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)
PRIOR_NATS = 12.0  # B
CUT_HALF = 0.03  # the cut that costs half of them
CLEAR_ERRORS = 2.0  # standard errors by which they must help, for numbers
LOG_LABELS = 500  # from which on the logarithm of targets is not tried
ROOM = 0.25  # of the range of the labels, that an answer may go beyond it


class Criterion(Protocol):
    """What is to be predicted well."""

    #: `priors` needs answers at all points.
    looks_at_answers: bool

    #: The answer may be drawn to the constant, as far as held-out values ask for it.
    shrinks: bool

    def scales(self, y: Array) -> list[Target]:
        """Scales of the targets that are tried."""

    def losses(self, values: Array, y: Array, w: Array) -> Array:
        """Losses of held-out values (e, l, t), shape (e, l)."""

    def priors(self, answers: Array) -> Array:
        """What answers at all points, (e, m, t), cost and gain entries, (e, 2)."""

    def weights(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Weights of entries in an average, shape (e,)."""

    def charges(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """What speaks against entries, in nats, shape (e,)."""

    def prefers_unlabeled(self, entries: Sequence[Any], y: Array, w: Array) -> bool:
        """Entries that use unlabeled rows clearly beat the others."""

    def limits(self, y: Array) -> tuple[Array, Array] | None:
        """Values that an answer must not leave."""


class ForNumbers:
    """Squared error; positive targets are tried on the scale of their logarithm too.

    Unlabeled rows seldom tell of numbers, so they must help by two standard errors.
    """

    looks_at_answers = False
    shrinks = True

    def __init__(self, *, limited: bool = True) -> None:
        self.limited = limited

    def scales(self, y: Array) -> list[Target]:
        """The targets as they are, and their logarithms."""
        logarithm = Logarithm.of(y) if len(y) < LOG_LABELS else None
        return [AS_GIVEN] if logarithm is None else [AS_GIVEN, logarithm]

    def losses(self, values: Array, y: Array, w: Array) -> Array:
        """Squared errors."""
        return squared_losses(values, y)

    def priors(self, answers: Array) -> Array:
        """Nothing."""
        return np.zeros((len(answers), 2))

    def weights(self, entries: Sequence[Tried], y: Array, w: Array) -> Array:
        """Those of least squared error."""
        return stacked_weights(entries, y, w)

    def charges(self, entries: Sequence[Tried], y: Array, w: Array) -> Array:
        """l / 2 log of the mean squared error: normal noise of unknown variance."""
        losses = np.array([entry.losses for entry in entries]) @ w / w.sum()
        return np.asarray(len(w) / 2 * np.log(np.maximum(losses, 1e-300)))

    def prefers_unlabeled(self, entries: Sequence[Any], y: Array, w: Array) -> bool:
        """The average of all is better than that of the others by two errors."""
        alone = [each for each in entries if not each.candidate.uses_unlabeled]
        values = [
            blended_values(some, self.weights(some, y, w)) for some in (alone, entries)
        ]
        by_twin, by_all = self.losses(np.array(values), y, w)
        mean, error = mean_and_error(by_twin - by_all, w)
        return mean > CLEAR_ERRORS * error

    def limits(self, y: Array) -> tuple[Array, Array] | None:
        """The range of the labels, and a quarter of it on either side."""
        if not self.limited:
            return None
        low, high = y.min(axis=0), y.max(axis=0)
        return low - ROOM * (high - low), high + ROOM * (high - low)


class ForClasses:
    """The charge above.

    Parameters
    ----------
    codes : ndarray of shape (l,)
        The class of each labeled row.
    n_classes : int
    neighbors : ndarray of shape (m, k)
        The points nearest to each point.
    """

    looks_at_answers = True
    shrinks = False

    def __init__(
        self, codes: NDArray[np.intp], n_classes: int, neighbors: Indices
    ) -> None:
        counts = np.bincount(codes, minlength=n_classes) + 1.0
        self.shares, self.n_labeled, self.neighbors = (
            counts / counts.sum(),
            len(codes),
            neighbors,
        )

    def scales(self, y: Array) -> list[Target]:
        """The targets as they are."""
        return [AS_GIVEN]

    def losses(self, values: Array, y: Array, w: Array) -> Array:
        """Log losses."""
        codes = class_scores(y).argmax(axis=-1)
        return log_losses(class_scores(values), codes, w)

    def priors(self, answers: Array) -> Array:
        """min(l KL, B), and B 0.03 / (cut + 0.03)."""
        classes = class_scores(answers).argmax(axis=-1)  # (e, m)
        m = classes.shape[1]
        C, k = len(self.shares), self.neighbors.shape[1]
        counts = np.array([np.bincount(each, minlength=C) for each in classes])
        shares = (counts + self.shares) / (m + 1.0)
        kl = (self.shares * np.log(self.shares / shares)).sum(axis=1)
        alike = (classes[:, self.neighbors] == classes[:, :, None]).sum(axis=2)
        cut = -np.log((alike + 0.5) / (k + 1)).mean(axis=1)
        cut = np.maximum(cut + np.log((k + 0.5) / (k + 1)), 0.0)
        empty = np.minimum(self.n_labeled * kl, PRIOR_NATS)
        return np.column_stack([empty, PRIOR_NATS * CUT_HALF / (cut + CUT_HALF)])

    def weights(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Those of the entries' posterior."""
        families = [entry.candidate.family for entry in entries]
        return posterior_weights(self.charges(entries, y, w), families)

    def prefers_unlabeled(self, entries: Sequence[Any], y: Array, w: Array) -> bool:
        """The best of the families that use unlabeled rows has more evidence."""
        evidence: dict[str, list[float]] = {}
        unlabeled = {}
        for entry, charge in zip(entries, self.charges(entries, y, w), strict=True):
            family = entry.candidate.family
            evidence.setdefault(family, []).append(-charge)
            unlabeled[family] = entry.candidate.uses_unlabeled
        by_side: dict[bool, list[float]] = {True: [], False: []}
        for family, logs in evidence.items():
            total = np.logaddexp.reduce(logs) - np.log(len(logs))
            by_side[unlabeled[family]].append(float(total))
        with_, without = (by_side[side] for side in (True, False))
        return bool(with_) and max(with_) > max(without, default=-np.inf)

    def limits(self, y: Array) -> None:
        """None: scores go where they will."""
        return

    def charges(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Log losses of held-out labels, and what answers cost and gain."""
        losses = np.array([entry.losses for entry in entries])
        against, gains = np.array([entry.prior for entry in entries]).T
        part = explained(losses, class_scores(y), w)
        return np.asarray(losses @ w / w.mean() + against - part * gains)


def squared_losses(
    values: Array,  # (e, l, t)
    y: Array,  # (l, t)
) -> Array:
    """Mean squared error over the targets of each row, shape (e, l)."""
    return np.asarray(((values - y) ** 2).mean(axis=2))


def log_losses(
    scores: Array,  # (e, l, C)
    codes: NDArray[np.intp],  # (l,)
    w: Array,  # (l,)
) -> Array:
    """Log loss of each row at the best temperature of each entry, shape (e, l).

    Probabilities are those of exp(T s), with the temperature T that suits an entry
    best, so that scores count by what they can be made to say; and with one row's
    worth of doubt, spread over the classes.
    """
    l, C = len(codes), scores.shape[2]
    scores = scores - scores.max(axis=2, keepdims=True)
    own = np.take_along_axis(scores, codes[None, :, None], axis=2)[:, :, 0]
    losses = np.full(own.shape, np.inf)
    best = np.full(len(own), np.inf)
    for T in TEMPERATURES:
        # The largest score is 0, so that the sum is at least 1.
        p = np.exp(T * own) / np.exp(T * scores).sum(axis=2)
        at_T = -np.log((l * p + 1.0 / C) / (l + 1.0))
        mean = at_T @ w / w.sum()
        better = mean < best
        losses[better], best[better] = at_T[better], mean[better]
    return losses


def explained(
    losses: Array,  # (e, l)
    scores: Array,  # (l, C)
    w: Array,  # (l,)
) -> Array:
    """The part of the labels that entries explain, from 0 to 1, shape (e,).

    One less their log loss over that of the shares of the classes among the labels,
    with one label more. Labels that are alone in their class are not counted; where
    all are, nothing is known, and the part is 1.
    """
    codes = scores.argmax(axis=1)
    alike = np.bincount(codes, minlength=scores.shape[1])[codes]
    guessed = -np.log(alike / (len(codes) + scores.shape[1] - 1.0))
    counted = w * (alike > 1)
    total = float(guessed @ counted)
    if total <= 0:
        return np.ones(len(losses))
    return np.asarray(np.clip(1.0 - losses @ counted / total, 0.0, 1.0))


def class_scores(values: Array) -> Array:
    """Scores with a last axis of classes, from values of them or of two as -1 and 1."""
    if values.shape[-1] > 1:
        return values
    return np.concatenate([0.5 - values / 2, 0.5 + values / 2], axis=-1)


def mean_and_error(values: Array, w: Array) -> tuple[float, float]:
    """Weighted mean and its standard error."""
    mean = float(np.average(values, weights=w))
    spread = float(np.average((values - mean) ** 2, weights=w))
    return mean, float(np.sqrt(spread / max(1, len(values) - 1)))
