"""Halfmoon: every lever at once, on tables of all kinds."""

from __future__ import annotations

import logging
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_blobs, make_moons
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._estimators import halfmoon
from halfmoon._estimators.classification import fitted_temperature
from halfmoon._selection import criteria, families, refit
from halfmoon._selection.criteria import log_losses
from halfmoon.bases import Exact
from halfmoon.model_selection import LabeledKFold
from halfmoon.problem._local_fits import LocalFit
from halfmoon.unpenalized import Constant, Polynomials
from optional_modules import optional

pd = optional("pandas")

COLUMNS = [
    "candidate",
    "unlabeled",
    "labels",
    "loo_error",
    "difference",
    "low",
    "high",
    "weight",
]
HANDFULS = [  # of n rows with d columns
    (2, 1),
    (3, 60),
    pytest.param(2, 60, marks=pytest.mark.slow),
    pytest.param(4, 3, marks=pytest.mark.slow),
    pytest.param(5, 1, marks=pytest.mark.slow),
]
AT_ONCE = 1e-9  # a budget that leaves time for one candidate


@pytest.fixture(scope="module")
def moons():
    """300 rows, 12 labels, and the model."""
    X, y = make_moons(300, noise=0.08, random_state=0)
    known = np.where(np.arange(300) < 12, y, np.nan)
    return X, y, HalfmoonClassifier(random_state=0).fit(X, known)


@pytest.fixture(scope="module")
def mute():
    """Two clusters that have nothing to do with the classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [0.3, 0.3, 1.0]
    X[:60, 0] += 3
    y = np.where(X[:, 2] > 0, "up", "down").astype(object)
    known = np.full(120, None, dtype=object)
    some = rng.permutation(120)[:24]
    known[some] = y[some]
    return X, y, known, HalfmoonClassifier(random_state=0).fit(X, known)


@pytest.fixture(scope="module")
def draw():
    """A draw of a Gaussian process below 0, with noise at 50 of 150 rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(150, 2))
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 0.8**2)) + 1e-8 * np.eye(150)
    f = np.linalg.cholesky(K) @ rng.normal(size=150) - 4
    y = np.where(np.arange(150) < 50, f + 0.1 * rng.normal(size=150), np.nan)
    return X, f, y, HalfmoonRegressor(random_state=0).fit(X, y)


# ---- did the unlabeled rows help? ----------------------------------------------------


def test_twelve_labels_are_enough_for_two_moons(moons):
    X, y, model = moons
    assert model.used_unlabeled_
    assert model.score(X, y) > 0.95
    assert model.n_labeled_ == 12
    assert_array_equal(model.labeled_, np.arange(12))
    new, truth = make_moons(200, noise=0.08, random_state=1)
    assert model.score(new, truth) > 0.95
    # The twin has not seen the shape of the moons.
    assert not model.twin_.used_unlabeled_
    assert model.twin_.score(X, y) < model.score(X, y) - 0.04


def test_the_twin_is_used_where_unlabeled_rows_do_not_help(mute):
    X, y, _, model = mute
    assert not model.used_unlabeled_
    assert model.score(X, y) > 0.95
    assert_array_equal(model.decision_function(X), model.twin_.decision_function(X))
    table = pd.DataFrame(model.comparison_)
    assert (table["weight"][table["unlabeled"]] == 0).all()


@pytest.mark.slow
def test_unsafe_is_the_average_of_all_in_any_case(mute):
    X, _, known, model = mute
    unsafe = HalfmoonClassifier(safe=False, random_state=0).fit(X, known)
    assert unsafe.used_unlabeled_
    table, safe = pd.DataFrame(unsafe.comparison_), pd.DataFrame(model.comparison_)
    pd.testing.assert_frame_equal(
        table.drop(columns="weight"), safe.drop(columns="weight")
    )
    assert table["weight"][table["unlabeled"]].sum() > 0
    assert_array_equal(
        unsafe.twin_.decision_function(X), model.twin_.decision_function(X)
    )
    assert np.abs(unsafe.decision_function(X) - model.decision_function(X)).max() > 0


def test_used_unlabeled_is_false_if_no_candidate_uses_them(mute):
    X, _, known, _ = mute
    model = HalfmoonClassifier(budget=AT_ONCE, safe=False).fit(X, known)
    assert not model.used_unlabeled_
    assert len(model.comparison_["candidate"]) == 3


