"""Nested features: every number of columns, against a solution for each alone."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.feature_path import nested_features
from halfmoon._solvers.ridge import ridge_dual
from halfmoon.kernels import Gaussian, Matern

ALPHA = 0.01


@pytest.fixture
def data(rng):
    X, X_test = rng.normal(size=(25, 2)), rng.normal(size=(11, 2))

    def features(X):
        return np.column_stack([np.ones(len(X)), X, np.sin(X), 100 * np.cos(X)])

    y, y_test = rng.standard_normal((25, 2)), rng.standard_normal((11, 2))
    kernel = Matern(1.5, 1.0)
    return (
        kernel(X),
        features(X),
        y,
        kernel(X_test, X),
        features(X_test),
        y_test,
    )


def alone(K, F, y, j, alpha=ALPHA):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = ridge_dual(K, y, Elimination(F[:, :j]), float(len(K)))
    return path.theta(alpha), path.beta(alpha), path.leave_one_out([alpha])[0]


def test_coefficients_of_each_number_of_columns(data):
    K, F, y, *_ = data
    path = nested_features(K, F, y, 25 * ALPHA)
    for j in range(8):
        c, beta, _ = alone(K, F, y, j)
        assert_allclose(path.dual_coef(j), c, atol=1e-10)
        assert_allclose(path.coef(j)[:j], beta, atol=1e-10)
        assert_array_equal(path.coef(j)[j:], 0)
        assert path.coef(j).shape == (7, 2)


def test_leave_one_out_of_each_number_of_columns(data):
    K, F, y, *_ = data
    residuals = nested_features(K, F, y, 25 * ALPHA).leave_one_out()
    assert residuals.shape == (8, 25, 2)
    for j in range(8):
        assert_allclose(residuals[j], alone(K, F, y, j)[2], rtol=1e-9)
    # And by what it means: without row 3, at the same lam.
    rest = np.delete(np.arange(25), 3)
    c, beta, _ = alone(K[np.ix_(rest, rest)], F[rest], y[rest], 5, 25 / 24 * ALPHA)
    expected = y[3] - K[3, rest] @ c - F[3, :5] @ beta
    assert_allclose(residuals[5, 3], expected, rtol=1e-9)


def test_errors_of_each_number_of_columns(data):
    K, F, y, K_x, F_x, y_x = data
    errors = nested_features(K, F, y, 25 * ALPHA).errors(K_x, F_x, y_x)
    assert errors.shape == (8,)
    for j in range(8):
        c, beta, _ = alone(K, F, y, j)
        residual = y_x - K_x @ c - F_x[:, :j] @ beta
        assert_allclose(errors[j], np.mean(residual**2), rtol=1e-9)


def test_dependent_columns_are_skipped_and_named(data):
    K, F, y, K_x, F_x, y_x = data
    where = [0, 0, 1, 2, 3]  # columns 1 and 5 follow from those before, 3 is 0
    wide = np.column_stack([F[:, where], F[:, 1] - 3 * F[:, 2], F[:, 4:]])
    wide_x = np.column_stack([F_x[:, where], F_x[:, 1] - 3 * F_x[:, 2], F_x[:, 4:]])
    wide, wide_x = np.insert(wide, 3, 0.0, 1), np.insert(wide_x, 3, 0.0, 1)
    with pytest.warns(
        UserWarning, match=r"Columns \[1, 3, 6\] of the 10 .* columns depend"
    ):
        path = nested_features(K, wide, y, 25 * ALPHA)
    assert path.skipped == (1, 3, 6)
    plain = nested_features(K, F, y, 25 * ALPHA)
    ranks = [0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7]
    assert_allclose(path.leave_one_out(), plain.leave_one_out()[ranks], rtol=1e-8)
    errors = plain.errors(K_x, F_x, y_x)
    assert_allclose(path.errors(K_x, wide_x, y_x), errors[ranks], rtol=1e-9)
    for j, r in enumerate(ranks):
        assert_allclose(path.dual_coef(j), plain.dual_coef(r), atol=1e-10)
        kept = [c for c in range(10) if c not in path.skipped]
        assert_allclose(path.coef(j)[kept], plain.coef(r), atol=1e-9)
        assert_array_equal(path.coef(j)[[1, 3, 6]], 0)


def test_as_many_columns_as_rows_and_more(data, rng):
    K, _, y, *_ = data
    F = rng.normal(size=(25, 28))
    with pytest.warns(UserWarning, match=r"\[25, 26, 27\] of the 28 .* depend"):
        path = nested_features(K, F, y, 25 * ALPHA)
    residuals = path.leave_one_out()
    assert residuals.shape == (29, 25, 2)
    # One column short of all rows: nothing cancels, so the digits stay.
    assert_allclose(residuals[24], alone(K, F, y, 24)[2], rtol=1e-6)
    assert np.isinf(residuals[25:]).all()
    assert_allclose(path.dual_coef(25), 0, atol=1e-12)
    assert_allclose(F @ path.coef(28), y, atol=1e-9)


def test_a_row_that_its_label_alone_identifies(data):
    K, F, y, *_ = data
    lonely = np.column_stack([F[:, :2], np.eye(25)[4], F[:, 3:]])
    residuals = nested_features(K, lonely, y, 25 * ALPHA).leave_one_out()
    assert np.isfinite(residuals[2]).all()
    assert np.isinf(residuals[3:, 4]).all()
    assert np.isfinite(np.delete(residuals, 4, axis=1)).all()
    for j in (3, 7):
        expected = alone(K, lonely, y, j)[2]
        assert_allclose(np.delete(residuals[j], 4, 0), np.delete(expected, 4, 0), 1e-8)


def test_root_weights(data, rng):
    K, F, y, K_x, F_x, y_x = data
    root = np.sqrt(rng.uniform(0.5, 2.0, 25))[:, None]
    path = nested_features(root * K * root.T, root * F, root * y, ALPHA)
    errors = path.errors(K_x * root[:, 0], F_x, y_x)
    # The normal equations of weighted conditional ridge, for four columns.
    A = np.block([[K + ALPHA * np.diag(1 / root[:, 0] ** 2), F[:, :4]],
                  [F[:, :4].T, np.zeros((4, 4))]])  # fmt: skip
    solution = np.linalg.solve(A, np.vstack([y, np.zeros((4, 2))]))
    residual = y_x - K_x @ solution[:25] - F_x[:, :4] @ solution[25:]
    assert_allclose(errors[4], np.mean(residual**2), rtol=1e-8)


def test_no_columns_at_all(data):
    K, F, y, K_x, F_x, y_x = data
    path = nested_features(K, F[:, :0], y, 25 * ALPHA)
    expected = np.linalg.solve(K + 25 * ALPHA * np.eye(25), y)
    assert_allclose(path.dual_coef(0), expected, atol=1e-11)
    assert path.coef(0).shape == (0, 2)
    error = np.mean((y_x - K_x @ expected) ** 2)
    assert_allclose(path.errors(K_x, F_x[:, :0], y_x), [error])
    assert_allclose(path.leave_one_out()[0], alone(K, F, y, 0)[2], rtol=1e-9)


def test_a_singular_matrix_is_refused(data, rng):
    _, F, y, *_ = data
    X = np.repeat(rng.normal(size=(5, 2)), 5, axis=0)
    with pytest.raises(
        ValueError, match=r"lam = 0 is not positive.*Use a larger alpha"
    ):
        nested_features(Gaussian(1.0)(X), F, y, 0.0)


def test_inputs_stay_and_j_is_checked(data):
    K, F, y, *_ = data
    before = K.copy(), F.copy(), y.copy()
    path = nested_features(K, F, y, 25 * ALPHA)
    for actual, expected in zip((K, F, y), before, strict=True):
        assert_array_equal(actual, expected)
    for j in (-1, 8, 1.5):
        with pytest.raises(ValueError, match="a number of columns from 0 to 7 is need"):
            path.coef(j)
