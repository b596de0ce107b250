"""Accuracy from random rows, what more labels would gain, and when to stop."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from halfmoon._label import labeling_progress
from halfmoon._label.answers import Answer
from halfmoon._label.live_accuracy import LiveAccuracy, live_accuracy, mean_error
from halfmoon._label.more_labels_gain import MoreLabelsGain
from halfmoon._label.refit import RefitResult
from small_tables import two_groups


def answer(i, value, predicted, labels=100, **more):
    given = {"why": "random", "shown": False, "predicted": predicted, "labels": labels}
    return Answer(f"i{i}", ("h", f"k{i}", i), value, **(given | more))


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


def test_the_gain_of_more_labels_fits_the_accuracy_that_is_shown():
    forecast = MoreLabelsGain(0.06, 0.1, True, error=0.12)  # half of the error
    all_right = LiveAccuracy(1.0, 0.72, 1.0, 10, True)
    found = forecast.measured(all_right)
    assert found.gain == 0.0
    assert found.high == pytest.approx(0.1)  # not above its own upper end
    found = forecast.measured(LiveAccuracy(0.95, 0.94, 0.96, 900, True))
    assert found.gain == pytest.approx(0.5 * 0.05)
    assert found.high == pytest.approx(0.1 / 0.12 * 0.06)
    # Nothing gains more than the whole error.
    found = MoreLabelsGain(0.2, 0.3, True, error=0.1).measured(all_right)
    assert (found.gain, found.high) == (0.0, pytest.approx(0.28))
    for same in (forecast, MoreLabelsGain(0.1, 0.2, False)):
        assert same.measured(None) == same
    numbers = MoreLabelsGain(0.1, 0.2, False)
    assert numbers.measured(LiveAccuracy(3.0, 2.0, 4.0, 20, False)) == numbers


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


def test_few_random_rows_neither_correct_a_forecast_nor_stop(session, monkeypatch):
    labeling = session(two_groups(n=80, labels=8)[0])
    gain = MoreLabelsGain(0.05, 0.08, True, error=0.1)
    labeling.questions.refit = RefitResult(8, gain=gain)
    said = []
    for n in (9, 10):
        found = LiveAccuracy(1.0, 0.7, 1.0, n, True)
        monkeypatch.setattr(labeling_progress, "live_accuracy", lambda *_, x=found: x)
        told = labeling.progress("ann")
        said.append((told["forecast"], told["stop"] != ""))
    few, enough = said
    assert few == ("50 more labels would gain about 5 points of accuracy.", False)
    assert enough == ("50 more labels would gain less than 1 point of accuracy.", True)


def stops(session, X, y, answers, every=15):
    """Answer as the truth says; return what the page says about stopping."""
    names = [f"x{j}" for j in range(X.shape[1])]
    rows = [[*names, "side"], *([*row, ""] for row in X.round(3).tolist())]
    labeling, said = session(rows), []
    while len(labeling.answers) < answers:
        labeling.refit()
        for question in labeling.next_questions("ann", every):
            number = question["row"]
            body = {"id": f"i{number}", "row": number, "value": str(y[number])}
            labeling.answer({**body, "who": "ann", "seconds": 1.0})
        said.append(labeling.progress("ann")["stop"])
    return said


def test_the_page_says_stop_on_an_easy_table(session):
    X, y = load_wine(return_X_y=True)
    said = stops(session, X, y, answers=120)
    assert said[:4] == [""] * 4
    assert any(text.startswith("You can stop: 50 more labels") for text in said)


def test_the_page_does_not_say_stop_on_a_hard_table_with_few_answers(session):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=200) > 0, "a", "b")
    assert set(stops(session, X, y, answers=90)) == {""}


@pytest.mark.parametrize(
    ("gain", "found", "is_small"),
    [
        ((0.004, 0.05, True), (0.9, 0.7, 0.97, 20, True), True),
        ((0.02, 0.05, True), (0.9, 0.7, 0.97, 20, True), False),
        ((0.004, 0.2, True), (0.9, 0.7, 0.97, 20, True), False),
        ((0.015, 0.1, False), (10.0, 7.0, 15.0, 20, False), True),
        ((0.03, 0.1, False), (10.0, 7.0, 15.0, 20, False), False),
        ((0.015, 0.5, False), (10.0, 7.0, 15.0, 20, False), False),
    ],
)
def test_a_small_gain(gain, found, is_small):
    assert MoreLabelsGain(*gain).is_small(LiveAccuracy(*found)) == is_small


def test_a_common_class_alone_is_no_reason_to_stop():
    # All of 40 random rows are right, but so would be guessing their only class.
    answers = [answer(i, "a", "a") for i in range(40)]
    found = live_accuracy(answers, 100, True)
    assert found.low > 0.9
    assert found.naive == 1.0
    assert labeling_progress._stop(None, found, blank=10) == ""
    halves = [answer(i, "ab"[i % 2], "ab"[i % 2]) for i in range(40)]
    stop = labeling_progress._stop(None, live_accuracy(halves, 100, True), blank=10)
    assert stop.startswith("You can stop")


def test_exact_predictions_of_numbers_are_a_reason_to_stop():
    exact = live_accuracy([answer(i, 1.0, 1.0) for i in range(20)], 10, False)
    gain = MoreLabelsGain(0.0, 0.0, is_share=False)
    assert "You can stop" in labeling_progress._stop(gain, exact, blank=10)
