"""All estimators: leave-one-out, uncertainty, kernels, classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.kernels import Gaussian
from halfmoon.kernels._user_kernels import KERNELS, Precomputed
from halfmoon.unpenalized import Eigenfunctions
from reference import columns, gaussian, table

E, ALPHA = 0.8, 0.02

REGRESSORS = {
    "fredholm": FredholmRegressor(Gaussian(0.5), Gaussian(E), alpha=ALPHA),
    "laplacian": LaplacianRegressor(Gaussian(E), ALPHA, unpenalized="constant"),
    "graph": LaplacianRegressor(Gaussian(E), ALPHA, energy="graph"),
    "conditional": ConditionalRegressor(Gaussian(E), "linear", ALPHA),
    "landmarks": ConditionalRegressor(
        Gaussian(E), "linear", ALPHA, n_components=9, random_state=0
    ),
}

CLASSIFIERS = {
    "fredholm": FredholmClassifier(Gaussian(0.5), Gaussian(E), alpha=ALPHA),
    "laplacian": LaplacianClassifier(Gaussian(E), ALPHA),
    "conditional": ConditionalClassifier(Gaussian(E), "linear", ALPHA),
    "hinge": ConditionalClassifier(Gaussian(E), alpha=ALPHA, loss="hinge"),
    "logistic": ConditionalClassifier(Gaussian(E), alpha=ALPHA, loss="logistic"),
    "filter": LaplacianClassifier(Gaussian(E), ALPHA, filter="heat"),
}


def classes(data, n_classes):
    """Classes by the value of y, as text; None where there is none."""
    edges = np.nanquantile(data.y, np.arange(1, n_classes) / n_classes)
    names = np.array(["high", "low", "middle", "none"], dtype=object)
    y = names[np.digitize(data.y, edges)]
    y[np.isnan(data.y)] = None
    return y


# ---- leave-one-out -------------------------------------------------------------------


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_leave_one_out_equals_refits(model, targets):
    data = table(t=targets)
    model = clone(model).fit(data.X, data.y, data.w)
    W, expected = data.w[data.labeled].sum(), []
    for i in np.flatnonzero(data.labeled):
        y = data.y.copy()
        y[i] = np.nan
        held = clone(model).set_params(alpha=ALPHA * W / (W - data.w[i]))
        held.fit(data.X, y, data.w)
        expected.append(data.y[i] - held.predict(data.X[i : i + 1])[0])
    assert_allclose(model.leave_one_out(), expected, atol=1e-8)
    y, w = columns(data.y)[data.labeled], data.w[data.labeled]
    spread = w @ (y - w @ y / w.sum()) ** 2
    r2 = 1 - w @ columns(np.array(expected)) ** 2 / spread
    assert_allclose(model.loo_score_, r2.mean(), rtol=1e-7)


@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_the_smoother_matrix_turns_labels_into_values(model):
    data = table()
    model = clone(model).fit(data.X, data.y, data.w)
    H = model.smoother_matrix(data.new)
    assert_allclose(H @ data.y[data.labeled], model.predict(data.new), atol=1e-9)
    assert_array_equal(model.labeled_, np.flatnonzero(data.labeled))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leave_one_out_accuracy(n_classes):
    data = table(n=30, l=24)
    y = classes(data, n_classes)
    model = ConditionalClassifier(Gaussian(E), alpha=ALPHA).fit(data.X, y, data.w)
    W, right = data.w[data.labeled].sum(), []
    for i in np.flatnonzero(data.labeled):
        known = y.copy()
        known[i] = None
        held = clone(model).set_params(alpha=ALPHA * W / (W - data.w[i]))
        held.fit(data.X, known, data.w)
        right.append(held.predict(data.X[i : i + 1])[0] == y[i])
    expected = np.average(right, weights=data.w[data.labeled])
    assert_allclose(model.loo_score_, expected, rtol=1e-12)
    assert 0 < expected < 1


# ---- uncertainty ---------------------------------------------------------------------


def test_the_standard_deviation_is_that_of_a_gaussian_process():
    data = table(weights=False)
    known, a = data.labeled, 0.3
    model = ConditionalRegressor(Gaussian(E), None, a / 18).fit(data.X, data.y)
    values, std = model.predict(data.new, return_std=True)
    # Noise and prior by restricted likelihood: s2 = c'(K + lam) c lam / l.
    X, y = data.X[known], data.y[known]
    K = gaussian(X, X, E) + a * np.eye(18)
    tau = y @ np.linalg.solve(K, y) / 18
    kernel = ConstantKernel(tau, "fixed") * RBF(E, "fixed")
    peer = GaussianProcessRegressor(kernel, alpha=a * tau).fit(X, y)
    expected, expected_std = peer.predict(data.new, return_std=True)
    assert_allclose(values, expected, atol=1e-9)
    assert_allclose(std, expected_std, rtol=1e-7)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_the_standard_deviation_grows_with_the_distance(model, targets):
    data = table(t=targets)
    model = clone(model).set_params(unpenalized="constant").fit(data.X, data.y, data.w)
    values, near = model.predict(data.X[data.labeled], return_std=True)
    _, far = model.predict(np.full((1, 2), 50.0), return_std=True)
    assert near.shape == values.shape
    assert np.all(near > 0)
    if not isinstance(model, FredholmRegressor):  # whose average never leaves the rows
        assert np.all(far >= columns(near).max(axis=0) * 0.999)


# ---- kernels -------------------------------------------------------------------------


def test_a_kernel_by_object_name_function_or_matrix():
    data = table(weights=False)
    K, K_new = gaussian(data.X, data.X, E), gaussian(data.new, data.X, E)
    by_object = ConditionalRegressor(Gaussian(E), alpha=ALPHA).fit(data.X, data.y)
    expected = by_object.predict(data.new)
    by_function = ConditionalRegressor(lambda X, Z: gaussian(X, Z, E), alpha=ALPHA)
    by_function.fit(data.X, data.y)
    assert_allclose(by_function.predict(data.new), expected, atol=1e-10)
    _, std = by_function.predict(data.new, return_std=True)
    assert_allclose(std, by_object.predict(data.new, return_std=True)[1], rtol=1e-8)
    for kernel in ("precomputed", Precomputed()):
        by_matrix = ConditionalRegressor(kernel, alpha=ALPHA).fit(K, data.y)
        assert_allclose(by_matrix.predict(K_new), expected, atol=1e-10)
        assert_allclose(by_matrix.leave_one_out(), by_object.leave_one_out(), atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"precomputed"}))
def test_every_kernel_by_name(name):
    data = table(weights=False)
    model = ConditionalRegressor(name, "linear", 1e-3).fit(data.X, data.y)
    given = ConditionalRegressor(KERNELS[name](), "linear", 1e-3).fit(data.X, data.y)
    assert_array_equal(model.predict(data.new), given.predict(data.new))
    on_mean = np.mean((data.y[data.labeled] - np.nanmean(data.y)) ** 2)
    fitted = model.predict(data.X[data.labeled])
    assert np.mean((data.y[data.labeled] - fitted) ** 2) < on_mean


def test_unsupported_uses_of_a_kernel_matrix_are_refused():
    data = table(weights=False)
    K, K_new = gaussian(data.X, data.X, E), gaussian(data.new, data.X, E)
    model = ConditionalRegressor("precomputed", alpha=ALPHA).fit(K, data.y)
    with pytest.raises(ValueError, match="no values between two new rows"):
        model.predict(K_new, return_std=True)
    with pytest.raises(ValueError, match="needs a square matrix"):
        model.fit(K[:, :20], data.y)
    with pytest.raises(ValueError, match="no columns to make unpenalized"):
        ConditionalRegressor("precomputed", "linear").fit(K, data.y)
    with pytest.raises(ValueError, match="needs the table to find neighbors in"):
        LaplacianRegressor("precomputed", energy="graph").fit(K, data.y)
    with pytest.raises(TypeError, match=r"Precomputed\(\) has no gradient"):
        LaplacianRegressor("precomputed").fit(K, data.y)


def test_a_kernel_matrix_with_other_levers():
    data = table(weights=False)
    K, K_new = gaussian(data.X, data.X, E), gaussian(data.new, data.X, E)
    graph = graph_laplacian(neighbor_graph(data.X, 6))
    for options in (
        {"energy": graph},
        {"energy": None, "unpenalized": Eigenfunctions(3)},
        {"energy": None, "n_components": 9, "random_state": 0},
    ):
        twin = LaplacianRegressor(Gaussian(E), ALPHA, **options)
        expected = twin.fit(data.X, data.y).predict(data.new)
        model = LaplacianRegressor("precomputed", ALPHA, **options)
        assert_allclose(model.fit(K, data.y).predict(K_new), expected, atol=1e-7)


def test_a_kernel_matrix_in_a_grid_search():
    data = table(n=30, l=30, weights=False)
    grid = {"alpha": [1e-4, 1e-2, 1.0]}
    by_object = GridSearchCV(ConditionalRegressor(Gaussian(E)), grid, cv=3)
    by_matrix = GridSearchCV(ConditionalRegressor("precomputed"), grid, cv=3)
    by_object.fit(data.X, data.y)
    by_matrix.fit(gaussian(data.X, data.X, E), data.y)
    assert_allclose(
        by_matrix.cv_results_["mean_test_score"],
        by_object.cv_results_["mean_test_score"],
        rtol=1e-8,
    )
    assert by_matrix.best_params_ == by_object.best_params_


@pytest.mark.parametrize("kernel", ["gauss", 3, Gaussian, None])
def test_kernels_that_are_not_understood(kernel):
    data = table()
    with pytest.raises(ValueError, match=r"kernel is .* or one of 'gaussian'"):
        ConditionalRegressor(kernel).fit(data.X, data.y)


# ---- classes -------------------------------------------------------------------------


def test_two_classes_are_a_regression_on_signs():
    data = table()
    y = classes(data, 2)
    model = ConditionalClassifier(Gaussian(E), alpha=ALPHA).fit(data.X, y, data.w)
    signs = np.where(np.isnan(data.y), np.nan, np.where(y == "low", 1.0, -1.0))
    twin = ConditionalRegressor(Gaussian(E), alpha=ALPHA).fit(data.X, signs, data.w)
    scores = twin.predict(data.new)
    assert_allclose(model.decision_function(data.new), scores, rtol=1e-10)
    assert list(model.classes_) == ["high", "low"]
    assert_array_equal(model.predict(data.new), np.where(scores > 0, "low", "high"))


def test_three_classes_are_a_regression_on_indicators():
    data = table()
    y = classes(data, 3)
    model = ConditionalClassifier(Gaussian(E), alpha=ALPHA).fit(data.X, y, data.w)
    Y = (y[:, None] == np.array(["high", "low", "middle"])).astype(float)
    Y[~data.labeled] = np.nan
    twin = ConditionalRegressor(Gaussian(E), alpha=ALPHA).fit(data.X, Y, data.w)
    scores = twin.predict(data.new)
    assert_allclose(model.decision_function(data.new), scores, atol=1e-10)
    assert_array_equal(model.predict(data.new), model.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_probabilities_sum_to_1_and_agree_with_the_class(model, n_classes):
    data = table(n=40, l=30)
    model = clone(model).fit(data.X, classes(data, n_classes), data.w)
    rows = np.vstack([data.X, data.new, 1e6 * data.new, 1e-9 * data.new])
    p = model.predict_proba(rows)
    assert p.shape == (len(rows), n_classes)
    assert p.min() >= 0
    assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))


@pytest.mark.parametrize("alpha", [ALPHA, None])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_one_label_for_each_class(model, n_classes, alpha):
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[:n_classes]
    rng = np.random.default_rng(0)
    X = np.vstack([c + 0.3 * rng.standard_normal((10, 2)) for c in centers])
    y = np.full(len(X), None, dtype=object)
    y[::10] = ["a", "b", "c"][:n_classes]
    model = clone(model).set_params(unpenalized="constant")
    if alpha is None:
        model.set_params(alpha=type(model)().alpha)  # a search
    model.fit(X, y)
    assert_array_equal(model.predict(X), np.repeat(["a", "b", "c"][:n_classes], 10))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


def test_methods_before_fit_raise():
    for model in (*REGRESSORS.values(), *CLASSIFIERS.values()):
        model = clone(model)
        with pytest.raises(NotFittedError):
            model.predict(np.zeros((2, 2)))
        with pytest.raises(NotFittedError):
            model.leave_one_out()
        assert not hasattr(model, "dual_coef_")


def test_rows_of_weight_0_are_dropped():
    data = table(n=30, l=20)
    used = np.arange(30) % 5 > 0
    for model in (*REGRESSORS.values(),):
        some = clone(model).fit(data.X, data.y, np.where(used, data.w, 0))
        less = clone(model).fit(data.X[used], data.y[used], data.w[used])
        assert_allclose(some.predict(data.new), less.predict(data.new), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        ConditionalRegressor(Gaussian(E), alpha=ALPHA, loss="huber"),
        ConditionalRegressor(Gaussian(E), loss="quantile"),  # alpha in units of y
        ConditionalClassifier(Gaussian(E), alpha=ALPHA),
        ConditionalClassifier(Gaussian(E), alpha=ALPHA, loss="logistic"),
    ],
    ids=["scale of huber", "unit of alpha", "calibration", "of logistic"],
)
def test_wild_labels_with_weights_near_0_are_as_good_as_none(model):
    data = table(n=43, l=43, weights=False)
    wild, answer = np.arange(43) % 3 > 0, "predict"
    y, hidden = data.y + np.where(wild, 5.0 * (-1.0) ** np.arange(43), 0.0), data.y
    hidden = np.where(wild, np.nan, hidden)
    if isinstance(model, ConditionalClassifier):
        y, hidden = (y > 1).astype(float), np.where(wild, np.nan, hidden > 1)
        answer = "predict_proba"
    found = clone(model).fit(data.X, y, np.where(wild, 1e-13, 1.0))
    expected = clone(model).fit(data.X, hidden)
    actual = getattr(found, answer)(data.new)
    # kinks are rounded over 1e-5 of the largest label, whatever its weight
    assert_allclose(actual, getattr(expected, answer)(data.new), atol=2e-4)


def test_a_common_factor_of_the_weights_changes_nothing():
    data = table()
    for model in (*REGRESSORS.values(),):
        one = clone(model).fit(data.X, data.y, data.w).predict(data.new)
        ten = clone(model).fit(data.X, data.y, 10 * data.w).predict(data.new)
        assert_allclose(ten, one, atol=1e-8)


def test_too_many_unpenalized_features_are_warned_of():
    data = table(l=4)
    with pytest.warns(UserWarning, match="3 unpenalized features for 4 labeled rows"):
        ConditionalRegressor(Gaussian(E), "linear", ALPHA).fit(data.X, data.y)
