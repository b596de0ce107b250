"""Outputs with gaps: each output is fitted as if it were alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

import halfmoon as hm
from halfmoon._estimators.output_groups import by_output, groups_of_outputs
from halfmoon.baselines import (
    HarmonicRegressor,
    LapRLSRegressor,
    PrincipalComponentRegressor,
)
from halfmoon.kernels import Gaussian, ThinPlate
from halfmoon.model_selection import (
    LabeledKFold,
    labeled_mean_squared_error,
    labeled_r2,
)
from halfmoon.unpenalized import Constant, Polynomials

N = 90
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
TRUTH = np.column_stack([X[:, 0] + np.sin(X[:, 1]), X[:, 1] ** 2, X.sum(axis=1)])
TRUTH += 0.1 * RNG.normal(size=TRUTH.shape)
Y = TRUTH.copy()
Y[50:] = np.nan  # 40 rows have no label at all
Y[:12, 1] = np.nan
Y[40:50, [0, 2]] = np.nan
W = RNG.uniform(0.5, 2.0, N)
GROUPS = ([0, 2], [1])

BY_RIDGE = [
    hm.ConditionalRegressor(random_state=0),
    hm.ConditionalRegressor(alpha=0.01, unpenalized="linear"),
    hm.ConditionalRegressor(ThinPlate(), "linear"),
    hm.ConditionalRegressor(unpenalized=[Constant(), Polynomials(1)], random_state=0),
    hm.ConditionalRegressor(Gaussian(1.0), n_components=20, random_state=0),
    hm.FredholmRegressor(random_state=0),
    hm.FredholmRegressor("linear", normalize=False, alpha=0.1),
    hm.LaplacianRegressor(random_state=0),
    hm.LaplacianRegressor(energy="graph", mu=[0.01, 1.0], n_components=25),
    hm.LaplacianRegressor(basis="derivatives", alpha=0.01),
    LapRLSRegressor(gamma_A=0.01, gamma_I=0.1),
]


def test_groups():
    groups = groups_of_outputs(Y)
    assert_array_equal(groups[0], [0, 2])
    assert_array_equal(groups[1], [1])
    assert len(groups_of_outputs(TRUTH)) == len(groups_of_outputs(Y[:, 0])) == 1
    ragged = by_output(groups, [np.ones((3, 2)), np.ones((2, 1))], fill=np.nan)
    assert_array_equal(ragged[2], [1.0, np.nan, 1.0])


@pytest.mark.parametrize("model", BY_RIDGE, ids=repr)
def test_outputs_with_gaps_are_separate_fits(model):
    model = clone(model)
    if model.get_params().get("landmarks") and model.random_state is None:
        model.set_params(random_state=0)
    model.fit(X, Y, W)
    values, std = model.predict(X, return_std=True)
    left_out, dual, H = (
        model.leave_one_out(),
        model.dual_coef_,
        model.smoother_matrix(X),
    )
    low, high = model.predict_interval(X)
    for columns in GROUPS:
        alone = clone(model).fit(X, Y[:, columns], W)
        known = ~np.isnan(Y[model.labeled_, columns[0]])
        expected, expected_std = alone.predict(X, return_std=True)
        assert_allclose(values[:, columns], expected, atol=1e-10, rtol=1e-10)
        assert_allclose(std[:, columns], expected_std, atol=1e-10, rtol=1e-8)
        assert_allclose(left_out[known][:, columns], alone.leave_one_out(), atol=1e-9)
        assert np.isnan(left_out[~known][:, columns]).all()
        assert_allclose(dual[known][:, columns], alone.dual_coef_, atol=1e-7, rtol=1e-7)
        assert (dual[~known][:, columns] == 0).all()
        for column in columns:
            y = np.where(known, Y[model.labeled_, column], 0.0)
            assert (H[:, ~known, column] == 0).all()
            assert_allclose(H[:, :, column] @ y, values[:, column], atol=1e-8)
        assert_allclose(model.coef_[: len(alone.coef_), columns], alone.coef_)
        assert_allclose(model.alpha_[columns], alone.alpha_)
        assert_allclose(model.mu_[columns], alone.mu_)
        assert_allclose(model.rank_[columns], alone.rank_)
        assert_allclose(
            model.dirichlet_energy()[columns], alone.dirichlet_energy(), rtol=1e-7
        )
        ends = alone.predict_interval(X)
        assert_allclose(low[:, columns], ends[0], atol=1e-8)
        assert_allclose(high[:, columns], ends[1], atol=1e-8)
        assert_allclose(
            model.noise_variance_[columns], alone.noise_variance_, atol=1e-9
        )
    assert model.n_labeled_ == 50
    scores = [clone(model).fit(X, y, W).loo_score_ for y in Y.T]
    if model.get_params().get("alpha", 0.01) == 0.01:  # one alpha: outputs are alone
        assert_allclose(model.loo_score_, np.mean(scores))


def test_a_filter_and_the_primal_weights():
    filtered = hm.LaplacianRegressor(filter="heat", alpha=[0.001, 0.01]).fit(X, Y)
    linear = hm.FredholmRegressor("linear", normalize=False, alpha=0.1).fit(X, Y)
    for columns in GROUPS:
        alone = clone(filtered).fit(X, Y[:, columns])
        assert_allclose(filtered.predict(X)[:, columns], alone.predict(X), atol=1e-10)
        weights = clone(linear).fit(X, Y[:, columns]).primal_coef_
        assert_allclose(linear.primal_coef_[:, columns], weights, atol=1e-9)


def test_search_of_each_group():
    model = hm.HalfmoonRegressor(random_state=0, budget=1e-9, unpenalized="linear")
    model.fit(X, Y)
    values, std = model.predict(X, return_std=True)
    for columns in GROUPS:
        alone = clone(model).fit(X, Y[:, columns])
        expected, expected_std = alone.predict(X, return_std=True)
        assert_allclose(values[:, columns], expected, atol=1e-12)
        assert_allclose(std[:, columns], expected_std, atol=1e-12)
        assert_allclose(
            model.twin_.predict(X)[:, columns], alone.twin_.predict(X), atol=1e-12
        )
        assert_allclose(model.coef_[:, columns], alone.coef_)
    assert not hasattr(model, "comparison_")
    assert len(model.parts_) == 2
    assert len(model.parts_[0].comparison_["candidate"]) > 1
    assert model.leave_one_out().shape == (50, 3)


def test_a_second_fit_without_gaps_forgets_the_groups():
    model = hm.ConditionalRegressor(alpha=0.01).fit(X, Y).fit(X, TRUTH)
    assert not hasattr(model, "parts_")
    assert np.ndim(model.alpha_) == 0
    assert_allclose(
        model.predict(X), hm.ConditionalRegressor(alpha=0.01).fit(X, TRUTH).predict(X)
    )


@pytest.mark.parametrize("n_components", [None, 150])
def test_a_wide_kernel_keeps_ten_digits(n_components):
    # Its penalty is so near to singular that BLAS with other threads moves 1e-8.
    rng = np.random.default_rng(0)
    many = rng.normal(size=(500, 5))
    y = np.column_stack([np.sin(many[:, 0]), many[:, 1] ** 2])
    y[200:] = y[:20, 0] = y[180:, 1] = np.nan
    model = hm.LaplacianRegressor(
        Gaussian(2.0), n_components=n_components, random_state=0
    )
    together = clone(model).fit(many, y).predict(many)
    apart = [clone(model).fit(many, each).predict(many) for each in y.T]
    assert_allclose(together, np.column_stack(apart), rtol=0, atol=1e-10)


def test_little_memory_changes_nothing():
    y = np.tile(TRUTH[:, :1], 20)
    y[60:] = np.nan
    y[np.arange(20), np.arange(20)] = np.nan  # twenty groups
    rich = hm.ConditionalRegressor(Gaussian(1.0)).fit(X, y)
    poor = clone(rich).set_params(memory_limit="200kB").fit(X, y)
    assert all("path" in part.solution_.posed.__dict__ for part in rich.parts_)
    poor.predict(X, return_std=True)
    poor.leave_one_out()
    assert not any("path" in part.solution_.posed.__dict__ for part in poor.parts_)
    assert_allclose(poor.predict(X), rich.predict(X))
    assert_allclose(poor.leave_one_out(), rich.leave_one_out())
    assert_allclose(poor.loo_score_, rich.loo_score_)


@pytest.mark.parametrize(
    "model", [HarmonicRegressor(5), PrincipalComponentRegressor(2)], ids=repr
)
def test_baselines(model):
    values = clone(model).fit(X, Y).predict(X)
    for column in range(3):
        alone = clone(model).fit(X, Y[:, column])
        assert_allclose(values[:, column], alone.predict(X), atol=1e-10)


def test_leave_one_out_of_principal_components():
    model = PrincipalComponentRegressor().fit(X, Y)
    alone = PrincipalComponentRegressor(model.n_components_).fit(X, Y[:, 1])
    left_out = model.leave_one_out()[:, 1]
    assert_allclose(left_out[~np.isnan(left_out)], alone.leave_one_out())


def test_scores_skip_what_is_missing():
    model = hm.ConditionalRegressor(alpha=0.01).fit(X, Y)
    predicted = model.predict(X)
    expected = np.mean(
        [
            r2_score(y[known], p[known], sample_weight=W[known])
            for y, p in zip(Y.T, predicted.T, strict=True)
            for known in [~np.isnan(y)]
        ]
    )
    assert_allclose(model.score(X, Y, W), expected)
    assert_allclose(labeled_r2(model, X, Y, W), expected)
    unsaid = np.where(np.isnan(Y), None, Y)  # an array of objects
    assert_allclose(model.score(X, unsaid, W), expected)
    squares = np.nanmean((Y - predicted) ** 2, axis=0).mean()
    assert_allclose(labeled_mean_squared_error(model, X, Y), -squares)
    folds = LabeledKFold(4, random_state=0)
    assert sorted(np.concatenate([test for _, test in folds.split(X, Y)])) == list(
        range(50)
    )
    assert (cross_val_score(model, X, Y, cv=folds, scoring=labeled_r2) > 0.3).all()


def test_an_output_that_nobody_has():
    empty = np.column_stack([TRUTH[:, 0], np.full(N, np.nan)])
    for model in (hm.ConditionalRegressor(), HarmonicRegressor()):
        with pytest.raises(ValueError, match="Output 1 of y has no label in any row"):
            model.fit(X, empty)
    model = hm.ConditionalRegressor(alpha=0.01).fit(X, Y)
    with pytest.raises(ValueError, match="Output 1 has no label among the rows"):
        model.score(X[:12], Y[:12])
    with pytest.raises(ValueError, match="each with its own problem"):
        model.residual_kernel(X)
