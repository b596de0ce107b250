"""Numbers and results in plain words: the sentences of the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon.report.findings import (
    Findings,
    Helped,
    LeftOutClasses,
)
from halfmoon.report.scores import Score, accuracy, mean_absolute_error, r_squared
from halfmoon.report.shown_text import shown

__all__ = [
    "PERCENT",
    "Sentence",
    "alike",
    "answer",
    "count",
    "duration",
    "help_given",
    "number",
    "percent",
    "range_of",
    "verdict",
]

PERCENT = "\u00a0%"  # on one line with its number
NAME = 60  # characters of a name within a sentence


class Sentence(NamedTuple):
    """A sentence around a name from the table, which the page sets apart."""

    before: str
    name: str = ""
    after: str = ""

    def __str__(self) -> str:
        return "".join(self)


def percent(share: float) -> str:
    r"""As in 94 %; "100 %" and "0 %" only where it is all or nothing.

    Examples
    --------
    >>> " ".join(map(percent, (0.936, 0.9999, 0.004, 1.0))).replace("\u00a0", "")
    '94% 99.99% 0.4% 100%'
    """
    if np.isnan(share):
        return "unknown"
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return text + PERCENT
    return ("less than 0.01" if share < 0.5 else "more than 99.99") + PERCENT


def number(value: float) -> str:
    """Three digits that tell something, and no more.

    Examples
    --------
    >>> number(1234.5), number(0.01234), number(3.0), number(-1.5e-9)
    ('1,234', '0.0123', '3', '−1.5e-09')
    """
    if not np.isfinite(value):
        return "unknown" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0:
        return "0"
    if 1000 <= abs(value) < 1e9:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}"
    return text.replace("-", "−", 1) if value < 0 else text


def alike(*values: float) -> list[str]:
    """Numbers side by side, with as many digits as show that none of them is 0.

    Examples
    --------
    >>> alike(104.2, -298.9, 91.6), alike(0.119, 0.23, 0.0013)
    (['104', '−299', '92'], ['0.119', '0.230', '0.001'])
    """
    known = [abs(value) for value in values if np.isfinite(value) and value != 0]
    if not known or not 1e-4 <= max(known) < 1e9:
        return [number(value) for value in values]
    digits = max(0, 1 - int(np.floor(np.log10(max(known)))))
    digits += sum(min(known) < 0.5 * 10.0 ** -(digits + more) for more in range(3))
    return [
        f"{value:,.{digits}f}".replace("-", "−")
        if np.isfinite(value)
        else number(value)
        for value in values
    ]


def count(n: int, one: str, many: str | None = None) -> str:
    """As in "1 row" and "2,000 rows"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """As in "42 seconds" and "3 minutes 20 seconds"."""
    if seconds < 10:
        return f"{seconds:.1f} seconds"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} seconds"
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    parts = [(hours, "hour"), (minutes, "minute"), (rest if not hours else 0, "second")]
    return " ".join(count(n, unit) for n, unit in parts if n)


def range_of(score: Score) -> str:
    """The interval of a share, as in "80 to 98 %"."""
    low, high = percent(score.low), percent(score.high)
    return f"{low.removesuffix(PERCENT)} to {high}"


def answer(findings: Findings) -> Sentence:
    """The report in one sentence."""
    start = f"{count(findings.predicted, 'blank cell')} of "
    end = f" filled from {findings.labeled:,} given"
    left_out = findings.left_out
    if isinstance(left_out, LeftOutClasses):
        score = accuracy(left_out.given, left_out.predicted)
        if np.isnan(score.value):
            end += ". How often they are right is not known."
        elif score.value == 1.0:  # "about 100 %" would promise too much
            end += f"; {range_of(score)} of them should be right."
        else:
            end += (
                f"; about {percent(score.value)} of them should be right "
                f"({range_of(score)})."
            )
    else:
        error = mean_absolute_error(left_out.given, left_out.predicted)
        if np.isnan(error.value):
            end += ". How far off they are is not known."
        else:
            middle, low, high = alike(error.value, error.low, error.high)
            end += f"; they should be off by about {middle} on average"
            end += f" ({low} to {high})." if np.isfinite(error.high) else "."
    return Sentence(start, shown(findings.target, NAME), end)


def help_given(helped: Helped) -> str:
    """Whether rows without labels helped, and what follows from it."""
    size, low, high = alike(abs(helped.difference), helped.low, helped.high)
    change = f"{size} (95{PERCENT} interval {low} to {high})"
    if not np.isfinite(helped.difference):
        return "Whether unlabeled rows helped could not be told from these labels."
    if helped.difference == 0 == helped.high - helped.low:
        return (
            "Unlabeled rows made no difference to the predictions of left-out labels."
        )
    if helped.used_unlabeled and helped.high < 0:
        return f"Unlabeled rows helped: they lower the {helped.measure} by {change}."
    if helped.used_unlabeled and helped.difference < 0:
        return (
            f"Unlabeled rows seem to help: they lower the {helped.measure} by "
            f"{change}. The interval holds 0, so chance may have a part in it."
        )
    if helped.used_unlabeled:
        return (
            f"Unlabeled rows were used as asked, though they raise the "
            f"{helped.measure} by {change}."
        )
    if helped.low > 0:
        return (
            f"Unlabeled rows did harm: they raise the {helped.measure} by {change}, so "
            f"the answer does not use them."
        )
    way = "lower" if helped.difference < 0 else "raise"
    return (
        f"Unlabeled rows made no clear difference, so the answer does not use them: "
        f"they {way} the {helped.measure} by {change}."
    )


def verdict(findings: Findings) -> Sentence:
    """How the score compares with a naive guess."""
    left_out = findings.left_out
    if isinstance(left_out, LeftOutClasses):
        score = accuracy(left_out.given, left_out.predicted)
        if np.isnan(score.value):
            return Sentence("No label could be predicted without itself.")
        return Sentence(
            f"Each of {count(len(left_out.given), 'given label')} was predicted from "
            f"the others alone, and {percent(score.value)} came out right "
            f"(95{PERCENT} interval {range_of(score)}). Always guessing the commonest "
            f"class, ",
            shown(score.guess, NAME),
            f", would be right for {percent(score.naive)}.",
        )
    error = mean_absolute_error(left_out.given, left_out.predicted)
    r2 = r_squared(left_out.given, left_out.predicted)
    text = (
        f"Each of {count(len(left_out.given), 'given number')} was predicted from the "
        f"others alone, and was off by {number(error.value)} on average; always "
        f"guessing the mean would be off by {number(error.naive)}."
    )
    if not np.isfinite(r2.value):
        return Sentence(text)
    if r2.value <= 0:
        return Sentence(f"{text} R² is {number(r2.value)}: no better than the mean.")
    low, high = (f"{end:.2f}".replace("-", "−") for end in (r2.low, r2.high))
    return Sentence(
        f"{text} R², the part of the variance that is explained, is {r2.value:.2f} "
        f"(95{PERCENT} interval {low} to {high})."
    )
