from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian
from halfmoon.plotting import HardThresholdDisplay


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
