"""The short of what a run found out: a summary, JSON, what a model file tells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from halfmoon.report.expectation import expected_accuracy
from halfmoon.report.findings import (
    FilledClasses,
    FilledNumbers,
    Findings,
    LeftOutClasses,
)
from halfmoon.report.gain import Gain
from halfmoon.report.scores import Score, mean_absolute_error, per_class, r_squared
from halfmoon.report.wording import (
    answer,
    count,
    help_given,
    number,
    percent,
    rare_classes,
    suspects,
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
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "role": column.role,
                "why": column.why,
                "importance": column.importance,
            }
            for column in found.columns
        ],
        "leave_one_out": _scores(found),
        "unlabeled_rows": {
            "used": found.helped.used_unlabeled,
            **_gain(found.helped.gain),
        },
        "suspect_labels": max(found.n_suspects, len(found.suspects)),
    }
    filled = found.filled
    if found.partial is not None:
        record["partial_labels"] = {
            name: None if value != value else value  # NaN
            for name, value in asdict(found.partial).items()
        }
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
    done = f"Predicted '{model.target}' in {count(tally.n, 'row')} of {source}."
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
        sure = f"The mean confidence is {percent(tally.mean)}."
    else:
        record["mean_width"] = _finite(tally.mean)
        sure = f"The intervals are {number(tally.mean)} wide on average."
    scored = filled.scored
    record["known_labels"] = None if scored is None else scored.record()
    said = [] if scored is None else scored.sentences()
    return record | {
        "summary": [" ".join([done, sure] if tally.n else [done]), *said],
        "seconds": round(filled.seconds, 1),
        "peak_memory": peak_bytes(),
        "notes": [str(note) for note in common_notes(filled)],
    }


def _sentences(found: Findings) -> Iterator[object]:
    """The run in a few sentences."""
    yield answer(found)
    yield verdict(found)
    yield from rare_classes(found)
    yield help_given(found.helped)
    if found.suspects:
        yield suspects(found)


def _scores(found: Findings) -> dict[str, Any]:
    left_out = found.left_out
    filled = found.predicted
    if isinstance(left_out, LeftOutClasses):
        expected = expected_accuracy(found)
        score = expected.score
        return {
            "accuracy": _score(score)
            | {"tested": score.tested, "right": score.right, "untested": score.alone},
            "expected_accuracy": _finite(expected.value),
            "per_class": {
                each.name: {
                    "labels": each.labels,
                    "found": each.found,
                    "false_alarms": each.false_alarms,
                }
                for each in per_class(left_out.given, left_out.predicted)
            },
        }
    return {
        "r2": _score(r_squared(left_out.given, left_out.predicted, filled)),
        "mean_absolute_error": _score(
            mean_absolute_error(left_out.given, left_out.predicted, filled)
        ),
    }


def _gain(gain: Gain) -> dict[str, Any]:
    classes = gain.kind == "classes"
    return {
        "measure": "labels recovered" if classes else "mean absolute error",
        "labels": gain.labels,
        "with": _finite(gain.with_rows),
        "without": _finite(gain.without),
        "difference": _finite(gain.difference),
        "low": _finite(gain.low),
        "high": _finite(gain.high),
    }


def _score(score: Score) -> dict[str, Any]:
    known = math.isfinite(score.value)
    return {
        "value": _finite(score.value),
        "low": _finite(score.low) if known else None,
        "high": _finite(score.high) if known else None,
        "naive": _finite(score.naive),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
