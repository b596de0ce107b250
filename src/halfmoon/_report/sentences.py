"""The sentences of the report and of the summary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._number_format import (
    NO_UNIT,
    Unit,
    count,
    format_aligned,
    number,
    percent,
    percent_range,
    row_numbers,
    two_decimals,
)
from halfmoon._report.findings import (
    Findings,
    LooClasses,
    LooNumbers,
    PartialLabels,
    expected_accuracy,
)
from halfmoon._report.quality_scores import (
    ClassQuality,
    Score,
    balanced_accuracy,
    per_class,
    wilson_interval,
)
from halfmoon._report.safe_text import safe_text
from halfmoon._report.unlabeled_gain import Helped, UnlabeledGain

__all__ = [
    "Sentence",
    "balanced",
    "headline",
    "help_given",
    "rare_classes",
    "suspects",
    "verdict",
]

MAX_NAME = 60  # characters of a name within a sentence
COMMON = 0.75  # share of the most common class above which accuracy says little
MAX_RARE = 3  # rare classes that are listed
UNTESTED = "each class has only one label. Label at least two rows of each class."


class Sentence(NamedTuple):
    """A sentence with a name from the table in it, which the page isolates."""

    before: str
    name: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}'{self.name}'{self.after}" if self.name else self.before


def headline(findings: Findings) -> Sentence:
    """Return the headline: what was filled in, and how good it should be."""
    partial, blanks, filled = findings.partial, findings.predicted, "in"
    labels = f" from {count(findings.labeled, 'label')}"
    if partial is not None:
        blanks -= partial.narrowed
        parts = [(partial.exact, "label"), (partial.partial, partial.one)]
        labels = f", from {' and '.join(count(n, one) for n, one in parts if n)}"
        if partial.narrowed:
            rows = count(partial.narrowed, "row")
            one = (
                "candidate" if partial.kind == "sets" else "number within the interval"
            )
            filled = f"and chose a {one} in {rows} of"
    return Sentence(
        f"Filled {count(blanks, 'blank')} {filled} ",
        safe_text(findings.target, MAX_NAME),
        f"{labels}. {_expected_quality(findings)}",
    )


def _expected_quality(findings: Findings) -> str:
    loo = findings.loo
    if isinstance(loo, LooNumbers):
        error = loo.error(findings.predicted)
        if not np.isfinite(error.high):
            return _not_measured(findings.partial, "at least three labels are needed.")
        if error.value == 0:
            text = "Expected error: about 0; every hidden label was predicted exactly."
        else:
            middle, low, high = format_aligned(error.value, error.low, error.high)
            about = findings.unit.of(middle)
            text = f"Expected error: about {about} on average ({low} to {high})."
        return text + _unlike_the_labeled(findings)
    expected = expected_accuracy(findings)
    score = expected.score
    if not expected.measured:
        why = UNTESTED if score.alone else "there are no labels."
        return _not_measured(findings.partial, why)
    span = percent_range(score.low, score.high)
    if expected.too_hopeful:
        return (
            f"The filled rows look different from the labeled ones. Expect at most "
            f"{percent(expected.confidence)} to be right, which is the mean "
            f"confidence, although the labels alone suggest {span}."
        )
    if score.is_vague:
        text = f"Expected accuracy: {span}. The labels are too few to say more."
    elif score.value in (0.0, 1.0):  # "about 100 %" would promise too much
        text = f"Expected accuracy: {span}."
    else:
        text = f"Expected accuracy: about {percent(score.value)} ({span})."
    if expected.too_sure:
        text += (
            f" The mean confidence of the filled rows, {percent(expected.confidence)}, "
            f"is higher than the labels support. Rely on the lower figure."
        )
    return text + _unlike_the_labeled(findings)


def _not_measured(partial: PartialLabels | None, why: str) -> str:
    """Say that the quality cannot be measured, and why."""
    if partial is None:
        return f"Quality cannot be measured: {why}"
    if partial.kind == "intervals":
        return "The error cannot be measured: fewer than two rows have an exact number."
    text = (
        "Accuracy cannot be measured: no two rows with a single candidate have the "
        "same class."
    )
    if partial.tested:
        _, high = wilson_interval(partial.inside, partial.tested)
        text += f" Expect at most {percent(high)} of the blanks to be right."
    return text


def _unlike_the_labeled(findings: Findings) -> str:
    """Limit the claim if the filled rows are not like those it was measured on."""
    if findings.clumped and findings.loo.independent == 1:
        return (
            " But this was measured on the labeled rows, which are much closer to each "
            "other than the filled rows are to them: expect worse."
        )
    measured = ""
    if findings.clumped:
        measured = " Labels of similar rows were hidden together to measure this."
    if findings.in_order:
        return (
            f"{measured} But labels change with the row number, and most filled rows "
            f"come before or after all labeled ones: expect worse."
        )
    if not findings.shifted:
        return measured
    first, more = safe_text(findings.shifted[0], MAX_NAME), len(findings.shifted) - 1
    others = f" and {count(more, 'other column')}" if more else ""
    differ = "this was measured on the labeled rows, and the filled ones differ a lot "
    differ += "from them"
    if findings.clumped:
        differ = "the filled rows differ a lot from the labeled ones"
    return f"{measured} But {differ} in '{first}'{others}: expect worse."


def verdict(findings: Findings) -> Sentence:
    """Say how the quality was measured, and compare it with a naive guess.

    The sentence is empty if no label could be hidden and predicted from the others.
    """
    loo, filled = findings.loo, findings.predicted
    if findings.partial is not None:
        return Sentence(_verdict_on_partial(findings.partial, loo))
    if isinstance(loo, LooClasses):
        return _verdict_on_classes(loo.accuracy(filled), _how(loo))
    error, r2 = loo.error(filled), loo.r_squared(filled)
    if not np.isfinite(error.high):
        return Sentence("")
    text = (
        f"Test: each of {error.tested:,} labels was hidden {_how(loo)} and "
        f"predicted from the others. Guessing the mean would be off by "
        f"{findings.unit.of(number(error.naive))} on average."
    )
    if not np.isfinite(r2.value):
        return Sentence(text)
    middle, low, high = map(two_decimals, (r2.value, r2.low, r2.high))
    meaning = ", where 1 is perfect and guessing the mean scores 0."
    if r2.value <= 0:
        meaning = ": in this test, no better than guessing the mean, which scores 0."
    return Sentence(f"{text} R² is {middle} ({low} to {high}){meaning}")


def _how(loo: LooClasses | LooNumbers) -> str:
    return "in turn" if loo.independent == 1 else "together with those of similar rows"


def _verdict_on_classes(score: Score, how: str) -> Sentence:
    if score.tested == 0:
        return Sentence("")
    recovered = (
        f"{score.right:,} ({percent(score.right / score.tested)}) were recovered"
    )
    if score.right == score.tested:
        every = "both" if score.tested == 2 else f"all {score.tested:,}"
        recovered = f"{every} were recovered"
    elif score.right < 2:
        recovered = f"{'1' if score.right else 'none'} was recovered"
    alone = ""
    if score.alone:
        only, they = ("is the only one of its", "it counts")
        if score.alone > 1:
            only, they = ("are the only ones of their", "they count")
        alone = (
            f" {count(score.alone, 'more label')} {only} class and could not be "
            f"tested, so {they} as missed in the expected accuracy: label at least two "
            f"rows of each class."
        )
    # `rare_classes` says more where one class is very common.
    worse = score.right <= score.guessed and score.naive <= COMMON
    so = ": in this test, the predictions are no better" if worse else ""
    one = "one class, such as" if score.tied else "the most common class,"
    return Sentence(
        f"Test: each of {score.tested:,} labels was hidden {how} and predicted from "
        f"the others; {recovered}.{alone} Always guessing {one} ",
        safe_text(score.guess, MAX_NAME),
        f", would recover {score.guessed:,} "
        f"({percent(score.guessed / score.tested)}){so}.",
    )


def _verdict_on_partial(partial: PartialLabels, loo: LooClasses | LooNumbers) -> str:
    tests = []
    if isinstance(loo, LooNumbers):
        error = loo.error()
        if error.tested > 1:
            tests.append(
                f"Guessing the mean of the {error.tested:,} exact numbers would be "
                f"off by {number(error.naive)} on average."
            )
    elif (score := loo.accuracy()).tested:
        tests.append(
            f"Of {count(score.tested, 'label')}, {score.right:,} "
            f"({percent(score.right / score.tested)}) "
            f"{'was' if score.right == 1 else 'were'} "
            f"recovered; always guessing the most common class would recover "
            f"{percent(score.guessed / score.tested)}."
        )
    if partial.tested:
        share = percent(partial.inside / partial.tested)
        naive = f"a random class would be in {percent(partial.guess)}"
        if partial.kind == "intervals":
            naive = f"the mean distance from the interval was {number(partial.off)}"
        tests.append(
            f"Of {count(partial.tested, partial.one)}, {partial.inside:,} ({share}) "
            f"held the prediction; {naive}."
        )
    if not tests:
        return ""
    how = (
        "Test: a fifth of the rows at a time was hidden and predicted from the others."
    )
    return " ".join([how, *tests])


def rare_classes(findings: Findings) -> list[str]:
    """Say how well rare classes are found, if one class is very common."""
    loo = findings.loo
    if not isinstance(loo, LooClasses) or not (balance := balanced(loo)):
        return []
    _, *classes = per_class(loo.given, loo.predicted)
    rare = [each for each in classes if each.labels > 1]
    sentences = [_found(each) for each in rare[:MAX_RARE]]
    if len(rare) > MAX_RARE:
        rest = len(rare) - MAX_RARE
        sentences.append(f"{count(rest, 'more class is', 'more classes are')} rare.")
    return [" ".join([*sentences, balance])]


def balanced(loo: LooClasses) -> str:
    """Return the balanced accuracy as a sentence; empty unless one class is common."""
    tested = [x for x in per_class(loo.given, loo.predicted) if x.labels > 1]
    if len(tested) < 2 or not loo.accuracy().naive > COMMON:
        return ""
    return (
        f"One class is very common, so accuracy says little: on average, "
        f"{percent(balanced_accuracy(tested))} of each class was recovered (balanced "
        f"accuracy), and always guessing the most common class would recover "
        f"{percent(1 / len(tested))}."
    )


def _found(each: ClassQuality) -> str:
    name = f"'{safe_text(each.name, MAX_NAME)}'"
    found = f"{each.found:,} {'was' if each.found == 1 else 'were'} recovered"
    if each.found == 0:
        found = "none was recovered"
    false = count(each.false_alarms, "other label was", "other labels were")
    if each.false_alarms == 0:
        false = "no other label was"
    return f"Of {each.labels:,} labels {name}, {found}; {false} mistaken for {name}."


def help_given(helped: Helped, unit: Unit = NO_UNIT) -> str:
    """Say whether unlabeled rows helped; `unit` is that of a target of numbers."""
    gain = helped.gain
    rows = f"the {gain.rows:,} unlabeled rows" if gain.rows > 1 else "the unlabeled row"
    if not helped.tried:
        return (
            f"There was no time to try models that use {rows}, so predictions use the "
            f"labels alone. With a larger budget they may improve."
        )
    if not np.isfinite(gain.difference):
        if gain.labels < 2:
            return f"There are too few labels to tell whether using {rows} helps."
        use = "use them" if helped.used_unlabeled else "use the labels alone"
        return f"Labels in clumps cannot tell whether {rows} help; predictions {use}."
    figures = _with_and_without(gain, unit)
    if not helped.used_unlabeled:
        effect = "made no clear difference in the test"
        if gain.same:
            effect = "made no difference in the test"
        elif not (gain.better or gain.chance):
            effect = "made predictions worse"
        return (
            f"Using {rows} {effect} ({figures}), so predictions use the labels alone."
        )
    if gain.same or (gain.chance and not gain.better):
        chance = "" if gain.same else ", which could be chance"
        return (
            f"Predictions use {rows}, but the test cannot show whether that helps "
            f"({figures}{chance})."
        )
    if not gain.better:
        return f"Using {rows} did not help in the test ({figures})."
    if gain.chance:
        return f"Using {rows} probably helped ({figures}); this could be chance."
    return f"Using {rows} helped ({figures})."


def _with_and_without(gain: UnlabeledGain, unit: Unit) -> str:
    """Format the figures, as in "17 of 18 hidden labels recovered instead of 15"."""
    if gain.kind == "classes":
        recovered = f"{gain.with_rows:,} of {gain.labels:,} hidden labels recovered"
        return recovered + (
            " either way" if gain.same else f" instead of {gain.without:,}"
        )
    with_rows, without = format_aligned(gain.with_rows, gain.without)
    if gain.same:
        return f"hidden labels missed by {unit.of(without)} on average either way"
    with_rows = unit.of(with_rows)
    return f"hidden labels missed by {with_rows} on average instead of {without}"


def suspects(findings: Findings) -> str:
    """Say how many labels look wrong."""
    n, partial = findings.suspected, findings.partial
    labels = findings.labeled if partial is None else partial.exact
    more = " or more" if len(findings.loo.given) < labels else ""
    rows = row_numbers([row.number for row in findings.suspects], in_all=n)
    look = "label looks" if n == 1 and not more else "labels look"
    return f"{n:,}{more} {look} wrong, judging by the other rows: {rows}."
