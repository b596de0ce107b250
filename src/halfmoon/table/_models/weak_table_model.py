"""A model of a table with partial labels: candidate sets, or intervals by their ends.

Its accuracy is measured by five-fold cross-validation: for rows with an exact label, by
the predicted label; for the others, by whether the prediction is a candidate or lies
between the ends. The kernel and alpha are chosen again in each fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from halfmoon._estimators.classification import probabilities_of_scores
from halfmoon._estimators.intervals import Intervals
from halfmoon._progress import Progress
from halfmoon._report.findings import LooClasses, LooNumbers, PartialLabels
from halfmoon._report.unlabeled_gain import (
    UnlabeledGain,
    gain_of_classes,
    gain_of_numbers,
)
from halfmoon._rows import TINY, Array
from halfmoon.table._columns.column_names import added_columns
from halfmoon.table._columns.column_vectors import unpenalized_outputs
from halfmoon.table._labels.weak_labels import Candidates, Ends, read_ends, split_sets
from halfmoon.table._models.predictions import (
    Prediction,
    class_prediction,
    label_range,
    loo_class_prediction,
)
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._table_errors import plain_errors
from halfmoon.weak import CandidateSetClassifier, IntervalRegressor

__all__ = ["ENOUGH", "WeakTableModel"]

MIN_BOUNDED = 2  # rows with two finite ends, for intervals around predictions
ENOUGH = 10  # exact numbers, to base these intervals on them alone


@dataclass(eq=False)
class WeakTableModel(TableModel):
    """Fills in one column of a table from partial labels.

    Parameters
    ----------
    sets : str or None
        Separator of candidates; None if labels are intervals.
    ends : tuple of str
        Columns with the ends of the intervals.

    Attributes
    ----------
    estimator_ : CandidateSetClassifier or IntervalRegressor
    allowed_ : ndarray of shape (l, C) or (l, 2)
        Classes that the labeled rows may have, or the ends of their intervals.
    """

    sets: str | None = None
    ends: tuple[str, ...] = ()

    allowed_: Any = field(default=None, init=False, repr=False)

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that are added next to the target."""
        return added_columns(self.target, self.kind, self.sets, self.ends)

    def read_known(self, labels: Any) -> list[Any]:
        """Return the candidates or ends in each cell; None for a blank."""
        if self.kind == "numbers":
            return read_ends(labels, self.style_)
        cells = split_sets(labels.to_pylist(), str(self.sets))
        return [None if not cell else Candidates(cell) for cell in cells]

    def _checked(self, labels: Sequence[Any]) -> list[Any]:
        return list(labels)  # checked before, where errors can name the row

    def _learn(
        self, X: NDArray[np.float32], y: list[Any], report: Progress
    ) -> NDArray[np.float32]:
        self.choice_, self.doubtful_ = None, ()
        options: dict[str, Any] = {
            "unpenalized": unpenalized_outputs(self.columns_.uses, self.encoder_)
            or "constant",
            "budget": self.budget,
            "memory_limit": self.memory_limit,
            "random_state": self.random_state,
        }
        report(0.1, "kernels on held-out rows")
        with plain_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.kind == "numbers":
                ends = _as_ends(y)
                # The claims of the report are those of folds without a margin.
                self.estimator_ = IntervalRegressor(**options, margin=0.0).fit(X, ends)
                self.allowed_ = ends[self.estimator_.labeled_]
            else:
                sets = [None if x is None else set(x.classes) for x in y]
                self.estimator_ = CandidateSetClassifier(**options).fit(X, sets)
                self.allowed_ = self._masks([y[i] for i in self.estimator_.labeled_])
        return X

    def _calibrate(self, X: NDArray[Any], y: list[Any], labels: Sequence[Any]) -> None:
        if self.kind != "numbers":
            return
        low, high = self.allowed_.T
        values = self._unseen[:, 0]
        # The end that is farther away: no true error is larger. Enough exact numbers
        # give the errors themselves.
        worst = np.where(values - low > high - values, low, high)
        usable = np.isfinite(worst) & np.isfinite(values)
        exact = usable & self._exact
        usable = exact if exact.sum() >= ENOUGH else usable
        usable = usable if usable.sum() >= MIN_BOUNDED else np.zeros_like(usable)
        self.intervals_ = Intervals.of(worst[usable], values[usable], self.level)
        self.style_ = self.style
        numbers = self.example_numbers().tolist()
        self.least_, self.most_ = label_range(numbers, self.style)

    @property
    def has_intervals(self) -> bool:
        """Whether the errors of predicted numbers could be estimated."""
        return self.intervals_ is not None and bool(
            np.isfinite(self.intervals_.quantile)
        )

    @property
    def by_exact(self) -> bool:
        """Whether exact numbers alone gave these errors."""
        return int((self._exact & self._tested).sum()) >= ENOUGH

    def _masks(self, known: Sequence[Candidates | None]) -> NDArray[np.bool_]:
        """Return which classes rows may have, shape (b, C); all for blanks."""
        names = [str(name) for name in self.estimator_.classes_]
        masks = np.array(
            [[each is None or name in each.classes for name in names] for each in known]
        ).reshape(len(known), len(names))
        return masks | ~masks.any(axis=1, keepdims=True)  # none of the classes fitted

    def _predict(
        self, X: NDArray[Any], known: Sequence[Any] | None = None
    ) -> Prediction:
        if self.kind == "classes":
            p = self._probabilities(X)
            if known:
                p = np.where(self._masks(known), np.maximum(p, TINY), 0)
                p /= p.sum(axis=1, keepdims=True)
            return class_prediction(self.estimator_.classes_, p)
        values = self._numbers(X)
        low, high = self.ends_around(values)
        if known:
            bottom, top = _as_ends(known).T
            values = np.clip(values, bottom, top)
            low = np.minimum(np.maximum(low, bottom), values)
            high = np.maximum(np.minimum(high, top), values)
        finite = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(finite, low, np.nan), np.where(finite, high, np.nan)
        return Prediction(values.tolist(), low=low, high=high)

    @property
    def _unseen(self) -> Array:
        """Held-out predictions of the labeled rows, NaN if there are none."""
        found: Array | None = self.estimator_._unseen
        if found is not None:
            return found
        n_outputs = self.estimator_.solution_.posed.y.shape[1]
        return np.full((len(self.allowed_), n_outputs), np.nan)

    @property
    def _tested(self) -> NDArray[np.bool_]:
        """Which labeled rows have held-out predictions, shape (l,)."""
        return np.asarray(np.isfinite(self._unseen).all(axis=1))

    @property
    def _exact(self) -> NDArray[np.bool_]:
        """Which labeled rows have an exact label, shape (l,)."""
        if self.kind == "numbers":
            return np.asarray(self.allowed_[:, 0] == self.allowed_[:, 1])
        return np.asarray(self.allowed_.sum(axis=1) == 1)

    def left_out(
        self, by_clump: bool = False, as_given: bool = False
    ) -> LooClasses | LooNumbers:
        """Return held-out predictions of rows with an exact label."""
        exact = np.flatnonzero(self._exact & self._tested)
        rows, unseen = self.estimator_.labeled_[exact], self._unseen[exact]
        if self.kind == "numbers":
            values, given = self.in_range(unseen[:, 0]), self.allowed_[exact, 0]
            low, high = self.ends_around(values)
            return LooNumbers(given, values, low, high, self.level, rows)
        p = probabilities_of_scores(self.estimator_, unseen)
        codes = self.allowed_[exact].argmax(axis=1)
        return loo_class_prediction(self.estimator_.classes_, p, rows, codes)

    def example_numbers(self) -> Array:
        """Return the finite ends."""
        return np.unique(self.allowed_[np.isfinite(self.allowed_)])

    def gain(self, rows: int) -> UnlabeledGain:
        """Compare kernels of all rows with kernels of labeled rows on exact labels."""
        exact, both = self._exact, [self._unseen, self.estimator_._unseen_supervised]
        by_all, by_labeled = (
            np.full_like(self._unseen, np.nan) if each is None else each
            for each in both
        )
        if self.kind == "numbers":
            y = self.allowed_[exact, 0]
            return gain_of_numbers(y, by_all[exact, 0], by_labeled[exact, 0], rows)
        if np.isnan(by_labeled).any():
            exact = np.zeros_like(exact)
        classes = self.estimator_.classes_
        given = classes[self.allowed_[exact].argmax(axis=1)]
        by_one, by_other = (
            classes[probabilities_of_scores(self.estimator_, g[exact]).argmax(axis=1)]
            for g in (by_all, by_labeled)
        )
        return gain_of_classes(given.tolist(), by_one.tolist(), by_other.tolist(), rows)

    def partial_labels(self, narrowed: int) -> PartialLabels:
        """Return how held-out predictions agree with partial labels.

        `narrowed` rows with a partial label were filled.
        """
        exact = self._exact
        partial = np.flatnonzero(~exact & self._tested)
        allowed, unseen = self.allowed_[partial], self._unseen[partial]
        off, guess = 0.0, float("nan")
        if self.kind == "numbers":
            away = np.abs(unseen[:, 0] - np.clip(unseen[:, 0], *allowed.T))
            inside, off = int((away == 0).sum()), float(away.mean() if len(away) else 0)
        else:
            best = probabilities_of_scores(self.estimator_, unseen).argmax(axis=1)
            inside = int(allowed[np.arange(len(best)), best].sum())
            guess = float(allowed.mean()) if len(best) else guess
        return PartialLabels(
            kind="intervals" if self.kind == "numbers" else "sets",
            exact=int(exact.sum()),
            partial=int((~exact).sum()),
            narrowed=narrowed,
            tested=len(partial),
            inside=inside,
            guess=guess,
            off=off,
        )


def _as_ends(known: Sequence[Ends | None]) -> Array:
    """Return ends as rows of an array, infinite for blanks, shape (b, 2)."""
    open_ends = (-np.inf, np.inf)
    return np.array([open_ends if x is None else (x.low, x.high) for x in known])
