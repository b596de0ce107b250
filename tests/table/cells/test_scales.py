"""Words in an order."""

import pytest

from halfmoon.table._cells.scales import CYCLES, SCALES, in_known_order, steps_of


@pytest.mark.parametrize(
    "words",
    [
        "never | rarely | sometimes | about half the time",
        "strongly disagree | disagree | somewhat disagree | neutral | agree",
        "disagree | neither agree nor disagree | somewhat agree | agree | fully agree",
        "extremely dissatisfied | somewhat dissatisfied | neutral | satisfied",
        "not at all likely | not so likely | somewhat likely | very likely",
        "not at all | slightly | moderately | very | extremely",
        "unimportant | slightly important | important | very important",
        "extremely unlikely | somewhat unlikely | somewhat likely",
        "0 - not at all likely | 1 | 2 | 9 | 10 - extremely likely",
        "1 (lowest) | 2 | 3 (highest)",
        "(1) never | (2) rarely | (3) often",
        "1=never | 2=rarely | 3=always",
        "3. disagree | 2. neutral | 1. agree",
        "b- | b | a",
    ],
)
def test_scales(words):
    steps = words.split(" | ")
    assert steps_of([step.title() for step in reversed(steps)]) == steps


@pytest.mark.parametrize(
    "words",
    [
        "yes | no | maybe",
        "low | high",
        "a | b | c",
        "1. red | 2. green | 3. blue",
        "1 cat | 1 dog | 2",
        "slightly red | somewhat red | very blue",
        "slightly ill | a little ill | very ill",
        "spam | not spam | phishing",
        "jan | feb | mar",
        "2020 | 2021 | 2022 (est)",
    ],
)
def test_no_scales(words):
    assert steps_of(words.split(" | ")) == []


def test_numbered_words_for_no_answer_are_no_step():
    cells = ["1 - Never", "2 - Rarely", "3 - Always", "99 - Don't know"]
    assert steps_of(cells) == ["1 - never", "2 - rarely", "3 - always"]


def test_spellings_of_a_step_are_one():
    steps = ["disagree", "neutral", "agree"]
    assert steps_of(["Agree", "AGREE ", "Neutral", "disagree"]) == steps


def test_every_known_scale_is_found_again():
    for scale in (*SCALES, *CYCLES):
        words = [step[-1] for step in scale]
        assert in_known_order(set(words), (*SCALES, *CYCLES)) == words
