"""A model of a table whose labels are known in part: sets of candidates, or ends.

What it claims is measured on held-out fifths of the rows: of rows with a single label
whether it was found, and of the others whether the prediction is among the candidates,
or between the ends. The kernel and alpha are chosen anew for each fifth.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from halfmoon.estimators.intervals import Intervals
from halfmoon.estimators.left_out_classes import chances_of_scores
from halfmoon.progress import Progress
from halfmoon.report.findings import Helped, PartialLabels
from halfmoon.report.gain import Gain, gain_of_classes, gain_of_numbers
from halfmoon.rows import Array
from halfmoon.table.errors import plain_errors
from halfmoon.table.model import TableModel
from halfmoon.table.predictions import LeftOut, Prediction
from halfmoon.table.selection import added_columns
from halfmoon.table.target import least_label
from halfmoon.table.vectors import free_outputs
from halfmoon.table.weak_labels import Candidates, Ends, read_ends, split_sets
from halfmoon.weak import CandidateSetClassifier, IntervalRegressor

__all__ = ["ENOUGH", "WeakTableModel"]

FEWEST = 2  # rows known on both sides, for intervals about predictions
ENOUGH = 10  # exact numbers: then the others have no part in these intervals


@dataclass(eq=False)
class WeakTableModel(TableModel):
    """Fills in a column of a table whose labels are known in part.

    Parameters
    ----------
    sets : str or None
        What stands between candidates; None where labels have ends.
    ends : tuple of str
        Columns of the ends.

    Attributes
    ----------
    estimator_ : CandidateSetClassifier or IntervalRegressor
    allowed_ : ndarray of shape (l, C) or (l, 2)
        Which classes the labeled rows may have, or their ends.
    """

    sets: str | None = None
    ends: tuple[str, ...] = ()

    allowed_: Any = field(default=None, init=False, repr=False)

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that are added beside the target."""
        return added_columns(self.target, self.kind, self.sets, self.ends)

    def read_known(self, labels: Any) -> list[Any]:
        """What cells say of labels: candidates or ends; None where nothing."""
        if self.kind == "numbers":
            return read_ends(labels, self.style_)
        cells = split_sets(labels.to_pylist(), str(self.sets))
        return [None if not cell else Candidates(cell) for cell in cells]

    def _checked(self, labels: Sequence[Any]) -> list[Any]:
        return list(labels)  # they were checked where rows have numbers to tell

    def _learn(
        self, X: NDArray[np.float32], y: list[Any], tell: Progress
    ) -> NDArray[np.float32]:
        self.choice_, self.doubtful_ = None, ()
        options: dict[str, Any] = {
            "unpenalized": free_outputs(self.columns_, self.vectors_) or "constant",
            "budget": self.budget,
            "memory_limit": self.memory_limit,
            "random_state": self.random_state,
        }
        tell(0.1, "kernels on held-out rows")
        with plain_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.kind == "numbers":
                ends = np.array([[-np.inf, np.inf] if x is None else [x.low, x.high]
                                 for x in y])  # fmt: skip
                self.estimator_ = IntervalRegressor(**options).fit(X, ends)
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
        # The end that is farther away: no true error is larger. Where enough numbers
        # are exact, they tell the errors themselves.
        worst = np.where(values - low > high - values, low, high)
        told = np.isfinite(worst) & np.isfinite(values)
        exact = told & self._exact
        told = exact if exact.sum() >= ENOUGH else told
        if told.sum() >= FEWEST:
            self.intervals_ = Intervals.of(worst[told], values[told], self.level)
        else:
            self.intervals_ = Intervals.of(np.empty(0), np.empty(0), self.level)
        self.style_ = self.style
        self.least_ = least_label(self.example_numbers().tolist(), self.style)

    @property
    def has_intervals(self) -> bool:
        """Whether it is known how far predicted numbers may be off."""
        return self.intervals_ is not None and bool(
            np.isfinite(self.intervals_.quantile)
        )

    @property
    def by_exact(self) -> bool:
        """Whether exact numbers alone tell how far predictions may be off."""
        told = self._exact & np.isfinite(self._unseen).all(axis=1)
        return int(told.sum()) >= ENOUGH

    def _masks(self, known: Sequence[Candidates | None]) -> NDArray[np.bool_]:
        """Which classes rows may have, shape (b, C); all where nothing is known."""
        names = [str(name) for name in self.estimator_.classes_]
        masks = np.array(
            [[each is None or name in each.classes for name in names] for each in known]
        ).reshape(len(known), len(names))
        return masks | ~masks.any(axis=1, keepdims=True)  # none of the classes fitted

    def _predict(
        self, X: NDArray[Any], known: Sequence[Any] | None = None
    ) -> Prediction:
        if self.kind == "numbers":
            return self._placed(X, known)
        classes = self.estimator_.classes_
        p = self.estimator_.predict_proba(X) if len(X) else np.zeros((0, len(classes)))
        if known is not None and len(X):
            p = np.where(self._masks(known), np.maximum(p, np.finfo(float).tiny), 0.0)
            p /= p.sum(axis=1, keepdims=True)
        best, each = p.argmax(axis=1), np.arange(len(p))
        confidence = p[each, best]
        p[each, best] = -1.0
        second = classes[p.argmax(axis=1)].tolist()
        return Prediction(classes[best].tolist(), confidence, second=second)

    def _placed(self, X: NDArray[Any], known: Sequence[Ends | None] | None) -> Any:
        values = self.estimator_.predict(X) if len(X) else np.zeros(0)
        low, high = self._ends(values)
        if known is not None and len(X):
            bottom, top = np.array(
                [(-np.inf, np.inf) if x is None else (x.low, x.high) for x in known]
            ).T
            values = np.clip(values, bottom, top)
            low = np.minimum(np.maximum(low, bottom), values)
            high = np.maximum(np.minimum(high, top), values)
        finite = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(finite, low, np.nan), np.where(finite, high, np.nan)
        return Prediction(values.tolist(), low=low, high=high)

    @property
    def _unseen(self) -> Array:
        """Values of labeled rows without their fifth, NaN where there are none."""
        found: Array | None = self.estimator_._unseen
        if found is not None:
            return found
        return np.full((len(self.allowed_), self.estimator_.solution_.posed.y.shape[1]),
                       np.nan)  # fmt: skip

    @property
    def _exact(self) -> NDArray[np.bool_]:
        """Which labeled rows have a single label, shape (l,)."""
        if self.kind == "numbers":
            return np.asarray(self.allowed_[:, 0] == self.allowed_[:, 1])
        return np.asarray(self.allowed_.sum(axis=1) == 1)

    def left_out(self) -> LeftOut:
        """Rows with a single label, predicted without their fifth of the rows."""
        unseen = self._unseen
        told = np.flatnonzero(self._exact & np.isfinite(unseen).all(axis=1))
        rows = self.estimator_.labeled_[told]
        if self.kind == "numbers":
            values = unseen[told, 0]
            low, high = self._ends(values)
            given = self.allowed_[told, 0].tolist()
            return LeftOut(rows, given, values.tolist(), low=low, high=high)
        classes, each = self.estimator_.classes_, np.arange(len(told))
        p = chances_of_scores(self.estimator_, unseen[told])
        codes, best = self.allowed_[told].argmax(axis=1), p.argmax(axis=1)
        return LeftOut(
            rows,
            classes[codes].tolist(),
            classes[best].tolist(),
            confidence=p[each, best],
            given_probability=p[each, codes],
        )

    def example_numbers(self) -> Array:
        """The ends that are finite."""
        return np.unique(self.allowed_[np.isfinite(self.allowed_)])

    def helped(self, rows: int) -> Helped:
        """What rows without labels did to the answer."""
        return Helped(self.estimator_.used_unlabeled_, self._gain(rows))

    def _gain(self, rows: int) -> Gain:
        """By rows with a single label, the kernels that look at all rows and not."""
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
            classes[chances_of_scores(self.estimator_, g[exact]).argmax(axis=1)]
            for g in (by_all, by_labeled)
        )
        return gain_of_classes(given.tolist(), by_one.tolist(), by_other.tolist(), rows)

    def partial_labels(self, narrowed: int) -> PartialLabels:
        """How labels that are known in part did when they were hidden.

        Parameters
        ----------
        narrowed : int
            Rows with such a label that were filled in.
        """
        exact, unseen = self._exact, self._unseen
        told = np.flatnonzero(~exact & np.isfinite(unseen).all(axis=1))
        off, guess = 0.0, float("nan")
        if self.kind == "numbers":
            low, high = self.allowed_[told].T
            away = np.abs(unseen[told, 0] - np.clip(unseen[told, 0], low, high))
            inside, off = int((away == 0).sum()), float(away.mean() if len(told) else 0)
        else:
            best = chances_of_scores(self.estimator_, unseen[told]).argmax(axis=1)
            inside = int(self.allowed_[told, best].sum())
            guess = float(self.allowed_[told].mean()) if len(told) else guess
        return PartialLabels(
            kind="intervals" if self.kind == "numbers" else "sets",
            exact=int(exact.sum()),
            partial=int((~exact).sum()),
            narrowed=narrowed,
            tested=len(told),
            inside=inside,
            guess=guess,
            off=off,
        )
