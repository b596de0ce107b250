r"""Which columns to learn from: those that hurt are left out where that is clear.

With few labels a column that tells nothing can cost more than a good one is worth: it
has its part in every distance between rows. Sets S of columns are compared by a quick
stand-in for the search, kernel ridge with Gaussian kernels

.. math:: k_S(x, z) = \exp(-\sum_{g \in S} |x_g - z_g|^2 / (2 e_S^2))

on standardized outputs :math:`x_g` of each column, at many alphas and some widths
:math:`e_S`, judged by the squared error of exact leave-one-out.

Only columns that tell little by themselves may go: those that are not better than the
mean of the labels by `WEAK` standard errors. The weakest goes first, then the next with
it, and so on; the set with the least error is the proposal. So few sets are compared
that the choice cannot flatter itself much. To be sure, the whole of it is made again in
folds without the labels of the fold, which are then predicted by the chosen columns and
by all of them: the chosen ones must win by `SURE` standard errors. Then the search
itself is run on both, and must not be clearly worse with the chosen ones.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.estimators import HalfmoonClassifier, HalfmoonRegressor
from halfmoon.estimators.left_out_classes import classifier_left_out
from halfmoon.kernels.distances import squared_distances
from halfmoon.problem import balanced_folds, some_labels
from halfmoon.report.wording import count, number, percent
from halfmoon.rows import Array, Indices, rows_with_targets
from halfmoon.selection import ALPHAS, Standardized, squared_losses
from halfmoon.solvers import ridge_weighted

__all__ = [
    "ColumnChoice",
    "Proposal",
    "chosen_columns",
    "left_out_losses",
    "left_out_score",
    "standard_errors_less",
]

LEAST_LABELS, MOST_LABELS = 24, 500
MOST_COLUMNS = 40  # above it, weights of columns in the search do as well
SAMPLED_LABELS = 200  # by which columns are compared
EQUAL = 1e-12  # of the largest squared distance: closer rows are the same
WEAK = 2.0
SURE = 3.0
HINT = 1.0  # standard errors from which on it is said that columns may hurt
REPEATS = 4  # of the folds, where there are others
WIDTHS = (0.5, 1.0, 2.0)  # beside the median distance


@dataclass(frozen=True)
class ColumnChoice:
    """Columns that were left out because predictions are better without them.

    Attributes
    ----------
    left_out : tuple of str
    before, after : float
        Leave-one-out accuracy of classes, or mean absolute error of numbers, with all
        columns and without these.
    """

    left_out: tuple[str, ...]
    before: float
    after: float

    def gained(self, kind: str) -> bool:
        """More left-out labels are right, or they are closer."""
        return (
            self.after < self.before if kind == "numbers" else self.after > self.before
        )

    def gain(self, kind: str, *, each: bool = False) -> str:
        """What that was good for, in plain words; `each` speaks of one of them.

        Examples
        --------
        >>> print(ColumnChoice(("day",), 2.5, 2.0).gain("numbers"))
        without it, the mean leave-one-out error fell from 2.5 to 2
        """
        others = len(self.left_out) - 1
        without = f"without {'them' if others else 'it'}"
        if others and each:
            without = f"without it and {count(others, 'other column')}"
        gained = self.gained(kind)
        if kind == "numbers" and gained:
            before, after = number(self.before), number(self.after)
            return (
                f"{without}, the mean leave-one-out error fell from {before} to {after}"
            )
        if gained:
            before, after = percent(self.before), percent(self.after)
            return f"{without}, leave-one-out accuracy rose from {before} to {after}"
        return f"{without}, the error in cross-validation is clearly lower"


@dataclass(frozen=True)
class Proposal:
    """Columns to learn from, of more.

    Attributes
    ----------
    stay, go : tuple of str
    errors : float
        Standard errors by which the former alone predict folds better than all do.
    """

    stay: tuple[str, ...]
    go: tuple[str, ...]
    errors: float

    @property
    def clear(self) -> bool:
        """Sure enough to be followed."""
        return self.errors > SURE

    @property
    def worth_trying(self) -> bool:
        """Not sure, but more likely than not."""
        return HINT < self.errors <= SURE


class _OutOfTime(Exception):
    """The time for the choice is spent."""


def standard_errors_less(losses: Array, others: Array) -> float:
    """By how many standard errors losses of rows are below others of the same rows.

    Examples
    --------
    >>> others = np.array([1.0, 2.0, 3.0])
    >>> standard_errors_less(np.array([0.0, 2.0, 2.0]), others)
    2.0
    """
    gain = others - losses
    error = float(gain.std() / np.sqrt(max(1, len(gain) - 1)))
    mean = float(gain.mean())
    return mean / error if error > 0 else float(np.sign(mean)) * np.inf if mean else 0.0


def left_out_losses(estimator: HalfmoonClassifier | HalfmoonRegressor) -> Array:
    """Squared errors of left-out numbers, or of probabilities of left-out classes."""
    if isinstance(estimator, HalfmoonClassifier):
        _, p, codes = classifier_left_out(estimator)
        return squared_losses(p[None], np.eye(p.shape[1])[codes])[0]
    held = estimator._held_out()
    return squared_losses(held.values[None], held.y)[0]


def left_out_score(estimator: HalfmoonClassifier | HalfmoonRegressor) -> float:
    """Accuracy of left-out classes, or mean absolute error of left-out numbers."""
    if isinstance(estimator, HalfmoonClassifier):
        return estimator.loo_score_
    held = estimator._held_out()
    return float(np.abs(held.values - held.y).mean())


def chosen_columns(
    X: NDArray[Any],
    labels: Sequence[Any],
    kind: str,
    groups: Mapping[str, Indices],
    kept: Collection[str],
    seconds: float,
) -> Proposal | None:
    """Columns that do better by leave-one-out than all of them; None where none do.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    labels : sequence
        None where there is none.
    kind : "classes" or "numbers"
    groups : mapping of str to indices
        Columns of X that each column of the table became.
    kept : collection of str
        Columns of the table that must stay.
    seconds : float
        After which all columns stay.
    """
    until = time.monotonic() + seconds
    count = sum(label is not None for label in labels)
    if not (LEAST_LABELS <= count <= MOST_LABELS and 2 <= len(groups) <= MOST_COLUMNS):
        return None
    if set(groups) <= set(kept):
        return None
    y = _targets(labels, kind)
    chosen = rows_with_targets(y)
    chosen = chosen[some_labels(y[chosen], SAMPLED_LABELS, np.random.default_rng(0))]
    try:
        distances = {name: _distances(X[:, groups[name]], chosen) for name in groups}
        whole = _Choice(y[chosen], distances, frozenset(kept) & set(groups), until)
        best = whole.best()
        if best.names == whole.all:
            return None
        errors = whole.errors_in_folds()
    except _OutOfTime:
        return None
    stay = tuple(name for name in groups if name in best.names)
    return Proposal(stay, tuple(n for n in groups if n not in best.names), errors)


def _targets(labels: Sequence[Any], kind: str) -> Array:
    """Numbers as they are; of classes 1 in the column of each; NaN for no label."""
    if kind == "numbers":
        return np.array([np.nan if x is None else x for x in labels])[:, None]
    given = dict.fromkeys(label for label in labels if label is not None)
    classes = {label: k for k, label in enumerate(given)}
    y = np.full((len(labels), len(classes)), np.nan)
    for row, label in zip(y, labels, strict=True):
        if label is not None:
            row[:] = 0.0
            row[classes[label]] = 1.0
    return y


def _distances(X: NDArray[Any], chosen: Indices) -> Array:
    """Squared distances between labeled rows by one column, shape (l, l)."""
    Z = Standardized().fit(X).transform(X[chosen])
    D = squared_distances(Z, Z)
    D[EQUAL * max(1.0, float(D.max())) > D] = 0.0  # rounding apart rows that are equal
    return D


@dataclass(frozen=True)
class _Trial:
    """A set of columns at its best width and alpha."""

    names: frozenset[str]
    losses: Array  # (l,), of left-out rows
    width: float
    alpha: float

    @property
    def loss(self) -> float:
        return float(self.losses.mean())


@dataclass
class _Choice:
    """The choice among sets of columns, by some labeled rows."""

    y: Array  # (l, t)
    distances: dict[str, Array]
    kept: frozenset[str]
    until: float
    tried: dict[frozenset[str], _Trial] = field(default_factory=dict)

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.distances)

    def best(self) -> _Trial:
        """All columns, or fewer without the weakest."""
        y = self.y
        others = (y.sum(axis=0) - y) / (len(y) - 1)
        naive = squared_losses(others[None], y)[0]
        strength = {
            name: standard_errors_less(self.trial(frozenset([name])).losses, naive)
            for name in self.distances
            if name not in self.kept
        }
        names, path = self.all, [self.trial(self.all)]
        for name in sorted(strength, key=strength.__getitem__):
            if strength[name] >= WEAK or len(names) == 1:
                break
            names = names - {name}
            path.append(self.trial(names))
        return min(path, key=lambda trial: trial.loss)

    def errors_in_folds(self) -> float:
        """Standard errors by which columns that are chosen without a fold win in it."""
        y = self.y
        ties = len(np.unique(y, axis=0)) < len(y)  # else all folds are the same
        seeds = range(REPEATS if ties else 1)
        losses = np.mean([self._losses_in_folds(seed) for seed in seeds], axis=0)
        return standard_errors_less(*losses)

    def _losses_in_folds(self, seed: int) -> Array:
        """Of the chosen columns, and of all, shape (2, l)."""
        values = np.empty((2, *self.y.shape))
        for fold in balanced_folds(self.y, rng=seed):
            rest = np.delete(np.arange(len(self.y)), fold)
            part = self._on(rest)
            values[0, fold] = self._values(part.best(), rest, fold)
            values[1, fold] = self._values(part.trial(self.all), rest, fold)
        return squared_losses(values, self.y)

    def trial(self, names: frozenset[str]) -> _Trial:
        """What these columns are worth."""
        if names not in self.tried:
            if time.monotonic() > self.until:
                raise _OutOfTime
            self.tried[names] = self._try(names)
        return self.tried[names]

    def _try(self, names: frozenset[str]) -> _Trial:
        y, D = self.y, self._distance(names)
        F, scale, values = np.ones((len(D), 1)), _scale(D), []
        for width in WIDTHS:
            K = np.exp(-D / (2.0 * width**2 * scale))
            residuals = ridge_weighted(K, F, y, np.ones(len(y))).leave_one_out(ALPHAS)
            values.append(y - np.where(np.isfinite(residuals), residuals, y))
        losses = squared_losses(np.concatenate(values), y)
        at = int(np.argmin(losses.mean(axis=1)))
        width, alpha = WIDTHS[at // len(ALPHAS)], ALPHAS[at % len(ALPHAS)]
        return _Trial(names, losses[at], width, alpha)

    def _distance(self, names: frozenset[str]) -> Array:
        return np.sum([D for name, D in self.distances.items() if name in names], 0)

    def _on(self, rows: Indices) -> _Choice:
        """The same choice by fewer labels."""
        distances = {k: D[np.ix_(rows, rows)] for k, D in self.distances.items()}
        return _Choice(self.y[rows], distances, self.kept, self.until)

    def _values(self, trial: _Trial, rest: Indices, fold: Indices) -> Array:
        """Values at the rows of a fold, by a trial on the others."""
        D = self._distance(trial.names)[:, rest]
        K = np.exp(-D / (2.0 * trial.width**2 * _scale(D[rest])))
        ones = np.ones(len(rest))
        path = ridge_weighted(K[rest], ones[:, None], self.y[rest], ones)
        return np.asarray(K[fold] @ path.theta(trial.alpha) + path.beta(trial.alpha))


def _scale(D: Array) -> float:
    """The median squared distance between different rows."""
    above = D[np.triu_indices(len(D), 1)]
    positive = above[above > 0]
    return float(np.median(positive)) if len(positive) else 1.0
