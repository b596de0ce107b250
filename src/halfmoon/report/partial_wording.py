"""Labels that are known in part, in plain words."""

from __future__ import annotations

import numpy as np

from halfmoon.report.findings import Findings, LeftOutClasses, PartialLabels
from halfmoon.report.number_words import count, number, percent
from halfmoon.report.scores import accuracy, mean_absolute_error, wilson_interval

__all__ = ["filled_within", "held_within", "learned_from", "not_measured"]

NOT_MEASURED = {
    "sets": "Accuracy cannot be measured: no two rows with a single candidate have "
    "the same class.",
    "intervals": "The error cannot be measured: fewer than two rows have an exact "
    "number.",
}


def filled_within(partial: PartialLabels, blanks: int) -> str:
    """What was filled in; the name of the target comes next.

    Examples
    --------
    >>> filled_within(PartialLabels("sets", 8, 5, 5, 5, 4), 20)
    'Filled 20 blanks and chose a candidate in 5 rows of '
    """
    rows = count(partial.narrowed, "row")
    within = f"chose a candidate in {rows}"
    if partial.kind == "intervals":
        within = f"placed a number between its ends in {rows}"
    if not partial.narrowed:
        return f"Filled {count(blanks, 'blank')} in "
    return f"Filled {count(blanks, 'blank')} and {within} of "


def learned_from(partial: PartialLabels) -> str:
    """The labels of either kind, as in "from 8 labels and 5 sets"."""
    known = {"sets": "set", "intervals": "interval"}[partial.kind]
    parts = [count(partial.exact, "label")] * (partial.exact > 0)
    parts += [count(partial.partial, known)] * (partial.partial > 0)
    return f"from {' and '.join(parts)}"


def not_measured(findings: Findings) -> str:
    """Why single labels do not tell the quality; empty where they do."""
    partial, left_out = findings.partial, findings.left_out
    if partial is None:
        return ""
    if isinstance(left_out, LeftOutClasses):
        known = np.isfinite(accuracy(left_out.given, left_out.predicted).value)
    else:
        error = mean_absolute_error(left_out.given, left_out.predicted)
        known = np.isfinite(error.high)
    if known:
        return ""
    text = NOT_MEASURED[partial.kind]
    if partial.kind == "sets" and partial.tested:
        _, high = wilson_interval(partial.inside, partial.tested)
        text += f" Expect at most {percent(high)} of the blanks to be right."
    return text


def held_within(findings: Findings) -> str:
    """How hidden labels did, those that are single and those known in part."""
    partial, left_out = findings.partial, findings.left_out
    assert partial is not None
    tests = []
    if isinstance(left_out, LeftOutClasses):
        score = accuracy(left_out.given, left_out.predicted)
        if score.tested:
            tests.append(
                f"Of {count(score.tested, 'label')}, {score.right:,} "
                f"({percent(score.value)}) {_were(score.right)} recovered; always "
                f"guessing the most common class would recover "
                f"{percent(score.naive)}."
            )
    else:
        error = mean_absolute_error(left_out.given, left_out.predicted)
        if error.tested > 1:
            tests.append(
                f"Guessing the mean of the {error.tested:,} exact numbers would be "
                f"off by {number(error.naive)} on average."
            )
    if partial.tested:
        share = percent(partial.inside / partial.tested)
        known = "set" if partial.kind == "sets" else "interval"
        held = (
            f"Of {count(partial.tested, known)}, {partial.inside:,} ({share}) held "
            f"the prediction"
        )
        if partial.kind == "sets":
            tests.append(
                f"{held}; a random class would be in {percent(partial.guess)}."
            )
        else:
            tests.append(f"{held}; on average it was {number(partial.off)} away.")
    if not tests:
        return "No label could be hidden and predicted from the others."
    how = (
        "Test: a fifth of the rows at a time was hidden and predicted from the others."
    )
    return " ".join([how, *tests])


def _were(n: int) -> str:
    return "was" if n == 1 else "were"
