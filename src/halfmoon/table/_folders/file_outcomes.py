"""What came of one file: small counts, stored on disk and summed over all files."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon._report.histogram import Histogram
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._models.scored_rows import Sums
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.running_counts import RowPrediction, RunningCounts
from halfmoon.table._runs.second_pass import Job

__all__ = ["FileOutcome", "add_up", "job_state", "with_separate_counts"]


def with_separate_counts(model: TableModel) -> TableModel:
    """Return a copy of a model that counts unreadable cells separately."""
    copied = copy(model)
    copied.table_ = Columns(model.table_.uses)
    return copied


@dataclass
class FileOutcome:
    """What came of a file.

    Attributes
    ----------
    name : str
        Name of the file in its folder.
    rows, escaped, size : int
        Rows, cells that got an apostrophe, bytes of the output.
    targets : list of dict
        The counts of each target, as plain values.
    """

    name: str
    rows: int
    escaped: int
    size: int
    targets: list[dict[str, Any]]


def add_up(outcomes: Iterable[FileOutcome], jobs: Sequence[Job]) -> int:
    """Add outcomes to new jobs; return how many cells got an apostrophe."""
    escaped = 0
    for outcome in outcomes:
        escaped += outcome.escaped
        for job, state in zip(jobs, outcome.targets, strict=True):
            _add(job, state)
    return escaped


def job_state(job: Job) -> dict[str, Any]:
    """Return the counts of a job that has filled a file, as plain values."""
    tally = job.tally
    codes = {name: i for i, name in enumerate(_class_names(job.model))}
    rows, predictions = tally.unsure.state()
    state: dict[str, Any] = {
        "n": tally.n,
        "n_within": tally.n_within,
        "total": tally.total,
        "classes": [[codes[x], n] for x, n in tally.classes.items()],
        "confidences": [[codes[x], p] for x, p in tally.confidences.items()],
        "histogram": tally.histogram.counts.tolist(),
        "unsure": None if rows is None else _serialized(rows),
        "answers": [_encoded(each, codes) for each in predictions],
        "unread": dict(job.model.unread_),
    }
    if job.scored is not None:
        sums = (job.scored.new, job.scored.learned)
        state["scored"] = [{**vars(each), "given": dict(each.given)} for each in sums]
    if job.unseen is not None:
        counts = job.unseen.counts
        state["unseen"] = {name: dict(found) for name, found in counts.items()}
    return state


def _add(job: Job, state: dict[str, Any]) -> None:
    names = _class_names(job.model)
    part = RunningCounts(job.cells.edges, copy(job.tally.unsure))
    part.n, part.n_within, part.total = state["n"], state["n_within"], state["total"]
    part.classes = Counter({names[i]: n for i, n in state["classes"]})
    part.confidences = Counter({names[i]: p for i, p in state["confidences"]})
    counts = np.array(state["histogram"], dtype=np.int64)
    part.histogram = Histogram(part.edges, counts)
    part.unsure = type(job.tally.unsure)(job.tally.unsure.features)
    predictions = [_decoded(each, names) for each in state["answers"]]
    part.unsure.restore(_deserialized(state["unsure"]), predictions)
    job.tally.merge(part)
    for name, cells in state["unread"].items():
        job.model.unread_[name] = job.model.unread_.get(name, 0) + cells
    if job.scored is not None:
        for sums, given in zip(
            (job.scored.new, job.scored.learned), state["scored"], strict=True
        ):
            sums.merge(Sums(**{**given, "given": Counter(given["given"])}))
    if job.unseen is not None:
        for name, values in state["unseen"].items():
            job.unseen.counts.setdefault(name, Counter()).update(values)


def _class_names(model: TableModel) -> list[Any]:
    """Return the classes, which are stored as numbers, because JSON has no dates."""
    classes = getattr(model.estimator_, "classes_", [])
    names: list[Any] = np.asarray(classes).tolist()
    return names


def _encoded(prediction: RowPrediction, codes: dict[Any, int]) -> list[Any]:
    value, second, *rest = prediction
    if not codes:
        return list(prediction)
    return [codes[value], None if second is None else codes[second], *rest]


def _decoded(stored: list[Any], names: list[Any]) -> RowPrediction:
    value, second, *rest = stored
    if not names:
        return RowPrediction(*stored)
    return RowPrediction(names[value], None if second is None else names[second], *rest)


def _serialized(rows: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def _deserialized(text: str | None) -> pa.Table | None:
    if text is None:
        return None
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()
