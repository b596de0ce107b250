"""Kernels and widths chosen by leave-one-out: the best of the grid, by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import halfmoon as hm
from halfmoon._estimators.fit_problem import AUTO_WIDTHS, kernel_choices
from halfmoon._partitions import survey
from halfmoon.filters import Heat
from halfmoon.kernels import Gaussian, Matern
from halfmoon.kernels._length_scales import median_distance
from optional_modules import optional

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (80, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(80)
KNOWN = np.where(np.arange(80) < 50, Y, np.nan)
SCALES = [0.1, 0.3, 1.0, 3.0]
ALPHAS = [1e-6, 1e-4, 1e-2]


def refitted(model):
    """Mean squared error of rows left out in turn, each by a fit of its own."""
    errors = []
    for i in range(50):
        y = KNOWN.copy()
        y[i] = np.nan
        alpha = model.alpha * 50 / 49  # the same lam
        other = model.__class__(**{**model.get_params(deep=False), "alpha": alpha})
        errors.append(Y[i] - other.fit(X, y).predict(X[i : i + 1])[0])
    return np.mean(np.square(errors))


def test_the_best_width_and_alpha_by_brute_force():
    model = hm.ConditionalRegressor(Gaussian(SCALES), alpha=ALPHAS).fit(X, KNOWN)
    errors = {
        (scale, alpha): refitted(hm.ConditionalRegressor(Gaussian(scale), alpha=alpha))
        for scale in SCALES
        for alpha in ALPHAS
    }
    scale, alpha = min(errors, key=errors.__getitem__)
    assert model.kernels_["kernel"].length_scale == scale
    assert model.alpha_ == alpha
    assert_allclose(model.kernel_errors_.min(), errors[scale, alpha], rtol=1e-6)
    alone = hm.ConditionalRegressor(Gaussian(scale), alpha=ALPHAS).fit(X, KNOWN)
    assert_allclose(model.predict(X), alone.predict(X))
    assert_allclose(model.loo_score_, alone.loo_score_)
    assert model.kernel.length_scale == SCALES  # the parameter stays as it was


@pytest.mark.parametrize("energy", ["gradient", "graph"])
def test_kernels_of_the_penalty_lever(energy):
    kernels = [Gaussian(0.5), Matern(length_scale=(0.5, 1.0)), "gaussian"]
    model = hm.LaplacianRegressor(kernels, energy=energy, alpha=1e-3, random_state=0)
    model.fit(X, KNOWN)
    flat = [Gaussian(0.5), Matern(length_scale=0.5), Matern(length_scale=1.0)]
    scores = [
        hm.LaplacianRegressor(each, energy=energy, alpha=1e-3, random_state=0)
        .fit(X, KNOWN)
        .solution_.loo_score
        for each in [*flat, "gaussian"]
    ]
    assert_allclose(model.kernel_errors_, scores)


def test_both_kernels_of_the_basis_lever():
    model = hm.FredholmRegressor(
        Gaussian([0.05, 0.3]), Gaussian([0.3, 1.0]), alpha=1e-3
    )
    model.fit(X, KNOWN)
    assert model.kernel_errors_.shape == (4,)
    alone = hm.FredholmRegressor(*model.kernels_.values(), alpha=1e-3).fit(X, KNOWN)
    assert_allclose(model.predict(X), alone.predict(X))
    assert_allclose(alone.solution_.loo_score, model.kernel_errors_.min())


def test_classes_losses_and_gaps():
    sign = np.where(np.isnan(KNOWN), np.nan, KNOWN > 0)
    model = hm.ConditionalClassifier(Gaussian("auto"), loss="logistic", alpha=1e-3)
    model.fit(X, sign)
    assert len(model.kernel_errors_) == len(AUTO_WIDTHS)
    assert model.score(X, Y > 0) > 0.8
    outputs = np.column_stack([KNOWN, X[:, 0]])
    both = hm.ConditionalRegressor(Gaussian(SCALES), alpha=1e-3).fit(X, outputs)
    alone = hm.ConditionalRegressor(Gaussian(SCALES), alpha=1e-3).fit(X, KNOWN)
    assert_allclose(both.predict(X)[:, 0], alone.predict(X))
    assert both.parts_[0].kernels_["kernel"].length_scale in SCALES


def test_automatic_widths():
    found = kernel_choices(Gaussian("auto"), X, np.random.default_rng(0))
    median = median_distance(X, np.random.default_rng(0))
    assert_allclose(
        [each.length_scale for each in found], median * np.array(AUTO_WIDTHS)
    )
    assert kernel_choices("gaussian", X, np.random.default_rng(0)) == ["gaussian"]


def test_refusals():
    with pytest.raises(ValueError, match="kernel is empty"):
        hm.ConditionalRegressor([]).fit(X, KNOWN)
    with pytest.raises(ValueError, match="one number is needed here"):
        Gaussian([1.0, 2.0])(X)
    with pytest.raises(ValueError, match="no leave-one-out error to choose by"):
        hm.LaplacianRegressor(Gaussian(SCALES), filter=Heat(0.1)).fit(X, KNOWN)


@pytest.mark.parametrize("outputs", [1, 2])
def test_each_kernel_is_fitted_to_all_rows_in_partitions(rng, monkeypatch, outputs):
    da = optional("dask.array")
    dask = optional("dask")
    monkeypatch.setattr(survey, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(survey, "MIN_PARTITION_ROWS", 10)
    X = rng.normal(size=(1_200, 3))
    y = np.full((1_200, outputs), np.nan)
    y[:60, 0] = np.sin(X[:60, 0])
    y[:50, 1:] = X[:50, 1:outputs]  # a gap: the outputs are fitted in groups
    y = y[:, 0] if outputs == 1 else y
    model = hm.LaplacianRegressor(
        Gaussian([0.5, 1.5]), alpha=1e-3, landmarks=X[::40], unpenalized="constant"
    )
    here = clone(model).fit(X, y)
    with dask.config.set(scheduler="synchronous"):
        there = clone(model).fit(da.from_array(X, chunks=(300, 3)), y)
    assert_allclose(there.mu_, here.mu_)
    assert_allclose(there.predict(X), here.predict(X), atol=1e-8)
