"""Learning curves: subsets against refits, levels, and bad input."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianRegressor,
)
from halfmoon._estimators.intervals import choice_factor
from halfmoon._labels import is_missing
from halfmoon.kernels import Gaussian
from halfmoon.queries import forecast_learning_curve
from halfmoon.queries._hidden_labels import HiddenLabels
from halfmoon.queries._learning_curve import measured_points
from halfmoon.queries._power_law import MeasuredErrors, curve_posterior, measured_errors


def wine(labels=60, seed=0):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(seed)
    known = np.full(178, np.nan)
    some = rng.permutation(178)[:labels]
    known[some] = y[some]
    return X, known


def diabetes(labels=60, seed=0):
    X, y = load_diabetes(return_X_y=True)
    X = 20 * X
    known = np.full(442, np.nan)
    some = np.random.default_rng(seed).permutation(442)[:labels]
    known[some] = y[some]
    return X, known


@pytest.mark.parametrize(
    "model",
    [
        ConditionalRegressor(Gaussian(3.0), alpha=0.02),
        LaplacianRegressor(
            Gaussian(3.0),
            alpha=0.02,
            mu=0.1,
            landmarks=np.arange(0, 440, 11),
            unpenalized="constant",
        ),
    ],
)
def test_hidden_sets_are_predicted_as_by_a_refit(model):
    X, y = diabetes(50)
    model.fit(X, y)
    places = np.flatnonzero(~np.isnan(y))
    some = np.random.default_rng(1).permutation(50)[:35]
    (values,) = model.solution_.leave_sets_out([some])
    without = y.copy()
    without[places[some]] = np.nan
    lam = model.alpha * 50  # is held
    other = clone(model).set_params(alpha=lam / 15).fit(X, without)
    assert_allclose(values[:, 0], other.predict(X[places[some]]), rtol=1e-6)


def test_hiding_one_by_one_is_leave_one_out():
    X, y = wine(40)
    model = HalfmoonClassifier(budget=0.1, random_state=0).fit(X, y)
    average = model.solution_
    values = average.leave_sets_out([np.array([i]) for i in range(40)])
    # One smoother stands for all members: the same answers, but not the same numbers.
    found = np.concatenate(values)
    assert (found.argmax(axis=1) == average.held_out.argmax(axis=1)).sum() >= 38
    assert np.corrcoef(found.ravel(), average.held_out.ravel())[0, 1] > 0.98


@pytest.mark.slow
def test_numbers_on_the_scale_of_logarithms_are_close_to_refits():
    # Not equal: a refit searches again, with half of the labels.
    X, y = diabetes(50)
    truth, places = np.exp(y / 50), np.flatnonzero(~np.isnan(y))
    model = HalfmoonRegressor(random_state=0).fit(X, truth)
    assert model.solution_.scale != "as given"
    sets = [np.arange(25), np.arange(25, 50)]
    found = np.concatenate(model.solution_.leave_sets_out(sets))[:, 0]
    refits = []
    for some in sets:
        without = truth.copy()
        without[places[some]] = np.nan
        refits.append(clone(model).fit(X, without).predict(X[places[some]]))
    refitted = np.concatenate(refits)
    assert np.corrcoef(np.log(found), np.log(refitted))[0, 1] > 0.85
    assert np.median(found / refitted) == pytest.approx(1.0, abs=0.1)


def test_undetermined_fits_have_unknown_errors():
    X, y = diabetes(30)
    model = ConditionalRegressor(unpenalized="linear", alpha=0.1).fit(X, y)
    (values,) = model.solution_.leave_sets_out([np.arange(25)])  # 5 labels, 11 features
    assert np.isnan(values).all()


def test_measured_errors_by_hand():
    # Label i is wrong if it is hidden with more than half of the labels.
    l = 40

    def errors_of(sets):
        return [np.full(len(some), float(len(some) > 20)) for some in sets]

    tested = np.arange(l) < 30
    found = measured_errors(l, errors_of, tested, np.random.default_rng(0))
    assert_array_equal(found.counts, [10, 20, 30, 39])
    assert_array_equal(found.errors, [1, 0, 0, 0])
    assert_allclose(found.covariance, 0, atol=1e-15)


def test_covariance_of_measured_errors():
    # The first ten labels are always wrong.
    wrong = np.arange(40) < 10

    def errors_of(sets):
        return [wrong[some].astype(float) for some in sets]

    found = measured_errors(40, errors_of, np.ones(40, bool), np.random.default_rng(0))
    shared = 0.25 * 0.75 / 39
    assert_allclose(found.errors, 0.25)
    off = found.covariance[~np.eye(4, dtype=bool)]
    assert_allclose(off, shared)
    assert (np.diag(found.covariance) >= shared - 1e-12).all()


def test_luck_is_that_of_a_mean_over_labels():
    """Log errors vary by 0.13^2 64 / max(n, n') about those of the mean curve."""
    points = MeasuredErrors(
        np.array([16.0, 32.0]), np.array([0.4, 0.3]), 1e-4 * np.eye(2)
    )
    new = np.array([64.0, 256.0])
    relative = points.covariance / np.outer(points.errors, points.errors)
    relative += 1e-6 * np.eye(2)
    mean = curve_posterior(points.counts, np.log(points.errors), relative, new)
    found = points.posterior(new)
    luck = 0.13**2 * np.array([[1.0, 0.25], [0.25, 0.25]])
    assert_allclose(found.means, mean.means)
    assert_allclose(found.covariances - mean.covariances, [luck] * 3, atol=1e-12)


def test_the_level_is_that_of_leave_one_out():
    X, y = diabetes(80)
    model = ConditionalRegressor().fit(X, y)
    found = forecast_learning_curve(model, X, y)
    assert found.counts[-1] == 79
    loo = np.abs(model.leave_one_out()).mean() * choice_factor(80)
    assert found.measured[-1] == pytest.approx(loo)
    assert found.error == pytest.approx(found.measured[-1], rel=0.1)


@pytest.mark.parametrize(
    ("model", "table", "shared"),
    [(ConditionalRegressor(), diabetes, 2.0), (ConditionalClassifier(), wine, 1.5)],
)
def test_the_level_varies_as_a_mean_of_labels_that_share_each_other(
    model, table, shared
):
    X, y = table(80)
    model.fit(X, y)
    found = forecast_learning_curve(model, X, y, level=0.9)
    points = measured_points(HiddenLabels.of_fitted(model), np.random.default_rng(0))
    logs = points.posterior(np.array([80.0])).draws(4_000)
    more = (shared - 1) * points.covariance[-1, -1] / points.errors[-1] ** 2
    half = norm.ppf(0.95) * np.sqrt(logs.var() + more)
    assert_allclose(np.log(found.error_high / found.error_low), 2 * half, rtol=0.06)


@pytest.mark.parametrize("wrong", [0, 2, 18])
def test_few_errors_do_not_decide_the_level(wrong):
    """No label of 18 is wrong with fixed choices, some are with choices made anew."""

    def errors_of(sets):  # labels with an odd number, unless hidden alone
        return [np.where(len(each) > 1, each % 2, 0.0) for each in sets]

    labels = SimpleNamespace(
        places=np.arange(18),
        tested=np.ones(18, dtype=bool),
        of_classes=True,
        in_closed_form=True,
        errors_of=errors_of,
        loo_errors=lambda: (np.arange(18) < wrong).astype(float),
    )
    found = measured_points(labels, np.random.default_rng(0))
    # Half an error is added to each count, then two errors to both.
    none, half, more = 0.5 / 19, 9.5 / 19, 2 / 18
    factor = min(((wrong + 0.5) / 19 + more) / (none + more), 1 / half)
    assert_allclose(found.errors, factor * np.array([half, half, half, none]))
    assert_allclose(factor, {0: 1.0, 2: 1.766, 18: 2.0}[wrong], rtol=1e-3)


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (ConditionalClassifier(), wine),
        (HalfmoonClassifier(budget=0.1, random_state=0), wine),
        (make_pipeline(StandardScaler(), ConditionalClassifier()), wine),
        (ConditionalRegressor(), diabetes),
        (HalfmoonRegressor(budget=0.1, random_state=0), diabetes),
    ],
)
def test_more_labels_help(model, table):
    X, y = table(60)
    found = forecast_learning_curve(model.fit(X, y), X, y, [20, 100, 300])
    assert found.n_labeled == 60
    assert_array_equal(found.n_labels, [20, 100, 300])
    assert (np.diff(found.expected) < 0).all()
    assert (np.diff(found.gain) > 0).all()
    assert (found.low < found.expected).all()
    assert (found.expected < found.high).all()
    assert (found.gain_low < found.gain).all()
    assert (found.gain < found.gain_high).all()
    of_gain, of_error = found.gain_high - found.gain_low, found.high - found.low
    assert of_gain[0] < of_error[0]
    assert len(str(found).splitlines()) == 4


