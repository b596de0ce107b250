"""Levers that compose, and estimators within scikit-learn: copies, tables, folds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon.bases import Nystrom, RandomFeatures, Smoothed, WithDerivatives
from halfmoon.kernels import Gaussian, Laplace, Linear, Matern
from halfmoon.model_selection import LabeledKFold
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion, KernelWeights
from halfmoon.unpenalized import Constant, Features, Polynomials
from reference import table

E, ALPHA = 0.8, 0.02

REGRESSORS = {
    "fredholm": FredholmRegressor(Gaussian(0.5), Gaussian(E), alpha=[1e-3, ALPHA]),
    "laplacian": LaplacianRegressor(Gaussian(E), [1e-3, ALPHA], [0.01, 0.1]),
    "filter": LaplacianRegressor(Gaussian(E), ALPHA, filter="heat"),
    "conditional": ConditionalRegressor(Gaussian(E), "linear", [1e-3, ALPHA]),
    "landmarks": ConditionalRegressor(Gaussian(E), n_components=9, random_state=3),
    "features": FredholmRegressor(
        Gaussian(0.5), Gaussian(E), basis="random_features", random_state=3
    ),
}


@pytest.mark.parametrize(
    "inner",
    [
        Nystrom(Gaussian(E), landmarks=[0, 4, 9, 17, 20]),
        WithDerivatives(Gaussian(E)),
    ],
    ids=["nystrom", "derivatives"],
)
def test_all_three_levers_at_once(inner):
    data = table()
    basis = Smoothed(inner, KernelWeights(Gaussian(0.5)))
    model = LaplacianRegressor(
        alpha=ALPHA, mu=0.1, basis=basis, energy="gradient", unpenalized=[0]
    ).fit(data.X, data.y, data.w)
    problem = Problem(basis, "gradient", 0.1, Features([0]))
    fit = problem.fit(data.X, data.y, ALPHA, sample_weight=data.w)
    assert_allclose(model.predict(data.new), fit.predict(data.new), atol=1e-10)
    assert_allclose(model.leave_one_out(), fit.leave_one_out(), atol=1e-9)
    # Each lever is felt: without one of them, other values.
    for other in (
        Problem(inner, "gradient", 0.1, Features([0])),
        Problem(basis, None, 0.1, Features([0])),
        Problem(basis, "gradient", 0.1, Constant()),
    ):
        off = other.fit(data.X, data.y, ALPHA, sample_weight=data.w)
        assert np.abs(off.predict(data.new) - fit.predict(data.new)).max() > 1e-3


def test_a_smoother_with_a_graph_and_polynomials():
    data = table()
    basis = Smoothed(RandomFeatures(Matern(1.5, E), 20), Diffusion(4, restart=0.2))
    model = LaplacianRegressor(
        alpha=[1e-3, ALPHA],
        basis=basis,
        energy="graph",
        unpenalized="linear",
        random_state=0,
    ).fit(data.X, data.y)
    assert_allclose(
        model.smoother_matrix(data.new) @ data.y[data.labeled],
        model.predict(data.new),
        atol=1e-8,
    )
    assert isinstance(model.solution_.posed.unpenalized, Polynomials)


def test_a_basis_may_be_given_to_any_estimator():
    data = table()
    basis = Nystrom(Gaussian(E), landmarks=data.Z)
    expected = Problem(basis).fit(data.X, data.y, ALPHA).predict(data.new)
    conditional = ConditionalRegressor(basis=basis, alpha=ALPHA)
    plain = LaplacianRegressor(basis=basis, energy=None, alpha=ALPHA)
    for model in (conditional, plain):
        assert_allclose(model.fit(data.X, data.y).predict(data.new), expected)
    smoothed = Problem(Smoothed(basis, KernelWeights(Gaussian(0.5))))
    fredholm = FredholmRegressor(Gaussian(0.5), basis=basis, alpha=ALPHA)
    assert_allclose(
        fredholm.fit(data.X, data.y).predict(data.new),
        smoothed.fit(data.X, data.y, ALPHA).predict(data.new),
        atol=1e-10,
    )
    assert not hasattr(basis, "n_components_")  # yours stays as it was


# ---- within scikit-learn -------------------------------------------------------------


@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_copies(model):
    data = table()
    before = repr(model.get_params())
    fitted = clone(model).fit(data.X, data.y, data.w)
    assert repr(fitted.get_params()) == before
    again = clone(fitted).fit(data.X, data.y, data.w)
    expected = fitted.predict(data.new)
    assert_array_equal(again.predict(data.new), expected)
    stored = pickle.loads(pickle.dumps(fitted))
    assert_allclose(stored.predict(data.new), expected, rtol=1e-12)
    assert_allclose(stored.smoother_matrix(data.new), fitted.smoother_matrix(data.new))
    if not fitted.solution_.by_ridge:
        return
    assert_allclose(stored.leave_one_out(), fitted.leave_one_out(), rtol=1e-9)
    std, stored_std = (m.predict(data.new, True)[1] for m in (fitted, stored))
    assert_allclose(stored_std, std, rtol=1e-9)


def test_a_stored_classifier():
    data = table()
    y = np.where(np.isnan(data.y), None, np.where(data.y > 1, "up", "down"))
    for model in (
        ConditionalClassifier(alpha=ALPHA, loss="hinge"),
        LaplacianClassifier(verbose=1),
    ):
        model.fit(data.X, y)
        stored = pickle.loads(pickle.dumps(model))
        assert_allclose(stored.predict_proba(data.new), model.predict_proba(data.new))
        assert list(stored.predict(data.new)) == list(model.predict(data.new))


def test_a_pipeline_and_a_grid_search():
    data = table(n=40, l=40, weights=False)
    pipeline = make_pipeline(StandardScaler(), ConditionalRegressor(alpha=ALPHA))
    pipeline.set_params(conditionalregressor__kernel=Gaussian(1.0))
    scaled = StandardScaler().fit(data.X)
    expected = ConditionalRegressor(Gaussian(1.0), alpha=ALPHA)
    expected.fit(scaled.transform(data.X), data.y)
    assert_allclose(
        pipeline.fit(data.X, data.y).predict(data.new),
        expected.predict(scaled.transform(data.new)),
        rtol=1e-10,
    )
    grid = {"conditionalregressor__kernel__length_scale": [0.01, 1.0, 100.0]}
    search = GridSearchCV(pipeline, grid, cv=4).fit(data.X, data.y)
    assert search.best_params_["conditionalregressor__kernel__length_scale"] == 1.0
    assert search.best_score_ > 0.5


def test_folds_in_which_unlabeled_rows_stay():
    data = table(n=40, l=24, weights=False)
    y = np.where(np.isnan(data.y), np.nan, data.y > np.nanmedian(data.y))
    scores = cross_val_score(FredholmClassifier(), data.X, y, cv=LabeledKFold(4))
    assert scores.shape == (4,)
    assert scores.mean() > 0.6


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    data = table()
    names = ["a", "b"]
    frame, new = (
        frames.DataFrame(dict(zip(names, X.T, strict=True)))
        for X in (data.X, data.new)
    )  # fmt: skip
    for model in REGRESSORS.values():
        expected = clone(model).fit(data.X, data.y).predict(data.new)
        fitted = clone(model).fit(frame, data.y)
        assert_allclose(fitted.predict(new), expected, rtol=1e-10)
        assert list(fitted.feature_names_in_) == names
    pipeline = make_pipeline(StandardScaler(), ConditionalRegressor(unpenalized=["b"]))
    pipeline.set_output(transform=library)
    plain = make_pipeline(StandardScaler(), ConditionalRegressor(unpenalized=[1]))
    expected = plain.fit(data.X, data.y).predict(data.new)
    assert_allclose(pipeline.fit(frame, data.y).predict(new), expected, rtol=1e-10)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_sparse_tables(container):
    data = table()
    for model in REGRESSORS.values():
        expected = clone(model).fit(data.X, data.y, data.w)
        fitted = clone(model).fit(container(data.X), data.y, data.w)
        actual = fitted.predict(container(data.new))
        assert_allclose(actual, expected.predict(data.new), atol=1e-6)
        energy = expected.dirichlet_energy()
        assert_allclose(fitted.dirichlet_energy(), energy, rtol=1e-5)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(1.0), Linear()], ids=repr)
def test_sparse_and_dense_rows_may_meet(kernel):
    data = table()
    model = ConditionalRegressor(kernel, alpha=0.01)
    expected = model.fit(data.X, data.y).predict(data.new)
    assert_allclose(model.predict(sp.csr_array(data.new)), expected, atol=1e-9)
    model.fit(sp.csr_array(data.X), data.y)
    assert_allclose(model.predict(data.new), expected, atol=1e-9)


def test_single_precision_and_memory_maps(tmp_path):
    data = table()
    X = data.X.astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for model in REGRESSORS.values():
        expected = clone(model).fit(X.astype(float), data.y).predict(data.new)
        for rows in (X, mapped):
            fitted = clone(model).fit(rows, data.y)
            assert_allclose(fitted.predict(data.new), expected, atol=1e-7)
            assert fitted.predict(rows).dtype == np.float64


def test_the_seed_determines_the_fit():
    data = table(n=60, l=30)
    for options in ({"n_components": 8}, {"basis": "random_features"}):
        model = ConditionalRegressor(Gaussian(E), alpha=ALPHA, **options)
        one, two, other = (
            model.set_params(random_state=seed).fit(data.X, data.y).predict(data.new)
            for seed in (0, 0, 1)
        )
        assert_array_equal(one, two)
        assert np.abs(one - other).max() > 1e-6


def test_predictions_do_not_depend_on_other_rows_of_the_batch():
    data = table()
    for model in REGRESSORS.values():
        fitted = clone(model).fit(data.X, data.y)
        together = fitted.predict(data.new)
        alone = [fitted.predict(row[None])[0] for row in data.new]
        assert_allclose(together, alone, rtol=1e-9)


def test_threads_and_a_small_limit_change_nothing():
    data = table(n=60, l=30)
    for model in REGRESSORS.values():
        expected = clone(model).set_params(n_jobs=1).fit(data.X, data.y)
        for options in ({"n_jobs": 3}, {"memory_limit": "400kB"}):
            other = clone(model).set_params(**options).fit(data.X, data.y)
            assert_allclose(
                other.predict(data.new), expected.predict(data.new), atol=1e-9
            )
