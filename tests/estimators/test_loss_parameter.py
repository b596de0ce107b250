"""Losses as a parameter of the estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import halfmoon as hm
from halfmoon.kernels import Gaussian, Linear
from halfmoon.losses import Huber, Logistic, Quantile
from halfmoon.smoothers import Neighbors
from halfmoon.unpenalized import Constant, Polynomials

N = 80
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
TRUTH = np.sin(2 * X[:, 0]) + X[:, 1]
NOISY = TRUTH + 0.2 * RNG.standard_t(2, N)
NUMBERS = np.where(np.arange(N) < 50, NOISY, np.nan)
SIGN = np.where(X[:, 0] * X[:, 1] > 0, "up", "down").astype(object)
SIDES = np.where(np.arange(N) < 50, SIGN, None)
THIRDS = np.where(np.arange(N) < 50, np.digitize(X[:, 0], [-0.4, 0.4]), np.nan)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
def test_logistic_is_that_of_scikit_learn(n_classes, alpha):
    # (1/n) sum of losses + alpha |theta|^2: scikit-learn's C is 1 / (2 alpha n).
    rows, y = load_iris(return_X_y=True)
    used = y > 2 - n_classes
    rows, y = rows[used], y[used]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    peer = LogisticRegression(
        C=1 / (2 * alpha * len(y)), tol=1e-12, max_iter=1_000, solver="newton-cg"
    ).fit(rows, y)
    model = hm.ConditionalClassifier(Linear(), alpha=alpha, loss="logistic")
    model.fit(rows, y)
    expected = peer.decision_function(rows)
    assert_allclose(model.decision_function(rows), expected, atol=1e-6)
    # Its own probabilities are those at a temperature of 1, of one column 1 / 2.
    model.temperature_ = 0.5 if n_classes == 2 else 1.0
    assert_allclose(model.predict_proba(rows), peer.predict_proba(rows), atol=1e-7)


@pytest.mark.parametrize(
    "model",
    [
        hm.ConditionalClassifier(Gaussian(1.0), unpenalized=None),
        hm.ConditionalClassifier(Gaussian(1.0), unpenalized=[1]),
        hm.FredholmClassifier(Gaussian(0.3), Gaussian(1.0), unpenalized=[1]),
        hm.FredholmClassifier(smoother=Neighbors(5)),
        hm.LaplacianClassifier(Gaussian(0.7), unpenalized=None),
        hm.LaplacianClassifier(Gaussian(0.7), unpenalized=[1]),
        hm.LaplacianClassifier(energy="graph", n_components=30, random_state=0),
        hm.LaplacianClassifier(
            Gaussian(1.0), basis="derivatives", unpenalized="constant"
        ),
    ],
    ids=repr,
)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_classes(model, loss):
    model = model.set_params(loss=loss, alpha=[1e-4, 1e-3])
    with_weights = np.where(np.arange(N) < 25, 1.0, 2.0)
    model.fit(X, SIDES, with_weights)
    assert (model.predict(X) == SIGN)[50:].mean() > 0.75
    assert model.loo_score_ > 0.75
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.loo_errors_.shape == (2,)
    assert model.dual_coef_.shape == (50,)
    assert model.leave_one_out().shape == (50,)
    model.fit(X, THIRDS)
    assert model.decision_function(X).shape == (N, 3)
    assert (model.predict(X[50:]) == np.digitize(X[50:, 0], [-0.4, 0.4])).mean() > 0.75


@pytest.mark.parametrize("loss", ["huber", "quantile", Huber(1.0, 0.2), Quantile(0.5)])
@pytest.mark.parametrize(
    "model",
    [
        hm.ConditionalRegressor(unpenalized="linear"),
        hm.FredholmRegressor(Gaussian(0.3), Gaussian(1.0), unpenalized=None),
        hm.LaplacianRegressor(n_components=30, random_state=0),
    ],
    ids=repr,
)
def test_numbers(model, loss):
    model = model.set_params(loss=loss, alpha=[1e-4, 1e-3, 1e-2]).fit(X, NUMBERS)
    assert np.median(np.abs(model.predict(X) - TRUTH)) < 0.35
    low, high = model.predict_interval(X, 0.8)
    assert 0.5 < np.mean((low <= NOISY) & (high >= NOISY)) <= 1.0
    assert np.isfinite(model.leave_one_out()).all()
    with pytest.raises(ValueError, match="closed form"):
        model.predict(X, return_std=True)


def test_quantiles_hold_their_share_of_the_labels():
    # Of the fitted rows: the constant is free, so the shares are exact but for ties.
    for level in (0.1, 0.5, 0.9):
        model = hm.ConditionalRegressor(Gaussian(1.0), loss=Quantile(level), alpha=0.1)
        below = (NUMBERS[:50] <= model.fit(X, NUMBERS).predict(X[:50]) + 1e-7).mean()
        assert level - 1e-9 <= below <= level + 0.15


def test_outputs_with_gaps_and_a_loss():
    Y = np.column_stack([NUMBERS, NUMBERS + X[:, 0]])
    Y[:10, 1] = np.nan
    model = hm.ConditionalRegressor(loss="huber", alpha=[1e-3, 1e-2]).fit(X, Y)
    for j in range(2):
        alone = hm.ConditionalRegressor(loss="huber", alpha=[1e-3, 1e-2])
        alone.fit(X, Y[:, j])
        assert_allclose(model.predict(X)[:, j], alone.predict(X), atol=1e-10)
        assert_allclose(model.alpha_[j], alone.alpha_)


def test_default_alphas():
    model = hm.ConditionalClassifier(loss="logistic").fit(X, SIDES)
    assert len(model.alphas_) == 10  # every other one of those of ridge
    single = np.full(N, None, dtype=object)
    single[:2] = "up", "down"  # one label each: the alpha that ridge is likeliest with
    alone = hm.ConditionalClassifier(loss="logistic").fit(X, single)
    assert alone.loo_errors_ is None
    assert np.isfinite(alone.decision_function(X)).all()


def test_units_of_the_labels_do_not_matter():
    for loss in ("huber", "quantile"):
        one = hm.ConditionalRegressor(Gaussian(1.0), loss=loss).fit(X, NUMBERS)
        large = hm.ConditionalRegressor(Gaussian(1.0), loss=loss)
        large.fit(X, 1e6 * NUMBERS)
        assert_allclose(large.predict(X), 1e6 * one.predict(X), rtol=1e-4)


@pytest.mark.parametrize("loss", ["huber", Quantile(0.9)], ids=str)
def test_the_mean_of_the_labels_does_not_matter(loss):
    # Leave-one-out, and so Huber's scale, used to depend on it.
    model = hm.ConditionalRegressor(Gaussian(1.0), loss=loss, alpha=[1e-4, 1e-2])
    one, loo = model.fit(X, NUMBERS).predict(X), model.leave_one_out()
    moved = model.fit(X, NUMBERS + 1e6).predict(X) - 1e6
    assert_allclose(moved, one, atol=1e-6)
    assert_allclose(model.leave_one_out(), loo, atol=1e-6)


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_the_scale_of_the_weights_does_not_matter(loss):
    w = RNG.uniform(0.5, 2.0, N)
    model = hm.ConditionalRegressor(Gaussian(1.0), loss=loss, alpha=[1e-4, 1e-2])
    one, loo = model.fit(X, NUMBERS, w).predict(X), model.leave_one_out()
    for unit in (1e-200, 1e-3, 1e6, 1e200):  # at 1e200 there was no fit
        assert_allclose(model.fit(X, NUMBERS, unit * w).predict(X), one, atol=1e-7)
        assert_allclose(model.leave_one_out(), loo, atol=1e-7)


def test_several_choices_of_features_are_compared_by_the_loss():
    model = hm.ConditionalRegressor(
        Gaussian(1.0),
        unpenalized=[Constant(), Polynomials(1)],
        loss=Quantile(0.5),
        alpha=[1e-3, 1e-2],
    ).fit(X, NUMBERS)
    assert model.fold_errors_.shape == (2, 2)
    assert (model.fold_errors_ > 0).all()


def test_refusals():
    with pytest.raises(ValueError, match="hinge loss is for classes; use a classifier"):
        hm.ConditionalRegressor(loss="hinge").fit(X, NUMBERS)
    with pytest.raises(ValueError, match="huber loss is for numbers; use a regressor"):
        hm.ConditionalClassifier(loss=Huber()).fit(X, SIDES)
    with pytest.raises(ValueError, match="loss is 'cubic'; one of 'squared'"):
        hm.LaplacianRegressor(loss="cubic").fit(X, NUMBERS)
    with pytest.raises(ValueError, match="A filter is for loss='squared'"):
        hm.LaplacianClassifier(loss=Logistic(), filter="heat").fit(X, SIDES)
    model = hm.ConditionalRegressor(loss="quantile", alpha=0.01).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="Paths over features are for loss='squared'"):
        model.hard_threshold_path(X, NUMBERS)


class TestKernelsOfWhichLittleButRoundingIsLeft:
    """After the constant has been projected out of a wide kernel."""

    X = np.random.default_rng(0).uniform(size=(30, 3))
    y = np.arange(30) % 3.0

    def test_a_wide_huber_loss_is_squared(self):
        model = hm.LaplacianRegressor(
            Gaussian(1.0), alpha=1e-10, unpenalized="constant"
        )
        expected = model.fit(self.X, self.y).predict(self.X)
        model.set_params(loss=Huber(1e3))
        actual = model.fit(self.X, self.y).predict(self.X)
        assert_allclose(actual, expected, atol=1e-8)

    @pytest.mark.parametrize("loss", ["huber", "quantile"])
    @pytest.mark.parametrize("length_scale", [1.0, 1e5])
    def test_numbers(self, loss, length_scale):
        for model in (hm.ConditionalRegressor, hm.LaplacianRegressor):
            fitted = model(Gaussian(length_scale), loss=loss).fit(self.X, self.y)
            found = fitted.predict(self.X)
            assert np.abs(found - 1.0).max() < 1.7  # the labels are 0, 1 and 2

    @pytest.mark.parametrize("loss", ["hinge", "logistic"])
    @pytest.mark.parametrize("length_scale", [1e5, 1e6])
    @pytest.mark.filterwarnings("ignore:The logistic loss was not minimized to round")
    def test_classes(self, loss, length_scale):
        classes = np.where(self.y > 0, "a", "b")
        model = hm.ConditionalClassifier(Gaussian(length_scale), loss=loss)
        model.fit(self.X, classes)
        assert (model.predict(self.X) == "a").all()  # nothing but the constant is left
        assert_allclose(model.loo_score_, 2 / 3)

    @pytest.mark.parametrize("loss", ["huber", "quantile"])
    @pytest.mark.parametrize("length_scale", [30.0, 1e3, 1e5])
    def test_an_alpha_below_rounding_is_not_worse_than_the_median(
        self, loss, length_scale
    ):
        y = self.X[:, 0] + 0.1 * np.sin(np.arange(30.0))
        for model in (hm.ConditionalRegressor, hm.LaplacianRegressor):
            fitted = model(
                Gaussian(length_scale), loss=loss, alpha=1e-18, unpenalized="constant"
            ).fit(self.X, y)
            found = np.abs(y - fitted.predict(self.X)).mean()
            assert found < 1.05 * np.abs(y - np.median(y)).mean()

    def test_a_matrix_with_negative_eigenvalues_is_still_refused(self):
        K = np.eye(30) - 0.5 * np.ones((30, 30)) + 2 * np.diag(np.tile([0.0, -1], 15))
        model = hm.ConditionalRegressor("precomputed", loss="huber", alpha=0.1)
        with pytest.raises(ValueError, match="not positive definite on the complement"):
            model.fit(K, self.y)

    @pytest.mark.parametrize("loss", ["huber", "quantile"])
    def test_the_score_is_minus_infinity_if_no_row_can_be_left_out(self, loss):
        y = np.where(np.arange(30) < 4, self.y, np.nan)
        model = hm.ConditionalRegressor(
            Gaussian(1.0), alpha=0.1, unpenalized="linear", loss=loss
        )
        with pytest.warns(UserWarning, match="There are 4 unpenalized features for 4"):
            model.fit(self.X, y)
        assert np.isnan(model.leave_one_out_predictions()).all()
        assert model.loo_score_ == -np.inf

    def test_equal_rows(self):
        X = np.repeat(self.X[:5], 4, axis=0)
        y = np.where(np.arange(20) < 2, np.arange(20.0), np.nan)
        model = hm.FredholmRegressor(loss="quantile", alpha=0.1).fit(X, y)
        assert_allclose(np.sort(model.leave_one_out()), [-1.0, 1.0], atol=1e-4)
