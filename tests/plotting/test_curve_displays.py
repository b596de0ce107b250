from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import ConditionalClassifier, ConditionalRegressor, LaplacianClassifier
from halfmoon.kernels import Gaussian
from halfmoon.plotting import (
    HardThresholdDisplay,
    LearningCurveDisplay,
    LeaveOneOutDisplay,
)
from halfmoon.queries import forecast_learning_curve


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (20, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(20)


def test_each_point_is_the_error_of_fits_that_leave_one_row_out(table):
    X, y = table
    alphas = [1e-1, 1e-4, 1e-2]  # in no order
    model = ConditionalRegressor(Gaussian(1.0), None, alpha=alphas).fit(X, y)
    display = LeaveOneOutDisplay.from_estimator(model)
    # lam = alpha l is held while a row is left out, so KernelRidge's own alpha is too.
    expected = [
        np.mean(
            (
                y
                - cross_val_predict(
                    KernelRidge(alpha=a * 20, kernel="rbf", gamma=0.5),
                    *(X, y),
                    cv=LeaveOneOut(),
                )
            )
            ** 2
        )
        for a in sorted(alphas)
    ]
    assert_array_equal(display.line_.get_xdata(), sorted(alphas))
    assert_allclose(display.line_.get_ydata(), expected, rtol=1e-6)
    best = int(np.argmin(expected))
    assert display.chosen_.get_xdata()[0] == sorted(alphas)[best]
    assert_allclose(display.chosen_.get_ydata()[0], expected[best], rtol=1e-6)
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert "leave-one-out residual" in display.ax_.get_ylabel()


def test_alpha_0_is_drawn(table):
    X, y = table
    model = ConditionalRegressor(Gaussian(0.3), alpha=[0.0, 1e-3, 1e-2]).fit(X, y)
    display = LeaveOneOutDisplay.from_estimator(model)
    assert display.ax_.get_xscale() == "symlog"
    assert display.line_.get_xdata()[0] == 0.0


def test_the_label_names_the_loss_or_the_folds(table):
    X, y = table
    model = LaplacianClassifier(alpha=[1e-2, 1.0], filter="heat").fit(X, y > 0)
    display = LeaveOneOutDisplay.from_estimator(model)
    assert "folds" in display.ax_.get_ylabel()
    model = LaplacianClassifier(alpha=[1e-2, 1.0], loss="hinge").fit(X, y > 0)
    display = LeaveOneOutDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "mean leave-one-out hinge loss"
    assert_array_equal(display.line_.get_ydata(), model.loo_errors_)


def test_models_without_a_search_are_refused(table):
    X, y = table
    with pytest.raises(NotFittedError):
        LeaveOneOutDisplay.from_estimator(ConditionalRegressor())
    model = ConditionalRegressor(alpha=0.5).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha is 0\.5: .*Fit with several"):
        LeaveOneOutDisplay.from_estimator(model)


def test_pipelines(table):
    X, y = table
    model = ConditionalRegressor(Gaussian(1.0), alpha=[1e-4, 1e-1])
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    display = LeaveOneOutDisplay.from_estimator(pipeline)
    assert_array_equal(display.errors, pipeline[-1].loo_errors_)
    other = make_pipeline(StandardScaler(), KernelRidge()).fit(X, y)
    with pytest.raises(ValueError, match="KernelRidge has no loo_errors_"):
        LeaveOneOutDisplay.from_estimator(other)


def test_alphas_that_the_data_gave_are_drawn_as_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = ConditionalRegressor(random_state=0).fit(X, X[:, 0] ** 2)
    display = LeaveOneOutDisplay.from_estimator(model)
    assert len(display.alphas) == len(model.loo_errors_) > 2
    assert display.alphas[np.argmin(display.errors)] == model.alpha_


@pytest.fixture
def path():
    errors = np.array([[4.0, 2.0, 1.0, 3.0], [5.0, 0.5, np.nan, np.inf]])
    return SimpleNamespace(k=np.arange(4), alphas=np.array([1e-3, 0.1]), errors=errors)


def test_there_is_a_line_for_each_alpha_and_its_minimum_is_marked(path):
    display = HardThresholdDisplay.from_path(path)
    for line, errors in zip(display.lines_, path.errors, strict=True):
        assert_array_equal(line.get_xdata(), [0, 1, 2, 3])
        assert_array_equal(line.get_ydata(), errors)
    points = [(p.get_xdata()[0], p.get_ydata()[0]) for p in display.minima_]
    assert points == [(2, 1.0), (1, 0.5)]
    assert display.best == points
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["alpha = 0.001", "alpha = 0.1"]
    assert display.ax_.get_yscale() == "log"


def test_bad_shapes_are_refused(path, pyplot):
    path.errors = path.errors.T
    with pytest.raises(ValueError, match=r"\(4, 2\) for 2 alphas and 4 values"):
        HardThresholdDisplay.from_path(path)
    _, ax = pyplot.subplots()
    path.errors = path.errors.T
    assert HardThresholdDisplay.from_path(path, ax=ax).ax_ is ax


def test_the_path_of_a_model_starts_at_kernel_ridge():
    rng = np.random.default_rng(0)
    X, X_test = rng.uniform(0, 3, (30, 1)), rng.uniform(0, 3, (20, 1))
    y, y_test = np.sin(3 * X[:, 0]), np.sin(3 * X_test[:, 0])
    model = ConditionalRegressor(Gaussian(0.5), None, alpha=0.1).fit(X, y)
    path = model.hard_threshold_path(X_test, y_test, alphas=[0.1, 1.0])
    display = HardThresholdDisplay.from_path(path)
    for line, alpha in zip(display.lines_, [0.1, 1.0], strict=True):
        ridge = model.set_params(alpha=alpha).fit(X, y)
        error = np.mean((ridge.predict(X_test) - y_test) ** 2)
        assert_allclose(line.get_ydata()[0], error, rtol=1e-6)


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
