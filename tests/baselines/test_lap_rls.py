"""LapRLS: the paper's linear system, and the problem it is a special case of."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

from halfmoon._estimators import LaplacianRegressor
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.baselines import LapRLSClassifier, LapRLSRegressor
from halfmoon.kernels import Gaussian
from reference import WIDTH, gaussian, table

GAMMA_A, GAMMA_I, K_NEAREST = 0.004, 2.0, 4


def laplacian(X, k, e=None, normalized=False):
    """D - W of the graph of k nearest neighbors, by sorting all distances."""
    n = len(X)
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    near = np.argsort(d + np.diag(np.full(n, np.inf)), axis=1)[:, :k]
    s = np.array([d[i, near[i, -1]] for i in range(n)])
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            scale = s[i] * s[j] if e is None else 2 * e**2
            W[i, j] = W[j, i] = np.exp(-(d[i, j] ** 2) / scale)
    degree = W.sum(axis=1)
    if normalized:
        return np.eye(n) - W / np.sqrt(np.outer(degree, degree))
    return np.diag(degree) - W


def paper(X, y, new, L, gamma_A=GAMMA_A, gamma_I=GAMMA_I):
    """(J K + gamma_A l I + gamma_I l / (l + u)^2 L K) a = y, at new rows."""
    n, known = len(X), ~np.isnan(y.reshape(len(X), -1)[:, 0])
    l, J, K = known.sum(), np.diag(known.astype(float)), gaussian(X, X)
    target = np.where(known.reshape(-1, *[1] * (y.ndim - 1)), y, 0.0)
    system = J @ K + gamma_A * l * np.eye(n) + gamma_I * l / n**2 * L @ K
    return gaussian(new, X) @ np.linalg.solve(system, target)


def options(**changes):
    given = {"gamma_A": GAMMA_A, "gamma_I": GAMMA_I, "n_neighbors": K_NEAREST}
    return {"kernel": Gaussian(WIDTH), **given, **changes}


@pytest.mark.parametrize(
    ("graph", "twin"),
    [
        ({}, {}),
        ({"length_scale": 0.7}, {"e": 0.7}),
        ({"normalized": True}, {"normalized": True}),
    ],
)
def test_the_system_of_the_paper(graph, twin):
    data = table(weights=False, t=2)
    L = laplacian(data.X, K_NEAREST, **twin)
    model = LapRLSRegressor(**options(**graph)).fit(data.X, data.y)
    expected = paper(data.X, data.y, data.new, L)
    assert_allclose(model.predict(data.new), expected, rtol=1e-8, atol=1e-8)


def test_two_classes_are_minus_one_and_one():
    data = table(weights=False)
    y = np.where(np.isnan(data.y), np.nan, np.where(data.y > 1, 1.0, -1.0))
    names = np.where(np.isnan(y), None, np.where(y == 1, "up", "down"))
    model = LapRLSClassifier(**options()).fit(data.X, names)
    expected = paper(data.X, y, data.new, laplacian(data.X, K_NEAREST))
    assert_allclose(model.decision_function(data.new), expected, rtol=1e-8, atol=1e-8)
    signs = np.where(expected > 0, "up", "down")
    np.testing.assert_array_equal(model.predict(data.new), signs)
    assert_allclose(model.predict_proba(data.new).sum(axis=1), 1.0, rtol=1e-12)


def test_it_is_a_special_case_of_the_problem():
    data = table(weights=False)
    Lg = graph_laplacian(neighbor_graph(data.X, K_NEAREST))
    other = LaplacianRegressor(
        Gaussian(WIDTH), GAMMA_I, GAMMA_A / GAMMA_I, Lg, unpenalized=None
    ).fit(data.X, data.y)
    model = LapRLSRegressor(**options()).fit(data.X, data.y)
    assert_allclose(model.predict(data.new), other.predict(data.new), rtol=1e-10)
    assert_allclose(model.leave_one_out(), other.leave_one_out(), rtol=1e-9)
    assert model.gamma_A_ == GAMMA_A
    assert model.alpha_ == GAMMA_I


def test_without_energy_it_is_kernel_ridge():
    data = table(weights=False)
    known = data.labeled
    peer = KernelRidge(alpha=18 * GAMMA_A, kernel="rbf", gamma=1 / (2 * WIDTH**2))
    expected = peer.fit(data.X[known], data.y[known]).predict(data.new)
    model = LapRLSRegressor(**options(gamma_I=0)).fit(data.X, data.y)
    assert_allclose(model.predict(data.new), expected, rtol=1e-9)


def test_leave_one_out_keeps_the_row_in_the_graph():
    data = table(weights=False)
    model = LapRLSRegressor(**options()).fit(data.X, data.y)
    L = laplacian(data.X, K_NEAREST)
    for i, row in enumerate(np.flatnonzero(data.labeled)[:4]):
        y = data.y.copy()
        y[row] = np.nan
        # lam = alpha l is held: with one label less, the weights are larger by 18/17.
        held = 18 / 17 * GAMMA_A, 18 / 17 * GAMMA_I
        without = paper(data.X, y, data.X[[row]], L, *held)
        assert_allclose(model.leave_one_out()[i], data.y[row] - without[0], rtol=1e-7)


def test_default_weights_are_those_of_the_paper():
    data = table(weights=False)  # 18 of 30 rows are labeled
    model = LapRLSRegressor(Gaussian(WIDTH)).fit(data.X, data.y)
    assert_allclose(model.gamma_A_ * 18, 0.005)
    assert_allclose(model.gamma_I_ * 18 / 30**2, 0.045)


def test_outputs_with_gaps_have_the_default_weights_of_their_own_labels(rng):
    X = rng.normal(size=(30, 2))
    Y = np.column_stack([X[:, 0], X[:, 1] ** 2])
    Y[12:], Y[:4, 1] = np.nan, np.nan
    model = LapRLSRegressor().fit(X, Y)
    assert_allclose(model.gamma_A_, 0.005 / np.array([12, 8]))
    assert_allclose(model.gamma_I_, 0.045 * 30**2 / np.array([12, 8]))
    alone = [LapRLSRegressor().fit(X, y).predict(X) for y in Y.T]
    assert_allclose(model.predict(X), np.column_stack(alone), rtol=1e-10)


def test_landmarks():
    data = table(n=60, l=30, weights=False)
    exact = LapRLSRegressor(**options()).fit(data.X, data.y).predict(data.new)
    few = LapRLSRegressor(**options(n_components=50, random_state=0))
    assert_allclose(few.fit(data.X, data.y).predict(data.new), exact, atol=0.01)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma_A": -1.0}, "gamma_A is -1.0"),
        ({"gamma_I": np.inf}, "gamma_I is inf"),
        ({"length_scale": "mean"}, "length_scale is 'mean'"),
        ({"kernel": "precomputed"}, "needs the table"),
    ],
)
def test_bad_parameters(wrong, message):
    data = table(weights=False)
    X = gaussian(data.X, data.X) if "kernel" in wrong else data.X
    with pytest.raises(ValueError, match=message):
        LapRLSRegressor(**options(**wrong)).fit(X, data.y)
