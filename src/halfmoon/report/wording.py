"""Numbers and results in plain words: the sentences of the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon.report.expectation import expected_accuracy
from halfmoon.report.findings import Findings, Helped, LeftOutClasses, LeftOutNumbers
from halfmoon.report.gain import Gain
from halfmoon.report.number_words import (
    PERCENT,
    alike,
    count,
    duration,
    number,
    percent,
)
from halfmoon.report.partial_wording import (
    filled_within,
    held_within,
    learned_from,
    not_measured,
)
from halfmoon.report.scores import (
    ClassQuality,
    Score,
    accuracy,
    balanced_accuracy,
    mean_absolute_error,
    per_class,
    r_squared,
)
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
    "rare_classes",
    "suspects",
    "verdict",
]

NAME = 60  # characters of a name within a sentence
RULES = 0.75  # share of the commonest class, above which accuracy says little
RARE = 3  # classes that are told of one by one
UNTESTED = (
    "Quality cannot be measured: each class has one label. Label at least two rows of "
    "each class."
)


class Sentence(NamedTuple):
    """A sentence around a name from the table, which the page sets apart."""

    before: str
    name: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}'{self.name}'{self.after}" if self.name else self.before


def range_of(score: Score) -> str:
    """The interval of a share, as in "80–98 %"."""
    low, high = percent(score.low), percent(score.high)
    return f"{low.removesuffix(PERCENT)}–{high}"


def answer(findings: Findings) -> Sentence:
    """The report in one sentence or two."""
    start = f"Filled {count(findings.predicted, 'blank')} in "
    end = f" from {count(findings.labeled, 'label')}. "
    if findings.partial is not None:
        blanks = findings.predicted - findings.partial.narrowed
        start = filled_within(findings.partial, blanks)
        end = f", {learned_from(findings.partial)}. "
        if not_measured(findings):
            return Sentence(
                start, shown(findings.target, NAME), end + not_measured(findings)
            )
    if isinstance(findings.left_out, LeftOutClasses):
        end += _expected_accuracy(findings)
    else:
        end += _expected_error(findings.left_out, findings.predicted)
    return Sentence(start, shown(findings.target, NAME), end)


def _expected_accuracy(findings: Findings) -> str:
    expected = expected_accuracy(findings)
    score = expected.score
    if not expected.measured:
        return UNTESTED if score.alone else "Quality cannot be measured: no label."
    if expected.too_hopeful:
        return (
            f"The filled rows look different from the labeled ones: expect at most "
            f"{percent(expected.confidence)} to be right, the mean confidence, rather "
            f"than the {range_of(score)} that the labeled rows suggest."
        )
    if score.value in (0.0, 1.0):  # "about 100 %" would promise too much
        text = f"Expected accuracy: {range_of(score)}."
    else:
        text = f"Expected accuracy: about {percent(score.value)} ({range_of(score)})."
    if expected.too_sure:
        text += (
            f" The mean confidence of the filled rows, {percent(expected.confidence)}, "
            f"is higher than the labels support: rely on the lower figure."
        )
    return text


def _expected_error(left_out: LeftOutNumbers, filled: int) -> str:
    error = mean_absolute_error(left_out.given, left_out.predicted, filled)
    if not np.isfinite(error.high):
        return "Quality cannot be measured: at least two labels are needed."
    if error.value == 0:
        return "Expected error: about 0; every hidden label was predicted exactly."
    middle, low, high = alike(error.value, error.low, error.high)
    return f"Expected error: about {middle} on average ({low} to {high})."


def verdict(findings: Findings) -> Sentence:
    """How the quality was measured, and how it compares with a naive guess."""
    left_out = findings.left_out
    if findings.partial is not None:
        return Sentence(held_within(findings))
    if isinstance(left_out, LeftOutClasses):
        return _verdict_on_classes(
            accuracy(left_out.given, left_out.predicted, findings.predicted)
        )
    given, predicted = left_out.given, left_out.predicted
    error = mean_absolute_error(given, predicted, findings.predicted)
    r2 = r_squared(given, predicted, findings.predicted)
    if error.tested < 2:
        return Sentence("No label could be hidden and predicted from the others.")
    text = (
        f"Test: each of the {error.tested:,} labels was hidden in turn and predicted "
        f"from the others. Guessing the mean would be off by {number(error.naive)} on "
        f"average."
    )
    if not np.isfinite(r2.value):
        return Sentence(text)
    if r2.value <= 0:
        return Sentence(
            f"{text} R² is {number(r2.value)}: by this measure, the predictions are no "
            f"better than guessing the mean."
        )
    low, high = (f"{end:.2f}".replace("-", "−") for end in (r2.low, r2.high))
    return Sentence(
        f"{text} R² is {r2.value:.2f} ({low} to {high}): the share of the variance "
        f"explained, where 1 is perfect and guessing the mean scores 0."
    )


def _verdict_on_classes(score: Score) -> Sentence:
    if score.tested == 0:
        return Sentence("No label could be hidden and predicted from the others.")
    recovered = f"{score.right:,} ({percent(score.value)}) were recovered"
    if score.right == score.tested:
        recovered = f"all {score.tested:,} were recovered"
    elif score.right < 2:
        recovered = f"{'1' if score.right else 'none'} was recovered"
    alone = ""
    if score.alone:
        those = "is the only one of its class"
        if score.alone > 1:
            those = "are the only ones of their class"
        alone = (
            f" {count(score.alone, 'more label')} {those} and could not be tested: "
            f"label at least two rows of each class."
        )
    naive = round(score.naive * score.tested)
    return Sentence(
        f"Test: each of {score.tested:,} labels was hidden in turn and predicted from "
        f"the others; {recovered}.{alone} Always guessing the most common class, ",
        shown(score.guess, NAME),
        f", would recover {naive:,} ({percent(score.naive)}).",
    )


def rare_classes(findings: Findings) -> list[str]:
    """How well rare classes are found, where one class rules; else nothing."""
    left_out = findings.left_out
    if not isinstance(left_out, LeftOutClasses):
        return []
    score = accuracy(left_out.given, left_out.predicted)
    if not score.naive > RULES:
        return []
    classes = per_class(left_out.given, left_out.predicted)
    rare = [each for each in classes if each.labels > 1 and each.name != score.guess]
    sentences = [_found(each) for each in rare[:RARE]]
    if len(rare) > RARE:
        sentences.append(f"The report lists {len(rare) - RARE:,} more.")
    if rare:
        balanced = percent(balanced_accuracy(classes))
        sentences.append(
            f"On average, {balanced} of each class was recovered (balanced accuracy)."
        )
    return [" ".join(sentences)] if sentences else []


def _found(each: ClassQuality) -> str:
    name = f"'{shown(each.name, NAME)}'"
    found = f"{each.found:,} {'was' if each.found == 1 else 'were'} recovered"
    if each.found == 0:
        found = "none was recovered"
    false = count(each.false_alarms, "other label was", "other labels were")
    if each.false_alarms == 0:
        false = "no other label was"
    return f"Of {each.labels:,} labels {name}, {found}; {false} mistaken for {name}."


def help_given(helped: Helped) -> str:
    """Whether rows without labels helped, and what follows from it."""
    gain = helped.gain
    looking = f"Looking at the {count(gain.rows, 'unlabeled row')}"
    if not np.isfinite(gain.difference):
        return f"There are too few labels to tell whether {looking.lower()} helps."
    not_used = "" if helped.used_unlabeled else ", so the answer does not use them"
    if gain.rows == 1:
        not_used = not_used.replace("them", "it")
    figures = _with_and_without(gain)
    if gain.same:
        return f"{looking} made no difference ({figures}){not_used}."
    if not helped.used_unlabeled:
        if gain.better or gain.chance:
            return f"{looking} made no clear difference ({figures}){not_used}."
        return f"{looking} made predictions worse ({figures}){not_used}."
    if not gain.better:
        chance = "; this could be chance" if gain.chance else ""
        return f"{looking} did not help here ({figures}){chance}."
    if gain.chance:
        return f"{looking} probably helped a little ({figures}); this could be chance."
    return f"{looking} helped ({figures})."


def _with_and_without(gain: Gain) -> str:
    """As in "17 of 18 hidden labels recovered instead of 15"."""
    if gain.kind == "classes":
        recovered = f"{gain.with_rows:,} of {gain.labels:,} hidden labels recovered"
        return recovered + (
            " either way" if gain.same else f" instead of {gain.without:,}"
        )
    with_rows, without = alike(gain.with_rows, gain.without)
    if gain.same:
        return f"hidden labels missed by {without} on average either way"
    return f"hidden labels missed by {with_rows} on average instead of {without}"


def suspects(findings: Findings) -> str:
    """How many labels look wrong."""
    listed = len(findings.suspects)
    n = max(findings.n_suspects, listed)
    labels = findings.labeled
    if findings.partial is not None:
        labels = findings.partial.exact
    some = " or more" if len(findings.left_out.given) < labels else ""
    if n == 1 and not some:
        return "1 label looks wrong, judging by the other rows; the report shows it."
    which = "them" if n == listed else f"the first {listed}"
    return (
        f"{n:,}{some} labels look wrong, judging by the other rows; the report lists "
        f"{which}."
    )
