r"""Which columns to learn from: columns that clearly hurt are left out.

With few labels, an irrelevant column can cost more than a good one is worth, because it
changes every distance between rows. Sets S of columns are compared by a fast substitute
for the search, kernel ridge with Gaussian kernels

.. math:: k_S(x, z) = \exp(-\sum_{g \in S} |x_g - z_g|^2 / (2 e_S^2))

on standardized outputs :math:`x_g` of each column, at many alphas and some widths
:math:`e_S`, by the squared error of exact leave-one-out.

Only weak columns may be left out: those that alone are not better than the mean of the
labels by `WEAK` standard errors. The weakest is left out first, then the next as well,
and so on; the set with the least error is proposed. So few sets are compared that the
selection bias is small. As a check, the whole choice is repeated in folds without the
labels of the fold, which are then predicted from the chosen columns and from all of
them: the chosen ones must win by `SURE` standard errors. Finally the search itself runs
on both, and must not be clearly worse with the chosen ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from halfmoon._estimators import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._estimators.classification import loo_class_probabilities
from halfmoon._labels import rows_with_targets
from halfmoon._number_format import count, number, percent
from halfmoon._progress import Progress
from halfmoon._rows import Array, Indices
from halfmoon._selection.candidate import ALPHAS, WIDTHS
from halfmoon._selection.criteria import squared_losses
from halfmoon._selection.row_preparation import Standardized
from halfmoon._solvers.ridge import ridge_weighted
from halfmoon.blocks import blas_for
from halfmoon.kernels._length_scales import median_of_positive
from halfmoon.problem._folds import balanced_folds, some_labels
from halfmoon.table._columns.column_vectors import TableEncoder
from halfmoon.table._table_errors import plain_errors

__all__ = ["ColumnChoice", "fit_to_columns"]

MIN_LABELS, MAX_LABELS = 24, 500
MAX_CHOICE_COLUMNS = 40  # above it, weights of columns in the search do as well
SAMPLED_LABELS = 200  # used to compare columns
WEAK = 2.0
SURE = 3.0
HINT = 1.0  # standard errors above which columns are noted to perhaps hurt
CHOICE_SHARE = 0.2  # of the budget, to find columns that are better left out
VETO_STANDARD_ERRORS = 1.0  # by which all columns must beat fewer to be kept
REPEATS = 4  # of the folds, if they can be drawn differently


@dataclass(frozen=True)
class ColumnChoice:
    """Columns that were left out because predictions are better without them."""

    left_out: tuple[str, ...]
    before: float  # leave-one-out accuracy, or mean absolute error, with all columns
    after: float  # the same without these columns

    def gain(self, kind: str, *, each: bool = False) -> str:
        """Describe the gain; with `each`, as that of one of the columns.

        Examples
        --------
        >>> print(ColumnChoice(("day",), 2.5, 2.0).gain("numbers"))
        without it, the mean leave-one-out error fell from 2.5 to 2
        """
        others = len(self.left_out) - 1
        without = f"without {'them' if others else 'it'}"
        if others and each:
            without = f"without it and {count(others, 'other column')}"
        if kind == "numbers" and self.after < self.before:
            before, after = number(self.before), number(self.after)
            return (
                f"{without}, the mean leave-one-out error fell from {before} to {after}"
            )
        if kind != "numbers" and self.after > self.before:
            before, after = percent(self.before), percent(self.after)
            return f"{without}, leave-one-out accuracy rose from {before} to {after}"
        return f"{without}, the error in cross-validation is clearly lower"


class ColumnProposal(NamedTuple):
    """Columns to learn from and to leave out."""

    stay: tuple[str, ...]
    go: tuple[str, ...]
    errors: float  # by which the former predict folds better than all, in standard ones


class ColumnSearch(NamedTuple):
    """What `fit_to_columns` found."""

    estimator: Any
    encoder: TableEncoder
    X: NDArray[np.float32]  # the matrix of this encoder
    choice: ColumnChoice | None = None  # columns that were left out
    doubtful: tuple[str, ...] = ()  # columns that may hurt, without clear evidence


def fit_to_columns(
    fit: Callable[[TableEncoder, NDArray[np.float32], float, Progress], Any],
    encoder: TableEncoder,
    X: NDArray[np.float32],  # (n, d)
    labels: Sequence[Any],  # None for a blank
    kind: str,
    kept: Collection[str],  # columns that must stay
    budget: float,
    report: Progress,
) -> ColumnSearch:
    """Fit an estimator to all columns, or to fewer if that is clearly better.

    `fit` takes an encoder, its matrix, a budget of seconds and a progress callback.
    """
    start = time.monotonic()
    groups = {name: np.array(at) for name, at in encoder.outputs.items() if at}
    with plain_errors():
        proposal = chosen_columns(X, labels, kind, groups, kept, CHOICE_SHARE * budget)
    if proposal is None or proposal.errors <= SURE:
        doubtful = proposal.go if proposal and proposal.errors > HINT else ()
        estimator = fit(encoder, X, budget, report)
        return ColumnSearch(estimator, encoder, X, doubtful=doubtful)
    half = max(budget - (time.monotonic() - start), 0.1 * budget) / 2
    by_all = fit(encoder, X, half, lambda share, what: report(share / 2, what))
    with_all = ColumnSearch(by_all, encoder, X)
    if kind != "numbers" and _loo_score(by_all) == 1.0:
        return with_all  # there is nothing to gain
    fewer = encoder.only(proposal.stay)
    Z = X[:, np.sort(np.concatenate([groups[name] for name in proposal.stay]))]
    by_fewer = fit(fewer, Z, half, lambda share, what: report((1 + share) / 2, what))
    veto = standard_errors_less(_loo_losses(by_all), _loo_losses(by_fewer))
    if veto > VETO_STANDARD_ERRORS:
        return with_all
    choice = ColumnChoice(proposal.go, _loo_score(by_all), _loo_score(by_fewer))
    return ColumnSearch(by_fewer, fewer, Z, choice)


class _OutOfTime(Exception):
    """The time for the choice is over."""


def standard_errors_less(losses: Array, others: Array) -> float:
    """Return by how many standard errors losses are below others of the same rows.

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