@pytest.mark.parametrize("which", ["moons", "mute", "draw"])
def test_the_comparison_is_a_table(request, which):
    model = request.getfixturevalue(which)[-1]
    table = pd.DataFrame(model.comparison_)
    assert list(table.columns) == COLUMNS
    assert list(table["candidate"][:2]) == ["supervised twin", "average of all"]
    assert not table["unlabeled"][0]
    assert table["candidate"].is_unique
    assert (table["labels"] == model.n_labeled_).all()
    assert_allclose(table["weight"].sum(), 1.0, rtol=1e-12)
    twin = table.iloc[0]
    assert (twin["difference"], twin["low"], twin["high"]) == (0.0, 0.0, 0.0)
    assert_allclose(
        table["difference"], table["loo_error"] - twin["loo_error"], atol=1e-12
    )
    assert (table["low"] <= table["difference"]).all()
    assert (table["difference"] <= table["high"]).all()
    used = table["weight"][table["unlabeled"]].sum() > 0
    assert used == model.used_unlabeled_


# ---- classes -------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["moons", "mute"])
def test_model_and_twin_are_calibrated_by_leave_one_out(request, which):
    X, *_, model = request.getfixturevalue(which)
    for each in (model, model.twin_):
        signs = each.solution_.y[:, 0]
        left_out = each._held_out().values[:, 0]
        scores = np.column_stack([-left_out, left_out])
        codes = (signs > 0).astype(int)
        expected = fitted_temperature(scores, codes, np.ones(len(codes)))
        assert each.temperature_ == pytest.approx(expected, rel=1e-6)
        assert each.loo_score_ == pytest.approx((np.sign(left_out) == signs).mean())
        p = each.predict_proba(X)
        assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        assert_array_equal(each.classes_[p.argmax(axis=1)], each.predict(X))
        odds = np.log(p[:, 1] / p[:, 0])
        d = each.decision_function(X)
        inner = np.abs(odds) < 20
        assert_allclose(odds[inner], 2 * each.temperature_ * d[inner], rtol=1e-6)


