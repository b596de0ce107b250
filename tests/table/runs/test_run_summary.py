"""The record of a run agrees with its sentences."""

from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from halfmoon._report.quality_scores import accuracy, mean_absolute_error
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.run_summary import record_of
from report.situations import HELP, QUALITIES


def record(name, **changes):
    return record_of(replace(QUALITIES[name], **changes), Settings("cultivar"))


def test_unknown_figures_are_null():
    told = record("each class has one label")["leave_one_out"]
    nothing = dict.fromkeys(("value", "low", "high", "naive"))
    assert told["accuracy"] == nothing | {"tested": 0, "right": 0, "untested": 3}
    assert told["expected_accuracy"] is None
    told = record("one number")["leave_one_out"]
    assert told["r2"]["value"] is None
    assert told["mean_absolute_error"]["high"] is None


def test_the_only_label_of_a_class_is_not_tested_and_counts_as_missed():
    told = record("two classes have one label")["leave_one_out"]["accuracy"]
    assert (told["tested"], told["right"], told["untested"]) == (6, 6, 2)
    assert told["value"] == 0.75


def test_the_lower_figure_leads():
    differ, sure = record("filled rows differ"), record("filled rows too sure")
    assert differ["leave_one_out"]["expected_accuracy"] == 0.46
    assert differ["leave_one_out"]["accuracy"]["value"] == 1.0
    assert_allclose(sure["leave_one_out"]["expected_accuracy"], 20 / 30)


def test_intervals_depend_on_the_number_of_filled_rows():
    found = QUALITIES["most recovered"]
    told = record("most recovered")["leave_one_out"]["accuracy"]
    score = accuracy(found.loo.given, found.loo.predicted, 160)
    assert (told["low"], told["high"]) == (score.low, score.high)
    found = QUALITIES["numbers"]
    told = record("numbers")["leave_one_out"]["mean_absolute_error"]
    score = mean_absolute_error(found.loo.given, found.loo.predicted, 340)
    assert (told["low"], told["high"]) == (score.low, score.high)


def test_scores_of_each_class():
    assert record("one class rules")["leave_one_out"]["per_class"] == {
        "o": {"labels": 36, "found": 35, "false_alarms": 1},
        "f": {"labels": 4, "found": 3, "false_alarms": 1},
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("helped", ("labels recovered", 18, 17, 9, 0.45, 0.2, 0.7)),
        ("numbers helped", ("mean absolute error", 18, 36.2, 61, -24.8, -40, -9.6)),
    ],
)
def test_the_gain_is_with_minus_without(name, expected):
    told = record("all recovered", helped=HELP[name])["unlabeled_rows"]
    names = ("measure", "labels", "with", "without", "difference", "low", "high")
    assert told.pop("used") is True
    assert told.pop("tried") is True
    assert list(told) == list(names)
    assert told["measure"] == expected[0]
    assert_allclose([told[each] for each in names[1:]], expected[1:])


def test_the_summary_agrees_with_the_figures():
    summary = record("one class rules", helped=HELP["probably helped"])["summary"]
    first, second, third, fourth = (text.replace("\u00a0", " ") for text in summary)
    assert first.endswith("from 40 labels. Expected accuracy: about 95 % (78–100 %).")
    assert "38 (95 %) were recovered" in second
    assert third.startswith("Of 4 labels 'f', 3 were recovered; 1 other label was")
    assert "(17 of 18 hidden labels recovered instead of 15)" in fourth
