"""Labels far outside the range of the others do not decide a fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import HalfmoonRegressor
from halfmoon._selection.target_transforms import within_limits
from halfmoon.queries import forecast_learning_curve, suspicious_labels


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_the_limit_is_three_times_as_far_as_the_95_percent_quantile():
    y = column(*range(-10, 11))  # the median is 0, the quantile is 9 (of 21: the 20th)
    y[-1] = 27.0
    assert within_limits(y) is y
    y[-1] = 27.001
    assert_array_equal(within_limits(y)[:-1], y[:-1])
    assert within_limits(y)[-1] == 9.0  # the largest of the others
    assert_array_equal(within_limits(-y), -within_limits(y))  # both ends alike


def test_positive_labels_may_go_further_by_their_logarithms():
    y = column(*2.0 ** np.arange(-10, 11))
    y[-1] = 2.0**26.9
    assert within_limits(y) is y
    y[-1] = 2.0**27.1
    assert within_limits(y)[-1] == 2.0**9


def test_each_output_has_its_own_limits(rng):
    y = rng.normal(size=(40, 2))
    y[3, 1] = 50.0
    moved = within_limits(y)
    assert_array_equal(moved[:, 0], y[:, 0])
    assert moved[3, 1] == np.sort(y[:, 1])[-2]


@pytest.mark.parametrize(
    "y",
    [
        column(*range(13), 1e6),  # few labels do not show what is usual
        column(*[0.0] * 18, 1.0, 100.0),  # most are equal
        column(*range(100), *[1e4] * 4),  # four in 104 are no typing errors
        column(*range(100)),
    ],
    ids=["few", "equal", "a group", "nothing outlying"],
)
def test_nothing_is_moved(y):
    assert within_limits(y) is y


@pytest.mark.parametrize(
    "factor", [10.0, pytest.param(100.0, marks=pytest.mark.slow), 1e6]
)
def test_a_mistyped_label_costs_little(rng, factor):
    X = rng.uniform(size=(300, 3))
    truth = 10.0 + 5.0 * X[:, 0] + np.sin(6.0 * X[:, 1])
    y = np.where(np.arange(300) < 40, truth, np.nan)
    y[7] *= factor
    model = HalfmoonRegressor(random_state=0).fit(X, y)
    rest = np.arange(40, 300)
    error = ((model.predict(X[rest]) - truth[rest]) ** 2).mean()
    assert error < 0.1 * truth.var()
    # So do the score and the noise, but the residual is that of the label as given.
    assert model.loo_score_ > 0.6
    assert model.noise_variance_ < truth.var()
    assert abs(model.leave_one_out()[7]) > 0.8 * (factor - 1) * truth[7]
    worst = suspicious_labels(model)[0]
    assert worst.row == 7
    assert worst.given == y[7]
    assert abs(worst.suggested - truth[7]) < 2.0


@pytest.fixture
def mistyped(rng):
    """Rows, the truth, 40 labels of which row 7 has 500, and a model."""
    X = rng.uniform(size=(200, 3))
    truth = 5.0 * X[:, 0] + np.sin(6.0 * X[:, 1]) - 2.5
    y = np.where(np.arange(200) < 40, truth, np.nan)
    y[7] = 500.0
    return X, truth, y, HalfmoonRegressor(budget=1e-9, random_state=0).fit(X, y)


def test_explanations_show_the_label_as_given(mistyped):
    X, _, y, model = mistyped
    found = model.explain(X[50:52])
    assert_array_equal(found.labels, y[:40])
    assert found.targets.max() < 20.0
    assert_allclose(found.weights @ found.targets[:, 0], model.predict(X[50:52]))


def test_forecasts_use_the_fit_and_the_labels_as_learned(mistyped, monkeypatch):
    X, _, y, model = mistyped
    monkeypatch.setattr(HalfmoonRegressor, "fit", None)  # no second search
    found = forecast_learning_curve(model, X, y, [50])
    assert found.error < 2.0  # above 12 with the label as given


def test_residuals_of_outputs_with_gaps_are_those_of_the_labels_as_given(mistyped):
    X, truth, y, _ = mistyped
    other = np.where(np.arange(200) < 30, truth, np.nan)
    model = HalfmoonRegressor(budget=1e-9, random_state=0)
    residuals = model.fit(X, np.column_stack([y, other])).leave_one_out()
    assert residuals[7, 0] > 400.0
    assert_allclose(residuals[:30, 1], model.solution_.leave_one_out()[:30, 1])
    with pytest.raises(ValueError, match="There are 2 targets"):
        suspicious_labels(model)


def test_a_model_of_an_older_file_has_the_labels_that_it_learned(mistyped):
    *_, model = mistyped
    now = model.leave_one_out()
    del model._given
    assert_allclose(np.delete(model.leave_one_out(), 7), np.delete(now, 7))
    assert suspicious_labels(model).given.max() < 20.0
