"""Principal component regression: scikit-learn's two steps, and exact leave-one-out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from halfmoon.baselines import PrincipalComponentRegressor


def data(n=60, d=15, l=12, t=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.linspace(5, 0.5, d) + 3.0
    Y = X[:, :t] * 0.3 + np.sin(X[:, -t:]) + 1.0
    y = np.where(np.arange(n)[:, None] % 5 == 0, Y, np.nan)
    assert (~np.isnan(y[:, 0])).sum() == l
    return X, y[:, 0] if t == 1 else y


def two_steps(X, y, k, new):
    """PCA of all rows, then least squares on the labeled ones."""
    pca = PCA(k, svd_solver="full").fit(X)
    known = ~np.isnan(y.reshape(len(y), -1)[:, 0])
    Z, mean = pca.transform(X[known]), y[known].mean(axis=0)
    # LinearRegression of scikit-learn 1.7 fits the rounding errors of rows far away.
    step = np.linalg.lstsq(Z - Z.mean(axis=0), y[known] - mean, rcond=1e-10)[0]
    return mean + (pca.transform(new) - Z.mean(axis=0)) @ step


@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("k", [1, 5, 11, 14])  # 12 labels: at 11 and 14 of least norm
def test_two_steps(k, t):
    X, y = data(t=t)
    new = data(seed=1)[0][:7]
    model = PrincipalComponentRegressor(k).fit(X, y)
    assert_allclose(model.predict(new), two_steps(X, y, k, new), rtol=1e-8)
    assert model.components_.shape == (k, 15)


@pytest.mark.parametrize("far", [0.0, 1e4])  # labeled rows far from the mean of all
@pytest.mark.parametrize("k", [1, 5, 10, 11, 14])
def test_leave_one_out_agrees_with_refits(k, far):
    X, y = data()
    X[~np.isnan(y)] += far
    model = PrincipalComponentRegressor(k).fit(X, y)
    expected = []
    for row in np.flatnonzero(~np.isnan(y)):
        without = y.copy()
        without[row] = np.nan  # the row stays in the table
        expected.append(y[row] - two_steps(X, without, k, X[[row]])[0])
    assert_allclose(model.leave_one_out(), expected, rtol=1e-7)
    assert_allclose(model.loo_errors_, [np.mean(np.square(expected))], rtol=1e-7)


def test_the_best_number_is_taken():
    X, y = data(n=300, l=60)
    numbers = [3, 1, 8, 15]
    model = PrincipalComponentRegressor(numbers).fit(X, y)
    each = [PrincipalComponentRegressor(k).fit(X, y).loo_errors_[0] for k in numbers]
    assert_allclose(model.loo_errors_, each, rtol=1e-10)
    assert model.n_components_ == numbers[int(np.argmin(each))]
    assert len(PrincipalComponentRegressor().fit(X, y).loo_errors_) == 15


def test_unlabeled_rows_find_the_component():
    # S0, figure 2: the target is the first component of N(0, diag(10, 1, ..., 1)).
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 30)) * np.r_[np.sqrt(10), np.ones(29)]
    y = np.where(np.arange(2_000) < 20, X[:, 0], np.nan)
    model = PrincipalComponentRegressor(1).fit(X, y)
    alone = PrincipalComponentRegressor(1).fit(X[:20], y[:20])
    error, without = (np.mean((m.predict(X) - X[:, 0]) ** 2) for m in (model, alone))
    assert error < 0.3
    assert without > 5 * error


def test_loo_is_infinite_where_other_labels_do_not_determine_it():
    # The second column is 0 at every labeled row but one.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), np.where(np.arange(40) < 39, 0.0, 9.0)])
    y = np.where(np.arange(40) > 29, 1.0 + X[:, 0], np.nan)
    model = PrincipalComponentRegressor(2).fit(X, y)
    residuals = model.leave_one_out()
    assert np.isinf(residuals[-1])
    assert_allclose(residuals[:-1], 0.0, atol=1e-9)


def test_sparse_rows():
    X, y = data(n=300, d=40, l=60)
    X[np.abs(X) < 3] = 0.0
    for k in (3, 40):
        dense = PrincipalComponentRegressor(k).fit(X, y)
        sparse = PrincipalComponentRegressor(k).fit(sp.csr_array(X), y)
        assert_allclose(
            sparse.predict(sp.csr_array(X)), dense.predict(X), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("k", [0, 16, 2.5, [1, 99], []])
def test_bad_parameters(k):
    X, y = data()
    with pytest.raises(ValueError, match="n_components is"):
        PrincipalComponentRegressor(k).fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_an_offset_of_all_rows_costs_no_digits(form):
    X, y = data(n=300, d=5, l=60)
    X = np.round(X * 1024) / 1024  # exact in the sum
    expected = PrincipalComponentRegressor(2).fit(X, y)
    far = form(X + 2.0**24)
    model = PrincipalComponentRegressor(2).fit(far, y)
    assert_allclose(model.predict(far), expected.predict(X), rtol=1e-7, atol=1e-7)
    assert_allclose(model.leave_one_out(), expected.leave_one_out(), rtol=1e-6)
    assert_allclose(model.mean_, X.mean(axis=0) + 2.0**24, rtol=1e-12)
    assert_allclose(
        model.intercept_, expected.intercept_ - 2.0**24 * model.coef_.sum(), rtol=1e-6
    )
