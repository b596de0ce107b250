"""TSVMClassifier: its limits, its balance, its kernels, and clusters that it finds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import make_blobs, make_moons
from sklearn.svm import SVC, LinearSVC

from halfmoon.baselines import TSVMClassifier
from halfmoon.datasets import two_gaussians
from halfmoon.kernels import Gaussian, Polynomial, ThinPlate


def long_clusters(n=200, d=2, seed=0):
    """Two clusters, long in the first column and far apart in the second."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], n // 2)
    X = rng.normal(0.0, 0.1, (n, d))
    X[:, 0] += rng.normal(0.0, 2.0, n)
    X[:, 1] += np.where(truth == 1, 1.0, -1.0)
    return X, truth


def reveal(truth, per_class=1, seed=0):
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), np.nan)
    for c in np.unique(truth):
        y[rng.choice(np.flatnonzero(truth == c), per_class, replace=False)] = c
    return y


def test_the_gap_between_clusters_is_found():
    scores = []
    for seed in range(5):
        X, truth = two_gaussians(400, n_features=30, distance=5.0, rng=seed)
        y = reveal(truth, 3, seed)
        known = ~np.isnan(y)
        machine = LinearSVC(C=10.0).fit(X[known], y[known])
        model = TSVMClassifier(C=10.0).fit(X, y)
        scores.append([machine.score(X, truth), model.score(X, truth)])
    machine, model = np.mean(scores, axis=0)
    assert machine < 0.85
    assert model > 0.98  # the best of all borders has 0.994


def test_moons_by_a_kernel():
    X, truth = make_moons(300, noise=0.08, random_state=0)
    scores = []
    for seed in range(5):
        y = reveal(truth, 3, seed)
        known = ~np.isnan(y)
        machine = SVC(C=10.0, gamma=1 / (2 * 0.4**2)).fit(X[known], y[known])
        model = TSVMClassifier(Gaussian(0.4), C=10.0).fit(X, y)
        scores.append([machine.score(X, truth), model.score(X, truth)])
    machine, model = np.mean(scores, axis=0)
    assert machine < 0.95
    assert model > 0.98


@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0)])
def test_the_mean_over_unlabeled_rows_is_the_balance(kernel):
    X, truth = long_clusters()
    y = reveal(truth, 2)
    y[np.flatnonzero(truth == 1)[:4]] = 1
    unlabeled = np.isnan(y)
    shares = y[~unlabeled].mean()
    for given, share in [(None, shares), (0.3, 0.3), ({0: 0.2, 1: 0.8}, 0.8)]:
        model = TSVMClassifier(kernel, class_balance=given).fit(X, y)
        f = model.decision_function(X)
        assert_allclose(f[unlabeled].mean(), 2 * share - 1, atol=1e-9)


def test_without_weight_on_unlabeled_rows_it_is_a_support_vector_machine():
    # 1/2 |w|^2 + C sum max(0, 1 - y f)^2 with f = w'(x - m) + b for a given b.
    X, truth = long_clusters()
    y = reveal(truth, 5)
    known = ~np.isnan(y)
    s, Z = 2 * y[known] - 1, X[known] - X[~known].mean(axis=0)

    def value(w):
        return 0.5 * w @ w + 3.0 * (np.maximum(0, 1 - s * (Z @ w)) ** 2).sum()

    best = minimize(value, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
    model = TSVMClassifier(C=3.0, C_unlabeled=0.0, tol=1e-9).fit(X, y)
    assert_allclose(model.coef_[0], best.x, rtol=1e-5)
    assert_allclose(model.objective_[0], best.fun, rtol=1e-9)


def test_with_all_rows_labeled_the_intercept_is_free():
    X, truth = long_clusters(60)
    X, truth = X[10:], truth[10:]  # neither balanced nor centered
    X[:, 1] += 3.0
    s = 2 * truth - 1

    def value(v):
        f = X @ v[:2] + v[2]
        return 0.5 * v[:2] @ v[:2] + 0.05 * (np.maximum(0, 1 - s * f) ** 2).sum()

    best = minimize(value, np.zeros(3), method="BFGS", options={"gtol": 1e-10})
    model = TSVMClassifier(C=0.05, tol=1e-10).fit(X, truth)
    assert_allclose(model.coef_[0], best.x[:2], rtol=1e-4, atol=1e-6)
    assert_allclose(model.intercept_[0], best.x[2], rtol=1e-4)
    # scikit-learn penalizes the intercept, unless it is given a large unit.
    peer = LinearSVC(C=0.05, intercept_scaling=1e3, tol=1e-9, max_iter=10**6)
    peer.fit(X, truth)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-5)


def test_default_weight_of_unlabeled_rows():
    X, truth = long_clusters()
    y = reveal(truth, 3)  # 6 labels, 194 other rows
    default = TSVMClassifier(C=2.0).fit(X, y)
    explicit = TSVMClassifier(C=2.0, C_unlabeled=2.0 * 6 / 194).fit(X, y)
    assert_allclose(default.coef_, explicit.coef_, rtol=1e-12)


