"""The key figures at the head of the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon.report.findings import (
    FilledClasses,
    Findings,
    LeftOutNumbers,
)
from halfmoon.report.scores import accuracy, coverage, mean_absolute_error, r_squared
from halfmoon.report.wording import PERCENT, count, number, percent, range_of

__all__ = ["Tile", "tiles"]


class Tile(NamedTuple):
    """A figure, what it is, and what to know with it."""

    name: str
    figure: str
    note: str


def tiles(findings: Findings) -> list[Tile]:
    """What a reader wants to know first."""
    first = [
        Tile("Filled", f"{findings.predicted:,}", f"of {count(findings.rows, 'row')}"),
        Tile(
            "Given",
            f"{findings.labeled:,}",
            f"label{'s' * (findings.labeled != 1)} to learn from",
        ),
    ]
    return [*first, *_quality(findings), _help(findings)]


def _quality(findings: Findings) -> list[Tile]:
    left_out, filled = findings.left_out, findings.filled
    if isinstance(left_out, LeftOutNumbers):
        error = mean_absolute_error(left_out.given, left_out.predicted)
        r2 = r_squared(left_out.given, left_out.predicted)
        held = coverage(left_out.given, left_out.low, left_out.high, left_out.level)
        found = [
            Tile(
                "Typical error",
                number(error.value),
                f"the mean is off by {number(error.naive)}",
            ),
            Tile("R²", _two_digits(r2.value), _ends(r2.low, r2.high)),
            Tile(
                "Intervals hold",
                percent(held.value),
                f"of given numbers; {percent(held.naive)} were meant",
            ),
        ]
        return found
    score = accuracy(left_out.given, left_out.predicted)
    naive = f"naive guess {percent(score.naive)}"
    figure, note = percent(score.value), f"{range_of(score)}; {naive}"
    if score.value == 1.0:  # "100 %" alone would promise too much
        low = percent(score.low).removesuffix(PERCENT)
        figure, note = f"{low}–100{PERCENT}", f"all left-out labels right; {naive}"
    found = [Tile("Expected accuracy", figure, note)]
    if isinstance(filled, FilledClasses):
        mean = percent(filled.mean_confidence)
        found.append(Tile("Mean confidence", mean, "of the filled rows"))
    return found


def _help(findings: Findings) -> Tile:
    helped = findings.helped
    used = f"{count(findings.unlabeled_used, 'row')} learned from"
    if helped.used_unlabeled:
        word = "helped" if helped.high < 0 else "used"
        return Tile("Unlabeled rows", word, used)
    why = "they did harm" if helped.low > 0 else "they were of no clear help"
    return Tile("Unlabeled rows", "not used", why)


def _two_digits(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.2f}".replace("-", "−")


def _ends(low: float, high: float) -> str:
    if np.isnan(low) or np.isnan(high):
        return "too few labels to tell"
    if not np.isfinite(low):
        return "one label cannot tell how sure this is"
    return f"{_two_digits(low)} to {_two_digits(high)}; the mean has 0"
