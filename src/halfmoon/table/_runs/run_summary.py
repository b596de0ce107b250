"""What a run found, as a record for JSON, the summary and model files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from halfmoon._number_format import NO_UNIT, count, number, percent
from halfmoon._report.findings import (
    FilledClasses,
    FilledNumbers,
    Findings,
    LooClasses,
    expected_accuracy,
)
from halfmoon._report.quality_scores import Score, per_class
from halfmoon._report.sentences import (
    headline,
    help_given,
    rare_classes,
    suspects,
    verdict,
)
from halfmoon._report.unlabeled_gain import UnlabeledGain
from halfmoon.table._parameter_text import as_options
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.run_costs import peak_bytes
from halfmoon.table._runs.run_notes import common_notes
from halfmoon.table._runs.scored_rows import finite, score_record
from halfmoon.table._runs.second_pass import Filled

__all__ = ["predicted_record", "record_of"]

ROLES_USED = ("feature", "known")


def record_of(found: Findings, settings: Settings) -> dict[str, Any]:
    """Return the findings of `fill` as plain data."""
    record: dict[str, Any] = {
        "source": found.source,
        "sha256": found.sha256,
        "target": found.target,
        "task": found.kind,
        "rows": found.rows,
        "given": found.labeled,
        "predicted": found.predicted,
        "learned_from": {
            "labels": len(found.loo.given),
            "unlabeled_rows": found.unlabeled_used,
            "columns": [c.name for c in found.columns if c.role in ROLES_USED],
            "known": [c.name for c in found.columns if c.role == "known"],
        },
        "columns": [
            {
                name: getattr(column, name)
                for name in ("name", "kind", "role", "why", "importance")
            }
            for column in found.columns
        ],
        "leave_one_out": _scores(found),
        "unlabeled_rows": {
            "used": found.helped.used_unlabeled,
            "tried": found.helped.tried,
            **_gain_record(found.helped.gain),
        },
        "suspect_labels": max(found.n_suspects, len(found.suspects)),
    }
    if found.partial is not None:
        record["partial_labels"] = {
            name: None if value != value else value  # NaN
            for name, value in asdict(found.partial).items()
        }
    filled = found.filled
    if isinstance(filled, FilledClasses):
        record["mean_confidence"] = finite(filled.mean_confidence)
        record["classes"] = {
            name: {
                "given": int(filled.given.get(name, 0)),
                "predicted": int(filled.predicted.get(name, 0)),
            }
            for name in {**filled.given, **filled.predicted}
        }
    elif isinstance(filled, FilledNumbers):
        record["mean_width"] = finite(filled.mean_width)
        record["level"] = getattr(found.loo, "level", None)
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
    """Return what ``halfmoon predict`` found as plain data."""
    model, tally, scored = filled.model, filled.tally, filled.scored
    sentence = f"Predicted '{model.target}' in {count(tally.n, 'row')} of {source}."
    record: dict[str, Any] = {
        "source": source,
        "sha256": filled.sha256,
        "target": model.target,
        "task": model.kind,
        "predicted": tally.n,
    }
    if model.kind == "classes":
        record["mean_confidence"] = finite(tally.mean)
        record["classes"] = {str(name): n for name, n in tally.classes.items()}
        how_sure = f"The mean confidence is {percent(tally.mean)}."
    else:
        record["mean_width"] = finite(tally.mean)
        unit = NO_UNIT if model.style_ is None else model.style_.unit
        wide = unit.of(number(tally.mean))
        how_sure = f"The intervals are {wide} wide on average."
    if tally.n:
        sentence = f"{sentence} {how_sure}"
    return record | {
        "known_labels": None if scored is None else scored.record(),
        "summary": [sentence, *([] if scored is None else scored.sentences())],
        "seconds": round(filled.seconds, 1),
        "peak_memory": peak_bytes(),
        "notes": [as_options(str(note)) for note in common_notes(filled)],
    }


def _sentences(found: Findings) -> Iterator[object]:
    yield headline(found)
    if str(tested := verdict(found)):
        yield tested
    yield from rare_classes(found)
    yield help_given(found.helped, found.unit)
    if found.suspects:
        yield suspects(found)


def _scores(found: Findings) -> dict[str, Any]:
    loo = found.loo
    if isinstance(loo, LooClasses):
        expected = expected_accuracy(found)
        score = expected.score
        return {
            "accuracy": _score_record(score)
            | {"tested": score.tested, "right": score.right, "untested": score.alone},
            "expected_accuracy": finite(expected.value),
            "per_class": {
                each.name: {
                    "labels": each.labels,
                    "found": each.found,
                    "false_alarms": each.false_alarms,
                }
                for each in per_class(loo.given, loo.predicted)
            },
        }
    return {
        "r2": _score_record(loo.r_squared(found.predicted)),
        "mean_absolute_error": _score_record(loo.error(found.predicted)),
    }


def _gain_record(gain: UnlabeledGain) -> dict[str, Any]:
    classes = gain.kind == "classes"
    return {
        "measure": "labels recovered" if classes else "mean absolute error",
        "labels": gain.labels,
        "with": finite(gain.with_rows),
        "without": finite(gain.without),
        "difference": finite(gain.difference),
        "low": finite(gain.low),
        "high": finite(gain.high),
    }


def _score_record(score: Score) -> dict[str, Any]:
    low, high = (score.low, score.high) if np.isfinite(score.value) else (np.nan,) * 2
    return score_record(score.value, low, high) | {"naive": finite(score.naive)}