def _loo_losses(estimator: HalfmoonClassifier | HalfmoonRegressor) -> Array:
    """Return leave-one-out squared errors of numbers, or of class probabilities."""
    if isinstance(estimator, HalfmoonClassifier):
        _, p, codes = loo_class_probabilities(estimator)
        return squared_losses(p[None], np.eye(p.shape[1])[codes])[0]
    held = estimator._held_out()
    return squared_losses(held.values[None], held.y)[0]


def _loo_score(estimator: HalfmoonClassifier | HalfmoonRegressor) -> float:
    """Return the leave-one-out accuracy, or mean absolute error of numbers."""
    if isinstance(estimator, HalfmoonClassifier):
        return estimator.loo_score_
    held = estimator._held_out()
    return float(np.abs(held.values - held.y).mean())


def chosen_columns(
    X: NDArray[Any],  # (n, d)
    labels: Sequence[Any],  # None for a blank
    kind: str,
    groups: Mapping[str, Indices],
    kept: Collection[str],
    seconds: float,
) -> ColumnProposal | None:
    """Propose columns that do better in leave-one-out than all of them, or None.

    `groups` are the columns of X that represent each column of the table, of which
    those in `kept` must stay. After the time limit, nothing is proposed.
    """
    until = time.monotonic() + seconds
    l = sum(label is not None for label in labels)
    if not (MIN_LABELS <= l <= MAX_LABELS and 2 <= len(groups) <= MAX_CHOICE_COLUMNS):
        return None
    if set(groups) <= set(kept):
        return None
    y = _targets(labels, kind)
    chosen = rows_with_targets(y)
    chosen = chosen[some_labels(y[chosen], SAMPLED_LABELS, np.random.default_rng(0))]
    try:
        with blas_for(10.0 * len(chosen) ** 3):  # an eigendecomposition of each trial
            distances = {
                name: _distances(X[:, groups[name]], chosen) for name in groups
            }
            choice = _Choice(y[chosen], distances, frozenset(kept) & set(groups), until)
            best = choice.best()
            if best.names == choice.all:
                return None
            errors = choice.errors_in_folds()
    except _OutOfTime:
        return None
    stay = tuple(name for name in groups if name in best.names)
    return ColumnProposal(stay, tuple(n for n in groups if n not in best.names), errors)


