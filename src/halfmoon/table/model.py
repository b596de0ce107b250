"""A model of a table: its columns as vectors, and Halfmoon on these."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.estimators import HalfmoonClassifier, HalfmoonRegressor
from halfmoon.estimators.explanations import Explanation
from halfmoon.estimators.intervals import Intervals
from halfmoon.estimators.left_out_classes import classifier_left_out
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.progress import Progress, search_told_to
from halfmoon.report.wording import count
from halfmoon.rows import Array
from halfmoon.table.column_choice import (
    ColumnChoice,
    chosen_columns,
    left_out_losses,
    left_out_score,
    standard_errors_less,
)
from halfmoon.table.columns import Columns, ColumnUse, nothing_to_learn_from
from halfmoon.table.errors import CommandError, LabelError, plain_errors
from halfmoon.table.files.frame import as_rows
from halfmoon.table.giveaways import leave_out_giveaways
from halfmoon.table.label_numbers import read_label_numbers
from halfmoon.table.number_style import NumberStyle
from halfmoon.table.ordered import Ordered
from halfmoon.table.predictions import LeftOut, Prediction, joined
from halfmoon.table.selection import added_columns
from halfmoon.table.target import Kind, as_targets, check_labels, least_label
from halfmoon.table.trial import try_out
from halfmoon.table.vectors import Vectors, free_outputs

__all__ = ["TableModel"]

BLOCK_ROWS = 65_536  # predicted at once, at most
BLOCK_CELLS = 4_000_000  # of the table or of the matrix, at once
CHOICE_SHARE = 0.2  # of the budget, to find columns that are better left out
VETO = 1.0  # standard errors by which all columns win in the search itself
BEFORE_SEARCH, SEARCH = 0.05, 0.85  # shares of the work, for the progress bar
LABELS_FOR_KNOWN = 2  # labels for each known column, at least


@dataclass(eq=False)
class TableModel:
    """Fills in a column of a table from the others.

    Parameters
    ----------
    target : str
    kind : "classes" or "numbers"
    known : sequence of str
        Columns that are trusted: followed wherever they lead, without penalty.
    keep : sequence of str
        Columns to use even if they look like identifiers.
    budget : float
        Seconds to search for.
    memory_limit : int or str
    random_state : int
    level : float
        Share of the labels that the intervals of numbers are to hold.
    order : sequence
        Classes of a scale from low to high; empty where they have no order.
    style : NumberStyle or None
        How numbers are written; None leaves it to their labels.

    Attributes
    ----------
    columns_ : list of ColumnUse
        What each column holds and what became of it.
    unread_ : dict
        Of each column, the cells read so far that were not of its kind; they count as
        missing.
    numbers_ : ndarray of int of shape (n,)
        Where the rows that it was fitted on stand in their table, from 0.
    choice_ : ColumnChoice or None
        Columns that were left out because they hurt.
    doubtful_ : tuple of str
        Columns that may hurt, which is not clear.
    estimator_ : HalfmoonClassifier or HalfmoonRegressor
        On the matrix that `transform` gives.
    style_ : NumberStyle or None
        How the labels are written, where they are numbers in text.
    least_ : float
        What the intervals of numbers do not go below: 0 for amounts.
    learned_keys_ : ndarray of uint64
        Of whoever has fitted it: what the labeled rows are known by.
    record_ : dict
        Of whoever has fitted it: what it was trained on, plain values only.
    """

    target: str
    kind: Kind
    known: Sequence[str] = ()
    keep: Sequence[str] = ()
    budget: float = 60.0
    memory_limit: int | str = MEMORY_LIMIT
    random_state: int = 0
    level: float = 0.9
    order: Sequence[Any] = ()
    style: NumberStyle | None = None

    estimator_: Any = field(default=None, init=False, repr=False)
    table_: Columns = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    vectors_: Vectors = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    numbers_: Any = field(default=None, init=False, repr=False)
    doubtful_: tuple[str, ...] = field(default=(), init=False, repr=False)
    choice_: ColumnChoice | None = field(default=None, init=False, repr=False)
    intervals_: Intervals | None = field(default=None, init=False, repr=False)
    ordered_: Ordered | None = field(default=None, init=False, repr=False)
    style_: NumberStyle | None = field(default=None, init=False, repr=False)
    least_: float = field(default=-np.inf, init=False, repr=False)
    learned_keys_: NDArray[np.uint64] = field(
        default_factory=lambda: np.empty(0, np.uint64), init=False, repr=False
    )
    record_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def fit(
        self,
        rows: pa.Table,
        labels: Sequence[Any],
        progress: Progress | None = None,
        positions: Any = None,
    ) -> Self:
        """Learn from rows, some of which have labels.

        Parameters
        ----------
        rows : pyarrow.Table
            The feature columns.
        labels : sequence
            Text or values; None where a cell is blank.
        progress : callable or None
            Called with the share of the work that is done, and a text.
        positions : array-like of shape (n,) or None
            Numbers of the rows in their file: by them a column that numbers the rows
            is found.
        """
        tell = progress or (lambda share, what: None)
        y = self._checked(labels)
        if not rows.column_names:
            raise LabelError(nothing_to_learn_from([]))
        if len(y) != rows.num_rows:
            raise ValueError(f"{len(y)} labels were given for {rows.num_rows} rows.")
        unknown = [name for name in self.known if name not in rows.column_names]
        if unknown:
            raise CommandError(
                f"The table has no column {unknown[0]!r}, which is named as known; it "
                f"has {', '.join(map(repr, rows.column_names))}."
            )
        tell(0.0, "reading columns")
        self.table_ = Columns.of(rows, self.known, self.keep, positions)
        frame = self.table_.read(rows)
        named = {*self.known, *self.keep}
        frame = leave_out_giveaways(frame, self.table_.used, y, named)
        tell(0.02, "columns as numbers")
        labeled = sum(label is not None for label in y)
        self.vectors_ = Vectors.of(frame, self.table_.used, self.random_state, labeled)
        if not self.vectors_.kept.any():
            raise LabelError(nothing_to_learn_from(self.columns_))
        X = self._learn(self.vectors_(frame), y, tell)
        places = np.arange(len(y)) if positions is None else np.asarray(positions)
        self.numbers_ = places.astype(np.int64)
        self._calibrate(X, y, labels)
        tell(1.0, "done")
        return self

    def _checked(self, labels: Sequence[Any]) -> list[Any]:
        """Labels as they are learned from, or an error."""
        return check_labels(self.target, labels, self.kind)

    def _calibrate(self, X: NDArray[Any], y: list[Any], labels: Sequence[Any]) -> None:
        """What left-out rows tell: of a scale, and of intervals about numbers."""
        if self.order:
            with plain_errors():
                self.ordered_ = self._ordered(X, y)
        if self.kind == "numbers":
            held = self.estimator_._held_out()
            self.intervals_ = Intervals.of(held.y[:, 0], held.values[:, 0], self.level)
            self.style_ = read_label_numbers(labels).style or self.style
            self.least_ = least_label([x for x in y if x is not None], self.style_)

    def _learn(
        self, X: NDArray[np.float32], y: list[Any], tell: Progress
    ) -> NDArray[np.float32]:
        """Fit to all columns, or to fewer where these do clearly better.

        Returns
        -------
        ndarray of shape (n, d)
            What was learned from.
        """
        budget, start = self.budget / 2 if self.order else self.budget, time.monotonic()
        self.choice_, self.doubtful_ = None, ()
        whole, named = self.vectors_, {*self.known, *self.keep}
        groups = {use.name: whole.outputs_of(use.name) for use in self.table_.used}
        groups = {name: outputs for name, outputs in groups.items() if len(outputs)}
        with plain_errors():
            proposal = chosen_columns(
                X, y, self.kind, groups, named, CHOICE_SHARE * budget
            )
        if proposal is None or not proposal.clear:
            self.estimator_ = self._fitted(X, y, budget, tell)
            if proposal is not None and proposal.worth_trying:
                self.doubtful_ = proposal.go
            return X
        half = max(budget - (time.monotonic() - start), 0.1 * budget) / 2
        by_all = self._fitted(X, y, half, lambda at, what: tell(at / 2, what))
        if self.kind != "numbers" and left_out_score(by_all) == 1.0:
            self.estimator_ = by_all  # there is nothing to gain
            return X
        self.vectors_ = whole.only(proposal.stay)
        some = X[:, np.sort(np.concatenate([groups[name] for name in proposal.stay]))]
        by_fewer = self._fitted(
            some, y, half, lambda at, what: tell(0.5 + at / 2, what)
        )
        losses = [left_out_losses(estimator) for estimator in (by_all, by_fewer)]
        choice = ColumnChoice(proposal.go, *map(left_out_score, (by_all, by_fewer)))
        if standard_errors_less(*losses) > VETO:
            self.vectors_, self.estimator_ = whole, by_all
            return X
        self.estimator_, self.choice_ = by_fewer, choice
        for use in self.table_.uses:
            if use.name in proposal.go:
                use.role, use.why = "left out", choice.gain(self.kind, each=True)
        return some

    def _fitted(
        self, X: NDArray[np.float32], y: list[Any], budget: float, tell: Progress
    ) -> Any:
        labeled = sum(label is not None for label in y)
        estimator = self._estimator(labeled, self.kind, budget)
        with plain_errors(), search_told_to(tell, BEFORE_SEARCH, SEARCH):
            estimator.fit(X, as_targets(y, self.kind))
        return estimator

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that are added beside the target."""
        return added_columns(self.target, self.kind)

    @property
    def columns_(self) -> list[ColumnUse]:
        """What each column holds and what became of it."""
        return self.table_.uses

    @property
    def unread_(self) -> dict[str, int]:
        """Of each column, the cells read so far that were not of its kind."""
        return self.table_.unread

    @property
    def feature_names_(self) -> list[str]:
        """Names of the columns of the matrix that `transform` gives."""
        return self.vectors_.names

    def transform(self, rows: Any) -> NDArray[np.float32]:
        """The columns of rows as a matrix, shape (b, d)."""
        rows = as_rows(rows)
        missing = [u.name for u in self.table_.used if u.name not in rows.schema.names]
        if missing:
            raise CommandError(
                f"The table has no column {missing[0]!r}, which the model was trained "
                f"on; it has {', '.join(map(repr, rows.schema.names))}."
            )
        return self.vectors_(self.table_.read(rows))

    def check_loaded(self) -> None:
        """Refuse, by any exception, to be a model from a file that cannot predict."""
        try_out(self)

    def predict(self, rows: Any, known: Sequence[Any] | None = None) -> Prediction:
        """What the model says of rows, some thousand at a time.

        Parameters
        ----------
        rows : pyarrow.Table, pyarrow.RecordBatch or data frame of pandas or polars
        known : sequence or None
            What is known of the labels of these rows, of models that learn from such.
        """
        rows = as_rows(rows)
        if rows.num_rows == 0:
            return joined([self._predict(np.zeros((0, len(self.feature_names_))))])
        width = max(rows.num_columns, len(self.feature_names_))
        size = max(1, min(BLOCK_ROWS, BLOCK_CELLS // width))
        return joined(
            [
                self._predict(
                    self.transform(rows.slice(start, size)),
                    None if known is None else known[start : start + size],
                )
                for start in range(0, rows.num_rows, size)
            ]
        )

    def _predict(
        self, X: NDArray[Any], known: Sequence[Any] | None = None
    ) -> Prediction:
        if self.intervals_ is not None:
            values = self.estimator_.predict(X) if len(X) else np.zeros(0)
            low, high = self._ends(values)
            return Prediction(values.tolist(), low=low, high=high)
        classes = self.estimator_.classes_
        p = self.estimator_.predict_proba(X) if len(X) else np.zeros((0, len(classes)))
        if self.ordered_ is not None:
            p = self.ordered_(p, X)
        best = p.argmax(axis=1)
        confidence = p[np.arange(len(p)), best]
        p[np.arange(len(p)), best] = -1.0
        second = classes[p.argmax(axis=1)].tolist()
        return Prediction(classes[best].tolist(), confidence, second=second)

    def _ends(self, values: Array) -> tuple[Array, Array]:
        """Of the intervals about numbers."""
        assert self.intervals_ is not None
        low, high = self.intervals_(values)
        return np.maximum(low, np.minimum(values, self.least_)), high

    def explain(self, rows: Any, answers: Sequence[Any] | None = None) -> Explanation:
        """The labeled rows behind the answers at some rows, with their exact weights.

        Labeled rows have the numbers that they have in the table, from 0.

        Parameters
        ----------
        rows : pyarrow.Table or data frame
        answers : sequence or None
            What they speak for and against; None is what is predicted.
        """
        if answers is None:
            answers = self.predict(rows).values
        told: Explanation = self.estimator_.explain(self.transform(rows), answers)
        return replace(told, rows=self.numbers_[told.rows])

    def left_out(self) -> LeftOut:
        """Labeled rows, all or some thousand, predicted without their own labels."""
        estimator = self.estimator_
        if self.intervals_ is not None:
            held = estimator._held_out()
            told = np.isfinite(held.values).all(axis=1)
            values = held.values[told, 0]
            low, high = self._ends(values)
            rows, given = estimator.labeled_[held.rows][told], held.y[told, 0].tolist()
            return LeftOut(rows, given, values.tolist(), low=low, high=high)
        places, p, codes = classifier_left_out(estimator)
        if self.ordered_ is not None:
            p = self.ordered_.left_out(places, p)
        best, each, classes = p.argmax(axis=1), np.arange(len(p)), estimator.classes_
        return LeftOut(
            estimator.labeled_[places],
            classes[codes].tolist(),
            classes[best].tolist(),
            confidence=p[each, best],
            given_probability=p[each, codes],
        )

    def example_numbers(self) -> Array:
        """Numbers like those of the labels, by which predictions are rounded."""
        return np.array(self.left_out().given, dtype=np.float64)

    def _ordered(self, X: NDArray[Any], y: list[Any]) -> Ordered:
        """What the places of the classes on their scale add to the classes."""
        places = {each: i for i, each in enumerate(self.order)}
        numbers = [None if label is None else places[label] for label in y]
        labeled = sum(label is not None for label in y)
        regressor = self._estimator(labeled, "numbers", self.budget / 2)
        regressor.fit(X, as_targets(numbers, "numbers"))
        return Ordered.of(self.estimator_, regressor, self.order)

    def _estimator(self, labeled: int, kind: Kind, budget: float) -> Any:
        free = free_outputs(self.columns_, self.vectors_)
        if LABELS_FOR_KNOWN * (len(free) + 1) > labeled and free:
            raise CommandError(
                f"The effects of the known columns "
                f"({', '.join(map(repr, self.known))}: {count(len(free), 'number')}) "
                f"need at least {LABELS_FOR_KNOWN * (len(free) + 1)} labels, and there "
                f"are {labeled}. Name fewer columns as known, or label more rows."
            )
        options: dict[str, Any] = {
            "unpenalized": free or "auto",
            "budget": budget,
            "memory_limit": self.memory_limit,
            "random_state": self.random_state,
        }
        if kind == "numbers":
            return HalfmoonRegressor(**options)
        return HalfmoonClassifier(**options)

    @property
    def n_unpenalized_(self) -> int:
        """Numbers that the known columns become, which no penalty touches."""
        return len(free_outputs(self.columns_, self.vectors_))
