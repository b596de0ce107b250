"""Label spreading: its formula, scikit-learn's, and labels that are overruled."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.semi_supervised import LabelSpreading

from halfmoon.baselines import LabelSpreadingClassifier
from halfmoon.graphs import neighbor_graph


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
def test_the_formula(a):
    X, y = data()
    q = ((X[:, None] - X[None]) ** 2).sum(-1)
    W = np.exp(-q / (2 * 0.3**2)) - np.eye(40)
    full = LabelSpreadingClassifier(a, None, 0.3).fit(X, y)
    assert_allclose(full.label_distributions_, shares(W, y, a), rtol=1e-9)
    near = LabelSpreadingClassifier(a, 6).fit(X, y)
    W = neighbor_graph(X, 6).toarray()
    assert_allclose(near.label_distributions_, shares(W, y, a), rtol=1e-8, atol=1e-12)
    assert_array_equal(near.transduction_, shares(W, y, a).argmax(axis=1))


def test_against_scikit_learn():
    X, y = data()
    peer = LabelSpreading(gamma=1 / (2 * 0.3**2), alpha=0.8, max_iter=10**4, tol=1e-14)
    peer.fit(X, np.where(np.isnan(y), -1, y))
    model = LabelSpreadingClassifier(0.8, None, 0.3).fit(X, y)
    assert_allclose(model.label_distributions_, peer.label_distributions_, atol=1e-10)


def test_a_lone_label_is_overruled():
    X, y = np.linspace(0, 1, 11)[:, None], np.zeros(11)
    y[5] = 1
    assert LabelSpreadingClassifier(0.99, 2).fit(X, y).transduction_[5] == 0
    assert LabelSpreadingClassifier(0.01, 2).fit(X, y).transduction_[5] == 1


def test_parts_without_a_label_get_the_prior():
    X, y = data(k=2)
    X[30:] += 50.0
    y[:4] = [0, 1, 1, 1]
    y[4:] = np.nan
    with pytest.warns(UserWarning, match="10 of the 40 rows"):
        model = LabelSpreadingClassifier(0.9, 3).fit(X, y)
    assert_allclose(model.label_distributions_[30:], np.full((10, 2), [0.25, 0.75]))


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_what_cannot_be(spread):
    X, y = data()
    with pytest.raises(ValueError, match=f"spread is {spread}"):
        LabelSpreadingClassifier(spread).fit(X, y)
