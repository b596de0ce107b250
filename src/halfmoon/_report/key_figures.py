"""The key figures at the top of the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._number_format import (
    Unit,
    count,
    format_aligned,
    number,
    percent,
    percent_range,
    two_decimals,
)
from halfmoon._report.findings import (
    FilledClasses,
    Findings,
    LooNumbers,
    expected_accuracy,
)
from halfmoon._report.quality_scores import Expectation

__all__ = ["KeyFigure", "key_figures"]

MAX_UNIT = 8  # characters beside a figure


class KeyFigure(NamedTuple):
    """A figure with its name and a note."""

    name: str
    figure: str
    note: str


def key_figures(findings: Findings) -> list[KeyFigure]:
    """Return what a reader wants to know first."""
    partial, rows = findings.partial, count(findings.rows, "row")
    labels, to_learn_from = findings.labeled, "to learn from"
    within = []
    if partial is not None:
        labels = partial.exact
        to_learn_from += f", and {count(partial.partial, partial.one)}"
        if partial.tested:
            share = percent(partial.inside / partial.tested)
            hidden = f"of {count(partial.tested, f'hidden {partial.one}')}"
            within = [KeyFigure("Predicted within", share, hidden)]
    if isinstance(findings.loo, LooNumbers):
        quality = _of_numbers(findings.loo, findings.predicted, findings.unit)
    else:
        quality = _of_classes(findings)
    unmeasured = findings.clumped and findings.loo.independent == 1
    differ = findings.shifted or findings.in_order or unmeasured
    if differ and quality[0].figure != "unknown":
        note = f"{quality[0].note}; the filled rows differ, so expect worse"
        quality[0] = quality[0]._replace(note=note)
    return [
        KeyFigure("Filled", f"{findings.predicted:,}", f"of {rows}"),
        KeyFigure("Labels", f"{labels:,}", to_learn_from),
        *quality,
        *within,
        _unlabeled_rows(findings),
    ]


def _of_numbers(loo: LooNumbers, filled: int, unit: Unit) -> list[KeyFigure]:
    error, r2 = loo.error(filled), loo.r_squared(filled)
    figure, low, high = format_aligned(error.value, error.low, error.high)
    note = f"{low} to {high}; guessing the mean: {number(error.naive)}"
    if len(unit.after) <= MAX_UNIT:
        figure = unit.of(figure)
    else:
        note = f"{unit.after.strip()}; {note}"
    if not np.isfinite(error.high):
        figure, note = "unknown", "not measured: too few labels"
    r2_note = "too few labels to tell"
    if np.isfinite([r2.low, r2.high]).all():
        low, high = two_decimals(r2.low), two_decimals(r2.high)
        r2_note = f"{low} to {high}; guessing the mean: 0"
    low_share, high_share = loo.coverage(filled)
    held, level = "unknown", f"too few labels; the aim is {percent(loo.level)}"
    if np.isfinite(low_share):
        held = percent_range(low_share, high_share)
        level = f"of the true numbers to expect; the aim is {percent(loo.level)}"
    return [
        KeyFigure("Expected error", figure, note),
        KeyFigure("R²", two_decimals(r2.value), r2_note),
        KeyFigure("Within interval", held, level),
    ]


def _of_classes(findings: Findings) -> list[KeyFigure]:
    expected, filled = expected_accuracy(findings), findings.filled
    found = [KeyFigure("Expected accuracy", *_accuracy(expected))]
    if isinstance(filled, FilledClasses):
        note = "of the filled rows"
        if not expected.measured:
            note += "; this could not be tested"
        elif expected.too_sure:
            note += "; more than the labels support"
        found.append(
            KeyFigure("Mean confidence", percent(filled.mean_confidence), note)
        )
    return found


def _accuracy(expected: Expectation) -> tuple[str, str]:
    """Return the figure and the note."""
    score = expected.score
    if not expected.measured:
        why = "each class has only one label" if score.alone else "there are no labels"
        return "unknown", f"not measured: {why}"
    interval = percent_range(score.low, score.high)
    if expected.too_hopeful:
        note = f"labels suggest {interval}, but the filled rows look different"
        return f"at most {percent(expected.confidence)}", note
    naive = f"always guessing one class: {percent(score.naive)}"
    if score.is_vague:
        return interval, f"too few labels to say more; {naive}"
    if score.value in (0.0, 1.0):  # "100 %" alone would promise too much
        all_or_none = "all hidden labels" if score.value else "no hidden label"
        return interval, f"{all_or_none} recovered; {naive}"
    return percent(score.value), f"{interval}; {naive}"


def _unlabeled_rows(findings: Findings) -> KeyFigure:
    gain, is_clear = findings.helped.gain, not findings.helped.gain.chance
    if findings.helped.used_unlabeled:
        figure = "helped" if is_clear and gain.better and not gain.same else "used"
        note = f"{count(findings.unlabeled_used, 'row')} without a label"
        return KeyFigure("Unlabeled rows", figure, note)
    if not findings.helped.tried:
        note = "there was no time to try them"
    elif np.isnan(gain.difference):
        few = "too few labels" if gain.labels < 2 else "labels in clumps"
        note = f"whether they help is unknown: {few}"
    elif gain.same:
        note = "they made no difference in the test"
    elif is_clear and not gain.better:
        note = "they made predictions worse"
    else:
        note = "they made no clear difference in the test"
    return KeyFigure("Unlabeled rows", "not used", note)
