import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_wine

from halfmoon import ConditionalClassifier, ConditionalRegressor
from halfmoon.plotting import LearningCurveDisplay
from halfmoon.queries import forecast_learning_curve


@pytest.mark.parametrize(
    ("model", "load", "scale"),
    [
        (ConditionalClassifier(), load_wine, 100.0),
        (ConditionalRegressor(), load_diabetes, 1.0),
    ],
)
def test_the_forecast_is_drawn(model, load, scale):
    X, y = load(return_X_y=True)
    known = np.where(np.arange(len(y)) % 4 == 0, y, np.nan)
    found = forecast_learning_curve(model.fit(X, known), X, known, [50, 200])
    display = LearningCurveDisplay.from_estimator(model, X, known, [50, 200])
    assert_allclose(display.line_.get_ydata(), scale * found.path)
    assert_allclose(display.points_.get_xdata(), found.counts)
    assert_allclose(display.points_.get_ydata(), scale * found.measured)
    assert display.now_.get_xdata()[0] == found.n_labeled
    asked = display.asked_.lines[0]
    assert_allclose(asked.get_xdata(), found.n_labeled + np.array([50, 200]))
    assert_allclose(asked.get_ydata(), scale * found.expected)
    (bars,) = display.asked_.lines[2]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert_allclose(ends, scale * np.column_stack([found.low, found.high]))
    edge = display.band_.get_paths()[0].vertices[:, 1]
    assert edge.max() == pytest.approx(scale * found.path_high.max())
    assert display.ax_.get_xlabel() == "labels"
    assert ("%" in display.ax_.get_ylabel()) == (scale == 100)


def test_axes_of_the_user():
    import matplotlib.pyplot as plt

    X, y = load_wine(return_X_y=True)
    found = forecast_learning_curve(ConditionalClassifier(), X, y, 50)
    _, ax = plt.subplots()
    assert LearningCurveDisplay.from_forecast(found, ax=ax).ax_ is ax
