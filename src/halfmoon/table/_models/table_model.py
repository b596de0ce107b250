"""A model of a table: its columns encoded as a matrix, and Halfmoon fitted to it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._estimators import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._estimators.classification import (
    fitted_temperature,
    probabilities_of_scores,
    scores_by_class,
)
from halfmoon._estimators.explanations import Explanation
from halfmoon._estimators.intervals import Intervals
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._progress import Progress, report_search_to
from halfmoon._report.findings import LooClasses, LooNumbers
from halfmoon._rows import Array
from halfmoon.table._cells.number_style import NumberStyle
from halfmoon.table._columns.column_choice import ColumnChoice, fit_to_columns
from halfmoon.table._columns.column_kinds import Columns, nothing_to_learn_from
from halfmoon.table._columns.column_names import added_columns
from halfmoon.table._columns.column_vectors import TableEncoder, unpenalized_outputs
from halfmoon.table._columns.leaking_columns import leave_out_leaking
from halfmoon.table._files.frame_rows import as_rows
from halfmoon.table._labels.target_labels import (
    Kind,
    as_targets,
    read_label_numbers,
    valid_labels,
)
from halfmoon.table._labels.unrepresentative_labels import label_clumps
from halfmoon.table._models.ordered_classes import Ordered
from halfmoon.table._models.predictions import (
    Prediction,
    class_prediction,
    held_out_values,
    joined_predictions,
    label_range,
    loo_predictions,
)
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import (
    CommandError,
    LabelError,
    TableError,
    plain_errors,
)

__all__ = ["TableModel"]

MAX_BLOCK_ROWS = 65_536  # predicted at once
MAX_BLOCK_CELLS = 4_000_000  # of the table or of the matrix, predicted at once
BEFORE_SEARCH, SEARCH = 0.05, 0.85  # shares of the work, for the progress bar
TRIAL_ROWS = 2


@dataclass(eq=False)
class TableModel:
    """Fills in one column of a table from the others.

    Parameters
    ----------
    target : str
    kind : "classes" or "numbers"
    known : sequence of str
        Trusted columns: their effects are linear and not penalized.
    keep : sequence of str
        Columns to use even if they look like identifiers.
    budget : float
        Seconds for the search.
    memory_limit : int or str
    random_state : int
    level : float
        Coverage of the intervals of numbers.
    order : sequence
        Classes of a scale from low to high; empty if they have no order.
    style : NumberStyle or None
        How numbers are written; None to infer it from the labels.

    Attributes
    ----------
    numbers_ : ndarray of int of shape (n,)
        Positions of the training rows in their table, from 0.
    choice_ : ColumnChoice or None
        Columns that were left out because they hurt.
    doubtful_ : tuple of str
        Columns that may hurt, without clear evidence.
    columns_ : Columns
        What each column holds, how it is read, and whether it is used.
    estimator_ : HalfmoonClassifier or HalfmoonRegressor
        Fitted to the matrix that `transform` returns.
    encoder_ : TableEncoder
        Encodes the columns as that matrix.
    style_ : NumberStyle or None
        How the labels are written, if they are numbers in text.
    least_, most_ : float
        Range of predicted numbers and their intervals, such as from 0 for amounts.
    clumps_ : ndarray of int of shape (l,), or None
        Clumps of similar labeled rows, from 0, to measure the quality without whole
        clumps; empty if that is not possible. None if labels do not lie in clumps.
    learned_keys_ : ndarray of uint64
        Keys of the labeled rows, set by the caller of `fit`.
    record_ : dict
        What the model was trained on, as plain values, set by the caller of `fit`.
    """

    target: str
    kind: Kind
    known: Sequence[str] = ()
    keep: Sequence[str] = ()
    budget: float = Settings.budget
    memory_limit: int | str = MEMORY_LIMIT
    random_state: int = Settings.seed
    level: float = Settings.level
    order: Sequence[Any] = ()
    style: NumberStyle | None = None

    estimator_: Any = field(default=None, init=False, repr=False)
    columns_: Columns = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    encoder_: TableEncoder = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    numbers_: Any = field(default=None, init=False, repr=False)
    doubtful_: tuple[str, ...] = field(default=(), init=False, repr=False)
    choice_: ColumnChoice | None = field(default=None, init=False, repr=False)
    intervals_: Intervals | None = field(default=None, init=False, repr=False)
    ordered_: Ordered | None = field(default=None, init=False, repr=False)
    style_: NumberStyle | None = field(default=None, init=False, repr=False)
    least_: float = field(default=-np.inf, init=False, repr=False)
    most_: float = field(default=np.inf, init=False, repr=False)
    clumps_: Any = field(default=None, init=False, repr=False)
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
        """Fit the model to rows, some of which have labels.

        Parameters
        ----------
        rows : pyarrow.Table
            The feature columns.
        labels : sequence
            Text or values; None for blanks.
        progress : callable or None
            Called with the share of the work that is done, and a text.
        positions : array-like of shape (n,) or None
            Positions of the rows in their file, to detect a column of row numbers.
        """
        report = progress or (lambda share, what: None)
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
        report(0.0, "reading columns")
        self.columns_ = Columns.of(rows, self.known, self.keep, positions)
        frame = self.columns_.read(rows)
        named = {*self.known, *self.keep}
        frame = leave_out_leaking(frame, self.columns_.used, y, named)
        report(0.02, "columns as numbers")
        labeled = sum(label is not None for label in y)
        self.encoder_ = TableEncoder.fit(
            frame, self.columns_.used, self.random_state, labeled
        )
        if not self.encoder_.varying.any():
            raise LabelError(nothing_to_learn_from(self.columns_.uses))
        X = self.encoder_.transform(frame)
        del frame  # The fit needs the memory, also that which Arrow keeps for later.
        pa.default_memory_pool().release_unused()
        X = self._learn(X, y, report)
        places = np.arange(len(y)) if positions is None else np.asarray(positions)
        self.numbers_ = places.astype(np.int64)
        self._calibrate(X, y, labels)
        report(1.0, "done")
        return self

    def _checked(self, labels: Sequence[Any]) -> list[Any]:
        """Return the labels to learn from, or raise an error."""
        return valid_labels(self.target, labels, self.kind)

    def _calibrate(self, X: NDArray[Any], y: list[Any], labels: Sequence[Any]) -> None:
        """Fit confidences and intervals to predictions without labels of clumps."""
        labeled = np.array([label is not None for label in y])
        self.clumps_ = label_clumps(X, labeled, self.random_state)
        places, values = held_out_values(self, self.estimator_, by_clump=True)
        if self.kind == "classes" and self.hides_clumps:
            scores, codes = scores_by_class(values), self.estimator_._codes[places]
            weights = np.ones(len(codes))
            self.estimator_.temperature_ = fitted_temperature(scores, codes, weights)
        if self.order:
            ranks = {each: i for i, each in enumerate(self.order)}
            by_rank = [None if label is None else ranks[label] for label in y]
            regressor = self._fitted(
                by_rank, "numbers", self.encoder_, X, self.budget / 2
            )
            self.ordered_ = Ordered.of(
                self.estimator_,
                regressor,
                self.order,
                (places, probabilities_of_scores(self.estimator_, values)),
                held_out_values(self, regressor, by_clump=True),
            )
        if self.kind == "numbers":
            self.style_ = read_label_numbers(labels).style or self.style
            numbers = [x for x in y if x is not None]
            self.least_, self.most_ = label_range(numbers, self.style_)
            given = self.estimator_.solution_.y[places, 0]
            predicted = self.in_range(values[:, 0])
            self.intervals_ = Intervals.of(given, predicted, self.level)

    def _learn(
        self, X: NDArray[np.float32], y: list[Any], report: Progress
    ) -> NDArray[np.float32]:
        """Fit to all columns, or to fewer if that is clearly better; return those."""
        fit, named = partial(self._fitted, y, self.kind), {*self.known, *self.keep}
        seconds = self.budget / 2 if self.order else self.budget
        found = fit_to_columns(
            fit, self.encoder_, X, y, self.kind, named, seconds, report
        )
        self.estimator_, self.encoder_ = found.estimator, found.encoder
        self.choice_, self.doubtful_ = found.choice, found.doubtful
        for use in self.columns_.uses:
            if self.choice_ is not None and use.name in self.choice_.left_out:
                use.role, use.why = "left out", self.choice_.gain(self.kind, each=True)
        return found.X

    def _fitted(
        self,
        y: list[Any],
        kind: Kind,
        encoder: TableEncoder,
        X: NDArray[np.float32],
        budget: float,
        report: Progress = lambda share, what: None,
    ) -> Any:
        """Return an estimator of this kind, fitted within the budget of seconds."""
        labeled = sum(label is not None for label in y)
        unpenalized = unpenalized_outputs(self.columns_.uses, encoder, labeled)
        cls = HalfmoonRegressor if kind == "numbers" else HalfmoonClassifier
        estimator = cls(
            unpenalized=unpenalized or "auto",
            budget=budget,
            memory_limit=self.memory_limit,
            random_state=self.random_state,
        )
        with plain_errors(), report_search_to(report, BEFORE_SEARCH, SEARCH):
            return estimator.fit(X, as_targets(y, kind))

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that are added next to the target."""
        return added_columns(self.target, self.kind)

    def transform(self, rows: Any) -> NDArray[np.float32]:
        """Encode the columns of rows as a matrix of shape (b, d)."""
        rows = as_rows(rows)
        names = set(rows.schema.names)
        missing = [use.name for use in self.columns_.used if use.name not in names]
        if missing:
            raise CommandError(
                f"The table has no column {missing[0]!r}, which the model was trained "
                f"on; it has {', '.join(map(repr, rows.schema.names))}."
            )
        return self.encoder_.transform(self.columns_.read(rows))

    def check_loaded(self) -> None:
        """Raise an exception if the model, loaded from a file, cannot predict.

        Arrays and numbers in a file may each be of the right type and still not fit
        together. So the model predicts rows without values, as any model can.
        """
        if not self.columns_.used:
            raise ValueError("it learned from no column")
        cells = pa.nulls(TRIAL_ROWS, pa.string())
        empty = {use.name: cells for use in self.columns_.used}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predicted = self.predict(pa.table(empty))
            if len(predicted.values) != TRIAL_ROWS:
                raise ValueError("it does not predict a value for each row")
        except TableError:  # a message for the user, not a defect of the file
            return

    def predict(self, rows: Any, known: Sequence[Any] | None = None) -> Prediction:
        """Predict the rows of a table, record batch or data frame, in blocks.

        `known` are partial labels of these rows, for `WeakTableModel`.
        """
        rows = as_rows(rows)
        if rows.num_rows == 0:
            none = np.zeros((0, len(self.encoder_.names)))
            return joined_predictions([self._predict(none)])
        width = max(rows.num_columns, len(self.encoder_.names))
        size = max(1, min(MAX_BLOCK_ROWS, MAX_BLOCK_CELLS // width))
        blocks = []
        for start in range(0, rows.num_rows, size):
            X = self.transform(rows.slice(start, size))
            part = None if known is None else known[start : start + size]
            blocks.append(self._predict(X, part))
        return joined_predictions(blocks)

    def _predict(
        self, X: NDArray[Any], known: Sequence[Any] | None = None
    ) -> Prediction:
        if self.intervals_ is not None:
            values = self._numbers(X)
            low, high = self.ends_around(values)
            return Prediction(values.tolist(), low=low, high=high)
        p = self._probabilities(X)
        if self.ordered_ is not None:
            p = self.ordered_(p, X)
        return class_prediction(self.estimator_.classes_, p)

    def _probabilities(self, X: NDArray[Any]) -> Array:
        if not len(X):
            return np.zeros((0, len(self.estimator_.classes_)))
        return np.asarray(self.estimator_.predict_proba(X))

    def _numbers(self, X: NDArray[Any]) -> Array:
        return self.in_range(self.estimator_.predict(X) if len(X) else np.zeros(0))

    def in_range(self, values: Array) -> Array:
        """Move numbers into the range of predictions."""
        return np.clip(values, self.least_, self.most_)

    def ends_around(self, values: Array) -> tuple[Array, Array]:
        """Return the lower and upper ends of the intervals around predictions."""
        assert self.intervals_ is not None
        low, high = self.intervals_(values)
        return self.in_range(low), self.in_range(high)

    def explain(self, rows: Any, answers: Sequence[Any] | None = None) -> Explanation:
        """Return the exact weights of the labeled rows in predictions.

        Labeled rows are numbered by their position in the table, from 0. `answers` are
        the values to explain; None for the predictions.
        """
        if answers is None:
            answers = self.predict(rows).values
        found: Explanation = self.estimator_.explain(self.transform(rows), answers)
        return replace(found, rows=self.numbers_[found.rows])

    def left_out(
        self, by_clump: bool = False, as_given: bool = False
    ) -> LooClasses | LooNumbers:
        """Return leave-one-out predictions of the labeled rows, or of a sample.

        If labels lie in clumps, each is predicted without its clump with `by_clump`.
        Numbers far outside the range of the others are returned `as_given`, or else as
        they were learned.
        """
        return loo_predictions(self, by_clump, as_given)

    @property
    def hides_clumps(self) -> bool:
        """Whether quality is measured without whole clumps of labels."""
        return self.clumps_ is not None and len(self.clumps_) > 0

    def example_numbers(self) -> Array:
        """Return numbers like those of the labels, to round predictions alike."""
        return np.asarray(self.left_out().given, dtype=np.float64)
