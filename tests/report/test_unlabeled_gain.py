"""The gain of unlabeled rows, in the units of the headline."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest, ttest_rel

import halfmoon
from halfmoon._report.key_figures import key_figures
from halfmoon._report.report_page import render
from halfmoon._report.sentences import help_given
from halfmoon._report.unlabeled_gain import (
    gain_of_classes,
    gain_of_numbers,
    tried_unlabeled,
)
from halfmoon._selection.comparison import SUMMARIES


def test_numbers_are_compared_in_pairs(rng):
    y = rng.normal(size=30)
    better, worse = y + 0.1 * rng.normal(size=30), y + rng.normal(size=30)
    gain = gain_of_numbers(y, better, worse, rows=7)
    errors = np.abs(better - y), np.abs(worse - y)
    assert_allclose([gain.with_rows, gain.without], [e.mean() for e in errors])
    interval = ttest_rel(*errors).confidence_interval(0.95)
    assert_allclose([gain.low, gain.high], interval)
    assert gain.difference < 0  # with minus without, and less is better
    assert (gain.better, gain.chance, gain.same) == (True, False, False)
    back = gain_of_numbers(y, worse, better, rows=7)
    assert_allclose([back.low, back.high], [-gain.high, -gain.low])
    assert (back.better, back.chance, back.same) == (False, False, False)


def test_differences_within_rounding_are_no_difference(rng):
    y = rng.normal(1_000, 300, size=30)
    first = y + rng.normal(0, 100, 30)
    gain = gain_of_numbers(y, first + 1e-9, first, rows=7)
    assert gain.same
    assert not gain_of_numbers(y, 0.5 * (first + y), first, rows=7).same
    # 404.9 and 405.1 differ in the second digit, but both are printed as 405.
    near = gain_of_numbers(np.zeros(4), np.full(4, 404.9), np.full(4, 405.1), rows=7)
    assert near.same


@pytest.mark.parametrize(("better", "worse"), [(0, 4), (0, 6), (5, 0), (8, 1), (3, 3)])
def test_the_interval_of_classes_agrees_with_the_sign_test(better, worse):
    given = ["a"] * 60 + ["b"] * 60
    one, other = [given.copy() for _ in range(2)]
    other[:better] = ["b"] * better
    one[60 : 60 + worse] = ["a"] * worse
    gain = gain_of_classes(given, one, other, rows=5)
    assert gain.difference == (better - worse) / 120
    assert gain.low <= gain.difference <= gain.high
    assert gain.chance == (binomtest(better, better + worse).pvalue > 0.05)


def test_only_labels_of_a_class_do_not_count():
    given = ["a"] * 6 + ["b"] * 6 + ["c"]
    without = ["b"] * 6 + ["b"] * 6 + ["a"]
    gain = gain_of_classes(given, [*given[:12], "a"], without, rows=3)
    assert (gain.labels, gain.with_rows, gain.without) == (12, 12, 6)
    assert gain.difference == 0.5  # of the share recovered, and more is better
    assert (gain.better, gain.chance, gain.same) == (True, False, False)
    back = gain_of_classes(given, without, [*given[:12], "a"], rows=3)
    assert (back.difference, back.better) == (-0.5, False)
    assert_allclose([back.low, back.high], [-gain.high, -gain.low])


@pytest.mark.parametrize("n", [0, 1])
def test_gain_is_unknown_with_too_few_labels(n):
    numbers = gain_of_numbers(np.ones(n), np.zeros(n), np.zeros(n), rows=3)
    classes = gain_of_classes(["a"] * n, ["b"] * n, ["a"] * n, rows=3)
    for gain in (numbers, classes):
        assert np.isnan([gain.difference, gain.low, gain.high]).all()
        assert gain.chance


def test_models_without_time_did_not_make_no_difference():
    frame = pd.DataFrame({"x": np.arange(60.0) ** 2, "y": [*"ab" * 10, *[None] * 40]})
    found = halfmoon.fill(frame, "y", budget=1e-9).findings
    assert not found.helped.tried
    assert np.isnan(found.helped.gain.difference)
    assert help_given(found.helped) == (
        "There was no time to try models that use the 40 unlabeled rows, so "
        "predictions use the labels alone. With a larger budget they may improve."
    )
    figure = key_figures(found)[-1]
    assert (figure.figure, figure.note) == ("not used", "there was no time to try them")
    page = render(found)
    assert "Two models were fitted" not in page
    assert "There was no time" in page


def test_summaries_are_no_models():
    names = ["supervised twin", "average of all", "linear"]
    assert set(names[:2]) == set(SUMMARIES)
    for unlabeled in (False, True):
        comparison = {"candidate": names, "unlabeled": [False, True, unlabeled]}
        assert tried_unlabeled(comparison) == unlabeled
