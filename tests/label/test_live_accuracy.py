"""The accuracy from random rows, and its interval."""

from dataclasses import replace

import numpy as np
import pytest

from halfmoon._label.live_accuracy import live_accuracy, mean_error
from label.random_answers import answer


def test_accuracy_counts_only_random_rows_of_recent_models():
    right = [answer(i, "a", "a") for i in range(8)]
    wrong = [answer(i, "a", "b") for i in range(8, 10)]
    others = [
        answer(20, "a", "b", why="chosen"),
        answer(21, "a", "b", shown=True),
        answer(22, "a", "b", labels=49),  # of a model with less than half the labels
        answer(23, None, "b"),
        answer(24, "a", None),
        replace(answer(0, "a", "b"), id="again"),  # a second person on the same row
    ]
    told = live_accuracy([*right, *wrong, *others], 100, True)
    assert (told.value, told.n) == (0.8, 10)
    # Wilson's interval: Newcombe (1998), 8 of 10.
    assert told.low == pytest.approx(0.4902, abs=1e-4)
    assert told.high == pytest.approx(0.9433, abs=1e-4)
    assert live_accuracy(right[:4], 100, True) is None


def test_accuracy_of_numbers_is_a_mean_error():
    errors = [0.5, 1.5, 1.0, 0.5, 1.5]
    told = live_accuracy(
        [answer(i, 10.0, 10.0 + e) for i, e in enumerate(errors)], 10, False
    )
    assert told.value == pytest.approx(1.0)
    half = 2.776445 * np.sqrt(0.25 / 5)  # Student's quantile with 4 degrees of freedom
    assert told.high == pytest.approx(np.exp(half + 0.75 * half**2), rel=1e-5)
    assert told.low == pytest.approx(np.exp(-half), rel=1e-5)
    words = [answer(i, "many", 1.0) for i in range(5)]  # of an earlier session
    assert live_accuracy(words, 10, False) is None
    exact = live_accuracy([answer(i, 1.0, 1.0) for i in range(5)], 10, False)
    assert (exact.value, exact.low, exact.high) == (0.0, 0.0, 0.0)


def normal(rng, size):
    return np.abs(rng.normal(size=size)), np.sqrt(2 / np.pi)


def lognormal(rng, size):
    return np.exp(rng.normal(size=size)), np.exp(0.5)


def heteroscedastic(rng, size):
    """Normal errors whose deviation differs from row to row, by a factor of e."""
    scale = np.exp(rng.normal(size=size))
    return scale * np.abs(rng.normal(size=size)), np.sqrt(2 / np.pi) * np.exp(0.5)


def laplace(rng, size):
    return rng.exponential(size=size), 1.0


@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("errors", [normal, laplace, lognormal, heteroscedastic])
def test_the_interval_of_the_error_holds_the_truth_in_95_of_100_cases(errors, n):
    draws, truth = errors(np.random.default_rng(n), (4000, n))
    found = np.array([mean_error(each) for each in draws])
    inside = (found[:, 1] <= truth) & (truth <= found[:, 2])
    assert abs(inside.mean() - 0.95) < 0.03


def test_the_interval_of_the_error_stays_finite():
    mean, low, high = mean_error(np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    assert mean == pytest.approx(0.2)
    assert 0 < low < mean < high < 30
