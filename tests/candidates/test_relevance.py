"""Columns weighed by the labels, and why leave-one-out would not do for them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon.candidates import (
    ALPHAS,
    Candidate,
    KernelPart,
    Labeled,
    NullSpace,
    relevance,
)
from halfmoon.candidates.preparation import Preparation, Standardized
from halfmoon.candidates.relevance import (
    RECIPES,
    by_correlation,
    by_gradient,
    relevance_candidates,
)
from halfmoon.kernels import Gaussian, Linear, ProductLaplace
from halfmoon.kernels.length_scales import median_distance
from halfmoon.problem import balanced_folds
from halfmoon.unpenalized import Constant, Features
from reference import gaussian


@pytest.fixture
def constant():
    return NullSpace("constant", Constant().transform)


@pytest.fixture
def prepare(X):
    return Preparation("standardized", Standardized().fit(X))


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("column", [0, 4])
def test_the_column_that_matters_is_stretched_most(rng, name, column):
    X = rng.normal(size=(60, 5))
    y = np.tanh(2 * X[:, [column]])
    by = RECIPES[name](X, X, y, np.ones(60))
    assert np.argmax(by) == column
    assert by[column] > 1.5 * np.delete(by, column).max()
    assert_allclose((by**2).mean(), 1.0, rtol=1e-12)


def test_slopes_see_what_correlations_do_not(rng):
    X = rng.normal(size=(80, 4))
    y = np.cos(2 * X[:, [2]])  # even: no correlation
    weights = np.ones(80)
    slopes = by_gradient(1, 0.5)(X, X, y, weights)
    again = by_gradient(3, 0.5)(X, X, y, weights)
    assert slopes.argmax() == again.argmax() == 2
    # Each step makes it plainer.
    assert again[2] / np.delete(again, 2).max() > slopes[2] / np.delete(slopes, 2).max()


def test_correlations_are_those_of_numpy(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    r2 = np.array([[np.corrcoef(x, t)[0, 1] ** 2 for t in y.T] for x in X.T])
    expected = np.sqrt(r2.max(axis=1) + 1 / 30)
    expected /= np.sqrt((expected**2).mean())
    actual = by_correlation(X, X, y, np.ones(30))
    assert_allclose(actual, expected, rtol=1e-12)
    # Whole weights are as many copies, but for the number of labels.
    w = rng.integers(1, 4, size=30)
    copies = np.repeat(np.arange(30), w)
    r2 = np.array(
        [[np.corrcoef(x, t)[0, 1] ** 2 for t in y[copies].T] for x in X[copies].T]
    )
    expected = np.sqrt(r2.max(axis=1) + 1 / 30)
    expected /= np.sqrt((expected**2).mean())
    assert_allclose(by_correlation(X, X, y, w.astype(float)), expected, rtol=1e-12)


@pytest.mark.parametrize("steps", [1, 2])
def test_slopes_are_those_of_the_kernel_fit(rng, steps):
    X, rows = rng.normal(size=(25, 3)), rng.normal(size=(12, 3))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    ones, h = np.ones((25, 1)), 1e-5

    def fit(K, alpha, kept):
        A = K[np.ix_(kept, kept)] + 25 * alpha * np.eye(len(kept))
        M = np.block([[A, ones[kept]], [ones[kept].T, np.zeros((1, 1))]])
        solution = np.linalg.solve(M, np.vstack([y[kept], np.zeros((1, 2))]))
        return solution[:-1], solution[-1]

    def error(K, alpha):
        total = 0.0
        for i in range(25):
            kept = np.delete(np.arange(25), i)
            c, beta = fit(K, alpha, kept)
            total += ((y[i] - K[i, kept] @ c - beta) ** 2).sum()
        return total

    by = np.ones(3)
    for _ in range(steps):
        e = median_distance(rows * by, 0)
        K = gaussian(X * by, X * by, e)
        alpha = min(ALPHAS[2:], key=lambda alpha: error(K, alpha))
        c, _ = fit(K, alpha, np.arange(25))
        M = np.zeros(3)
        for j, step in enumerate(h * np.eye(3)):  # along columns as they were
            up = gaussian((rows + step) * by, X * by, e) @ c
            down = gaussian((rows - step) * by, X * by, e) @ c
            M[j] = (((up - down) / (2 * h)) ** 2).mean(axis=0).sum()
        by = (M / M.max() + 0.002) ** 0.25
    expected = by / np.sqrt((by**2).mean())
    actual = by_gradient(steps, 0.25)(X, rows, y, np.ones(25))
    assert_allclose(actual, expected, rtol=1e-6)


def test_folds_weigh_the_columns_without_their_labels(data, prepare, constant):
    rng = np.random.default_rng(5)
    candidates = list(relevance_candidates(prepare, data, constant, rng))
    assert len(candidates) == len(RECIPES) * 9
    assert len({candidate.name for candidate in candidates}) == len(candidates)
    made = {candidate.name: candidate for candidate in candidates}

    Z_l = prepare(data.X_l)
    rows = np.vstack([Z_l, prepare(data.X)])  # 40 rows: all of them, in order
    W = data.w[:, None]
    for recipe in ("correlation", "gradient, three steps"):
        for label in ("gaussian 0.5", "laplace 2", "laplace 1 + linear"):
            width = float(label.split()[1])
            expected = np.empty((len(ALPHAS), 18, 2))
            for fold in balanced_folds(data.y):
                kept = np.delete(np.arange(18), fold)
                by = RECIPES[recipe](Z_l[kept], rows, data.y[kept], data.w[kept])
                Z, some = Z_l * by, rows * by
                if label.startswith("gaussian"):
                    kernel = Gaussian(width * median_distance(some, 0))
                else:
                    kernel = ProductLaplace(
                        width * ProductLaplace().resolve(some, 0).length_scale
                    )
                K = kernel(Z)
                if label.endswith("linear"):
                    K = 0.5 * K + 0.5 * Linear()(Z) / (some**2).sum(axis=1).mean()
                for a, alpha in enumerate(ALPHAS):
                    lam = W[kept].sum() * alpha
                    A = K[np.ix_(kept, kept)] + lam * np.diag(1 / data.w[kept])
                    ones = np.ones((len(kept), 1))
                    M = np.block([[A, ones], [ones.T, np.zeros((1, 1))]])
                    right = np.vstack([data.y[kept], np.zeros((1, 2))])
                    s = np.linalg.solve(M, right)
                    expected[a, fold] = K[np.ix_(fold, kept)] @ s[:-1] + s[-1]
            actual = made[f"standardized by {recipe}, {label}"].left_out()
            assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_the_answer_is_fitted_with_the_columns_of_all_labels(
    data, prepare, constant, new
):
    rng = np.random.default_rng(5)
    first = next(relevance_candidates(prepare, data, constant, rng))
    Z_l = prepare(data.X_l)
    rows = np.vstack([Z_l, prepare(data.X)])
    by = by_correlation(Z_l, rows, data.y, data.w)
    kernel = Gaussian(0.5 * median_distance(rows * by, 0))
    part = first.mix[0][0]
    assert_allclose(part.gram, kernel(Z_l * by), rtol=1e-10)
    expected = kernel(prepare(new) * by, Z_l * by)
    assert_allclose(part.function(np.eye(18))(new), expected, rtol=1e-10)
    assert not first.unlabeled
    assert not first.on_any_scale


def test_leave_one_out_of_chosen_columns_is_too_hopeful_and_folds_are_not(monkeypatch):
    three_steps = {"gradient, three steps": by_gradient(3, 0.5)}
    monkeypatch.setattr(relevance, "RECIPES", three_steps)
    # Labels that no column tells of: nothing can do better than their variance.
    optimistic, honest = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 40)), rng.normal(size=(30, 1))
        data = Labeled(X, np.arange(30), y, np.ones(30))
        prepare = Preparation("as they are", None)
        constant = NullSpace("constant", Constant().transform)
        for candidate in relevance_candidates(prepare, data, constant, rng):
            if "gaussian 1" in candidate.name:
                fixed = Candidate("", candidate.mix, constant, data)
                for each, errors in ((fixed, optimistic), (candidate, honest)):
                    squares = ((each.left_out() - y) ** 2).mean(axis=(1, 2))
                    errors.append(squares.min() / y.var())
    assert np.mean(optimistic) < 0.75
    assert 0.95 < np.mean(honest) < 1.5


def test_a_column_that_varies_in_one_fold_only_does_not_warn(rng):
    X = rng.normal(size=(20, 3))
    X[:, 2] = np.arange(20) == 7
    data = Labeled(X, np.arange(20), rng.normal(size=(20, 1)), np.ones(20))
    own = NullSpace("own", Features([2]).fit(X).transform)
    prepare = Preparation("standardized", Standardized().fit(X))
    for candidate in relevance_candidates(prepare, data, own, rng):
        assert np.isfinite(candidate.left_out()).all()


def test_a_kernel_part_stays_a_kernel(data, prepare, constant, rng):
    for candidate in relevance_candidates(prepare, data, constant, rng):
        (part, share), *others = candidate.mix
        assert isinstance(part, KernelPart)
        assert (share, others) == (1.0, [])
