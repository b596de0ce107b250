r"""An average of candidates, weighed by what each gets right without having seen it.

For classes, with L_i the mean log loss of entry i (a candidate at an alpha) on left-out
rows,

.. math:: w_i \propto exp(-l (L_i - \min_j L_j))

is the posterior of the entries as if each were a model of the labels: with few labels,
which tell little, many entries have a say, and with many only the best. For numbers the
weights of the best entries minimize the squared error of the average on left-out rows,
and are drawn towards equal ones:

.. math:: min_{w \ge 0, \sum w = 1} \; |y - \sum_i w_i g_i|^2 + c |w - 1/k|^2

Values of a blend are a sum over parts, because entries are linear in theirs: predicting
costs one product for each part, however many entries use it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from scipy.optimize import nnls

from halfmoon.candidates.candidate import Candidate, NullSpace
from halfmoon.candidates.parts import Part, functions_of
from halfmoon.candidates.target import AS_THEY_ARE, Target
from halfmoon.rows import Array, Indices, Rows

__all__ = [
    "Blend",
    "Entry",
    "Tried",
    "blended_left_out",
    "posterior_weights",
    "stacked_weights",
]

NEGLIGIBLE = 1e-3  # weights below this, beside the largest, are left out
STACKED = 40  # entries whose average is sought
SHRINKING = 10.0  # c above, beside k times the least squared error


@dataclass(frozen=True)
class Entry:
    """A candidate at an alpha, with its values at left-out rows.

    Attributes
    ----------
    candidate : Candidate
    alpha : float
    left_out : ndarray of shape (l, t)
        On the scale of the candidate's target.
    losses : ndarray of shape (l,)
    """

    candidate: Candidate
    alpha: float
    left_out: Array
    losses: Array

    @property
    def values(self) -> Array:
        """Left-out values on the user's scale, shape (l, t)."""
        data = self.candidate.data
        return data.target.back(self.left_out, data.y - self.left_out)


class Tried(Protocol):
    """What was tried on left-out rows."""

    @property
    def losses(self) -> Array:
        """Of each row, shape (l,)."""

    @property
    def values(self) -> Array:
        """At each row, on the user's scale, shape (l, t)."""


def posterior_weights(entries: Sequence[Tried], w: Array) -> Array:
    """Weights by the likelihood of the labels, shape (e,)."""
    losses = np.array([entry.losses for entry in entries]) @ w / w.mean()
    return _without_negligible(np.exp(losses.min() - losses))


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


def blended_left_out(entries: list[Entry], weights: Array) -> Array:
    """Left-out values of an average of entries on the user's scale, shape (l, t).

    Entries with one scale of targets are averaged on that scale.
    """
    used = np.flatnonzero(weights > 0)
    entries, weights = [entries[i] for i in used], weights[used]
    total = np.zeros_like(entries[0].left_out)
    for target, members in _by_target(entries).items():
        share = float(weights[members].sum())
        values = [entries[i].left_out for i in members]
        mean = np.tensordot(weights[members] / share, values, 1)
        residuals = entries[members[0]].candidate.data.y - mean
        total += share * target.back(mean, residuals)
    return total


def _by_target(entries: Sequence[Entry]) -> dict[Target, list[int]]:
    """Places of the entries, by the scale of their targets."""
    found: dict[Target, list[int]] = defaultdict(list)
    for i, entry in enumerate(entries):
        found[entry.candidate.data.target].append(i)
    return found


