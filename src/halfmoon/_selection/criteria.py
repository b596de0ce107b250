r"""Criteria: the cost of an entry, from its held-out losses and its predictions.

For numbers the criterion is squared error. For classes with few labels, leave-one-out
alone cannot see structure: leaving out the only label of a cluster can never succeed.
So the cost of an entry, in nats, has three terms:

.. math::
    \sum_i -\log p_i + c \Bigl( \min(S, B_l) - x B \frac{0.03}{cut + 0.03} \Bigr)

- The log loss of held-out labels. One row's worth of doubt is spread over the classes,
  so that four correct labels are not certainty.
- S, the cost of class shares of the predictions at all points that do not agree with
  the labels (see below). Predicting a single class is not smooth, it is empty.
  The term is at most B_l = B 20 / (20 + l) nats, because even the best models seldom
  predict classes that are rare and hard to tell, and with many labels the log loss sees
  empty predictions by itself.
- A gain for class borders that avoid dense regions. ``cut`` is the mean over points of
  :math:`-\log((a + 1/2)/(k + 1))`, where a of the k nearest points get the same
  prediction, minus its smallest possible value. Predictions without cuts gain B nats;
  enough labels overrule that. The gain is multiplied by x, the share of the labels that
  the entry explains: one minus its log loss over that of the class shares, from 0 to 1.
  Many tables have clusters that are unrelated to the classes. Labels that are alone in
  their class do not count. If fewer than two classes have several labels, no held-out
  label shows that classes are told apart. Then x is (e^H - 1) / (e^G - 1), at most 1,
  with the entropies H of the predicted class shares and G of those of the labels: 0 for
  a single class, which has no borders at all, and 1 for shares as equal as those of
  the labels.

The last two terms suppose clusters, which need columns that are dense in some places
and empty in others. Columns of categories and grades make a cluster of each combination
of their values. So both terms are multiplied by c, the share of pairs of columns that
both have more than 10 different values.

**The cost S of class shares** s that could not have given the class counts n of the l
labels. Labels may be drawn at random. Or k labels of each class are given first,
because somebody wanted examples of each, and only the rest is drawn at random. So the
cost of s, in nats, is

.. math:: -\log \sum_k P(k) \, Mult(n - k; s) - \frac{1}{C} \sum_c \log s_c

minus its smallest value. Mult is the multinomial probability; k goes from 0 to the
smallest count. P(0) is 0.99, and the rest is divided equally among the other k, so that
nothing changes unless the counts are unlikely at random. With two labels of each of
seven classes and six more of the largest, k = 2 explains the counts by far better than
any shares do. Then only the six tell of the shares. The last term is a Dirichlet prior,
worth one label: no class of a table is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr, gammaln, logsumexp

from halfmoon._rows import TINY, Array, Indices, Rows
from halfmoon._selection.average_weights import (
    LEAST_CLASS_SHARE,
    add_first_guess,
    averaged_values,
    greedy_weights,
    posterior_weights,
    shrink_to_constant,
    stacked_weights,
)
from halfmoon._selection.target_transforms import IDENTITY, Logarithm, TargetTransform

__all__ = [
    "RANGE_MARGIN",
    "ClassCriterion",
    "Criterion",
    "NumberCriterion",
    "class_scores",
    "cluster_share",
    "explained_share",
    "log_losses",
    "mean_and_standard_error",
    "share_costs",
    "squared_losses",
]

TEMPERATURES = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)
PRIOR_NATS = 12.0  # B of the formula
SHARE_LABELS = 20.0  # labels at which the bound of the second term is half of B
CUT_HALF = 0.03  # the cut at which half of the gain is left
FEW_VALUES = 10  # of a column of categories or grades, at most
VALUE_ROWS = 500  # in which values are counted, at least
CLEAR_ERRORS = 2.0  # standard errors by which unlabeled rows must help, for numbers
LOG_LABELS = 500  # the logarithm of targets is tried below this number
MIXING_STEPS = 20  # in which the parts of a mixture grow
GIVEN_FIRST = 0.01  # probability that some labels of each class were given first
RANGE_MARGIN = 0.25  # of the range of the labels; predictions go no further beyond


class NumberCriterion:
    """Squared error. Positive targets are also tried on the logarithmic scale.

    Unlabeled rows seldom help to predict numbers, so they are used only if they help by
    two standard errors.
    """

    needs_predictions = False  # at all points, for `priors`
    shrunk_averages = ("average", "twin")  # (`average_weights.py`)

    def __init__(self, *, limited: bool = True) -> None:
        self.limited = limited

    def scales(self, y: Array) -> list[TargetTransform]:
        """Return the identity and, for positive targets, the logarithm."""
        logarithm = Logarithm.of(y) if len(y) < LOG_LABELS else None
        return [IDENTITY] if logarithm is None else [IDENTITY, logarithm]

    def losses(self, values: Array, y: Array, w: Array) -> Array:
        """Return the squared errors, (e, l), of held-out predictions, (e, l, t)."""
        return squared_losses(values, y)

    def priors(self, predictions: Array) -> Array:
        """Return zeros, (e, 2): predictions do not matter here."""
        return np.zeros((len(predictions), 2))

    def weights(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Return the weights of smallest squared error, shape (e,)."""
        return stacked_weights(entries, y, w)

    def mixture(
        self, entries: Sequence[Any], y: Array, w: Array, steps: int = MIXING_STEPS
    ) -> Array:
        """Return these weights again, which need no steps."""
        return self.weights(entries, y, w)

    def costs(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Return l / 2 log(mean squared error): normal noise of unknown variance."""
        losses = np.array([entry.losses for entry in entries]) @ w / w.sum()
        return np.asarray(len(w) / 2 * np.log(np.maximum(losses, 1e-300)))

    def prefers_unlabeled(self, entries: Sequence[Any], y: Array, w: Array) -> bool:
        """Whether the average of all entries beats the twin by two standard errors."""
        alone = [each for each in entries if not each.candidate.uses_unlabeled]
        values = [
            averaged_values(some, self.weights(some, y, w)) for some in (alone, entries)
        ]
        by_twin, by_all = self.losses(np.array(values), y, w)
        mean, error = mean_and_standard_error(by_twin - by_all, w)
        return mean > CLEAR_ERRORS * error

    def shrunk(
        self,
        entries: Sequence[Any],
        weights: Array,  # (e,)
        held_out: Array,  # (l, t)
        y: Array,  # (l, t)
        w: Array,  # (l,)
    ) -> tuple[Array, Array]:
        """Return weights and cross-fitted predictions, shrunk, with a first guess."""
        shrunk = shrink_to_constant(entries, weights, held_out, y, w)
        return add_first_guess(entries, *shrunk)

    def limits(self, y: Array) -> tuple[Array, Array] | None:
        """Return the range of the labels, extended by a quarter on either side."""
        if not self.limited:
            return None
        low, high = y.min(axis=0), y.max(axis=0)
        return low - RANGE_MARGIN * (high - low), high + RANGE_MARGIN * (high - low)


class ClassCriterion:
    """The cost of entries of classes given above."""

    needs_predictions = True
    shrunk_averages = ("twin",)

    def __init__(
        self,
        codes: NDArray[np.intp],  # (l,), of the labeled rows
        n_classes: int,
        neighbors: Indices,  # (m, k), the points nearest to each point
        clusters: float = 1.0,  # c of the formula
    ) -> None:
        self.counts = np.bincount(codes, minlength=n_classes)
        #: Whether held-out labels can show that classes are told apart.
        self.tells_apart = np.count_nonzero(self.counts > 1) > 1
        self.neighbors, self.clusters = neighbors, clusters

    def scales(self, y: Array) -> list[TargetTransform]:
        """Return the identity only."""
        return [IDENTITY]

    def losses(self, values: Array, y: Array, w: Array) -> Array:
        """Return log losses."""
        codes = class_scores(y).argmax(axis=-1)
        return log_losses(class_scores(values), codes, w)

    def priors(self, predictions: Array) -> Array:
        """Return c min(S, B_l) and c B 0.03 / (cut + 0.03), shape (e, 2)."""
        classes = class_scores(predictions).argmax(axis=-1)  # (e, m)
        C, k = len(self.counts), self.neighbors.shape[1]
        counts = np.array([np.bincount(each, minlength=C) for each in classes])
        alike = (classes[:, self.neighbors] == classes[:, :, None]).sum(axis=2)
        cut = -np.log((alike + 0.5) / (k + 1)).mean(axis=1)
        cut = np.maximum(cut + np.log((k + 0.5) / (k + 1)), 0.0)
        most = PRIOR_NATS * SHARE_LABELS / (SHARE_LABELS + self.counts.sum())
        empty = np.minimum(share_costs(counts, self.counts), most)
        gains = PRIOR_NATS * CUT_HALF / (cut + CUT_HALF)
        if not self.tells_apart:
            entropy = entr(counts / counts.sum(axis=1, keepdims=True)).sum(axis=1)
            of_labels = float(entr(self.counts / self.counts.sum()).sum())
            most_equal = max(np.expm1(of_labels), TINY)
            gains *= np.minimum(np.expm1(entropy) / most_equal, 1.0)
        return self.clusters * np.column_stack([empty, gains])

    def weights(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Return posterior weights."""
        families = [entry.candidate.family for entry in entries]
        return posterior_weights(self.costs(entries, y, w), families)

    def mixture(
        self, entries: Sequence[Any], y: Array, w: Array, steps: int = MIXING_STEPS
    ) -> Array:
        """Return the weights, multiples of 1 / steps, of a mixture of small log loss.

        Squared errors of the scores are no guide: they can fall while log losses and
        wrong classes grow.
        """

        def loss(values: Array) -> Array:
            return np.asarray(self.losses(values, y, w) @ w)

        return greedy_weights(entries, loss, w, steps)

    def prefers_unlabeled(self, entries: Sequence[Any], y: Array, w: Array) -> bool:
        """Whether the best family that uses unlabeled rows has more evidence."""
        evidence: dict[tuple[bool, str], list[float]] = {}
        for entry, cost in zip(entries, self.costs(entries, y, w), strict=True):
            family = entry.candidate.uses_unlabeled, entry.candidate.family
            evidence.setdefault(family, []).append(-cost)
        best = {True: -np.inf, False: -np.inf}
        for (uses_unlabeled, _), logs in evidence.items():
            total = np.logaddexp.reduce(logs) - np.log(len(logs))
            best[uses_unlabeled] = max(best[uses_unlabeled], float(total))
        return best[True] > best[False]

    def shrunk(
        self,
        entries: Sequence[Any],
        weights: Array,  # (e,)
        held_out: Array,  # (l, t)
        y: Array,  # (l, t)
        w: Array,  # (l,)
    ) -> tuple[Array, Array]:
        """Return weights and cross-fitted scores, shrunk towards the class shares."""
        codes = class_scores(y).argmax(axis=1)
        counted = w * (np.bincount(codes)[codes] > 1)
        return shrink_to_constant(
            entries, weights, held_out, y, counted, LEAST_CLASS_SHARE
        )

    def limits(self, y: Array) -> None:
        """Return None: scores are not bounded."""
        return

    def costs(self, entries: Sequence[Any], y: Array, w: Array) -> Array:
        """Return the log losses of held-out labels plus the costs minus the gains."""
        losses = np.array([entry.losses for entry in entries])
        against, gains = np.array([entry.prior for entry in entries]).T
        if self.tells_apart:
            gains = gains * explained_share(losses, class_scores(y), w)
        return np.asarray(losses @ w / w.mean() + against - gains)


Criterion: TypeAlias = NumberCriterion | ClassCriterion


def share_costs(
    predicted: Indices,  # (e, C), counts of predicted classes
    labels: Indices,  # (C,), counts of labels
) -> Array:  # (e,)
    """Return S of the formula.

    Examples
    --------
    >>> predicted = np.array([[50, 50], [90, 10], [100, 0]])
    >>> share_costs(predicted, np.array([5, 5])).round(1)
    array([0. , 4.6, 6.8])
    >>> share_costs(predicted, np.array([9, 2])).round(1)
    array([2.1, 0.6, 6.2])
    """
    C, K = len(labels), int(labels.min())
    drawn = labels - np.arange(K + 1.0)[:, None]  # (K + 1, C), at random, for each k
    log_prior = np.log(
        np.r_[1.0 - GIVEN_FIRST * (K > 0), np.full(K, GIVEN_FIRST / max(K, 1))]
    )
    log_count = gammaln(drawn.sum(axis=1) + 1) - gammaln(drawn + 1).sum(axis=1)

    def cost(shares: Array) -> Array:
        logs = np.log(shares)
        likelihood = logsumexp(log_prior + log_count + logs @ drawn.T, axis=1)
        return np.asarray(-likelihood - logs.sum(axis=1) / C)

    # The likeliest shares for each k; one of them nearly has the smallest cost.
    likeliest = (drawn + 1.0 / C) / (drawn.sum(axis=1, keepdims=True) + 1.0)
    # One more prediction, shared as the labels are, so that no share is 0.
    m = predicted.sum(axis=1, keepdims=True)
    shares = (predicted + likeliest[0]) / (m + 1.0)
    return cost(shares) - float(cost(likeliest).min())


def squared_losses(
    values: Array,  # (e, l, t)
    y: Array,  # (l, t)
) -> Array:
    """Return the mean squared error over the targets of each row, shape (e, l)."""
    return np.asarray(((values - y) ** 2).mean(axis=2))


def log_losses(
    scores: Array,  # (e, l, C)
    codes: NDArray[np.intp],  # (l,)
    w: Array,  # (l,)
) -> Array:
    """Return the log loss of each row at each entry's best temperature, (e, l).

    Probabilities are proportional to exp(T s), with the temperature T of smallest loss,
    and one row's worth of doubt is spread over the classes.
    """
    l, C = len(codes), scores.shape[2]
    scores = scores - scores.max(axis=2, keepdims=True)
    of_labels = np.take_along_axis(scores, codes[None, :, None], axis=2)[:, :, 0]
    losses = np.full(of_labels.shape, np.inf)
    best = np.full(len(of_labels), np.inf)
    for T in TEMPERATURES:
        # The largest score is 0, so the sum is at least 1.
        p = np.exp(T * of_labels) / np.exp(T * scores).sum(axis=2)
        at_T = -np.log((l * p + 1.0 / C) / (l + 1.0))
        mean = at_T @ w / w.sum()
        better = mean < best
        losses[better], best[better] = at_T[better], mean[better]
    return losses


def cluster_share(rows: Rows) -> float:
    """Return c of the formula; 1 for texts, whose columns are words.

    Columns that do not vary do not count. Of few rows, half may have different values.

    Examples
    --------
    >>> numbers, grades = np.arange(60.0), np.arange(60.0) % 5
    >>> cluster_share(np.column_stack([numbers, grades, -numbers]))  # 2/3 of 2/3
    0.4444444444444444
    """
    if sp.issparse(rows):
        return 1.0
    some = rows[:: max(1, rows.shape[0] // VALUE_ROWS)]
    found = np.array([np.unique(column).size for column in some.T])
    many = found[found > 1] > min(FEW_VALUES, len(some) // 2)
    return float(many.mean()) ** 2 if many.size else 1.0


def explained_share(
    losses: Array,  # (e, l)
    scores: Array,  # (l, C)
    w: Array,  # (l,)
) -> Array:
    """Return the share of the labels that entries explain, from 0 to 1, shape (e,).

    It is one minus their log loss over that of the class shares among the labels.
    Labels that are alone in their class are not counted. If all are alone, nothing is
    known and the share is 1.
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
    """Return scores with a last axis of classes, also for two classes as one value."""
    if values.shape[-1] > 1:
        return values
    return np.concatenate([0.5 - values / 2, 0.5 + values / 2], axis=-1)


def mean_and_standard_error(values: Array, w: Array) -> tuple[float, float]:
    """Return the weighted mean and its standard error."""
    mean = float(np.average(values, weights=w))
    spread = float(np.average((values - mean) ** 2, weights=w))
    return mean, float(np.sqrt(spread / max(1, len(values) - 1)))