def test_levels_of_intervals():
    X, y = wine()
    model = ConditionalClassifier().fit(X, y)
    narrow = forecast_learning_curve(model, X, y, 50, level=0.5)
    wide = forecast_learning_curve(model, X, y, 50, level=0.95)
    assert_allclose(narrow.expected, wide.expected)
    assert narrow.low > wide.low
    assert narrow.high < wide.high


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        FredholmClassifier(loss="hinge", alpha=1e-2, random_state=0),
    ],
)
def test_estimators_without_a_closed_form_are_refitted(model):
    X, y = wine(40)
    found = forecast_learning_curve(model, X, y, 50)
    assert_array_equal(found.counts, [10, 20, 32])
    assert 0 < found.expected[0] < found.error < 0.5


def test_regressors_of_other_libraries():
    X, y = diabetes(40)
    found = forecast_learning_curve(Ridge(), X, y, 50)
    assert found.metric == "mean absolute error"
    assert 30 < found.expected[0] < found.error < 90


def test_an_estimator_fitted_to_other_labels_is_refitted():
    X, y = wine(40)
    unfitted = forecast_learning_curve(ConditionalClassifier(), X, y)
    other = ConditionalClassifier().fit(*wine(60, seed=1))
    codes = other._codes.copy()
    found = forecast_learning_curve(other, X, y)
    assert_allclose(found.expected, unfitted.expected)
    assert_array_equal(other._codes, codes)  # and stays as it was


