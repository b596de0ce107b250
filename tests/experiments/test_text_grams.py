"""Columns of kernels between texts, and which rows are labeled."""

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.fredholm.text_grams import (
    fredholm_columns,
    gaussian_gram,
    inner_products,
)
from experiments.fredholm.text_trials import constant_error
from experiments.fredholm.texts import labeled_rows
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import FredholmClassifier
from halfmoon.kernels import Gaussian

WIDTH = 0.7
LABELED = np.array([1, 4, 6, 9])


@pytest.fixture
def X():
    """Rows of unit length like those of texts, one of them without a word."""
    X = sp.random_array((12, 20), density=0.3, rng=np.random.default_rng(0)).toarray()
    X[7] = 0.0
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return sp.csr_array(X / np.where(norms > 0, norms, 1.0))


def _columns(X):
    G = inner_products(X)
    return fredholm_columns(G, gaussian_gram(G, WIDTH), LABELED)


def test_gaussian_gram_is_that_of_the_distances(X):
    rows = X.toarray()
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    K = gaussian_gram(inner_products(X), WIDTH)
    assert_allclose(K, np.exp(-squares / (2 * WIDTH**2)), rtol=1e-12)
    assert_array_equal(np.diag(K), 1.0)


def test_columns_are_the_double_sums(X):
    rows = X.toarray()
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    K, G, n = np.exp(-squares / (2 * WIDTH**2)), rows @ rows.T, len(rows)
    A = K / K.sum(axis=1, keepdims=True)
    expected = {
        "FredLin1": np.einsum("xi,ij,zj->xz", G, K, G) / n**2,
        "FredLin2": np.einsum("xi,ij,zj->xz", K, G, K) / n**2,
        "FredLin2(N)": np.einsum("xi,ij,zj->xz", A, G, A),
    }
    columns = _columns(X)
    assert set(columns) == set(expected)
    for name, K_F in expected.items():
        assert_allclose(columns[name], K_F[:, LABELED], rtol=1e-10, err_msg=name)


@pytest.mark.parametrize(
    ("name", "outer", "inner", "normalize"),
    [
        ("FredLin1", "linear", Gaussian(WIDTH), False),
        ("FredLin2", Gaussian(WIDTH), "linear", False),
        ("FredLin2(N)", Gaussian(WIDTH), "linear", True),
    ],
)
def test_ridge_on_the_columns_is_the_estimator(X, name, outer, inner, normalize):
    signs, alpha = np.array([-1.0, 1.0, 1.0, -1.0]), 1e-3
    y = np.full(12, np.nan)
    y[LABELED] = signs
    model = FredholmClassifier(
        outer, inner, normalize=normalize, alpha=alpha, unpenalized=None
    ).fit(X, y)
    K = _columns(X)[name]
    dual = np.linalg.solve(K[LABELED] + alpha * len(signs) * np.eye(4), signs)
    assert_allclose(model.decision_function(X), K @ dual, rtol=1e-7)


def test_as_many_labels_of_each_class_and_others_in_another_split():
    classes = np.repeat([0, 1, 2], [30, 50, 20])
    first, again = (labeled_rows(classes, 4, split) for split in (0, 0))
    assert_array_equal(first, again)
    assert_array_equal(np.bincount(classes[first]), [4, 4, 4])
    assert set(first) != set(labeled_rows(classes, 4, 1))


def test_constant_answer_is_judged_on_rows_without_a_label():
    # 26 and 46 of 96 rows are left; the larger class of them is 46 of 88.
    assert_allclose(
        constant_error(np.repeat([0, 1, 2], [30, 50, 20]), 4), 100 * (1 - 46 / 88)
    )
