"""Columns brought to one scale, against SciPy's ranks and scikit-learn's scalers."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler, normalize

from halfmoon._selection import (
    row_preparation as module,
)
from halfmoon._selection.row_preparation import (
    DampedUnitRows,
    NormalScores,
    Preparation,
    Standardized,
    principal_components,
    text_components,
)

BOTH = pytest.mark.parametrize("make", [Standardized, NormalScores])


@pytest.fixture
def X(rng):
    return rng.lognormal(size=(37, 4)) * [1.0, 1e-3, 1e5, 1.0] - [0.0, 0.0, 7.0, 2.0]


def normal_scores(column):
    """Standardized normal quantiles of the ranks; ties take their mean rank."""
    z = norm.ppf(rankdata(column) / (len(column) + 1))
    return (z - z.mean()) / z.std()


def test_standardized_is_a_bounded_z_score(X):
    Z = Standardized().fit_transform(X)
    expected = 3 * np.tanh(StandardScaler().fit_transform(X) / 3)
    assert_allclose(Z, expected, rtol=1e-12)
    assert np.abs(Standardized().fit(X).transform(1e9 * X)).max() <= 3.0


def test_normal_scores_are_quantiles_of_ranks(X):
    Z = NormalScores().fit_transform(X)
    expected = np.column_stack([normal_scores(column) for column in X.T])
    assert_allclose(Z, expected, rtol=1e-12, atol=1e-14)
    assert_allclose(Z.mean(axis=0), 0.0, atol=1e-14)
    assert_allclose(Z.std(axis=0), 1.0, rtol=1e-12)


def test_ties_share_the_mean_of_their_ranks(rng):
    column = rng.integers(0, 5, size=40).astype(float)
    Z = NormalScores().fit_transform(column[:, None])
    assert_allclose(Z[:, 0], normal_scores(column), rtol=1e-12)
    assert len(np.unique(Z)) == 5


def test_monotone_units_leave_normal_scores_as_they_are(X):
    expected = NormalScores().fit_transform(X)
    for change in (lambda x: 7 * x - 3, np.cbrt, lambda x: -x):
        sign = -1 if change(1.0) < change(0.0) else 1
        assert_allclose(
            NormalScores().fit_transform(change(X)), sign * expected, atol=1e-12
        )


def test_new_values_lie_between_their_neighbors_and_never_beyond(X):
    fitted = NormalScores().fit(X)
    Z, order = fitted.transform(X), np.argsort(X[:, 0])
    middle = np.tile((X[order[3]] + X[order[4]]) / 2, (2, 1))
    expected = (Z[order[3], 0] + Z[order[4], 0]) / 2
    assert_allclose(fitted.transform(middle)[:, 0], expected, rtol=1e-10)
    beyond = fitted.transform(np.vstack([X.min(axis=0) - 1e6, X.max(axis=0) + 1e6]))
    assert_array_equal(beyond, [Z.min(axis=0), Z.max(axis=0)])


def test_long_columns_are_kept_at_some_quantiles(rng, monkeypatch):
    column = rng.normal(size=(500, 1))
    exact = NormalScores().fit_transform(column)
    monkeypatch.setattr(module, "QUANTILES", 100)
    fitted = NormalScores().fit(column)
    assert len(fitted.fitted_[0][0]) == 100
    found, inner = fitted.transform(column), np.abs(exact) < 1.5
    assert_allclose(found[inner], exact[inner], atol=0.03)
    assert_allclose(found, exact, atol=0.2)
    ends = [column.argmin(), column.argmax()]
    assert_array_equal(found[ends], exact[ends])


@BOTH
def test_two_values_are_a_unit_deviation_apart_at_most(make):
    half = np.repeat([3.0, 5.0], 10)[:, None]
    assert_allclose(make().fit_transform(half)[:, 0], np.repeat([-1.0, 1.0], 10))
    # One in 20: its deviation is .22 of the span, below the floor of .3.
    rare = np.where(np.arange(20) == 7, 5.0, 3.0)[:, None]
    Z = make().fit_transform(rare)[:, 0]
    assert_allclose(Z[7] - Z[0], 1 / 0.3, rtol=1e-12)
    assert_allclose(Z.mean(), 0.0, atol=1e-12)


@BOTH
def test_a_third_value_beyond_the_first_thousand_is_seen(make, monkeypatch):
    monkeypatch.setattr(module, "QUANTILES", 8)
    column = np.r_[np.tile([0.0, 1.0], 4), 2.0][:, None]
    assert len(np.unique(make().fit_transform(column))) == 3


@BOTH
def test_columns_that_do_not_vary_are_left_out(X, make):
    expected = make().fit_transform(X)
    wide = np.column_stack([np.full(37, 0.1), X[:, :2], np.zeros(37), X[:, 2:]])
    fitted = make().fit(wide)
    assert_array_equal(fitted.columns_, [1, 2, 4, 5])
    assert_array_equal(fitted.transform(wide), expected)
    wide[:, 0] = 1e9  # whatever new rows say there
    assert_array_equal(fitted.transform(wide), expected)


@BOTH
def test_a_table_that_does_not_vary_is_one_constant_column(make):
    Z = make().fit_transform(np.full((5, 3), 2.0))
    assert_array_equal(Z, np.zeros((5, 1)))


@BOTH
def test_float32_is_lifted(X, make):
    X32 = X.astype(np.float32)
    Z = make().fit_transform(X32)
    assert Z.dtype == np.float64
    assert_allclose(Z, make().fit_transform(X32.astype(np.float64)), rtol=1e-12)


@BOTH
@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_units_do_not_matter(X, make, scale):
    Z = make().fit_transform(scale * X)
    assert_allclose(Z, make().fit_transform(X), rtol=1e-9, atol=1e-12)


def test_a_preparation_without_transformer_leaves_rows_as_they_are(X):
    assert Preparation("as they are", None)(X) is X


def test_principal_components_are_those_of_the_prepared_rows(X):
    prepared = principal_components(Standardized(), 2).fit(X)
    Z = Standardized().fit_transform(X)
    _, _, Vt = np.linalg.svd(Z - Z.mean(axis=0))
    expected = (Z - Z.mean(axis=0)) @ Vt[:2].T
    actual = prepared.transform(X)
    signs = np.sign((actual * expected).sum(axis=0))
    assert_allclose(actual, expected * signs, rtol=1e-9, atol=1e-12)
    as_they_are = principal_components("passthrough", 3).fit_transform(X)
    assert_allclose(np.abs(as_they_are), np.abs(PCA(3).fit_transform(X)), rtol=1e-9)


def damped(X):
    """What `DampedUnitRows` says, entry by entry; X is dense."""
    unit = normalize(X)
    Z = np.zeros_like(unit)
    for j in range(unit.shape[1]):
        sizes = np.sort(np.abs(unit[unit[:, j] != 0, j]))
        if len(sizes):
            one = sizes[int(0.1 * (len(sizes) - 1))]
            Z[:, j] = one * np.cbrt(unit[:, j] / one)
    return normalize(Z)


def test_damped_rows_follow_their_formula(rng):
    X = rng.poisson(0.7, size=(40, 9)) * rng.normal(size=9) * 10.0 ** np.arange(9)
    X[3] = 0.0  # a text without any word
    X[:, 5] = 0.0  # a word in no text
    fitted = DampedUnitRows().fit(sp.csr_array(X))
    assert_allclose(fitted.transform(sp.csr_array(X)).toarray(), damped(X), rtol=1e-12)
    new = sp.csr_array(np.eye(9)[[5, 5, 2]])  # the word that was in no text
    assert_allclose(fitted.transform(new).toarray(), new.toarray(), rtol=1e-12)
    assert_allclose(fitted.transform(X).toarray(), damped(X), rtol=1e-12)  # dense


def test_damping_takes_cube_roots_of_counts_and_keeps_the_weights_of_words():
    # The third column gives all rows one length, and the least count of a word is 1.
    counts = np.array([[1.0, 7.0], [5.0, 5.0], [7.0, 1.0]])
    weights = np.array([1.0, 1e-9])  # so light that rows keep their length
    X = np.column_stack([counts * weights[1], np.full(3, weights[0])])
    Z = DampedUnitRows().fit(sp.csr_array(X)).transform(sp.csr_array(X)).toarray()
    expected = np.cbrt(counts) * weights[1]
    assert_allclose(Z[:, :2], expected, rtol=1e-12)
    assert_allclose(Z[:, 2], 1.0, rtol=1e-12)


def test_text_components_are_unit_rows_in_the_leading_directions(rng):
    X = sp.csr_array(rng.poisson(0.7, size=(30, 12)).astype(float) + np.eye(30, 12))
    Z = text_components(4).fit_transform(X)
    rows = damped(X.toarray())
    _, _, Vt = np.linalg.svd(rows)
    expected = normalize(rows @ Vt[:4].T)
    signs = np.sign((Z * expected).sum(axis=0))
    assert_allclose(Z, expected * signs, rtol=0, atol=1e-3)  # found by random draws
    assert_allclose(np.linalg.norm(Z, axis=1), 1.0, rtol=1e-12)
    longer = text_components(4).fit(X).transform(3.0 * X)
    assert_allclose(longer, text_components(4).fit(X).transform(X), atol=1e-12)