@pytest.fixture(scope="module")
def thirds():
    """Three classes along a line, and the model."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])].astype(object)
    known = np.where(np.arange(90) < 30, y, None)
    return X, y, known, HalfmoonClassifier(random_state=0).fit(X, known)


def test_three_classes(thirds):
    X, y, _, model = thirds
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.score(X, y) > 0.85
    p = model.predict_proba(X)
    assert p.shape == (90, 3)
    assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert model.leave_one_out().shape == (30, 3)


def test_the_smoother_matrix_of_classes(thirds, mute):
    X, _, known, model = thirds
    H = model.smoother_matrix(X)
    one_hot = (known[:30, None] == model.classes_).astype(float)
    assert_allclose(H @ one_hot, model.decision_function(X), rtol=1e-6, atol=1e-8)
    X, _, known, model = mute
    signs = np.where(known[model.labeled_] == "up", 1.0, -1.0)
    actual = model.smoother_matrix(X) @ signs
    assert_allclose(actual, model.decision_function(X), rtol=1e-6, atol=1e-8)


# ---- numbers -------------------------------------------------------------------------


def test_a_gaussian_process_is_learned_and_covered(draw):
    X, f, _, model = draw
    values, std = model.predict(X[50:], return_std=True)
    error = np.abs(values - f[50:])
    assert np.sqrt((error**2).mean()) < 0.3 * f.std()
    assert np.isfinite(std).all()
    assert 0.5 < (error < std).mean() < 0.95
    assert (error < 2 * std).mean() > 0.9
    _, far = model.predict([[30.0, 30.0]], return_std=True)
    assert far[0] > 2 * std.mean()


def test_the_smoother_matrix_of_numbers(draw):
    X, _, y, model = draw
    H = model.smoother_matrix(X)
    assert H.shape == (150, 50)
    low, high = np.nanmin(y), np.nanmax(y)
    room = (high - low) / 4
    expected = np.clip(H @ y[:50], low - room, high + room)
    assert_allclose(model.predict(X), expected, rtol=1e-6, atol=1e-8)


def test_leave_one_out_residuals_are_those_of_the_parts(draw):
    _, _, y, model = draw
    members = model.solution_.members
    expected = sum(m.weight * (y[:50, None] - m.held_out) for m in members)
    assert_allclose(model.leave_one_out(), expected[:, 0], rtol=1e-6, atol=1e-9)
    left_out = model._held_out().values[:, 0]
    assert model.loo_score_ == pytest.approx(r2_score(y[:50], left_out))
    # Weights chosen without the labels they answer do no better than those chosen with.
    assert model.loo_score_ < r2_score(y[:50], y[:50] - model.leave_one_out())
    assert model.twin_.loo_score_ <= 1.0


def test_predictions_stay_near_the_range_of_the_labels(draw):
    _, _, y, model = draw
    new = 50 * np.random.default_rng(0).normal(size=(200, 2))
    low, high = np.nanmin(y), np.nanmax(y)
    room = (high - low) / 4
    values = model.predict(new)
    assert values.min() >= low - room - 1e-12
    assert values.max() <= high + room + 1e-12


@pytest.fixture(scope="module")
def two_targets():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 2))
    f = np.column_stack([np.sin(3 * X[:, 0]), 100 * X[:, 1]])
    y = np.where(np.arange(60)[:, None] < 25, f, np.nan)
    return X, f, y, HalfmoonRegressor(random_state=0).fit(X, y)


def test_several_targets(two_targets):
    X, f, y, model = two_targets
    values, std = model.predict(X, return_std=True)
    assert values.shape == std.shape == f.shape
    assert (np.abs(values - f).mean(axis=0) < [0.15, 5.0]).all()
    assert model.leave_one_out().shape == (25, 2)
    H = model.smoother_matrix(X)
    inside = (values > f.min(axis=0)) & (values < f.max(axis=0))
    assert_allclose((H @ y[:25])[inside], values[inside], rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_positive_numbers_may_be_fitted_on_the_scale_of_their_logarithm():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    f = np.exp(3 * X[:, 0] + 5)
    y = np.where(np.arange(60) < 30, f, np.nan)
    model = HalfmoonRegressor(random_state=0).fit(X, y)
    table = pd.DataFrame(model.comparison_)
    logs = table["candidate"].str.endswith("log of y")
    assert table["weight"][logs].sum() > 0.5
    values, std = model.predict(X, return_std=True)
    assert np.median(np.abs(values / f - 1)) < 0.1
    assert (np.abs(values - f) < 2 * std).mean() > 0.9
    with pytest.raises(ValueError, match="logarithm of the targets, so predictions"):
        model.smoother_matrix(X)
    again = HalfmoonRegressor(random_state=0).fit(X, 1_000 * y)
    new_values, new_std = again.predict(X, return_std=True)
    assert_allclose(new_values, 1_000 * values, rtol=1e-4)
    assert_allclose(new_std, 1_000 * std, rtol=1e-3)


# ---- what the user knows -------------------------------------------------------------


@pytest.mark.slow
def test_columns_by_name_are_unpenalized_in_every_candidate():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"b": rng.normal(size=80), "a": rng.uniform(-1, 1, 80)})
    f = 3 * X["a"] + np.sin(2 * X["b"]) - 10
    y = np.where(X["a"] < 0.4, f, np.nan)
    model = HalfmoonRegressor(unpenalized=["a"], random_state=0).fit(X, y)
    posed = [member.fit.posed for member in model.solution_.members]
    assert len({id(each.unpenalized) for each in posed}) == 1
    F = posed[0].features(X.to_numpy())
    assert F.shape == (80, 2)
    assert np.ptp(F[:, 1] - X["a"]) < 1e-12
    # Beyond the labels the slope goes on, as far as one asks.
    beyond = X["a"] > 0.4
    assert np.abs(model.predict(X) - f)[beyond].mean() < 0.3
    far = pd.DataFrame({"b": [0.0, 0.0], "a": [20.0, 40.0]})
    low, high = model.predict(far)
    assert (high - low) / 20 == pytest.approx(3.0, abs=0.2)
    assert model.coef_ == pytest.approx([model.coef_[0], (high - low) / 20], abs=0.02)
    # What a column adds to the targets, its coefficient takes.
    moved = HalfmoonRegressor(unpenalized=["a"], random_state=0).fit(X, y - 20 * X["a"])
    inside = X["a"] < 0.4
    expected = model.predict(X) - 20 * X["a"]
    assert_allclose(moved.predict(X)[inside], expected[inside], atol=0.05)
    assert moved.coef_[1] == pytest.approx(model.coef_[1] - 20, abs=0.1)


@pytest.mark.parametrize("unpenalized", [None, "linear"])
def test_given_features_or_none(unpenalized, two_targets):
    X, _, y, _ = two_targets
    model = HalfmoonRegressor(unpenalized, budget=0.1, random_state=0).fit(X, y)
    columns = {
        member.fit.posed.features(X).shape[1] for member in model.solution_.members
    }
    assert columns == {0 if unpenalized is None else 3}
    assert np.isfinite(model.predict(X, return_std=True)).all()


# ---- settings ------------------------------------------------------------------------


def test_errors_say_what_to_do(two_targets):
    X, _, y, _ = two_targets
    with pytest.raises(ValueError, match="unpenalized is 'much'; None, one of"):
        HalfmoonRegressor("much").fit(X, y)
    with pytest.raises(ValueError, match=r"names columns .*but X has no column names"):
        HalfmoonRegressor(["a"]).fit(X, y)
    with pytest.raises(ValueError, match="one choice of features is needed"):
        HalfmoonRegressor([Constant(), Polynomials(1)]).fit(X, y)
    for bad, message in ((np.nan, "contains NaN"), (np.inf, "contains infinity")):
        with pytest.raises(ValueError, match=message):
            HalfmoonRegressor().fit(np.where(X > 0.9, bad, X), y)
    with pytest.raises(ValueError, match="n_samples = 1"):
        HalfmoonRegressor().fit(X[:1], y[:1])
    for equal in (np.ones((4, 2)), csr_array(np.ones((4, 2)))):
        with pytest.raises(ValueError, match="All rows of X are equal"):
            HalfmoonRegressor().fit(equal, y[:4])
    with pytest.raises(ValueError, match="All 2 labels are of one class"):
        HalfmoonClassifier().fit(X[:3], [1, 1, None])
    with pytest.raises(ValueError, match=r"largest entry of X is 1e\+200"):
        HalfmoonRegressor().fit(np.where(X.max() == X, 1e200, X), y)


def test_a_tiny_budget_still_fits(draw):
    X, _, y, _ = draw
    model = HalfmoonRegressor(budget=AT_ONCE).fit(X, y)
    assert model.comparison_["candidate"][2:] == ["standardized, linear"]
    assert_allclose(model.comparison_["weight"], [0.0, 0.0, 1.0], rtol=1e-15)
    assert np.isfinite(model.predict(X, return_std=True)).all()


def test_verbose_shows_the_outcome_or_each_candidate(draw, caplog):
    X, _, y, _ = draw
    with caplog.at_level(logging.INFO, "halfmoon"):
        model = HalfmoonRegressor(budget=AT_ONCE, verbose=1).fit(X, y)
        (outcome,) = caplog.messages
        assert re.fullmatch(
            rf"Tried 1 model in \d+\.\d s; leave-one-out R² {model.loo_score_:.2f}; "
            r"unlabeled rows not used\.",
            outcome,
        )
        HalfmoonRegressor(budget=AT_ONCE, verbose=2).fit(X, y)
    assert any("standardized, linear" in message for message in caplog.messages[1:])
    assert caplog.messages[-1].startswith("Tried 1 model in")


@pytest.mark.slow
def test_clone_and_pickle_predict_the_same(moons, draw):
    X, y, model = moons
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.twin_.predict_proba(X), model.twin_.predict_proba(X))
    X, _, y, model = draw
    again = pickle.loads(pickle.dumps(model))
    for before, after in zip(
        model.predict(X, return_std=True),
        again.predict(X, return_std=True),
        strict=True,
    ):
        assert_array_equal(after, before)
    refitted = clone(model).fit(X, y)
    assert_allclose(refitted.predict(X), model.predict(X), rtol=1e-9)


def test_grid_search_over_its_settings(mute):
    X, _, known, _ = mute
    grid = {"budget": [AT_ONCE, 0.05], "safe": [True, False]}
    model = HalfmoonClassifier(random_state=0)
    search = GridSearchCV(model, grid, cv=LabeledKFold(2), error_score="raise")
    search.fit(X, known)
    assert set(search.best_params_) == {"budget", "safe"}
    assert (search.cv_results_["mean_test_score"] > 0.5).all()
    assert search.predict(X).shape == (120,)


# ---- tables as they come -------------------------------------------------------------


def test_data_frames_and_pipelines(mute):
    X, _, known, _ = mute
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    labels = pd.Series(known, dtype="string")
    expected = HalfmoonClassifier(budget=AT_ONCE).fit(X, known).predict_proba(X)
    model = HalfmoonClassifier(budget=AT_ONCE).fit(frame, labels)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert_allclose(model.predict_proba(frame), expected, rtol=1e-9)
    piped = make_pipeline(StandardScaler(), HalfmoonClassifier(budget=AT_ONCE))
    assert_allclose(piped.fit(X, known).predict_proba(X), expected, rtol=1e-6)


def test_polars(mute):
    polars = pytest.importorskip("polars")
    X, _, known, _ = mute
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    labels = polars.Series("y", list(known))
    model = HalfmoonClassifier(["c"], budget=AT_ONCE).fit(frame, labels)
    assert model.n_labeled_ == 24
    expected = HalfmoonClassifier([2], budget=AT_ONCE).fit(X, known)
    assert_allclose(
        model.decision_function(frame), expected.decision_function(X), rtol=1e-9
    )


def test_one_label_a_class_is_no_reason_to_predict_a_single_class():
    X, y = make_blobs(200, 6, centers=12, cluster_std=4.0, random_state=0)
    known = np.full(200, np.nan)
    known[np.unique(y, return_index=True)[1]] = np.arange(12)
    model = HalfmoonClassifier(random_state=0, budget=60).fit(X, known)
    assert model.score(X, y) > 0.5
    assert len(np.unique(model.predict(X))) == 12


def test_labels_of_one_class_and_one_more_are_no_reason_to_predict_that_class():
    X, y = load_breast_cancer(return_X_y=True)
    known = np.full(len(y), np.nan)
    known[np.flatnonzero(y == 1)[:5]] = 1
    known[np.flatnonzero(y == 0)[:1]] = 0
    model = HalfmoonClassifier(random_state=0, budget=60).fit(X, known)
    assert (model.predict(X) == y).mean() > 0.8


def test_text():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    rates = np.where(np.arange(30) % 2 == y[:, None], 0.7, 0.2)
    X = sp.csr_array(rng.poisson(rates).astype(float))
    known = np.where(rng.permutation(80) < 16, y, np.nan)
    model = HalfmoonClassifier(random_state=0).fit(X, known)
    assert model.score(X, y) > 0.9
    table = pd.DataFrame(model.comparison_)
    assert table["candidate"].str.startswith("damped rows").any()
    assert table["unlabeled"].sum() > 10
    again = model.predict_proba(X[:5])
    assert_allclose(again, model.predict_proba(X)[:5], rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_filled_sparse_rows_are_a_table(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)).astype(dtype)
    y = np.where(np.arange(30) % 2 == 0, X[:, 0] + X[:, 1] ** 2, np.nan)
    S = sp.csr_array(X)
    model = HalfmoonRegressor(budget=AT_ONCE, random_state=0).fit(X, y)
    expected = model.predict(X)
    assert_array_equal(model.predict(S), expected)
    model = HalfmoonRegressor(budget=AT_ONCE, random_state=0).fit(S, y)
    assert_array_equal(model.predict(S), expected)
    assert_array_equal(model.predict(X), expected)


def test_wide_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 120)) + 0.6 * y[:, None]
    known = np.where(rng.permutation(60) < 16, y, np.nan)
    model = HalfmoonClassifier(budget=0.5, random_state=0).fit(X, known)
    assert model.score(X, y) > 0.95


def test_float32(draw):
    X, _, y, _ = draw
    low = HalfmoonRegressor(budget=0.3, random_state=0).fit(X.astype(np.float32), y)
    values, std = low.predict(X.astype(np.float32), return_std=True)
    assert values.dtype == std.dtype == np.float64
    assert np.isfinite(std).all()
    assert r2_score(draw[1], values) > 0.8


@pytest.mark.slow
def test_weights_of_zero_are_rows_that_are_not_there(two_targets):
    X, _, y, _ = two_targets
    w = np.ones(60)
    w[[2, 7, 40]] = 0.0
    kept = np.flatnonzero(w)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60) * w
    model = HalfmoonRegressor(random_state=0).fit(X, y[:, 0], weights)
    other = HalfmoonRegressor(random_state=0).fit(X[kept], y[kept, 0], weights[kept])
    assert_allclose(model.predict(X), other.predict(X), rtol=1e-9)
    assert model.n_labeled_ == 23
    assert model.loo_score_ == pytest.approx(other.loo_score_)


@pytest.mark.slow
def test_a_common_factor_of_the_weights_changes_nothing(two_targets):
    X, _, y, _ = two_targets
    w = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    fits = [
        HalfmoonRegressor(budget=60, random_state=0).fit(X, y[:, 1] - 200, factor * w)
        for factor in (1.0, 100.0)
    ]
    assert_allclose(fits[1].predict(X), fits[0].predict(X), rtol=1e-6)


@pytest.mark.parametrize(("n", "d"), HANDFULS)
def test_a_handful_of_rows(n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    classes = np.arange(n) % 2
    values = (
        HalfmoonRegressor(random_state=0)
        .fit(X, X[:, 0] - 9)
        .predict(X, return_std=True)
    )
    assert np.isfinite(values).all()
    two = np.where(np.arange(n) < 2, classes, np.nan)
    for labels in (classes, two):
        model = HalfmoonClassifier(random_state=0).fit(X, labels)
        p = model.predict_proba(X)
        assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    # One label for each of n classes.
    own = HalfmoonClassifier(random_state=0).fit(X, np.arange(n).astype(str))
    assert set(own.predict(X)) <= set(own.classes_)


def test_a_single_label():
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = HalfmoonRegressor(random_state=0).fit(X, [-3.0, *[None] * 5])
    values, std = model.predict(X, return_std=True)
    assert_allclose(values, np.full(6, -3.0))
    assert np.isinf(std[1:]).all()


def test_one_label_of_each_class(moons):
    X, y, _ = moons
    known = np.full(300, np.nan)
    known[[np.argmax(y == 0), np.argmax(y == 1)]] = [0, 1]
    model = HalfmoonClassifier(random_state=0).fit(X[:100], known[:100])
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert set(model.predict(X)) == {0.0, 1.0}


def test_all_rows_labeled(draw):
    X, f, _, _ = draw
    model = HalfmoonRegressor(random_state=0).fit(X[:60], f[:60])
    assert model.n_labeled_ == 60
    assert r2_score(f[60:], model.predict(X[60:])) > 0.8


@pytest.mark.slow
def test_units_of_columns_and_targets_do_not_matter(two_targets):
    X, _, y, _ = two_targets
    y = y[:, 0] - 2
    expected = HalfmoonRegressor(random_state=0).fit(X, y).predict(X)
    for rows, targets in ((1e30, 1e-30), (1e-30, 1e30)):
        model = HalfmoonRegressor(random_state=0).fit(rows * X, targets * y)
        assert_allclose(model.predict(rows * X), targets * expected, rtol=1e-4)


def test_constant_columns_and_copies(mute):
    X, _, known, model = mute
    wide = np.column_stack([X, np.full(120, 0.1), np.zeros(120)])
    same = HalfmoonClassifier(random_state=0).fit(wide, known)
    assert_allclose(same.predict_proba(wide), model.predict_proba(X), atol=1e-6)
    copies = np.repeat(np.arange(60), 3)
    twice = HalfmoonClassifier(random_state=0, budget=0.1)
    twice.fit(X[copies], known[copies])
    assert np.isfinite(twice.predict_proba(X)).all()
    equal = HalfmoonRegressor(random_state=0).fit(
        np.vstack([np.ones((5, 3)), X[:40]]), [-1, 1, 2, 3, 4, *[None] * 40]
    )
    assert_allclose(equal.predict(np.ones((1, 3))), [1.8], rtol=1e-6)


@pytest.mark.slow
def test_targets_that_are_all_equal(two_targets):
    X, _, _, _ = two_targets
    for value in (-2.0, 0.0):
        y = np.where(np.arange(60) < 20, value, np.nan)
        model = HalfmoonRegressor(random_state=0).fit(X, y)
        values, std = model.predict(X, return_std=True)
        assert_allclose(values, np.full(60, value), atol=1e-9)
        assert_allclose(std, np.zeros(60), atol=1e-6)
        assert model.loo_score_ == pytest.approx(1.0, abs=1e-9)


# ---- many labels ---------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """What is many, made few: 40 labels are compared."""
    monkeypatch.setattr(halfmoon, "SEARCH_LABELS", 40)
    monkeypatch.setattr(criteria, "LOG_LABELS", 10)
    monkeypatch.setattr(families, "RELEVANCE_LABELS", (4, 10))
    monkeypatch.setattr(halfmoon, "LOCAL_LABELS", 40)
    return monkeypatch


def how(answer):
    """How an answer to more labels than were compared was fitted."""
    kinds = {
        "local fits"
        if isinstance(member.fit, LocalFit)
        else "all labels"
        if isinstance(member.fit.posed.basis, Exact)
        else "at landmarks"
        for member in answer.members
    }
    return "|".join(sorted(kinds))


@pytest.mark.parametrize(
    ("dual_labels", "kind"),
    [
        (200, "all labels|local fits"),
        pytest.param(50, "at landmarks", marks=pytest.mark.slow),
        (50, "local fits"),
    ],
)
def test_all_labels_have_a_say(small, dual_labels, kind):
    small.setattr(refit, "DUAL_LABELS", dual_labels)
    # At landmarks, whichever is better would answer; here each does in turn.
    small.setattr(refit.Refit, "_loss", lambda _, each: how(each) != kind)
    X, y = make_moons(300, noise=0.1, random_state=0)
    known = np.where(np.arange(300) < 100, y, np.nan)
    model = HalfmoonClassifier(random_state=0).fit(X, known)
    assert how(model.solution_) == kind
    assert model.n_labeled_ == 100
    assert model.smoother_matrix(X[:4]).shape == (4, 100)
    assert model.score(X, y) > 0.97
    assert model.twin_.score(X, y) > 0.95
    for each in (model, model.twin_):
        assert each.leave_one_out().shape == (100,)
        assert_allclose(each.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
        signs = np.where(y[:100] == 1, 1.0, -1.0)
        H = each.smoother_matrix(X)
        assert_allclose(H @ signs, each.decision_function(X), rtol=1e-4, atol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.decision_function(X), model.decision_function(X))
    # The comparison tells of what answers, not of what was compared on fewer labels.
    table = pd.DataFrame(model.comparison_)
    members = table[table["weight"] > 0]
    ending = rf".*, ({kind})( \(\d+\))?"
    assert members["candidate"].str.fullmatch(ending).all()
    assert table["candidate"].is_unique
    assert_allclose(table["weight"].sum(), 1.0, rtol=1e-12)
    assert members["unlabeled"].any() == model.used_unlabeled_
    assert np.isfinite(table.drop(columns="candidate").to_numpy(float)).all()
    if len(members) == 1:  # then its error is that of the answer
        left_out = signs - model.leave_one_out()
        codes, w = (signs > 0).astype(int), np.ones(100)
        scores = np.column_stack([0.5 - left_out / 2, 0.5 + left_out / 2])
        expected = log_losses(scores[None], codes, w).mean()
        assert_allclose(members["loo_error"], expected, rtol=1e-6)


def same_labels_without_local_fits(monkeypatch, model, X, y):
    with monkeypatch.context() as patched:
        patched.setattr(halfmoon, "LOCAL_LABELS", len(X))
        return clone(model).fit(X, y)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("classes", marks=pytest.mark.slow),
        "numbers",
        pytest.param("skewed numbers", marks=pytest.mark.slow),
    ],
)
def test_local_fits_have_half_of_the_weight_before_labels_are_many(
    monkeypatch, rng, kind
):
    monkeypatch.setattr(halfmoon, "LOCAL_LABELS", 59)
    X = rng.uniform(-1, 1, size=(120, 4))
    f = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=120)
    truths = {"classes": np.where(f > 0, 1.0, -1.0), "numbers": f}
    y = np.where(np.arange(120) < 60, truths.get(kind, np.exp(2 * f)), np.nan)
    estimator = HalfmoonClassifier if kind == "classes" else HalfmoonRegressor
    model = estimator(random_state=0, budget=1000).fit(X, y)
    alone = same_labels_without_local_fits(monkeypatch, model, X, y)
    local = [m for m in model.solution_.members if isinstance(m.fit, LocalFit)]
    assert not any(isinstance(m.fit, LocalFit) for m in alone.solution_.members)
    weights = np.array([member.weight for member in local])
    assert weights.sum() == pytest.approx(0.5)
    # They are fitted on the scale that suited the candidates.
    assert {bool(m.target.suffix) for m in local} == {kind == "skewed numbers"}
    if kind != "skewed numbers":
        # Predictions, and what is known of labels that are left out, are halfway.
        values = np.tensordot(weights, [m.fit.predict(X) for m in local], 1)
        free = [replace(each.solution_, limits=None) for each in (alone, model)]
        assert_allclose(free[1].predict(X), free[0].predict(X) / 2 + values, rtol=1e-7)
        held_out = np.tensordot(weights, [m.held_out for m in local], 1)
        for name in ("answer", "twin"):
            expected = alone._cross_fitted[name] / 2 + held_out
            found = model._cross_fitted[name]
            assert_allclose(model.solution_.clip(expected), found, rtol=1e-9)
    else:
        part = [replace(m, weight=2 * m.weight) for m in local]
        part = replace(model.solution_, members=part)
        for name in ("answer", "twin"):
            expected = (alone._cross_fitted[name] + part.held_out) / 2
            assert_allclose(model._cross_fitted[name], expected, rtol=1e-9)
    # The comparison is the same, with half of each weight, and the local fits.
    before, after = (pd.DataFrame(each.comparison_) for each in (alone, model))
    new = after[len(before) :]
    assert new["candidate"].str.fullmatch(r".*, local fits( \(\d+\))?").all()
    assert_allclose(new["weight"], weights)
    kept = after[: len(before)]
    assert_allclose(kept["weight"], before["weight"] / 2)
    columns = ["candidate", "unlabeled", "labels", "loo_error", "difference"]
    pd.testing.assert_frame_equal(kept[columns], before[columns])
    assert (new["loo_error"] < before["loo_error"].max()).all()
    (twin,) = before[before["candidate"] == "supervised twin"]["loo_error"]
    assert_allclose(new["difference"], new["loo_error"] - twin, rtol=1e-6, atol=1e-12)
    # It is a function of the targets, and it is kept.
    if model.solution_.scale == "as given":
        H = model.smoother_matrix(X)
        unclipped = replace(model.solution_, limits=None).predict(X)
        assert_allclose(H @ y[:60], unclipped, rtol=1e-5, atol=1e-7)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    assert model.twin_.leave_one_out().shape == (60,)


def test_a_search_that_the_budget_ended_has_no_local_fits(monkeypatch, rng):
    monkeypatch.setattr(halfmoon, "LOCAL_LABELS", 19)
    X = rng.normal(size=(30, 2))
    y = np.where(np.arange(30) < 20, X[:, 0], np.nan)
    model = HalfmoonRegressor(random_state=0, budget=1e-9).fit(X, y)
    assert not any(isinstance(m.fit, LocalFit) for m in model.solution_.members)


def test_labels_without_local_fits_are_at_most_300():
    # Columns weighted by the labels are judged by folds up to here.
    assert halfmoon.LOCAL_LABELS == families.RELEVANCE_LABELS[1] == 300


@pytest.mark.parametrize("limit", ["512MB", 8 * 4 * 99**2])
def test_numbers_with_many_labels(small, draw, limit):
    X, f, _, _ = draw
    y = np.where(np.arange(150) < 100, f, np.nan)
    model = HalfmoonRegressor(memory_limit=limit, n_jobs=1, random_state=0).fit(X, y)
    kinds = {"512MB": "all labels", 8 * 4 * 99**2: "at landmarks"}
    assert how(model.solution_) == kinds[limit]
    values, std = model.predict(X, return_std=True)
    assert np.isfinite(std).all()
    assert r2_score(f[100:], values[100:]) > 0.9


@pytest.mark.parametrize("names", ["ba", pytest.param("cab", marks=pytest.mark.slow)])
def test_renaming_classes_changes_no_prediction(names):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=80)
    codes = np.digitize(
        score, np.quantile(score, np.arange(1, len(names)) / len(names))
    )
    chances = []
    for letters in (sorted(names), names):
        y = np.array([*letters], dtype=object)[codes]
        y[24:] = None
        model = HalfmoonClassifier(random_state=0, budget=1000).fit(X, y)
        order = np.searchsorted(model.classes_, [*letters])
        chances.append(model.predict_proba(X)[:, order])
    assert_allclose(*chances, rtol=1e-9, atol=1e-12)


def four_circles(seed, n=1_000):
    rng = np.random.default_rng(seed)
    radius, angle = rng.integers(1, 5, n), rng.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.05 * rng.standard_normal(X.shape), radius, rng


@pytest.mark.parametrize("each", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_four_circles_come_out_with_a_label_on_each(each):
    X, radius, rng = four_circles(each)
    some = [rng.choice(np.flatnonzero(radius == c), each, False) for c in range(1, 5)]
    known = np.full(len(X), np.nan)
    known[np.concatenate(some)] = radius[np.concatenate(some)]
    model = HalfmoonClassifier(random_state=0).fit(X, known)
    assert (model.predict(X) != radius).mean() < 0.02
    assert model.used_unlabeled_
    assert (model.twin_.predict(X) != radius).mean() > 0.2
