import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import halfmoon
from halfmoon import ConditionalRegressor, LaplacianRegressor
from halfmoon._estimators.fit_problem import unit_of
from halfmoon.kernels import Gaussian
from halfmoon.weak import IntervalRegressor
from halfmoon.weak._weak_estimator import WEAK_ALPHAS
from halfmoon.weak._weak_labels import as_ends
from optional_modules import optional

pd = optional("pandas")

N = 60


@pytest.fixture
def table(rng):
    X = rng.uniform(-2, 2, (N, 2))
    truth = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    y = np.c_[truth - rng.exponential(0.2, N), truth + rng.exponential(0.2, N)]
    y[:10, 0], y[10:20, 1] = -np.inf, np.inf
    y[20:30] = [-np.inf, np.inf]
    return X, y, truth


@pytest.mark.parametrize("alpha", [1e-6, 1e-2])
@pytest.mark.parametrize("energy", [None, "gradient"])
def test_points_are_plain_labels(alpha, energy, table):
    X, _, truth = table
    y = np.where(np.arange(N) % 3 == 0, np.nan, truth)
    kernel = Gaussian(0.8)
    weak = IntervalRegressor(kernel=kernel, alpha=alpha, energy=energy)
    plain = LaplacianRegressor(kernel, alpha=alpha, energy=energy).fit(X, y)
    for labels in (y, np.c_[y, y]):
        weak.fit(X, labels)
        assert_allclose(weak.predict(X), plain.predict(X), atol=1e-7)
        assert weak.n_labeled_ == np.isfinite(y).sum()
        assert weak.optimality_residual_ < 1e-9


def test_it_learns_from_intervals(table):
    X, y, truth = table
    model = IntervalRegressor(kernel="gaussian").fit(X, y)
    spread = truth.std()
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.3 * spread
    assert model.optimality_residual_ < 1e-9
    assert model.n_labeled_ == 50
    assert (model.labels_ >= y[:, 0]).all()
    assert (model.labels_ <= y[:, 1]).all()
    alpha = WEAK_ALPHAS[np.argmin(model.fold_losses_)]
    assert_allclose(model.alpha_, alpha * unit_of(model.solution_.posed))
    again = ConditionalRegressor("gaussian", alpha=model.alpha_)
    again.fit(X, np.where(np.isinf(y).all(axis=1), np.nan, model.labels_))
    assert_allclose(again.predict(X), model.predict(X), atol=1e-8)
    inside = (model.predict(X) >= y[:, 0]) & (model.predict(X) <= y[:, 1])
    known = np.isfinite(y).any(axis=1)
    assert model.score(X, y) == pytest.approx(inside[known].mean())


def test_the_objective_is_that_of_the_definition(table):
    X, y, _ = table
    model = IntervalRegressor(margin=0.0, kernel=Gaussian(0.8), alpha=0.03).fit(X, y)
    fit = model.solution_
    g = fit.predict(X)
    known = np.isfinite(y).any(axis=1)
    out = (g - np.clip(g, *y.T))[known]
    penalty = float((fit.theta.T @ fit.posed.penalty @ fit.theta)[0, 0])
    assert_allclose(model.objective_, np.mean(out**2) + 0.03 * penalty, rtol=1e-8)


def test_a_file_gives_back_the_model(table, tmp_path):
    X, y, _ = table
    model = IntervalRegressor(alpha=1e-3).fit(X, y)
    halfmoon.save(model, tmp_path / "model.halfmoon")
    again = halfmoon.load(tmp_path / "model.halfmoon")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.optimality_residual_ == model.optimality_residual_


def test_rows_of_weight_0_are_dropped(table):
    X, y, _ = table
    w = np.where(np.arange(N) % 4 == 0, 0.0, 2.0)
    model = IntervalRegressor(kernel=Gaussian(1.0), alpha=1e-3).fit(X, y, w)
    alone = IntervalRegressor(kernel=Gaussian(1.0), alpha=1e-3).fit(X[w > 0], y[w > 0])
    assert_allclose(model.predict(X), alone.predict(X), atol=1e-9)
    assert len(model.labels_) == N


@pytest.mark.parametrize("scale", [2.0**-700, 2.0**700])
@pytest.mark.filterwarnings("error")
def test_weights_of_any_scale(scale):
    X = np.linspace(-1, 1, 20)[:, None]
    ends = np.floor(3 * X) + np.array([0.0, 1.0])
    model = IntervalRegressor(kernel=Gaussian(1.0), alpha=1e-3)
    expected = model.fit(X, ends).predict(X)
    assert_allclose(model.fit(X, ends, np.full(20, scale)).predict(X), expected)


