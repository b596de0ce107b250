"""What came of one file: small enough to be kept, and to be added up for all files."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa

from halfmoon.report.histogram import Histogram
from halfmoon.table.columns import Columns
from halfmoon.table.model import TableModel
from halfmoon.table.scored_rows import Sums
from halfmoon.table.second_pass import Job
from halfmoon.table.tally import Tally
from halfmoon.table.unsure_rows import Answer

__all__ = ["Outcome", "add_up", "with_own_counts"]


def with_own_counts(model: TableModel) -> TableModel:
    """The same model, which counts the cells that it cannot read by itself."""
    own = copy(model)
    own.table_ = Columns(model.table_.uses)
    return own


@dataclass
class Outcome:
    """What came of a file, of each target.

    Attributes
    ----------
    name : str
        Of the file in its folder.
    rows, escaped, size : int
        Rows, cells that got an apostrophe, bytes of the output.
    targets : list of dict
        Counts of each job, as plain values.
    """

    name: str
    rows: int
    escaped: int
    size: int
    targets: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(
        cls, name: str, rows: int, escaped: int, size: int, jobs: Sequence[Job]
    ) -> Self:
        """Of jobs that have gone through the file."""
        return cls(name, rows, escaped, size, [_state(job) for job in jobs])


def add_up(outcomes: Iterable[Outcome], jobs: Sequence[Job]) -> int:
    """Add outcomes to jobs that have seen nothing yet; how many cells were escaped."""
    escaped = 0
    for outcome in outcomes:
        escaped += outcome.escaped
        for job, state in zip(jobs, outcome.targets, strict=True):
            _add(job, state)
    return escaped


def _state(job: Job) -> dict[str, Any]:
    tally, codes = job.tally, _codes(job.model)
    rows, answers = tally.unsure.state()
    state: dict[str, Any] = {
        "n": tally.n,
        "n_within": tally.n_within,
        "total": tally.total,
        "classes": [[codes[x], n] for x, n in tally.classes.items()],
        "confidences": [[codes[x], p] for x, p in tally.confidences.items()],
        "histogram": tally.histogram.counts.tolist(),
        "unsure": None if rows is None else _packed(rows),
        "answers": [_coded(answer, codes) for answer in answers],
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
    classes = getattr(job.model.estimator_, "classes_", [])
    names = [x.item() if isinstance(x, np.generic) else x for x in classes]
    part = Tally(job.cells.edges, copy(job.tally.unsure))
    part.n, part.n_within, part.total = state["n"], state["n_within"], state["total"]
    part.classes = Counter({names[i]: n for i, n in state["classes"]})
    part.confidences = Counter({names[i]: p for i, p in state["confidences"]})
    counts = np.array(state["histogram"], dtype=np.int64)
    part.histogram = Histogram(part.edges, counts)
    part.unsure = type(job.tally.unsure)(job.tally.unsure.features)
    answers = [_decoded(answer, names) for answer in state["answers"]]
    part.unsure.restore(_unpacked(state["unsure"]), answers)
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


def _codes(model: TableModel) -> dict[Any, int]:
    """The classes by their numbers, since a class may be a date; none of numbers."""
    classes = getattr(model.estimator_, "classes_", [])
    return {name: i for i, name in enumerate(np.asarray(classes).tolist())}


def _coded(answer: Answer, codes: dict[Any, int]) -> list[Any]:
    value, second, *others = answer
    if not codes:
        return list(answer)
    return [codes[value], None if second is None else codes[second], *others]


def _decoded(answer: list[Any], names: list[Any]) -> Answer:
    value, second, *others = answer
    if not names:
        return Answer(*answer)
    return Answer(names[value], None if second is None else names[second], *others)


def _packed(rows: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def _unpacked(text: str | None) -> pa.Table | None:
    if text is None:
        return None
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()