def test_a_linear_kernel_by_its_matrix_is_the_same():
    # The path through whitened functions, of rank 3 among 60, against the columns.
    X, truth = long_clusters(60, d=3)
    y = reveal(truth, 3)
    columns = TSVMClassifier(tol=1e-8).fit(X, y)
    matrix = TSVMClassifier(Polynomial(1, 1.0, 0.0), tol=1e-8).fit(X, y)
    assert_allclose(matrix.objective_, columns.objective_, rtol=1e-9)
    new = X[::7] + 0.1
    expected = columns.decision_function(new)
    assert_allclose(matrix.decision_function(new), expected, rtol=1e-3, atol=1e-4)


def test_objective_of_a_kernel():
    X, truth = make_moons(80, noise=0.1, random_state=1)
    y = reveal(truth, 3)
    known = ~np.isnan(y)
    model = TSVMClassifier(Gaussian(0.5), C=4.0, C_unlabeled=0.5).fit(X, y)
    f = model.decision_function(X)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 0.25))
    # f - b is in the span of the sections: its norm is the least that gives its values.
    g = f - model.intercept_[0]
    norm = g @ np.linalg.lstsq(K, g, rcond=1e-13)[0]
    short = np.maximum(0, 1 - (2 * y[known] - 1) * f[known])
    near = np.exp(-3 * f[~known] ** 2)
    value = 0.5 * norm + 4.0 * (short**2).sum() + 0.5 * near.sum()
    assert_allclose(model.objective_[0], value, rtol=1e-5)


def test_landmarks_stand_for_the_rows():
    X, truth = make_moons(200, noise=0.08, random_state=0)
    y = reveal(truth, 2)
    exact = TSVMClassifier(Gaussian(0.6), C=5.0, tol=1e-7).fit(X, y)
    few = TSVMClassifier(Gaussian(0.6), C=5.0, tol=1e-7, n_components=60)
    few.set_params(random_state=0).fit(X, y)
    assert few.basis_.n_components_ == 60
    assert_allclose(few.objective_, exact.objective_, rtol=1e-3)


def test_three_classes_each_with_its_balance():
    centers = [[0.0, 3.0], [3.0, -2.0], [-3.0, -2.0]]
    X, truth = make_blobs([60, 100, 140], centers=centers, random_state=3)
    names = np.array(["a", "b", "c"], dtype=object)
    y = np.full(300, None)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:2]] = names[c]
    shares = {"a": 0.2, "b": 1 / 3, "c": 7 / 15}
    model = TSVMClassifier(class_balance=shares).fit(X, y)
    assert model.score(X, names[truth]) > 0.98
    unlabeled = np.array([v is None for v in y])
    means = model.decision_function(X)[unlabeled].mean(axis=0)
    assert_allclose(means, 2 * np.array(list(shares.values())) - 1, atol=1e-9)
    # Each is the problem of two classes, it and the rest.
    rest = np.where([v is None for v in y], None, np.where(y == "b", "b", "a"))
    alone = TSVMClassifier(class_balance={"a": 2 / 3, "b": 1 / 3}).fit(X, rest)
    assert_allclose(model.coef_[1], alone.coef_[0], rtol=1e-9)


def test_wide_sparse_rows():
    # Text: many columns, few of them in a row; topics differ in which.
    rng = np.random.default_rng(0)
    n, d = 200, 900
    truth = np.repeat([0, 1], n // 2)
    own = rng.random((n, 20)) < 0.3  # words of the topic, the others of either
    words = rng.integers(0, d // 3, (n, 20)) + d // 3 * (1 + truth[:, None])
    columns = np.where(own, words, rng.integers(0, d, (n, 20)))
    entries = np.ones(n * 20), (np.repeat(np.arange(n), 20), columns.ravel())
    X = sp.csr_array(entries, shape=(n, d))
    y = reveal(truth, 3)
    known = ~np.isnan(y)
    model = TSVMClassifier(tol=1e-6).fit(X, y)
    dense = TSVMClassifier(tol=1e-6).fit(X.toarray(), y)
    assert_allclose(model.objective_, dense.objective_, rtol=1e-8)
    assert_allclose(
        model.decision_function(X), dense.decision_function(X.toarray()), atol=1e-4
    )
    machine = LinearSVC().fit(X.toarray()[known], y[known])
    assert model.score(X, truth) > machine.score(X.toarray(), truth) + 0.05


def test_the_same_each_time():
    X, truth = long_clusters()
    y = reveal(truth, 2)
    first, second = (TSVMClassifier().fit(X, y).coef_ for _ in range(2))
    assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C is 0.0"),
        ({"C_unlabeled": -1.0}, "C_unlabeled is -1.0"),
        ({"n_steps": 0}, "n_steps is 0"),
        ({"class_balance": 1.0}, "class_balance is 1.0"),
        ({"class_balance": [0.2, 0.3, 0.5]}, "each of the 2 classes"),
        ({"class_balance": "x"}, "class_balance is 'x'; a share between 0 and 1"),
        ({"n_steps": 10**9}, "n_steps is 1000000000; 1, 2, 3, ... or 100"),
        ({"class_balance": {0: 0.4}}, "no share of class 1.0"),
        ({"kernel": "precomputed"}, "positive definite kernel"),
        ({"kernel": ThinPlate()}, "positive definite kernel"),
    ],
)
def test_bad_parameters(options, message):
    X, truth = long_clusters(20)
    with pytest.raises(ValueError, match=message):
        TSVMClassifier(**options).fit(X, reveal(truth, 2))