@dataclass
class Blend:
    """A weighted average of entries.

    Attributes
    ----------
    entries : list of Entry
    weights : ndarray of shape (e,)
        Positive, and 1 in sum.
    """

    entries: list[Entry]
    weights: Array

    def __post_init__(self) -> None:
        used = np.flatnonzero(self.weights > 0)
        self.entries = [self.entries[i] for i in used]
        self.weights = self.weights[used]

    def __call__(self, X: Rows) -> Array:
        """Values at any rows, shape (b, t)."""
        return np.sum([group(X) for group in self._groups], axis=0)

    @property
    def left_out(self) -> Array:
        """Values at the labeled rows without their own labels, shape (l, t)."""
        return blended_left_out(self.entries, self.weights)

    @property
    def unlabeled(self) -> bool:
        """Rows without labels have a part in it."""
        return any(entry.candidate.unlabeled for entry in self.entries)

    @property
    def scale(self) -> Literal["as given", "log", "mixed"]:
        """Of the targets that the entries are linear in."""
        logs = {bool(entry.candidate.data.target.suffix) for entry in self.entries}
        return "mixed" if len(logs) > 1 else "log" if True in logs else "as given"

    def refuse_logarithms(self) -> None:
        """Only of targets as they are given is there a smoother matrix."""
        if self.scale != "as given":
            raise ValueError(
                "The answer takes the logarithm of the targets, so that it does not "
                "depend on them linearly and has no smoother matrix. Targets of which "
                "some are negative are fitted as they are. Use explain(X), which gives "
                "the weights of the labels on the scale of the logarithm."
            )

    def with_targets(self, y: Array) -> Blend:
        """The same entries and weights for other targets of the same rows, (l, t).

        Each entry takes them as they are on its own scale, and the values are averaged
        as they are on these. Nothing is known of left-out values.
        """
        candidates: dict[Candidate, Candidate] = {}
        for entry in self.entries:
            old = entry.candidate
            if old not in candidates:
                data = replace(old.data, y=y, target=AS_THEY_ARE)
                candidates[old] = replace(old, data=data)
        unknown = np.full_like(y, np.nan)
        entries = [
            replace(entry, candidate=candidates[entry.candidate], left_out=unknown)
            for entry in self.entries
        ]
        return Blend(entries, self.weights)

    def without_own(self, some: Indices) -> Callable[[Rows], Array]:
        """Values at rows in place of some labeled ones, without the labels of these.

        A fit to all labels but the i-th is the fit to all in which the i-th is what it
        predicts there, so that :math:`g_{-i}(x) = g(x) - H_i(x) (y_i - g_{-i}(x_i))`.
        It is applied to the average of the entries with one scale of targets, which is
        exact for one entry and close for several.

        Parameters
        ----------
        some : indices of shape (m,)
            Of the labeled rows.

        Returns
        -------
        callable
            From m rows to values, shape (m, t).
        """
        unit = np.eye(len(self.entries[0].left_out))[:, some]
        pairs = []
        places = _by_target(self.entries).values()
        for group, members in zip(self._groups, places, strict=True):
            shares = self.weights[members] / group.share
            own = Blend([self.entries[i] for i in members], shares)
            pairs.append((group, own.with_targets(unit)))

        def values(X: Rows) -> Array:
            total = np.zeros((len(some), self.entries[0].left_out.shape[1]))
            for group, smoother in pairs:
                own = np.diagonal(smoother(X))[:, None] * group.residuals[some]
                total += group.back(group.values(X) - own)
            return total

        return values

    def settled(self) -> Blend:
        """Itself, with what it needs of the candidates computed and the rest let go."""
        self._groups  # noqa: B018
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: not the functions, which are made from the rest."""
        return {"entries": self.entries, "weights": self.weights}

    @cached_property
    def _groups(self) -> list[_Group]:
        """The entries by the scale of their targets."""
        return [
            _Group(target, [self.entries[i] for i in members], self.weights[members])
            for target, members in _by_target(self.entries).items()
        ]


class _Group:
    """Entries with one scale of targets, averaged on that scale."""

    def __init__(self, target: Target, entries: list[Entry], weights: Array) -> None:
        self.target, self.share = target, float(weights.sum())
        shares = weights / self.share
        left_out = np.tensordot(shares, [entry.left_out for entry in entries], 1)
        self.residuals = entries[0].candidate.data.y - left_out
        by_part: dict[Part, Array] = {}
        by_features: dict[NullSpace, Array] = {}
        for entry, share in zip(entries, shares, strict=True):
            c = share * entry.candidate.dual_coef(entry.alpha)
            for part, a in entry.candidate.mix:
                by_part[part] = by_part.get(part, 0.0) + a * c
            beta = share * entry.candidate.coef(entry.alpha)
            space = entry.candidate.null_space
            by_features[space] = by_features.get(space, 0.0) + beta
        for entry in entries:
            entry.candidate.forget()
        self._by_part, self._by_features = by_part, by_features

    @cached_property
    def functions(self) -> list[Callable[[Rows], Array]]:
        """Of the parts and of the unpenalized features, to be added up."""
        linear = [_linear(space, beta) for space, beta in self._by_features.items()]
        return functions_of(self._by_part) + linear

    def values(self, X: Rows) -> Array:
        """On the scale of the targets."""
        return np.sum([function(X) for function in self.functions], axis=0)

    def back(self, values: Array) -> Array:
        """The part in the average, on the user's scale."""
        return self.share * self.target.back(values, self.residuals)

    def __call__(self, X: Rows) -> Array:
        return self.back(self.values(X))


def _linear(space: NullSpace, beta: Array) -> Callable[[Rows], Array]:
    return lambda X: space.features(X) @ beta
