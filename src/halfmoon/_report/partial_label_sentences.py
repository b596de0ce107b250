"""Sentences about labels that are known in part: sets of candidates, or intervals."""

from __future__ import annotations

import numpy as np

from halfmoon._report.findings import Findings, LooClasses, PartialLabels
from halfmoon._report.number_format import count, number, percent
from halfmoon._report.quality_scores import (
    accuracy,
    mean_absolute_error,
    wilson_interval,
)

__all__ = [
    "filled_within",
    "held_within",
    "learned_from",
    "not_measured",
    "one_of",
]

NOT_MEASURED = {
    "sets": "Accuracy cannot be measured: no two rows with a single candidate have "
    "the same class.",
    "intervals": "The error cannot be measured: fewer than two rows have an exact "
    "number.",
}


def filled_within(partial: PartialLabels, blanks: int) -> str:
    """Say what was filled in; the name of the target follows.

    Examples
    --------
    >>> filled_within(PartialLabels("sets", 8, 5, 5, 5, 4), 20)
    'Filled 20 blanks and chose a candidate in 5 rows of '
    """
    rows = count(partial.narrowed, "row")
    within = f"chose a candidate in {rows}"
    if partial.kind == "intervals":
        within = f"chose a number within the interval in {rows}"
    if not partial.narrowed:
        return f"Filled {count(blanks, 'blank')} in "
    return f"Filled {count(blanks, 'blank')} and {within} of "


def learned_from(partial: PartialLabels) -> str:
    """Count the labels of either kind, as in "from 8 labels and 5 sets"."""
    parts = [count(partial.exact, "label")] * (partial.exact > 0)
    parts += [count(partial.partial, one_of(partial))] * (partial.partial > 0)
    return f"from {' and '.join(parts)}"


def one_of(partial: PartialLabels) -> str:
    """Return "set" or "interval"."""
    return partial.kind.removesuffix("s")


def not_measured(findings: Findings) -> str:
    """Say why the quality cannot be measured; empty where it can."""
    partial, loo = findings.partial, findings.loo
    if partial is None:
        return ""
    if isinstance(loo, LooClasses):
        known = np.isfinite(accuracy(loo.given, loo.predicted).value)
    else:
        error = mean_absolute_error(loo.given, loo.predicted)
        known = np.isfinite(error.high)
    if known:
        return ""
    text = NOT_MEASURED[partial.kind]
    if partial.kind == "sets" and partial.tested:
        _, high = wilson_interval(partial.inside, partial.tested)
        text += f" Expect at most {percent(high)} of the blanks to be right."
    return text


def held_within(findings: Findings) -> str:
    """Say how well hidden labels were predicted; empty if none could be hidden."""
    partial, loo = findings.partial, findings.loo
    assert partial is not None
    tests = []
    if isinstance(loo, LooClasses):
        score = accuracy(loo.given, loo.predicted)
        if score.tested:
            tests.append(
                f"Of {count(score.tested, 'label')}, {score.right:,} "
                f"({percent(score.value)}) {'was' if score.right == 1 else 'were'} "
                f"recovered; always guessing the most common class would recover "
                f"{percent(score.naive)}."
            )
    else:
        error = mean_absolute_error(loo.given, loo.predicted)
        if error.tested > 1:
            tests.append(
                f"Guessing the mean of the {error.tested:,} exact numbers would be "
                f"off by {number(error.naive)} on average."
            )
    if partial.tested:
        share = percent(partial.inside / partial.tested)
        tested = count(partial.tested, one_of(partial))
        held = f"Of {tested}, {partial.inside:,} ({share}) held the prediction"
        if partial.kind == "sets":
            tests.append(
                f"{held}; a random class would be in {percent(partial.guess)}."
            )
        else:
            tests.append(
                f"{held}; the mean distance from the interval was "
                f"{number(partial.off)}."
            )
    if not tests:
        return ""
    how = (
        "Test: a fifth of the rows at a time was hidden and predicted from the others."
    )
    return " ".join([how, *tests])