def test_labels_given_since_the_fit_count():
    X, y = wine(40)
    model = ConditionalClassifier().fit(X, y)
    X, more = wine(60)
    assert np.isin(np.flatnonzero(~np.isnan(y)), np.flatnonzero(~np.isnan(more))).all()
    found = forecast_learning_curve(model, X, more)
    assert found.n_labeled == 60
    expected = forecast_learning_curve(ConditionalClassifier(), X, more)
    assert_allclose(found.expected, expected.expected)
    assert model.n_labeled_ == 40


def test_labels_of_no_weight_do_not_count():
    X, y = wine(60)
    labeled = np.flatnonzero(~np.isnan(y))
    w = np.ones(178)
    w[labeled[:20]] = 0
    model = ConditionalClassifier().fit(X, y, sample_weight=w)
    found = HiddenLabels.of(model, X, y)
    assert len(found.places) == 40
    assert is_missing(found.labels[labeled[:20]]).all()  # nor in a refit


def test_labels_that_are_not_held_out_are_known(rng):
    """With landmarks, 2,000 of more labels are held out."""
    X = rng.normal(size=(2100, 1))
    model = LaplacianRegressor(n_components=5, alpha=0.1, random_state=0)
    found = HiddenLabels.of_fitted(model.fit(X, X[:, 0]))
    assert_array_equal(found.given, X[:, 0])


def test_no_error_at_all():
    X = np.repeat([[0.0], [10.0]], 30, axis=0) + np.linspace(0, 1, 60)[:, None]
    y = np.repeat(["a", "b"], 30)
    found = forecast_learning_curve(ConditionalClassifier(), X, y, 50)
    assert 0 < found.expected[0] < 0.05
    assert 0 < found.high[0] < 0.2


def test_errors_at_small_counts_alone_do_not_decide_the_level():
    # Of four or five labels some are missed, of more none.
    rng = np.random.default_rng(0)
    kinds = np.arange(20) % 4
    X = 6 * np.eye(4)[kinds] + rng.normal(size=(20, 4))
    y = np.array(list("abcd"))[kinds]
    found = forecast_learning_curve(ConditionalClassifier(), X, y, 50)
    assert found.measured[0] > 0.2
    assert_allclose(found.measured[-1], 0.5 / 21)
    assert found.error == pytest.approx(0.5 / 21)
    assert found.gain[0] < found.error
    assert found.gain_high[0] < 0.15


def test_too_few_labels():
    X, y = wine(9)
    with pytest.raises(ValueError, match=r"needs 10\. Label a few more rows"):
        forecast_learning_curve(ConditionalClassifier(), X, y)
    X, y = diabetes(9)
    with pytest.raises(ValueError, match="There are 9 labels; a forecast needs 10"):
        forecast_learning_curve(ConditionalRegressor(), X, y)


def test_one_label_a_class():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.array([f"class {i}" if i < 15 else None for i in range(30)], dtype=object)
    with pytest.raises(ValueError, match="Only 0 of the 15 labels can be tested"):
        forecast_learning_curve(ConditionalClassifier(), X, y)


def test_equal_numbers():
    X, y = diabetes(30)
    with pytest.raises(ValueError, match="All 30 labels are equal"):
        forecast_learning_curve(ConditionalRegressor(), X, np.where(y > 0, 3.0, y))


@pytest.mark.parametrize("wrong", [0, [50, -1], 1.5, [], "many"])
def test_wrong_numbers_of_labels(wrong):
    with pytest.raises(ValueError, match="n_labels is"):
        forecast_learning_curve(ConditionalClassifier(), *wine(), wrong)


def test_wrong_level():
    with pytest.raises(ValueError, match="level is 90"):
        forecast_learning_curve(ConditionalClassifier(), *wine(), 50, level=90)


def test_several_targets():
    X, y = diabetes(30)
    with pytest.raises(ValueError, match="There are 2 targets; one is needed"):
        forecast_learning_curve(ConditionalRegressor(), X, np.column_stack([y, y]))
