"""Columns weighed by the labels, and why leave-one-out would not do for them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._selection import relevance
from halfmoon._selection.candidate import ALPHAS, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.relevance import (
    RECIPES,
    Stretched,
    by_correlation,
    by_gradient,
    relevance_candidates,
)
from halfmoon._selection.row_preparation import Preparation, Standardized
from halfmoon._selection.target_transforms import IDENTITY, Logarithm
from halfmoon._solvers.ridge import ridge_weighted
from halfmoon.kernels import Gaussian, ProductLaplace
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem._folds import balanced_folds
from halfmoon.unpenalized import Constant, Features
from reference import gaussian
from selection.search_tables import bench_of, with_targets


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
    slopes = by_gradient(1)(X, X, y, weights)
    again = by_gradient(3)(X, X, y, weights)
    assert slopes.argmax() == again.argmax() == 2
    # Each step makes it plainer.
    assert again[2] / np.delete(again, 2).max() > slopes[2] / np.delete(slopes, 2).max()


def test_recipes_for_the_same_labels_share_their_steps(rng, monkeypatch):
    X, y, w = rng.normal(size=(30, 4)), rng.normal(size=(30, 2)), np.ones(30)
    one, three = by_gradient(1), by_gradient(3)
    sharp = by_gradient(1, ProductLaplace())
    expected = [recipe(X, X, y, w) for recipe in (one, three, sharp)]
    fits = []

    def counted(*arguments):
        fits.append(arguments)
        return ridge_weighted(*arguments)

    monkeypatch.setattr(relevance, "ridge_weighted", counted)
    known: dict = {}
    for recipe, factors in zip((one, three, sharp), expected, strict=True):
        assert_array_equal(recipe(X, X, y, w, known), factors)
    assert len(fits) == 4  # of five steps, the first is needed twice


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


def product_laplace(X, Z, e):
    return np.exp(-np.abs(X[:, None] - Z[None]).sum(-1) / e)


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("steps", [1, 2])
def test_slopes_are_those_of_the_kernel_fit(rng, steps, sharp):
    kernel = ProductLaplace() if sharp else Gaussian()
    dense = product_laplace if sharp else gaussian
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
        e = kernel.resolve(rows * by, 0).length_scale
        K = dense(X * by, X * by, e)
        alpha = min(ALPHAS[2:], key=lambda alpha: error(K, alpha))
        c, _ = fit(K, alpha, np.arange(25))
        M = np.zeros(3)
        for j, step in enumerate(h * np.eye(3)):  # along columns as they were
            up = dense((rows + step) * by, X * by, e) @ c
            down = dense((rows - step) * by, X * by, e) @ c
            M[j] = (((up - down) / (2 * h)) ** 2).mean(axis=0).sum()
        by = np.sqrt(M / M.max() + 0.002)
    expected = by / np.sqrt((by**2).mean())
    actual = by_gradient(steps, kernel)(X, rows, y, np.ones(25))
    assert_allclose(actual, expected, rtol=1e-6)


def ridge(K, y, w, kept, rows, alpha):
    """Values at rows by a fit to the kept labels with a constant, as one system."""
    ones = np.ones((len(kept), 1))
    A = K[np.ix_(kept, kept)] + w[kept].sum() * alpha * np.diag(1 / w[kept])
    M = np.block([[A, ones], [ones.T, np.zeros((1, 1))]])
    s = np.linalg.solve(M, np.vstack([y[kept], np.zeros((1, y.shape[1]))]))
    return K[np.ix_(rows, kept)] @ s[:-1] + s[-1]


def dense_kernel(label, Z, rows):
    """A kernel matrix of stretched rows, by the name of the kernel."""
    width = float(label.split()[1])
    if label.startswith("gaussian"):
        return gaussian(Z, Z, width * median_distance(rows, 0))
    e = ProductLaplace().resolve(rows, 0).length_scale
    K = product_laplace(Z, Z, width * e)
    if label.endswith("linear"):
        K = 0.5 * K + 0.5 * Z @ Z.T / (rows**2).sum(axis=1).mean()
    return K


@pytest.mark.parametrize("logs", [False, True])
def test_folds_weigh_the_columns_without_their_labels(shared, prepare, constant, logs):
    scales = [IDENTITY]
    if logs:
        shared = with_targets(shared, np.exp(shared.data.y[:, :1]))
        scales = [IDENTITY, Logarithm.of(shared.data.y)]
    candidates = list(relevance_candidates(shared, constant, prepare, scales))
    assert len(candidates) == len(RECIPES) * 9
    made = {candidate.name: candidate for candidate in candidates}
    assert len(made) == len(candidates)
    data = shared.data
    y = np.hstack([scale.forward(data.y) for scale in scales])
    Z_l = prepare(data.X)
    rows = np.vstack([Z_l, prepare(shared.X)])  # 40 rows: all of them, in order
    for recipe in ("gradient", "gradient, three steps"):
        for label in ("gaussian 0.5", "laplace 2", "laplace 1 + linear"):
            expected = np.empty((len(ALPHAS), 18, 2))
            for fold in balanced_folds(y):
                kept = np.delete(np.arange(18), fold)
                by = RECIPES[recipe](Z_l[kept], rows, y[kept], data.w[kept])
                K = dense_kernel(label, Z_l * by, rows * by)
                for a, alpha in enumerate(ALPHAS):
                    expected[a, fold] = ridge(K, y, data.w, kept, fold, alpha)
            candidate = made[f"standardized by {recipe}, {label}"]
            assert_allclose(candidate.by_folds, expected, rtol=1e-5, atol=1e-6)
            assert candidate.family == "relevance"
            assert not candidate.uses_unlabeled
            for i, entry in enumerate(
                fit_at_all_alphas(candidate, shared, NumberCriterion())
            ):
                own = [slice(0, 1), slice(1, 2)][i // len(ALPHAS)] if logs else slice(2)
                by_folds = candidate.by_folds[i % len(ALPHAS)]
                assert_allclose(entry.held_out, by_folds[:, own])


def test_the_answer_is_fitted_with_the_columns_of_all_labels(
    shared, prepare, constant, new
):
    candidates = list(relevance_candidates(shared, constant, prepare, [IDENTITY]))
    data, Z_l = shared.data, prepare(shared.data.X)
    rows = np.vstack([Z_l, prepare(shared.X)])
    by = RECIPES["gradient"](Z_l, rows, data.y, data.w)
    first = candidates[0]
    e = 0.5 * median_distance(rows * by, 0)
    assert_allclose(first.kernel(data.X), gaussian(Z_l * by, Z_l * by, e), rtol=1e-9)
    expected = gaussian(prepare(new) * by, Z_l * by, e)
    assert_allclose(first.kernel(new, data.X), expected, rtol=1e-9)
    for candidate in candidates:  # all on one scale, for one range of alphas
        diagonal = candidate.kernel.diag(data.X)
        assert_allclose(diagonal.mean(), 1.0, rtol=1e-9)
        ((_, term),) = candidate.kernel.terms()
        assert isinstance(term, Prepared)
        assert isinstance(term.prepare.transformer, Stretched)


def test_leave_one_out_of_chosen_columns_is_too_hopeful_and_folds_are_not(monkeypatch):
    three_steps = {"gradient, three steps": by_gradient(3)}
    monkeypatch.setattr(relevance, "RECIPES", three_steps)
    # Labels that no column tells of: nothing can do better than their variance.
    optimistic, honest = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 40)), rng.normal(size=(30, 1))
        shared = bench_of(X, y, rng=seed)
        prepare, constant = Preparation("as they are", None), Constant().fit(X)
        for candidate in relevance_candidates(shared, constant, prepare, [IDENTITY]):
            if "gaussian 1" in candidate.name:
                fixed = replace(candidate, by_folds=None)
                for each, errors in ((fixed, optimistic), (candidate, honest)):
                    entries = fit_at_all_alphas(each, shared, NumberCriterion())
                    least = min(((e.held_out - y) ** 2).mean() for e in entries)
                    errors.append(least / y.var())
    assert np.mean(optimistic) < 0.75
    assert 0.95 < np.mean(honest) < 1.5


def test_a_column_that_varies_in_one_fold_only_does_not_warn(rng):
    X = rng.normal(size=(20, 3))
    X[:, 2] = np.arange(20) == 7
    shared = bench_of(X, rng.normal(size=(20, 1)))
    own = Features([2]).fit(X)
    prepare = Preparation("standardized", Standardized().fit(X))
    for candidate in relevance_candidates(shared, own, prepare, [IDENTITY]):
        assert np.isfinite(candidate.by_folds).all()
