"""The key figures at the head of the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon.report.expectation import Expectation, expected_accuracy
from halfmoon.report.findings import (
    FilledClasses,
    Findings,
    LeftOutNumbers,
)
from halfmoon.report.scores import coverage, mean_absolute_error, r_squared
from halfmoon.report.wording import alike, count, number, percent, range_of

__all__ = ["Tile", "tiles"]


class Tile(NamedTuple):
    """A figure, what it is, and what to know with it."""

    name: str
    figure: str
    note: str


def tiles(findings: Findings) -> list[Tile]:
    """What a reader wants to know first."""
    partial, labels = (
        findings.partial,
        Tile("Labels", f"{findings.labeled:,}", "to learn from"),
    )
    if partial is not None:
        known = "set" if partial.kind == "sets" else "interval"
        also = f"to learn from, and {count(partial.partial, known)}"
        labels = Tile("Labels", f"{partial.exact:,}", also)
    first = [
        Tile("Filled", f"{findings.predicted:,}", f"of {count(findings.rows, 'row')}"),
        labels,
    ]
    return [*first, *_quality(findings), *_within(findings), _help(findings)]


def _within(findings: Findings) -> list[Tile]:
    """Of labels that are known in part."""
    partial = findings.partial
    if partial is None or not partial.tested:
        return []
    share = percent(partial.inside / partial.tested)
    known = count(partial.tested, "set" if partial.kind == "sets" else "interval")
    return [Tile("Predicted within", share, f"of {known} when hidden")]


def _quality(findings: Findings) -> list[Tile]:
    left_out, filled = findings.left_out, findings.filled
    if isinstance(left_out, LeftOutNumbers):
        given, predicted, m = left_out.given, left_out.predicted, findings.predicted
        error = mean_absolute_error(given, predicted, m)
        r2 = r_squared(given, predicted, m)
        held = coverage(left_out.given, left_out.low, left_out.high, left_out.level)
        middle, low, high = alike(error.value, error.low, error.high)
        expected_error = Tile(
            "Expected error",
            middle,
            f"{low} to {high}; guessing the mean: {number(error.naive)}",
        )
        if not np.isfinite(error.high):
            expected_error = Tile(
                "Expected error", "unknown", "not measured: too few labels"
            )
        return [
            expected_error,
            Tile("R²", _two_digits(r2.value), _ends(r2.low, r2.high)),
            Tile(
                "Intervals hold",
                percent(held.value),
                f"of the labels; {percent(held.naive)} intended",
            ),
        ]
    expected = expected_accuracy(findings)
    found = [_accuracy(expected)]
    if isinstance(filled, FilledClasses):
        note = "of the filled rows"
        if expected.too_sure:
            note += "; more than the labels support"
        found.append(Tile("Mean confidence", percent(filled.mean_confidence), note))
    return found


def _accuracy(expected: Expectation) -> Tile:
    name, score = "Expected accuracy", expected.score
    if not expected.measured:
        why = "each class has one label" if score.alone else "no label"
        return Tile(name, "unknown", f"not measured: {why}")
    if expected.too_hopeful:
        return Tile(
            name,
            f"at most {percent(expected.confidence)}",
            f"labels suggest {range_of(score)}, but the filled rows look different",
        )
    naive = f"always guessing one class: {percent(score.naive)}"
    if score.value == 0.0:
        return Tile(name, range_of(score), f"no hidden label recovered; {naive}")
    if score.value == 1.0:  # "100 %" alone would promise too much
        return Tile(name, range_of(score), f"all hidden labels recovered; {naive}")
    return Tile(name, percent(score.value), f"{range_of(score)}; {naive}")


def _help(findings: Findings) -> Tile:
    helped, gain = findings.helped, findings.helped.gain
    clear = not gain.same and not gain.chance
    if helped.used_unlabeled:
        word = "helped" if clear and gain.better else "used"
        looked_at = f"{count(findings.unlabeled_used, 'row')} looked at"
        return Tile("Unlabeled rows", word, looked_at)
    harm = clear and not gain.better
    why = "they made predictions worse" if harm else "they made no clear difference"
    if np.isnan(gain.difference):
        why = "too few labels to tell whether they help"
    return Tile("Unlabeled rows", "not used", why)


def _two_digits(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.2f}".replace("-", "−")


def _ends(low: float, high: float) -> str:
    if not (np.isfinite(low) and np.isfinite(high)):
        return "too few labels to tell"
    return f"{_two_digits(low)} to {_two_digits(high)}; guessing the mean: 0"
