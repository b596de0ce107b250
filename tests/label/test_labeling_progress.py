"""What the page shows next to a row, and when it says to stop."""

import numpy as np
from sklearn.datasets import load_wine

from halfmoon._label import labeling_progress
from halfmoon._label.labeling_progress import MoreLabelsGain
from halfmoon._label.live_accuracy import LiveAccuracy, live_accuracy
from halfmoon._label.refit import RefitResult
from label.random_answers import answer
from small_tables import two_groups


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
