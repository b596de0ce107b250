"""Fill the blank labels of a table: read it, learn from it, read it again and write.

Memory does not grow with the table. The first pass keeps the labeled rows and a sample
of the others, from which the model is learned; the second predicts batch by batch and
writes every row as it was, with what is new.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.histogram import confidence_edges, number_edges
from halfmoon.table.allowance import Allowance
from halfmoon.table.errors import ModelError
from halfmoon.table.files import Table, TableOutput, new_table
from halfmoon.table.model import Prediction, TableModel
from halfmoon.table.scan import Scan, scan
from halfmoon.table.selection import (
    added_columns,
    chosen_features,
    known_columns,
    listed,
    refuse_taken,
)
from halfmoon.table.settings import Settings
from halfmoon.table.tally import Tally
from halfmoon.table.target import Blanks, target_kind

__all__ = ["Filled", "Stages", "Writing", "fill_table", "predict_table"]

GIVEN, PREDICTED = "given", "predicted"
CONFIDENCE_DIGITS = 4


class Stages(Protocol):
    """Told how far a run has come: one stage after the other."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage; what comes back is called with done and in all."""


class Silent:
    """Stages of which nobody is told."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage."""
        return lambda done, in_all: None


@dataclass
class Filled:
    """What came of filling a table.

    Attributes
    ----------
    model : TableModel
    scan : Scan or None
        The first pass; None where there was none, because the model was there.
    tally : Tally
        The second.
    escaped : int
        Cells that a spreadsheet would have taken for formulas.
    sha256 : str
        Of the table.
    seconds : float
    """

    model: TableModel
    scan: Scan | None
    tally: Tally
    escaped: int
    sha256: str
    seconds: float


