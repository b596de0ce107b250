"""The results of a run as plain data, from which the report is made.

`Findings` holds strings, numbers and arrays only, no estimators and no files, so a
report can be made and tested without a run. Cells and names are kept as in the table;
the page makes them safe to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon._number_format import NO_UNIT, Unit
from halfmoon._report.quality_scores import (
    Expectation,
    Score,
    accuracy,
    interval_coverage,
    mean_absolute_error,
    r_squared,
)
from halfmoon._report.unlabeled_gain import Helped
from halfmoon._rows import Array, Indices
from halfmoon._selection.criteria import RANGE_MARGIN
from halfmoon.queries import Forecast

__all__ = [
    "ColumnDistribution",
    "FilledClasses",
    "FilledNumbers",
    "Findings",
    "Histogram",
    "LooClasses",
    "LooNumbers",
    "PartialLabels",
    "Reason",
    "ReportColumn",
    "RowMap",
    "ShownRow",
    "confidence_edges",
    "expected_accuracy",
    "number_edges",
]

CONFIDENCE_BINS = 20
MIN_BINS, MAX_BINS = 6, 30  # of numbers


CLEAR_ERRORS = 2.0  # standard errors beyond which an importance is not by chance


@dataclass(frozen=True)
class Reason:
    """A labeled row that pulls a prediction towards its label."""

    row: int  # as `ShownRow.number`
    label: str
    weight: float  # signed share in the prediction


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges; the outermost bins include what lies beyond them.

    Examples
    --------
    >>> edges = np.array([0.0, 1.0, 2.0])
    >>> one, two = (Histogram.of(x, edges) for x in ([0.5, 1.0, 9.0], [-3.0]))
    >>> (one + two).counts
    array([2, 2])
    """

    edges: Array  # (b + 1,)
    counts: NDArray[np.int64]  # (b,)

    @classmethod
    def of(cls, values: object, edges: Array) -> Histogram:
        """Count values; NaN is ignored."""
        values = np.asarray(values, dtype=np.float64)
        values = np.clip(values[~np.isnan(values)], edges[0], edges[-1])
        counts = np.histogram(values, edges)[0]
        return cls(np.asarray(edges), counts.astype(np.int64))

    def __add__(self, other: Histogram) -> Histogram:
        if not np.array_equal(self.edges, other.edges):
            raise ValueError("Only histograms with the same edges can be added.")
        return Histogram(self.edges, self.counts + other.counts)

    @property
    def shares(self) -> Array:
        """Percentage of the values in each bin."""
        return np.asarray(100 * self.counts / max(1, self.counts.sum()))

    @property
    def mean(self) -> float:
        """Mean of the values, each taken for the middle of its bin."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        return float(middle @ self.shares) / 100


def confidence_edges() -> Array:
    """Return the edges of 20 equal bins from 0 to 1."""
    return np.linspace(0.0, 1.0, CONFIDENCE_BINS + 1)


def number_edges(given: Array) -> Array:
    """Return edges that hold the labels and all that may be predicted from them.

    There are 2 l^(1/3) bins (Rice's rule) over the range of the labels, and bins for a
    quarter of that range on either side. If all labels are equal, the range is 1.
    """
    given = np.asarray(given, dtype=np.float64)
    low, high = float(given.min()), float(given.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.ceil(2 * len(given) ** (1 / 3)), MIN_BINS, MAX_BINS))
    extra = int(np.ceil(RANGE_MARGIN * bins))
    steps = np.arange(-extra, bins + extra + 1, dtype=float)
    return np.asarray(low + (high - low) / bins * steps)


@dataclass(frozen=True, eq=False)
class ColumnDistribution:
    """Distribution of a column over labeled and over unlabeled rows.

    For numbers, two histograms with the same edges; otherwise the share of each value,
    with missing cells as "(missing)".
    """

    name: str
    labeled: Histogram | Mapping[str, float]
    unlabeled: Histogram | Mapping[str, float]


@dataclass(frozen=True)
class ReportColumn:
    """A column of the table and how it was used."""

    name: str
    #: "number", "category", "date", "boolean", "text", "several numbers", "several
    #: choices", "empty" or "constant".
    kind: str
    missing: float  # share of its cells that are empty, 0 to 1
    #: "feature", "known" (an unpenalized feature), "target" or "left out".
    role: str
    why: str = ""  # reason for this role, in a few words
    #: How its cells were read, such as "written with $ and commas".
    reading: str = ""
    #: How much worse leave-one-out predictions get when its values are shuffled: loss
    #: of accuracy, or increase of the mean absolute error. None if not measured.
    importance: float | None = None
    importance_error: float | None = None  # its standard error

    @property
    def clearly_matters(self) -> bool:
        """Whether shuffling it makes predictions worse by more than chance could."""
        error = self.importance_error or 0.0
        return self.importance is not None and self.importance > CLEAR_ERRORS * error


@dataclass(frozen=True, eq=False)
class LooClasses:
    """Leave-one-out predictions of classes, all of shape (l,)."""

    given: Sequence[Any]  # classes; in `Findings` as text
    predicted: Sequence[Any]
    confidence: Array  # probability of the predicted class
    given_probability: Array  # probability of the given class
    # Positions among the rows that were learned from; may be empty.
    rows: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    independent: float = 1.0  # share of them; less if labels of clumps were hidden

    def accuracy(self, filled: float = np.inf) -> Score:
        """Return the share of `filled` rows expected to be right."""
        return accuracy(self.given, self.predicted, filled, self.independent)

    def tested(self) -> Self:
        """Drop labels that are the only one of their class.

        Hiding such a label hides the class, so it cannot be predicted.
        """
        labels = Counter(self.given)
        rows = [i for i, label in enumerate(self.given) if labels[label] > 1]
        return type(self)(
            tuple(self.given[i] for i in rows),
            tuple(self.predicted[i] for i in rows),
            self.confidence[rows],
            self.given_probability[rows],
        )


@dataclass(frozen=True, eq=False)
class LooNumbers:
    """Leave-one-out predictions of numbers with intervals, all of shape (l,)."""

    given: Array
    predicted: Array
    low: Array
    high: Array
    level: float  # share of the given numbers that the intervals should hold
    # Positions among the rows that were learned from; may be empty.
    rows: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    independent: float = 1.0  # share of them; less if labels of clumps were hidden
    #: The labels in the table, if outlying ones were moved to the others in `given`.
    unmoved: Array | None = None

    def error(self, filled: float = np.inf) -> Score:
        """Return the mean absolute error to expect of `filled` rows."""
        found, unmoved = self._scores(mean_absolute_error, filled)
        return replace(found, high=max(found.high, unmoved.high))

    def r_squared(self, filled: float = np.inf) -> Score:
        """Return the share of the variance that `filled` rows should explain."""
        found, unmoved = self._scores(r_squared, filled)
        return replace(found, low=min(found.low, unmoved.low))

    def _scores(self, score: Callable[..., Score], filled: float) -> list[Score]:
        """Return the scores of the labels as learned, and as they are in the table."""
        unmoved = self.given if self.unmoved is None else self.unmoved
        return [
            score(given, self.predicted, filled, self.independent)
            for given in (self.given, unmoved)
        ]

    def coverage(self, filled: float = np.inf) -> tuple[float, float]:
        """Return the share of `filled` rows that their intervals should hold."""
        known = np.isfinite(self.given) & np.isfinite(self.predicted)
        return interval_coverage(self.independent * known.sum(), self.level, filled)

    @property
    def held(self) -> float:
        """Share of the given numbers within their intervals; NaN if none is known."""
        known = np.isfinite(self.given) & ~np.isnan(self.low) & ~np.isnan(self.high)
        inside = (self.low <= self.given) & (self.given <= self.high)
        return float(inside[known].mean()) if known.any() else np.nan


@dataclass(frozen=True)
class PartialLabels:
    """Labels that are known in part, and how well they were predicted while hidden."""

    kind: Literal["sets", "intervals"]
    exact: int  # rows to learn from with a single label
    partial: int  # and those with several candidates, or with two different ends
    narrowed: int  # rows filled with one of their candidates, or between their ends
    tested: int  # partial labels that were hidden
    inside: int  # and those of them that held the prediction
    guess: float = float("nan")  # sets: share that holds a class picked at random
    off: float = 0.0  # intervals: mean distance of the predictions from them

    @property
    def one(self) -> str:
        """The word for one of them: "set" or "interval"."""
        return self.kind.removesuffix("s")


@dataclass(frozen=True, eq=False)
class FilledClasses:
    """Classes that were filled in; classes without rows may be absent."""

    given: Mapping[str, int]  # labels of each class
    predicted: Mapping[str, int]  # filled rows of each class
    confidence: Histogram  # of the filled rows
    mean_confidence: float
    confidence_of: Mapping[str, float] = field(default_factory=dict)  # mean, by class


@dataclass(frozen=True, eq=False)
class FilledNumbers:
    """Numbers that were filled in: two histograms with the same edges."""

    given: Histogram
    predicted: Histogram
    mean_width: float  # of the intervals of the filled rows


@dataclass(frozen=True, eq=False)
class RowMap:
    """Rows on a plane, with similar rows near each other; see `eigenmap`."""

    points: Array  # (m, 2)
    labels: tuple[str, ...] | Array  # (m,), classes or numbers, given or predicted
    given: NDArray[np.bool_]  # (m,), whether the row has a label
    #: (m,), confidence for classes, width of the interval for numbers; NaN for labels.
    doubt: Array
    note: str = ""  # why this is not an eigenmap


@dataclass(frozen=True)
class ShownRow:
    """A row that the report lists."""

    number: int  # in a spreadsheet, where the header is row 1; in a data frame from 0
    cells: tuple[str, ...]  # of `Findings.shown_columns`
    prediction: str
    second: str = ""  # for classes: the second guess
    confidence: float | None = None  # for classes
    low: str = ""  # for numbers: the ends of the interval
    high: str = ""
    given: str | None = None  # the label in the table
    #: Labeled rows that support the prediction and that contradict it, strongest first.
    speaks_for: tuple[Reason, ...] = ()
    speaks_against: tuple[Reason, ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything that a report shows."""

    source: str  # name of the table
    target: str  # the column that was filled
    kind: Literal["classes", "numbers"]
    rows: int
    labeled: int  # rows with a label
    predicted: int  # filled rows
    unlabeled_used: int  # unlabeled rows that the model could learn from
    columns: tuple[ReportColumn, ...]
    blanks: tuple[tuple[str, int], ...]  # what counted as blank, and how often
    helped: Helped
    loo: LooClasses | LooNumbers
    filled: FilledClasses | FilledNumbers
    map: RowMap | None
    shown_columns: tuple[str, ...]  # columns of the rows below
    suspects: tuple[ShownRow, ...]  # labels that look wrong
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    command: str  # that repeats the run
    seconds: float
    date: str
    sha256: str = ""  # of the table file
    notes: tuple[Note, ...] = ()
    next_rows: tuple[ShownRow, ...] = ()  # to label next: unsure, and different
    distributions: tuple[ColumnDistribution, ...] = ()  # of the columns that matter
    n_suspects: int = 0  # if `suspects` holds only the first of them
    partial: PartialLabels | None = None
    forecast: Forecast | None = None  # what more labels would bring
    shifted: tuple[str, ...] = ()  # columns in which the filled rows differ a lot
    unit: Unit = NO_UNIT  # of the numbers of the target
    clumped: bool = False  # whether labels are nearer to each other than to the others
    in_order: bool = False  # whether labels of a sorted table leave out most of it

    @property
    def suspected(self) -> int:
        """Number of labels that look wrong."""
        return max(self.n_suspects, len(self.suspects))


def expected_accuracy(findings: Findings) -> Expectation:
    """Return the accuracy to expect of a table of classes."""
    loo, filled = findings.loo, findings.filled
    if not isinstance(loo, LooClasses):
        raise TypeError("Numbers have no accuracy.")
    confidence = float("nan")
    if isinstance(filled, FilledClasses) and findings.predicted > 0:
        confidence = filled.mean_confidence
    return Expectation(loo.accuracy(findings.predicted), confidence)
