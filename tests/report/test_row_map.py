import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn import datasets
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from halfmoon._report.row_map import eigenmap


@pytest.mark.parametrize(
    ("load", "least"),
    [
        (datasets.load_iris, 0.82),
        (datasets.load_wine, 0.95),
        (datasets.load_digits, 0.62),
        (datasets.load_breast_cancer, 0.92),
    ],
)
def test_the_map_separates_classes(load, least):
    X, y = load(return_X_y=True)
    found = eigenmap(X, np.random.default_rng(0))
    assert found.note == ""
    seen = cross_val_score(KNeighborsClassifier(10), found.points, y, cv=5).mean()
    assert seen > least


def test_outliers_do_not_squash_the_map():
    X, _ = datasets.load_iris(return_X_y=True)
    X = np.vstack([X, np.full(4, 1e6), np.full(4, -1e200), np.full(4, np.inf)])
    points = eigenmap(X, np.random.default_rng(0)).points
    assert np.isfinite(points).all()
    assert points.min() >= 0
    assert points.max() <= 1
    low, high = np.quantile(points[:150], [0.05, 0.95], axis=0)
    assert (high - low > 0.5).all()


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1.0], [2.0], [5.0]]),
        np.ones((40, 3)),
        np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0),
        np.zeros((1, 1)),
        np.empty((0, 3)),
        np.empty((5, 0)),
        np.full((6, 2), np.nan),
    ],
    ids=["two", "three", "equal", "two kinds", "one", "none", "no columns", "NaN"],
)
def test_a_note_says_why_there_is_no_map(X):
    found = eigenmap(X, np.random.default_rng(0))
    assert found.points.shape == (len(X), 2)
    assert np.isfinite(found.points).all()
    assert found.note


@pytest.mark.parametrize("case", ["column", "copies", "constants", "gaps", "sparse"])
def test_odd_tables_have_a_map(rng, case):
    X = rng.normal(size=(60, 3))
    X = {
        "column": X[:, :1],
        "copies": np.repeat(X[:6], 10, axis=0),
        "constants": np.column_stack([X, np.ones(60), np.zeros(60)]),
        "gaps": np.where(rng.uniform(size=X.shape) < 0.2, np.nan, X),
        "sparse": sp.csr_array(np.where(X > 0.5, X, 0.0)),
    }[case]
    found = eigenmap(X, rng)
    assert found.note == ""
    assert np.isfinite(found.points).all()
    assert len(np.unique(found.points[:, 0])) > 4
    if case == "copies":
        assert len(np.unique(found.points.round(6), axis=0)) == 6


def test_the_same_seed_gives_the_same_map(rng):
    X = rng.normal(size=(100, 4))
    one, two = (eigenmap(X, np.random.default_rng(3)) for _ in range(2))
    assert_array_equal(one.points, two.points)