def fill_table(
    table: Table,
    destination: Any,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Learn from the labels of a table and write it with its blanks filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    destination : path or binary stream
        Where the filled table goes; it appears there when it is whole.
    settings : Settings
    overwrite : bool
        Replace a file that is there.
    formulas : "escape" or "keep"
        What to do with labels that a spreadsheet would take for formulas.
    stages : Stages or None
        Told how far it has come.
    """
    start, stages = time.monotonic(), stages or Silent()
    types: dict[str, Any] = {}  # known when the model is
    with new_table(
        destination, like=table, overwrite=overwrite, formulas=formulas, types=types
    ) as out:
        model, found = learn(table, settings, stages)
        types |= column_types(model)
        model.unread_.clear()  # from now on of the rows that are filled in
        blanks = Blanks(settings.unlabeled)
        tally = write_filled(table, out, model, blanks, stages.stage("Filling in"))
    seconds = time.monotonic() - start
    return Filled(model, found, tally, out.escaped, _sha256(table), seconds)


def predict_table(
    table: Table,
    destination: Any,
    model: TableModel,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Write a table with what a model says of its rows; as `fill_table`."""
    start, stages = time.monotonic(), stages or Silent()
    refuse_taken(table.columns, added_columns(model.target, model.kind))
    missing = [u.name for u in model.table_.used if u.name not in table.columns]
    if missing:
        raise ModelError(
            f"The table has no column {missing[0]!r}, which the model learned from; it "
            f"needs {listed([use.name for use in model.table_.used])} and the table "
            f"has {listed(table.columns)}."
        )
    blanks = Blanks(model.record_["settings"]["unlabeled"])
    with new_table(
        destination,
        like=table,
        overwrite=overwrite,
        formulas=formulas,
        types=column_types(model),
    ) as out:
        tally = write_filled(table, out, model, blanks, stages.stage("Predicting"))
    seconds = time.monotonic() - start
    return Filled(model, None, tally, out.escaped, _sha256(table), seconds)


def learn(table: Table, settings: Settings, stages: Stages) -> tuple[TableModel, Scan]:
    """The first pass, and the model that is learned from what it kept."""
    features = chosen_features(table.columns, settings)
    known = known_columns(table.columns, settings)
    for task in ("classes", "numbers") if settings.task is None else (settings.task,):
        refuse_taken(table.columns, added_columns(settings.target, task))
    allowance = Allowance.within(settings.memory)
    found = scan(
        table,
        settings.target,
        features,
        Blanks(settings.unlabeled),
        most_bytes=allowance.rows,
        seed=settings.seed,
        progress=stages.stage("Reading"),
    )
    model = TableModel(
        target=settings.target,
        kind=settings.task or target_kind(found.labels),
        known=known,
        keep=features if settings.features else (),
        budget=settings.budget,
        memory_limit=allowance.learning,
        random_state=settings.seed,
        level=settings.level,
    )
    learning = stages.stage("Learning")
    model.fit(
        found.rows,
        found.labels,
        progress=lambda share, what: learning(share, 1.0),
        positions=found.numbers,
    )
    return model, found


def column_types(model: TableModel) -> dict[str, Any]:
    """Types of the new columns where a file has types, and of predicted numbers."""
    source, *numbers = added_columns(model.target, model.kind)
    if model.kind == "numbers":
        numbers.append(model.target)
    return {source: pa.string(), **dict.fromkeys(numbers, pa.float64())}


def _sha256(table: Table) -> str:
    with table.source.open() as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def write_filled(
    table: Table,
    out: TableOutput,
    model: TableModel,
    blanks: Blanks,
    progress: Callable[[float, float], None] | None = None,
) -> Tally:
    """The second pass: every row as it was, its blank filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
        With or without a column of the target's name.
    out : new table of `halfmoon.table.files`
    model : TableModel
    blanks : Blanks
        What counts as blank.
    progress : callable or None

    Returns
    -------
    Tally
    """
    target, writing = model.target, Writing.of(model)
    tally = Tally(writing.edges)
    for batch in table.batches(progress=progress):
        rows, blank = batch.rows, np.ones(len(batch), dtype=bool)
        if target in table.columns:
            blank = blanks.mask(rows.column(target))
        where = np.flatnonzero(blank)
        unknown = rows.take(pa.array(where))
        prediction = model.predict(unknown)
        if len(where):
            tally.add(prediction, unknown, batch.start + where)
        labels, *others = writing.columns(prediction, blank)
        new = dict(zip(writing.added, others, strict=True))
        if target in table.columns:
            out.write(batch, replace={target: labels}, append=new)
        else:
            out.write(batch, replace={}, append={target: labels, **new})
    return tally


@dataclass(frozen=True)
class Writing:
    """How predictions become cells.

    Attributes
    ----------
    added : tuple of str
        Names of the columns beside the target.
    edges : ndarray
        Of the histogram of confidences, or of numbers.
    digits : int
        After the point of predicted numbers.
    """

    added: tuple[str, ...]
    edges: NDArray[np.float64]
    digits: int

    @classmethod
    def of(cls, model: TableModel) -> Writing:
        """For the predictions of a model."""
        added = added_columns(model.target, model.kind)
        if model.kind == "classes":
            return cls(added, confidence_edges(), CONFIDENCE_DIGITS)
        given = np.array(model.left_out().given, dtype=np.float64)
        return cls(added, number_edges(given), decimals(float(given.std())))

    def columns(
        self, prediction: Prediction, blank: NDArray[np.bool_]
    ) -> list[list[Any]]:
        """The target, and each added column, over all rows; None for no cell."""
        numbers = (
            [prediction.confidence]
            if prediction.confidence is not None
            else [prediction.low, prediction.high]
        )
        values = prediction.values
        if prediction.confidence is None:
            values = self._rounded(values)
        return [
            _spread(values, blank),
            [PREDICTED if b else GIVEN for b in blank],
            *(_spread(self._rounded(column), blank) for column in numbers),
        ]

    def _rounded(self, values: Any) -> list[float]:
        rounded: list[float] = np.round(np.asarray(values, float), self.digits).tolist()
        return rounded


def _spread(values: list[Any], where: NDArray[np.bool_]) -> list[Any]:
    """Values at their places among all rows, None elsewhere."""
    column = np.full(len(where), None, dtype=object)
    column[where] = values
    return list(column)


def decimals(spread: float) -> int:
    """Digits after the point that show a thousandth of the labels' spread.

    Examples
    --------
    >>> decimals(2.5), decimals(120000.0), decimals(0.003)
    (3, 0, 6)
    """
    if not np.isfinite(spread) or spread <= 0:
        return 6
    return int(np.clip(3 - np.floor(np.log10(spread)), 0, 300))
