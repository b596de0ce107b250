"""The forecast of more labels, in the unit of the headline."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from halfmoon import HalfmoonClassifier
from halfmoon._report.next_steps import more_labels, of_more_labels
from halfmoon._report.report_page import render
from halfmoon.queries import forecast_learning_curve
from halfmoon.queries._hidden_labels import HiddenLabels
from halfmoon.queries._learning_curve import forecast_of
from report.made_up import forecast, made_up


def test_points_of_accuracy():
    findings = replace(made_up(["a", "b"]), forecast=forecast("classes"))
    text = more_labels(findings)
    assert text == (
        "50 more labels: accuracy about 2 points higher (0 to 4). "
        "200 more: about 4 (2 to 6)."
    )
    page = render(findings)
    assert text in page
    (picture,) = of_more_labels(findings)
    assert picture.uri in page


def test_numbers_have_the_unit_of_the_target():
    findings = replace(
        made_up(["a", "b"]), kind="numbers", forecast=forecast("numbers")
    )
    assert more_labels(findings).startswith(
        "50 more labels: mean error about 0.8 lower (−0.1 to 1.7)."
    )


def test_gains_of_billions():
    found = forecast("numbers")
    large = {x: 1e9 * getattr(found, x) for x in ("gain", "gain_low", "gain_high")}
    findings = replace(
        made_up(["a", "b"]), kind="numbers", forecast=replace(found, **large)
    )
    assert "mean error about 800,000,000 lower" in more_labels(findings)
    more = {x: 1e3 * each for x, each in large.items()}
    findings = replace(findings, forecast=replace(found, **more))
    assert "mean error about 800 billion lower" in more_labels(findings)


def test_a_gain_that_rounds_to_0_is_none():
    found = forecast("classes")
    tiny = [1e-6 * getattr(found, name) for name in ("gain", "gain_low", "gain_high")]
    found = replace(found, gain=tiny[0], gain_low=tiny[1], gain_high=tiny[2])
    findings = replace(made_up(["a", "b"]), forecast=found)
    said = "200 more labels would leave accuracy about as it is."
    assert more_labels(findings) == said


@pytest.mark.parametrize(
    ("labeled", "predicted", "said"),
    [(9, 500, True), (9, 20, False), (40, 500, False)],
)
def test_too_few_labels_for_a_forecast(labeled, predicted, said):
    findings = replace(made_up(["a", "b"]), labeled=labeled, predicted=predicted)
    assert ("too early to say" in more_labels(findings)) == said
    assert ("What more labels would bring" in render(findings)) == said
    assert of_more_labels(findings) == []


def test_the_report_has_the_forecast_of_the_public_function():
    X, y = load_wine(return_X_y=True)
    known = np.where(np.arange(178) % 4 == 0, y, np.nan)
    model = HalfmoonClassifier(budget=0.1, random_state=0).fit(X, known)
    one = forecast_learning_curve(model, X, known, [50], random_state=3)
    labels = HiddenLabels.of_fitted(model)
    other = forecast_of(labels, np.array([50]), 0.9, np.random.default_rng(3))
    assert one.expected == other.expected
