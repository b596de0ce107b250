"""Kernels of S0's tables 5 and 6 against dense formulas and halfmoon's estimators."""

import numpy as np
import pytest
from experiments.fredholm.grams import (
    Split,
    averaged_columns,
    deformed_columns,
    normalized_columns,
    split_trials,
    union,
)
from numpy.testing import assert_allclose
from scipy.linalg import solve

from halfmoon import FredholmClassifier, LaplacianClassifier
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.kernels import Gaussian

WIDTH = 0.8
RATIO = 0.7
LAM = 0.03


@pytest.fixture
def table():
    """Three clusters, and the rows labeled in each of two splits, out of order."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 15)
    centers = np.array([[0.0, 0.0], [1.5, 0.5], [0.2, 1.8]])
    X = centers[y] + 0.6 * rng.standard_normal((45, 2))
    first, second = np.array([30, 2, 7, 17, 21, 40]), np.array([44, 5, 31, 2, 18, 26])
    return X, y, [Split("a", 0, first), Split("a", 1, second)]


@pytest.fixture
def K(table):
    X, _, _ = table
    q = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-q / (2 * WIDTH**2))


@pytest.fixture
def laplacian(table):
    return graph_laplacian(neighbor_graph(table[0], 5), normalized=True)


def known(y, labeled):
    out = np.full(len(y), np.nan)
    out[labeled] = y[labeled]
    return out


def scores(columns, chosen, y, labeled):
    """Kernel ridge at LAM from the columns, a class at a time, 1 against 0.

    1 against -1 takes the scores of a constant target off all classes alike, so that
    the answers are the same.
    """
    at = np.searchsorted(chosen, labeled)
    K_ll = columns[labeled][:, at]
    return columns[:, at] @ solve(K_ll + LAM * np.eye(len(at)), indicators(y[labeled]))


def indicators(classes):
    return (classes[:, None] == np.arange(3)).astype(float)


def test_averages_are_the_paper_s_double_sum(K, table):
    chosen = union(table[2])
    n = len(K)
    expected = np.einsum("xi,ij,zj->xz", K, K, K[chosen]) / n**2
    averaged = averaged_columns(K, chosen)
    assert_allclose(averaged, expected, rtol=1e-12)

    A = K / K.sum(axis=1, keepdims=True)
    expected = np.einsum("xi,ij,zj->xz", A, K, A[chosen])
    assert_allclose(normalized_columns(averaged, K, chosen), expected, rtol=1e-12)


def test_deformed_kernel_takes_off_what_the_graph_forbids(K, laplacian, table):
    # K - K (I + M K)^-1 M K, and the inverse of K^-1 + M
    chosen = union(table[2])
    M = RATIO * laplacian.toarray()
    off = K @ solve(np.eye(len(K)) + M @ K, M @ K)
    columns = deformed_columns(K, RATIO * laplacian, chosen)
    assert_allclose(columns, (K - off)[:, chosen], atol=1e-11)

    sturdy = K + 0.1 * np.eye(len(K))  # K alone is near singular
    inverse = np.linalg.inv(np.linalg.inv(sturdy) + M)
    columns = deformed_columns(sturdy, RATIO * laplacian, chosen)
    assert_allclose(columns, inverse[:, chosen], atol=1e-11)


def test_deformed_kernel_solves_lap_rls(K, laplacian, table):
    # (J K + gamma_A l I + gamma_I l / n^2 Lg K) a = y over all n rows, y 0 if unlabeled
    _, y, splits = table
    labeled = splits[0].labeled
    n, l = len(K), len(labeled)
    gamma_A = LAM / l
    gamma_I = RATIO * gamma_A * n**2
    J, Y = np.zeros((n, n)), np.zeros((n, 3))
    J[labeled, labeled] = 1
    Y[labeled] = indicators(y[labeled])
    Lg = laplacian.toarray()
    a = solve(J @ K + gamma_A * l * np.eye(n) + gamma_I * l / n**2 * Lg @ K, Y)
    chosen = union(splits)
    columns = deformed_columns(K, RATIO * laplacian, chosen)
    assert_allclose(scores(columns, chosen, y, labeled), K @ a, atol=1e-9)


@pytest.mark.parametrize("normalize", [False, True])
def test_averages_are_those_of_fredholm_classifier(K, table, normalize):
    X, y, splits = table
    labeled, chosen = splits[1].labeled, union(splits)
    columns = averaged_columns(K, chosen)
    if normalize:
        columns = normalized_columns(columns, K, chosen)
    model = FredholmClassifier(
        Gaussian(WIDTH),
        Gaussian(WIDTH),
        normalize=normalize,
        alpha=LAM / len(labeled),
        unpenalized=None,
        basis="exact",
    ).fit(X, known(y, labeled))
    expected = scores(columns, chosen, y, labeled)
    assert_allclose(model.decision_function(X), expected, atol=1e-10)


def test_deformed_kernel_is_that_of_laplacian_classifier(K, laplacian, table):
    # alpha (g'Lg g / n^2 + mu |g|^2), so that 1 / (mu n^2) is the ratio
    X, y, splits = table
    labeled, chosen = splits[1].labeled, union(splits)
    mu = 1 / (RATIO * len(K) ** 2)
    model = LaplacianClassifier(
        Gaussian(WIDTH),
        alpha=LAM / len(labeled) / mu,
        mu=mu,
        energy=laplacian,
        unpenalized=None,
        basis="exact",
    ).fit(X, known(y, labeled))
    columns = deformed_columns(K, RATIO * laplacian, chosen)
    expected = scores(columns, chosen, y, labeled)
    assert_allclose(model.decision_function(X), expected, atol=1e-7)


def test_trials_are_tested_on_the_rows_that_their_split_leaves(K, table):
    _, y, splits = table
    chosen = union(splits)
    unit = 1.0  # the diagonal of K
    trials = split_trials(
        K[:, chosen], chosen, y, splits, 3.0, [LAM / unit, 1e6], method="KRLSC"
    )
    assert [(t["row"], t["split"], t["method"]) for t in trials] == [
        ("a", 0, "KRLSC"),
        ("a", 1, "KRLSC"),
    ]
    for trial, split in zip(trials, splits, strict=True):
        rest = np.setdiff1d(np.arange(len(y)), split.labeled)
        answers = scores(K[:, chosen], chosen, y, split.labeled)[rest].argmax(axis=1)
        assert_allclose(trial["test"][0], 100 * (answers != y[rest]).mean())
        assert 0 < trial["test"][0] < 50
        assert trial["seconds"] >= 1.5  # half of the three that both share