def test_intervals_of_pandas():
    cut = pd.cut([0.5, np.nan, 1.5, 7.0], [0, 1, 2, np.inf])
    expected = [[0, 1], [-np.inf, np.inf], [1, 2], [2, np.inf]]
    for y in (cut, pd.Series(cut), pd.Series(cut).astype(object)):
        assert_array_equal(as_ends(y, 4), expected)
    mixed = [pd.Interval(0, 1), 0.5, None]
    expected = [[0, 1], [0.5, 0.5], [-np.inf, np.inf]]
    assert_array_equal(as_ends(mixed, 3), expected)


def test_frames_with_missing_ends():
    frame = pd.DataFrame({"low": [0.0, None, 2.0], "high": [1.0, 3.0, None]})
    expected = [[0, 1], [-np.inf, 3], [2, np.inf]]
    assert_array_equal(as_ends(frame, 3), expected)
    assert_array_equal(as_ends(frame.astype("Float64"), 3), expected)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [2, 1], [0, 1]], r"low is above high in 1 row.*row 1: \[2, 1\]"),
        ([[-np.inf, np.inf]] * 3, "None of the 3 rows has an end"),
        ([[np.nan, np.nan]] * 3, "None of the 3 rows has an end"),
        ([[np.inf, np.inf], [0, 1], [0, 1]], "Row 0 has the ends"),
        ([0.0, np.inf, 1.0], "contains infinity"),
        ([[0, 1, 2]] * 3, r"shape \(3, 3\); two columns"),
        ([["a", "b"]] * 3, "cannot be read as numbers"),
        ([[0, 1]] * 2, "inconsistent numbers of samples"),
    ],
)
def test_errors_say_what_is_wrong(y, message):
    X = np.array([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match=message):
        IntervalRegressor(alpha=1.0).fit(X, y)


def test_a_margin_asks_for_values_further_inside(table):
    X, y, _ = table
    options = {"kernel": Gaussian(0.8), "alpha": 1e-3}
    plain = IntervalRegressor(**options, margin=0.0).fit(X, y)
    inner = IntervalRegressor(**options, margin=0.1).fit(X, y)
    assert (plain.margin_, inner.margin_) == (0.0, 0.1)
    assert inner.score(X, y) > plain.score(X, y)
    closed = np.isfinite(y).all(axis=1)
    middle = y[closed].mean(axis=1)
    narrow = y.copy()
    narrow[:, 0] += 0.1
    narrow[:, 1] -= 0.1
    narrow[closed, 0] = np.minimum(narrow[closed, 0], middle)
    narrow[closed, 1] = np.maximum(narrow[closed, 1], middle)
    by_hand = IntervalRegressor(**options, margin=0.0).fit(X, narrow)
    assert_allclose(inner.predict(X), by_hand.predict(X), atol=1e-10)


def test_the_margin_is_chosen_by_folds(rng):
    # Wide intervals around a constant: the penalty pulls values across the low ends.
    X = rng.uniform(-2, 2, (80, 2))
    truth = 3 + np.sin(2 * X[:, 0])
    y = np.c_[truth - 0.2, truth + 0.2]
    options = {"kernel": Gaussian(0.8), "unpenalized": None, "alpha": 1e-2}
    plain = IntervalRegressor(**options, margin=0.0).fit(X[:40], y[:40])
    chosen = IntervalRegressor(**options).fit(X[:40], y[:40])
    assert chosen.margin_ > 0
    assert chosen.score(X[40:], y[40:]) >= plain.score(X[40:], y[40:])


@pytest.mark.parametrize("margin", [-0.1, np.nan, np.inf, "wide", None])
def test_margins_that_are_none(margin, table):
    X, y, _ = table
    with pytest.raises(ValueError, match="margin"):
        IntervalRegressor(margin=margin).fit(X, y)


def test_numbers_may_be_text_in_an_array():
    ends = np.array([["0", "1"], ["2.5", "inf"]])
    assert_array_equal(as_ends(ends, 2), [[0, 1], [2.5, np.inf]])
    with pytest.raises(ValueError, match="could not convert string to float: 'a'"):
        as_ends(np.array([["a", "b"]]), 1)
