"""Conditional kernel ridge against scikit-learn, SciPy and dense equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import RBFInterpolator
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmRegressor,
    LaplacianRegressor,
)
from halfmoon.kernels import Gaussian, Laplace, ThinPlate
from reference import gaussian, table

E = 0.8
GAMMA = 1 / (2 * E**2)
A = 0.3  # scikit-learn's alpha: ours times the number of labels


def no_lever(name, alpha):
    """Each estimator with its lever left alone is kernel ridge."""
    return {
        "conditional": ConditionalRegressor(Gaussian(E), None, alpha),
        "laplacian": LaplacianRegressor(
            Gaussian(E), alpha, energy=None, unpenalized=None
        ),
    }[name]


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("name", ["conditional", "laplacian"])
def test_no_lever_is_kernel_ridge(name, weights, targets):
    data = table(n=30, l=18, t=targets, weights=weights)
    known = data.labeled
    X_l, y_l, w_l = data.X[known], data.y[known], data.w[known]
    peer = KernelRidge(alpha=A, kernel="rbf", gamma=GAMMA).fit(
        X_l, y_l, sample_weight=w_l if weights else None
    )
    model = no_lever(name, A / w_l.sum())
    model.fit(data.X, data.y, data.w if weights else None)
    assert_allclose(model.predict(data.new), peer.predict(data.new), atol=1e-10)
    assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-10)
    assert model.n_labeled_ == 18
    assert model.coef_.shape == (0, targets)[: 1 + (targets > 1)]


def test_thin_plate_is_scipys_smoothing_spline():
    data = table(n=30, l=20, weights=False)
    known, smoothing = data.labeled, 0.7
    spline = RBFInterpolator(
        data.X[known],
        data.y[known],
        kernel="thin_plate_spline",
        smoothing=smoothing,
        degree=1,
    )
    expected = spline(data.new)
    for linear in ("linear", 1):
        model = ConditionalRegressor(ThinPlate(), linear, alpha=smoothing / 20)
        actual = model.fit(data.X, data.y).predict(data.new)
        assert_allclose(actual, expected, atol=1e-9)


def test_thin_plate_without_its_polynomials_says_so():
    data = table()
    with pytest.raises(ValueError, match=r"unpenalized=Polynomials\(degree=1\)"):
        ConditionalRegressor(ThinPlate(), alpha=1.0).fit(data.X, data.y)


@pytest.mark.parametrize("unpenalized", ["constant", "linear"])
def test_equals_the_bordered_system(unpenalized):
    # [[K + lam W^-1, F], [F', 0]] (c, beta) = (y, 0)
    data, alpha = table(), 0.02
    known = data.labeled
    X, y, w = data.X[known], data.y[known], data.w[known]
    F = np.ones((18, 1))
    F_new = np.ones((11, 1))
    if unpenalized == "linear":
        mean = data.X.mean(axis=0)
        F, F_new = np.c_[F, X - mean], np.c_[F_new, data.new - mean]
    k, lam = F.shape[1], alpha * w.sum()
    system = np.block([[gaussian(X, X, E) + lam * np.diag(1 / w), F],
                       [F.T, np.zeros((k, k))]])  # fmt: skip
    solution = np.linalg.solve(system, np.r_[y, np.zeros(k)])
    c, beta = solution[:18], solution[18:]
    model = ConditionalRegressor(Gaussian(E), unpenalized, alpha)
    model.fit(data.X, data.y, data.w)
    assert_allclose(model.dual_coef_, c, atol=1e-9)
    assert_allclose(model.coef_, beta, atol=1e-10)
    expected = gaussian(data.new, X, E) @ c + F_new @ beta
    assert_allclose(model.predict(data.new), expected, atol=1e-10)


SHIFTED = {
    "conditional": ConditionalRegressor(Gaussian(E), "linear", 0.02),
    "laplacian": LaplacianRegressor(Gaussian(E), 0.02, mu=0.1, unpenalized="linear"),
    "fredholm": FredholmRegressor(
        Gaussian(0.5), Gaussian(E), alpha=0.02, unpenalized="linear"
    ),
    "landmarks": ConditionalRegressor(
        Gaussian(E), "linear", 0.02, n_components=12, random_state=0
    ),
}


@pytest.mark.parametrize("model", SHIFTED.values(), ids=SHIFTED)
def test_adding_features_to_y_changes_only_coef(model):
    data, b = table(), np.array([5.0, -2.0, 0.5])
    model.fit(data.X, data.y, data.w)
    dual, coef = model.dual_coef_, model.coef_
    energy = model.dirichlet_energy()
    F = np.c_[np.ones(30), data.X - data.X.mean(axis=0)]
    model.fit(data.X, data.y + F @ b, data.w)
    assert_allclose(model.coef_, coef + b, atol=1e-9)
    assert_allclose(model.dual_coef_, dual, atol=1e-8 * np.abs(dual).max())
    assert_allclose(model.dirichlet_energy(), energy, rtol=1e-8)


def test_random_features_tend_to_the_exact_kernel():
    data = table(n=40, l=30, weights=False)
    exact = ConditionalRegressor(Gaussian(E), alpha=0.05).fit(data.X, data.y)
    expected = exact.predict(data.X)

    def error(m):
        off = []
        for seed in range(8):
            model = ConditionalRegressor(
                Gaussian(E),
                alpha=0.05,
                basis="random_features",
                n_components=m,
                random_state=seed,
            )
            off.append(model.fit(data.X, data.y).predict(data.X) - expected)
        return np.sqrt(np.mean(np.square(off)))

    errors = np.array([error(m) for m in (50, 200, 800)])
    # Like 1 / sqrt(m): four times the features, half of the error.
    assert np.all(errors[:-1] / errors[1:] > 1.6)
    assert np.all(errors[:-1] / errors[1:] < 2.6)


def test_all_rows_as_landmarks_is_exact():
    data = table(weights=False)
    exact = ConditionalRegressor(Laplace(E), alpha=0.05).fit(data.X, data.y)
    for options in (
        {"n_components": 30},
        {"n_components": 1_000},
        {"landmarks": np.arange(30)},
        {"landmarks": data.X},
        {"n_components": 30, "basis": "nystrom", "landmarks": "uniform"},
    ):
        model = ConditionalRegressor(Laplace(E), alpha=0.05, **options)
        model.fit(data.X, data.y)
        assert_allclose(model.predict(data.new), exact.predict(data.new), atol=1e-10)


def test_landmarks_by_number_are_those_rows():
    data, chosen = table(weights=False), [3, 1, 8, 29]
    by_number = ConditionalRegressor(Gaussian(E), alpha=0.05, landmarks=chosen)
    by_row = ConditionalRegressor(Gaussian(E), alpha=0.05, landmarks=data.X[chosen])
    expected = by_row.fit(data.X, data.y).predict(data.new)
    actual = by_number.fit(data.X, data.y).predict(data.new)
    assert_allclose(actual, expected, atol=1e-12)
    assert by_row.rank_ == 4


def test_landmark_numbers_with_rows_of_weight_0_are_refused():
    # They would name other rows of what is left of the table.
    data = table()
    model = ConditionalRegressor(Gaussian(E), alpha=0.05, landmarks=[3, 1])
    with pytest.raises(ValueError, match=r"15 row\(s\) of weight 0.*themselves"):
        model.fit(data.X, data.y, np.arange(30) % 2)


@pytest.mark.parametrize("weights", [False, True])
def test_hinge_is_a_support_vector_machine(weights):
    data, alpha = table(n=40, l=30, weights=weights), 0.01
    known = data.labeled
    X, w = data.X[known], data.w[known]
    y = np.where(data.y > np.nanmedian(data.y), "up", "down").astype(object)
    y[~known] = None
    K, K_new = gaussian(X, X, E), gaussian(data.new, X, E)
    C = 1 / (2 * alpha * w.sum())
    peer = SVC(C=C, kernel="precomputed", tol=1e-8)
    peer.fit(K, y[known].astype(str), sample_weight=w)
    model = ConditionalClassifier(Gaussian(E), alpha=alpha, loss="hinge")
    model.fit(data.X, y, data.w)
    expected = peer.decision_function(K_new)
    assert_allclose(model.decision_function(data.new), expected, atol=1e-6)
    assert list(model.predict(data.new)) == list(peer.predict(K_new))
    assert_allclose(model.predict_proba(data.new).sum(axis=1), 1, rtol=1e-12)
    assert 0.5 < model.loo_score_ <= 1


def test_hinge_searches_alpha_by_the_leave_one_out_hinge_loss():
    data = table(n=40, l=30, weights=False)
    y = np.where(np.isnan(data.y), np.nan, data.y > np.nanmedian(data.y))
    alphas = [1e-4, 1e-2, 10.0]
    model = ConditionalClassifier(Gaussian(E), alpha=alphas, loss="hinge")
    model.fit(data.X, y)
    assert model.loo_errors_.shape == (3,)
    assert model.alpha_ == alphas[np.argmin(model.loo_errors_)]
    # At a huge alpha the best constant. The classes are balanced: leaving out a label
    # makes the other class the larger one, and its loss 2 (1.99 by refits).
    assert_allclose(model.loo_errors_[2], 2, rtol=0.1)
