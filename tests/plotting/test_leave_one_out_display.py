import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import ConditionalRegressor, LaplacianClassifier
from halfmoon.kernels import Gaussian
from halfmoon.plotting import LeaveOneOutDisplay


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
