"""The short of what a run found out: a summary, JSON, what a model file tells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from halfmoon.report.findings import (
    FilledClasses,
    FilledNumbers,
    Findings,
    LeftOutClasses,
)
from halfmoon.report.scores import Score, accuracy, mean_absolute_error, r_squared
from halfmoon.report.wording import (
    answer,
    count,
    help_given,
    number,
    percent,
    verdict,
)
from halfmoon.table.allowance import peak_bytes
from halfmoon.table.fill import Filled
from halfmoon.table.notes import common_notes
from halfmoon.table.settings import Settings

__all__ = ["predicted_record", "record_of"]


def record_of(found: Findings, settings: Settings) -> dict[str, Any]:
    """What filling a table came to, as plain data for JSON; None for NaN."""
    record: dict[str, Any] = {
        "source": found.source,
        "sha256": found.sha256,
        "target": found.target,
        "task": found.kind,
        "rows": found.rows,
        "given": found.labeled,
        "predicted": found.predicted,
        "learned_from": {
            "labels": len(found.left_out.given),
            "unlabeled_rows": found.unlabeled_used,
            "columns": [
                column.name
                for column in found.columns
                if column.role in ("feature", "known")
            ],
            "known": [c.name for c in found.columns if c.role == "known"],
        },
        "leave_one_out": _scores(found),
        "unlabeled_rows": {
            "used": found.helped.used_unlabeled,
            "measure": found.helped.measure,
            "with": _finite(found.helped.average_error),
            "without": _finite(found.helped.twin_error),
            "difference": _finite(found.helped.difference),
            "low": _finite(found.helped.low),
            "high": _finite(found.helped.high),
        },
        "suspect_labels": max(found.n_suspects, len(found.suspects)),
    }
    filled = found.filled
    if isinstance(filled, FilledClasses):
        record["mean_confidence"] = _finite(filled.mean_confidence)
        record["classes"] = {
            name: {
                "given": int(filled.given.get(name, 0)),
                "predicted": int(filled.predicted.get(name, 0)),
            }
            for name in {**filled.given, **filled.predicted}
        }
    elif isinstance(filled, FilledNumbers):
        record["mean_width"] = _finite(filled.mean_width)
        record["level"] = getattr(found.left_out, "level", None)
    return record | {
        "summary": [str(sentence) for sentence in _sentences(found)],
        "settings": asdict(settings),
        "command": found.command,
        "versions": dict(found.versions),
        "date": found.date,
        "seconds": round(found.seconds, 1),
        "peak_memory": peak_bytes(),
        "notes": [str(note) for note in found.notes],
    }


def predicted_record(filled: Filled, source: str) -> dict[str, Any]:
    """What predicting a table by a kept model came to."""
    model, tally = filled.model, filled.tally
    rows = count(tally.n, "row")
    record: dict[str, Any] = {
        "source": source,
        "sha256": filled.sha256,
        "target": model.target,
        "task": model.kind,
        "predicted": tally.n,
    }
    if model.kind == "classes":
        record["mean_confidence"] = _finite(tally.mean)
        record["classes"] = {str(name): n for name, n in tally.classes.items()}
        sure = f"mean confidence {percent(tally.mean)}"
    else:
        record["mean_width"] = _finite(tally.mean)
        sure = f"low and high {number(tally.mean)} apart on average"
    return record | {
        "summary": [f"{model.target} predicted in {rows} of {source}; {sure}."],
        "seconds": round(filled.seconds, 1),
        "peak_memory": peak_bytes(),
        "notes": [str(note) for note in common_notes(filled)],
    }


def _sentences(found: Findings) -> Iterator[object]:
    """The run in a few sentences."""
    yield answer(found)
    yield verdict(found)
    yield help_given(found.helped)
    if found.suspects:
        yield _doubts(found)


def _doubts(found: Findings) -> str:
    """How many labels look wrong."""
    shown = len(found.suspects)
    n = max(found.n_suspects, shown)
    some = " or more" if len(found.left_out.given) < found.labeled else ""
    if n == 1 and not some:
        return "1 label looks wrong, judging by the other rows; the report shows it."
    which = "them" if n == shown else f"the first {shown}"
    return (
        f"{n:,}{some} labels look wrong, judging by the other rows; the report lists "
        f"{which}."
    )


def _scores(found: Findings) -> dict[str, Any]:
    left_out = found.left_out
    if isinstance(left_out, LeftOutClasses):
        return {"accuracy": _score(accuracy(left_out.given, left_out.predicted))}
    return {
        "r2": _score(r_squared(left_out.given, left_out.predicted)),
        "mean_absolute_error": _score(
            mean_absolute_error(left_out.given, left_out.predicted)
        ),
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        "value": _finite(score.value),
        "low": _finite(score.low),
        "high": _finite(score.high),
        "naive": _finite(score.naive),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
