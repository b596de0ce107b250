"""Balanced folds, and predictions for held-out folds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact
from halfmoon.filters import Heat
from halfmoon.kernels import Gaussian
from halfmoon.losses import Hinge
from halfmoon.problem import (
    Problem,
    solve_filter,
    solve_loss,
    solve_ridge,
)
from halfmoon.problem._folds import (
    balanced_folds,
    out_of_fold,
    some_labels,
)
from reference import LEVERS, UNPENALIZED, columns, problem, table

ALPHA = 0.02


@pytest.mark.parametrize(("l", "n_splits"), [(23, 5), (10, 5), (3, 5), (2, 5), (9, 2)])
def test_every_row_is_in_one_fold(l, n_splits):
    y = np.random.default_rng(0).standard_normal((l, 1))
    folds = balanced_folds(y, n_splits)
    assert_array_equal(np.sort(np.concatenate(folds)), np.arange(l))
    sizes = [len(fold) for fold in folds]
    assert len(folds) == min(l, n_splits)
    assert max(sizes) - min(sizes) <= 1
    assert all((np.diff(fold) > 0).all() for fold in folds)


def test_every_fold_has_its_share_of_each_class():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat([0, 1, 2], [50, 20, 5]))
    y = (codes[:, None] == np.arange(3)).astype(float)
    for fold in balanced_folds(y, 5):
        assert_array_equal(np.bincount(codes[fold], minlength=3), [10, 4, 1])


def test_every_fold_has_its_share_of_large_values():
    y = np.random.default_rng(0).standard_normal((100, 1))
    ranks = y[:, 0].argsort().argsort()
    for fold in balanced_folds(y, 5):
        # One of every five in the order of the values.
        assert_array_equal(np.sort(ranks[fold]) // 5, np.arange(20))


def test_folds_repeat_with_the_seed():
    y = np.repeat([[0.0], [1.0]], 20, axis=0)
    one, two = balanced_folds(y, rng=3), balanced_folds(y, rng=3)
    for a, b in zip(one, two, strict=True):
        assert_array_equal(a, b)
    other = balanced_folds(y, rng=4)
    assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("l", [0, 1])
def test_a_single_row_has_no_folds(l):
    with pytest.raises(ValueError, match="folds need at least two"):
        balanced_folds(np.zeros((l, 1)))


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("lever", LEVERS)
def test_values_are_those_of_fits_without_the_labels(lever, targets):
    data = table(t=targets)
    stated = problem("nystrom", lever, UNPENALIZED["constant"], data)
    posed = stated.pose(data.X, data.y, sample_weight=data.w, rng=0)
    actual = out_of_fold(posed, lambda p: solve_ridge(p, ALPHA), 4)
    known = np.flatnonzero(data.labeled)
    expected = np.empty((18, targets))
    for fold in balanced_folds(columns(data.y)[known], 4):
        y = data.y.copy()
        y[known[fold]] = np.nan  # unlabeled, but still rows of the table
        fit = stated.fit(data.X, y, ALPHA, sample_weight=data.w, rng=0)
        expected[fold] = columns(fit.predict(data.X[known[fold]]))
    assert_allclose(actual, expected, atol=1e-9)


def test_any_way_to_solve():
    data = table(weights=False)
    y = np.where(np.isnan(data.y), np.nan, np.sign(data.y - np.nanmedian(data.y) + 0.1))
    posed = Problem(Exact(Gaussian(0.8)), "gradient").pose(data.X, y, rng=0)

    def hinge(p):
        return solve_loss(p.with_loss(Hinge()), 0.1)

    for solve in (lambda p: solve_filter(p, Heat(0.1)), hinge):
        values = out_of_fold(posed, solve)
        assert np.isfinite(values).all()
        assert np.mean(np.sign(values) == posed.y) > 0.5
        # None of them is the value of the fit that has seen the label.
        assert np.abs(values - columns(solve(posed).predict(posed.X_l))).max() > 0.01


@pytest.mark.parametrize("n_classes", [3, 5])
def test_folds_do_not_depend_on_the_names_of_classes(n_classes):
    rng = np.random.default_rng(1)
    codes = rng.integers(n_classes, size=43)
    y = (codes[:, None] == np.arange(n_classes)).astype(float)
    renamed = y[:, rng.permutation(n_classes)]
    for one, other in zip(balanced_folds(y), balanced_folds(renamed), strict=True):
        assert_array_equal(one, other)


def test_folds_of_two_classes_do_not_depend_on_which_is_first():
    y = np.where(np.random.default_rng(2).random((23, 1)) < 0.4, 1.0, -1.0)
    for one, other in zip(balanced_folds(y), balanced_folds(-y), strict=True):
        assert_array_equal(one, other)


def test_some_labels_have_all_classes_and_their_shares():
    codes = np.repeat([0, 1, 2], [300, 99, 1])
    y = np.eye(3)[codes]
    some = some_labels(y, 40, np.random.default_rng(0))
    assert len(some) == 40
    assert np.array_equal(some, np.unique(some))
    assert np.bincount(codes[some]).tolist()[2] == 1
    assert 9 <= np.bincount(codes[some])[1] <= 11


def test_some_labels_of_numbers_reach_over_their_range():
    y = np.arange(1_000.0)[::-1, None] ** 2
    some = some_labels(y, 50, np.random.default_rng(0))
    assert len(some) == 50
    assert y[some].min() == 0.0
    assert y[some].max() == 999.0**2
    assert np.array_equal(some_labels(y[:50], 50, np.random.default_rng(0)), range(50))