def _targets(labels: Sequence[Any], kind: str) -> Array:
    """Return numbers, or one-hot classes, NaN for a blank, shape (n, t)."""
    if kind == "numbers":
        return np.array([np.nan if x is None else x for x in labels])[:, None]
    codes, classes = pd.factorize(np.array(labels, dtype=object))
    return np.where(codes[:, None] < 0, np.nan, np.eye(len(classes))[codes])


def _distances(X: NDArray[Any], chosen: Indices) -> Array:
    """Return squared distances between labeled rows in one column, shape (l, l)."""
    Z = Standardized().fit(X).transform(X[chosen])
    return cdist(Z, Z, "sqeuclidean")  # exact: equal rows are at distance 0


@dataclass(frozen=True)
class _Trial:
    """A set of columns at its best width and alpha."""

    names: frozenset[str]
    losses: Array  # (l,), leave-one-out
    width: float
    alpha: float

    @property
    def loss(self) -> float:
        return float(self.losses.mean())


@dataclass
class _Choice:
    """The choice among sets of columns, on a sample of the labeled rows."""

    y: Array  # (l, t)
    distances: dict[str, Array]
    kept: frozenset[str]
    until: float
    tried: dict[frozenset[str], _Trial] = field(default_factory=dict)

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.distances)

    def best(self) -> _Trial:
        """Return the best set: all columns, or all without the weakest."""
        y = self.y
        loo_means = (y.sum(axis=0) - y) / (len(y) - 1)
        naive = squared_losses(loo_means[None], y)[0]
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
        """Return by how many standard errors the columns chosen without a fold win."""
        y = self.y
        ties = len(np.unique(y, axis=0)) < len(y)  # otherwise all folds are the same
        seeds = range(REPEATS if ties else 1)
        losses = np.mean([self._losses_in_folds(seed) for seed in seeds], axis=0)
        return standard_errors_less(*losses)

    def _losses_in_folds(self, seed: int) -> Array:
        """Return the losses of the chosen columns and of all columns, shape (2, l)."""
        values = np.empty((2, *self.y.shape))
        for fold in balanced_folds(self.y, rng=seed):
            rest = np.delete(np.arange(len(self.y)), fold)
            part = self._on(rest)
            values[0, fold] = self._values(part.best(), rest, fold)
            values[1, fold] = self._values(part.trial(self.all), rest, fold)
        return squared_losses(values, self.y)

    def trial(self, names: frozenset[str]) -> _Trial:
        """Return the best fit to these columns, from memory if it was tried before."""
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
        """Return the same choice with fewer labels."""
        distances = {k: D[np.ix_(rows, rows)] for k, D in self.distances.items()}
        return _Choice(self.y[rows], distances, self.kept, self.until)

    def _values(self, trial: _Trial, rest: Indices, fold: Indices) -> Array:
        """Return predictions for the rows of a fold from the rest."""
        D = self._distance(trial.names)[:, rest]
        K = np.exp(-D / (2.0 * trial.width**2 * _scale(D[rest])))
        ones = np.ones(len(rest))
        path = ridge_weighted(K[rest], ones[:, None], self.y[rest], ones)
        return np.asarray(K[fold] @ path.theta(trial.alpha) + path.beta(trial.alpha))


def _scale(D: Array) -> float:
    """Return the median squared distance between different rows."""
    return median_of_positive(D[np.triu_indices(len(D), 1)]) or 1.0
