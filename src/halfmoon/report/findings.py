"""What a run found out: plain data, from which the report is made.

Whoever runs the job fills in `Findings`. Here are no estimators and no files: strings,
numbers and arrays only, so that a report can be made, tested and looked at without a
run. The text of cells and names is kept as it was in the table; the page sees to it
that it does no harm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from halfmoon.queries import Forecast
from halfmoon.report.helped import Candidate, Helped
from halfmoon.report.histogram import Histogram
from halfmoon.rows import Array

__all__ = [
    "Candidate",
    "ColumnDistribution",
    "ColumnUse",
    "FilledClasses",
    "FilledNumbers",
    "Findings",
    "Helped",
    "LeftOutClasses",
    "LeftOutNumbers",
    "Note",
    "PartialLabels",
    "Reason",
    "RowMap",
    "ShownRow",
]


@dataclass(frozen=True)
class Note:
    """Something the user should know, and what to do about it.

    Attributes
    ----------
    text : str
        What was found, in plain words.
    remedy : str
        What to do, in plain words; may be empty.
    command : str
        A command line that does it; may be empty.
    important : bool
        It stands at the top of the report, and first in the summary.
    """

    text: str
    remedy: str = ""
    command: str = ""
    important: bool = False

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.remedy) if part)


@dataclass(frozen=True)
class Reason:
    """A labeled row that speaks for or against an answer.

    Attributes
    ----------
    row : int
        Its number, as in `ShownRow`.
    label : str
    weight : float
        Its share in the answer, signed.
    """

    row: int
    label: str
    weight: float


@dataclass(frozen=True, eq=False)
class ColumnDistribution:
    """How a column is distributed over labeled and over unlabeled rows.

    Attributes
    ----------
    name : str
    labeled, unlabeled : Histogram or mapping of str to float
        Of a number, with the same edges; or the share of each value, missing cells
        as "(missing)".
    """

    name: str
    labeled: Histogram | Mapping[str, float]
    unlabeled: Histogram | Mapping[str, float]


@dataclass(frozen=True)
class ColumnUse:
    """A column of the table and what became of it.

    Attributes
    ----------
    name : str
    kind : str
        "number", "category", "date", "boolean", "text", "empty" or "constant".
    missing : float
        Share of its cells that are empty, 0 to 1.
    role : str
        "feature", "known" (left unpenalized, because the user trusts it), "target" or
        "left out".
    why : str
        Why it has this role, in a few words; may be empty.
    reading : str
        How its cells were understood, such as "written with $ and commas; 12 cells
        like 'n.a.' counted as missing"; may be empty.
    importance : float or None
        How much worse leave-one-out predictions get when its values are shuffled, in
        the units of the headline: accuracy, or mean absolute error. None where it was
        not measured.
    """

    name: str
    kind: str
    missing: float
    role: str
    why: str = ""
    reading: str = ""
    importance: float | None = None


@dataclass(frozen=True, eq=False)
class LeftOutClasses:
    """Labeled rows, each predicted without its own label.

    Attributes
    ----------
    given, predicted : sequences of str, shape (l,)
    confidence : ndarray of shape (l,)
        Probability of the predicted class.
    given_probability : ndarray of shape (l,)
        Probability of the class that was given.
    """

    given: tuple[str, ...]
    predicted: tuple[str, ...]
    confidence: Array
    given_probability: Array

    def tested(self) -> Self:
        """Without labels that are the only one of their class.

        Hiding such a label hides the class, so that it cannot be predicted.
        """
        labels = Counter(self.given)
        some = [i for i, label in enumerate(self.given) if labels[label] > 1]
        return type(self)(
            tuple(self.given[i] for i in some),
            tuple(self.predicted[i] for i in some),
            self.confidence[some],
            self.given_probability[some],
        )


@dataclass(frozen=True, eq=False)
class LeftOutNumbers:
    """Labeled rows, each predicted without its own label, all of shape (l,).

    Attributes
    ----------
    given, predicted, low, high : ndarrays of shape (l,)
    level : float
        Share of values that the intervals low to high are meant to hold.
    """

    given: Array
    predicted: Array
    low: Array
    high: Array
    level: float


@dataclass(frozen=True)
class PartialLabels:
    """Labels that are known in part, and how they did when they were hidden.

    Attributes
    ----------
    kind : {"sets", "intervals"}
    exact, partial : int
        Rows that were learned from: with a single label, and with several candidates
        or two different ends.
    narrowed : int
        Rows of the table that were filled within their candidates, or ends.
    tested, inside : int
        Rows of the latter kind that were hidden, and those of them that were predicted
        within what was known.
    guess : float
        Of sets: the share that a class at random would be within.
    off : float
        Of intervals: how far predictions were from them on average.
    """

    kind: Literal["sets", "intervals"]
    exact: int
    partial: int
    narrowed: int
    tested: int
    inside: int
    guess: float = float("nan")
    off: float = 0.0


@dataclass(frozen=True, eq=False)
class FilledClasses:
    """What was filled in.

    Attributes
    ----------
    given, predicted : mapping of str to int
        Rows of each class; classes that were never given or predicted may be absent.
    confidence : Histogram
        Of the filled rows.
    mean_confidence : float
    confidence_of : mapping of str to float
        Mean confidence of the rows filled with each class; may be empty.
    """

    given: Mapping[str, int]
    predicted: Mapping[str, int]
    confidence: Histogram
    mean_confidence: float
    confidence_of: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FilledNumbers:
    """What was filled in.

    Attributes
    ----------
    given, predicted : Histogram
        With the same edges.
    mean_width : float
        Of the intervals of the filled rows.
    """

    given: Histogram
    predicted: Histogram
    mean_width: float


@dataclass(frozen=True, eq=False)
class RowMap:
    """Rows on a plane, those side by side being alike; see `eigenmap`.

    Attributes
    ----------
    points : ndarray of shape (m, 2)
    labels : tuple of str, or ndarray of shape (m,)
        Classes, or numbers, given or predicted.
    given : ndarray of bool of shape (m,)
    doubt : ndarray of shape (m,)
        For classes the confidence; for numbers the width of the interval. NaN for rows
        that were given.
    note : str
        What went otherwise than planned; may be empty.
    """

    points: Array
    labels: tuple[str, ...] | Array
    given: NDArray[np.bool_]
    doubt: Array
    note: str = ""


@dataclass(frozen=True)
class ShownRow:
    """A row to look at.

    Attributes
    ----------
    number : int
        As a spreadsheet shows it: a header is row 1.
    cells : tuple of str
        Of `Findings.shown_columns`.
    prediction : str
    second : str
        For classes the second guess, or empty.
    confidence : float or None
        Of the prediction, for classes.
    low, high : str
        For numbers, the ends of the interval.
    given : str or None
        The label in the table, if it has one.
    speaks_for, speaks_against : tuple of Reason
        Labeled rows that pull the answer towards the prediction and away from it, the
        strongest first.
    """

    number: int
    cells: tuple[str, ...]
    prediction: str
    second: str = ""
    confidence: float | None = None
    low: str = ""
    high: str = ""
    given: str | None = None
    speaks_for: tuple[Reason, ...] = ()
    speaks_against: tuple[Reason, ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """All that a report tells.

    Attributes
    ----------
    source, target : str
        Name of the table, and of the column that was filled.
    kind : {"classes", "numbers"}
    rows, labeled, predicted : int
        Rows of the table, with a label given, and filled.
    unlabeled_used : int
        Rows without labels that were learned from.
    columns : tuple of ColumnUse
    blanks : tuple of (str, int)
        What counted as blank in the target, and how often.
    helped : Helped
    left_out : LeftOutClasses or LeftOutNumbers
    filled : FilledClasses or FilledNumbers
    map : RowMap or None
    shown_columns : tuple of str
        Whose cells the rows below show.
    least_sure, suspects : tuple of ShownRow
        Filled rows with the least certain answers; given labels that look wrong.
    settings, versions : tuple of (str, str)
        In order.
    command : str
        That repeats the run.
    seconds : float
    date : str
    sha256 : str
        Of the table as it was read; may be empty.
    notes : tuple of Note
        What the reader should know, in plain words.
    next_rows : tuple of ShownRow
        Rows to label next: unsure, and different from each other.
    distributions : tuple of ColumnDistribution
        Of the columns that matter most.
    n_suspects : int
        All labels that look wrong, of which `suspects` shows the first; 0 is as many as
        are shown.
    partial : PartialLabels or None
        Where labels may be known in part.
    forecast : Forecast or None
        What more labels would buy; None where that cannot be told.
    """

    source: str
    target: str
    kind: Literal["classes", "numbers"]
    rows: int
    labeled: int
    predicted: int
    unlabeled_used: int
    columns: tuple[ColumnUse, ...]
    blanks: tuple[tuple[str, int], ...]
    helped: Helped
    left_out: LeftOutClasses | LeftOutNumbers
    filled: FilledClasses | FilledNumbers
    map: RowMap | None
    shown_columns: tuple[str, ...]
    least_sure: tuple[ShownRow, ...]
    suspects: tuple[ShownRow, ...]
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    command: str
    seconds: float
    date: str
    sha256: str = ""
    notes: tuple[Note, ...] = ()
    next_rows: tuple[ShownRow, ...] = ()
    distributions: tuple[ColumnDistribution, ...] = ()
    n_suspects: int = 0
    partial: PartialLabels | None = None
    forecast: Forecast | None = None
