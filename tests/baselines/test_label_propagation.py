"""Harmonic functions and label spreading: formulas, scikit-learn, parts without labels.

Also the linear systems on graphs: all solvers agree.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from halfmoon._graphs import neighbor_graph
from halfmoon.baselines import (
    HarmonicClassifier,
    HarmonicRegressor,
    LabelSpreadingClassifier,
    _label_propagation,
)
from halfmoon.baselines._label_propagation import graph_solve
from halfmoon.kernels._length_scales import median_distance


def rows(n=40, d=2, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n, d))


def targets(X, l=12):
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    return np.where(np.arange(len(X)) < l, y, np.nan)


def classes(X, l=12, k=2):
    c = np.digitize(X[:, 0], np.linspace(-1, 1, k + 1)[1:-1]).astype(float)
    return np.where(np.arange(len(X)) < l, c, np.nan)


def all_pairs(X, Z, e):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * e**2))


def harmonic(W, y):
    """-L_uu^-1 L_ul y_l."""
    known = ~np.isnan(y.reshape(len(y), -1)[:, 0])
    L = np.diag(W.sum(axis=1)) - W
    g = y.copy()
    g[~known] = -np.linalg.solve(L[~known][:, ~known], L[~known][:, known] @ y[known])
    return g


def off_diagonal(W):
    return W - np.diag(np.diag(W))


def test_all_pairs_is_the_formula():
    X = rows()
    y = targets(X)
    W = off_diagonal(all_pairs(X, X, 0.3))
    model = HarmonicRegressor(n_neighbors=None, length_scale=0.3).fit(X, y)
    assert_allclose(model.transduction_, harmonic(W, y), rtol=1e-10)
    assert_allclose(model.predict(X), model.transduction_, rtol=1e-12)


def test_scores_of_two_classes_are_those_of_minus_one_and_one():
    X = rows()
    y = classes(X)
    W = off_diagonal(all_pairs(X, X, 0.3))
    model = HarmonicClassifier(n_neighbors=None, length_scale=0.3).fit(X, y)
    g = harmonic(W, 2 * y - 1)
    assert_allclose(model.decision_function(X), g, rtol=1e-10, atol=1e-12)
    assert_array_equal(model.transduction_, np.where(g > 0, 1.0, 0.0))
    assert_array_equal(model.predict(X), model.transduction_)
    assert_allclose(model.predict_proba(X)[:, 1], (1 + g) / 2, rtol=1e-10)


@pytest.mark.parametrize("length_scale", [None, 0.4])
def test_neighbors_are_the_formula_on_their_graph(length_scale):
    X = rows(60)
    y = np.column_stack([targets(X), -2 * targets(X) + 1])
    W = neighbor_graph(X, 6, length_scale).toarray()
    model = HarmonicRegressor(6, length_scale).fit(X, y)
    assert_allclose(model.transduction_, harmonic(W, y), rtol=1e-9)
    assert not model.unreached_.any()


def test_self_tuned_weights_of_all_pairs():
    X = rows(30)
    y = targets(X)
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    s = np.sort(d, axis=1)[:, 10]  # the row itself is the first
    W = off_diagonal(np.exp(-(d**2) / np.outer(s, s)))
    model = HarmonicRegressor(n_neighbors=None).fit(X, y)
    assert_allclose(model.transduction_, harmonic(W, y), rtol=1e-9)
    new = rows(5, seed=1)
    q = ((new[:, None] - X[None]) ** 2).sum(-1)
    own = np.sqrt(np.sort(q, axis=1)[:, 10])
    w = np.exp(-q / np.outer(own, s))
    expected = w @ model.transduction_ / w.sum(axis=1)
    assert_allclose(model.predict(new), expected, rtol=1e-9)


def test_against_scikit_learn():
    # Its weights have loops, which do not change where the walk is absorbed.
    X = rows()
    y = classes(X, k=3)
    peer = LabelPropagation(gamma=1 / (2 * 0.3**2), max_iter=10**5, tol=1e-13)
    peer.fit(X, np.where(np.isnan(y), -1, y))
    model = HarmonicClassifier(n_neighbors=None, length_scale=0.3).fit(X, y)
    assert_allclose(model.label_distributions_, peer.label_distributions_, atol=1e-8)
    assert_array_equal(model.transduction_, peer.transduction_)


def test_unlabeled_rows_are_means_of_their_neighbors():
    X = rows(60)
    y = targets(X)
    model = HarmonicRegressor(5).fit(X, y)
    g, W = model.transduction_, model.graph_.W
    unlabeled = np.isnan(y)
    means = (W @ g) / W.sum(axis=1)
    assert_allclose(g[unlabeled], means[unlabeled], rtol=1e-10)
    assert_allclose(g[~unlabeled], y[~unlabeled])
    assert g.min() >= np.nanmin(y) - 1e-12
    assert g.max() <= np.nanmax(y) + 1e-12


@pytest.mark.parametrize("n_neighbors", [4, None])
def test_new_rows_are_weighted_means(n_neighbors):
    X, new = rows(), rows(6, seed=1)
    y = targets(X)
    model = HarmonicRegressor(n_neighbors, 0.3).fit(X, y)
    w = all_pairs(new, X, 0.3)
    if n_neighbors is not None:  # and one more, as a row of the table finds itself
        w[w < np.sort(w, axis=1)[:, [-5]]] = 0.0
    expected = w @ model.transduction_ / w.sum(axis=1)
    assert_allclose(model.predict(new), expected, rtol=1e-10)
    # From far away all weights underflow, and the nearest row is left.
    far = np.array([[1e3, 0.0]])
    nearest = X[:, 0].argmax()
    assert_allclose(model.predict(far), model.transduction_[[nearest]], rtol=1e-12)


@pytest.mark.parametrize("n_neighbors", [3, None])
def test_parts_without_a_label_get_the_prior(n_neighbors):
    X = rows(30)
    X[20:] += 50.0  # exp(-50^2 / ...) is 0 to rounding, or less
    y = classes(X, l=5)
    y[:5] = [0, 1, 1, 1, 1]
    with pytest.warns(
        UserWarning, match="10 of the 30 rows are connected to no labeled"
    ):
        model = HarmonicClassifier(n_neighbors, 0.5).fit(X, y)
    assert_array_equal(model.unreached_, np.arange(30) >= 20)
    assert_allclose(model.label_distributions_[20:], np.full((10, 2), [0.2, 0.8]))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    alone = HarmonicClassifier(n_neighbors, 0.5).fit(X[:20], y[:20])
    assert_allclose(
        model.label_distributions_[:20], alone.label_distributions_, rtol=1e-9
    )


def test_an_edge_below_rounding_is_dropped():
    # Two pairs, tied by exp(-40): 1e-17 of each end's degree, but not 0.
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    y = np.array([2.0, np.nan, np.nan, np.nan])
    with pytest.warns(UserWarning, match="2 of the 4"):
        model = HarmonicRegressor(None, 1.0).fit(X, y)
    assert_array_equal(model.unreached_, [False, False, True, True])
    with pytest.warns(UserWarning, match="2 of the 4"):  # of neighbors, no edge at all
        model = HarmonicRegressor(1, 1.0).fit(X, y)
    assert_allclose(model.transduction_, 2.0)
    # But of a row whose only edges are thin, they are all it has.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lone = HarmonicRegressor(None, 1.0).fit(X[:3], y[:3])
    assert_allclose(lone.transduction_, 2.0, rtol=1e-9)


def test_three_classes():
    X = rows(50)
    y = classes(X, 20, k=3)
    model = HarmonicClassifier(6).fit(X, y)
    W = neighbor_graph(X, 6).toarray()
    Y = np.where(np.isnan(y)[:, None], np.nan, y[:, None] == np.arange(3))
    expected = harmonic(W, Y)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)


def test_median_length_scale():
    X = rows()
    y = targets(X)
    by_number = HarmonicRegressor(None, median_distance(X)).fit(X, y)
    named = HarmonicRegressor(None, "median").fit(X, y)
    assert_allclose(named.transduction_, by_number.transduction_, rtol=1e-12)


def test_equal_rows_with_other_labels():
    # Two copies with labels 0 and 1: each keeps its own, a third is between them.
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    model = HarmonicRegressor(None, 1.0).fit(X, [0.0, 1.0, None, 0.5])
    assert_allclose(model.transduction_, [0.0, 1.0, 0.5, 0.5], atol=1e-12)
    assert_allclose(model.predict([[0.0]]), [0.5])


def test_bad_parameters():
    X = rows()
    with pytest.raises(MemoryError, match="all pairs of 40 rows needs 64 kB"):
        HarmonicRegressor(None, memory_limit="60kB").fit(X, targets(X))
    with pytest.raises(ValueError, match="length_scale is -1"):
        HarmonicRegressor(length_scale=-1).fit(X, targets(X))
    with pytest.raises(ValueError, match="None of the 40 rows"):
        HarmonicRegressor().fit(X, np.full(40, np.nan))
    partly = np.column_stack([targets(X), np.full(40, np.nan)])
    with pytest.raises(ValueError, match="Output 1 of y has no label"):
        HarmonicRegressor().fit(X, partly)


def data(n=40, l=12, k=3):
    X = np.random.default_rng(0).uniform(-1, 1, (n, 2))
    c = np.digitize(X[:, 0], np.linspace(-1, 1, k + 1)[1:-1]).astype(float)
    return X, np.where(np.arange(n) < l, c, np.nan)


def shares(W, y, a, k=3):
    """(1 - a) (I - a S)^-1 Y, its rows divided by their sums."""
    degree = W.sum(axis=1)
    S = W / np.sqrt(np.outer(degree, degree))
    Y = (y[:, None] == np.arange(k)).astype(float)
    F = (1 - a) * np.linalg.solve(np.eye(len(y)) - a * S, Y)
    return F / F.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("a", [0.2, 0.99])
def test_spreading_is_the_formula(a):
    X, y = data()
    q = ((X[:, None] - X[None]) ** 2).sum(-1)
    W = np.exp(-q / (2 * 0.3**2)) - np.eye(40)
    full = LabelSpreadingClassifier(None, 0.3, spread=a).fit(X, y)
    assert_allclose(full.label_distributions_, shares(W, y, a), rtol=1e-9)
    near = LabelSpreadingClassifier(6, spread=a).fit(X, y)
    W = neighbor_graph(X, 6).toarray()
    assert_allclose(near.label_distributions_, shares(W, y, a), rtol=1e-8, atol=1e-12)
    assert_array_equal(near.transduction_, shares(W, y, a).argmax(axis=1))


def test_spreading_against_scikit_learn():
    X, y = data()
    peer = LabelSpreading(gamma=1 / (2 * 0.3**2), alpha=0.8, max_iter=10**4, tol=1e-14)
    peer.fit(X, np.where(np.isnan(y), -1, y))
    model = LabelSpreadingClassifier(None, 0.3, spread=0.8).fit(X, y)
    assert_allclose(model.label_distributions_, peer.label_distributions_, atol=1e-10)


def test_a_lone_label_is_overruled():
    X, y = np.linspace(0, 1, 11)[:, None], np.zeros(11)
    y[5] = 1
    assert LabelSpreadingClassifier(2, spread=0.99).fit(X, y).transduction_[5] == 0
    assert LabelSpreadingClassifier(2, spread=0.01).fit(X, y).transduction_[5] == 1


def test_spreading_gives_parts_without_a_label_the_prior():
    X, y = data(k=2)
    X[30:] += 50.0
    y[:4] = [0, 1, 1, 1]
    y[4:] = np.nan
    with pytest.warns(UserWarning, match="10 of the 40 rows"):
        model = LabelSpreadingClassifier(3, spread=0.9).fit(X, y)
    assert_allclose(model.label_distributions_[30:], np.full((10, 2), [0.25, 0.75]))


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_bad_spread(spread):
    X, y = data()
    with pytest.raises(ValueError, match=f"spread is {spread}"):
        LabelSpreadingClassifier(spread=spread).fit(X, y)


def system(n=60, left=1e-3):
    """I - (1 - left) S of a ring with chords."""
    rng = np.random.default_rng(0)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1) % n] = rng.uniform(0.5, 2.0)
        W[i, (7 * i + 3) % n] += 0.1
    W += W.T
    np.fill_diagonal(W, 0.0)
    root = 1 / np.sqrt(W.sum(axis=1))
    return np.eye(n) - (1 - left) * root[:, None] * W * root


@pytest.mark.parametrize("lu_rows", [0, 1_000])  # conjugate gradients, and LU
def test_sparse_equals_dense(rng, monkeypatch, lu_rows):
    monkeypatch.setattr(_label_propagation, "MAX_LU_ROWS", lu_rows)
    A, B = system(), rng.normal(size=(60, 3))
    expected = np.linalg.solve(A, B)
    assert_allclose(graph_solve(A, B), expected, rtol=1e-9)
    assert_allclose(graph_solve(sp.csr_array(A), B), expected, rtol=1e-6)


def test_lu_replaces_gradients_that_do_not_converge(rng, monkeypatch):
    monkeypatch.setattr(_label_propagation, "MAX_LU_ROWS", 0)
    monkeypatch.setattr(_label_propagation, "TOLERANCE", 0.0)  # never reached
    A, B = system(), rng.normal(size=(60, 1))
    expected = np.linalg.solve(A, B)
    assert_allclose(graph_solve(sp.csr_array(A), B), expected, rtol=1e-9)


def test_nothing_to_solve():
    assert graph_solve(sp.csr_array((0, 0)), np.zeros((0, 2))).shape == (0, 2)


def test_a_singular_system_has_a_solution_of_least_norm():
    A = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert_allclose(graph_solve(A, np.array([[2.0], [-2.0]])), [[1.0], [-1.0]])
