"""Kernels and alphas on held-out folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from halfmoon.kernels import Gaussian
from halfmoon.weak import CandidateSetClassifier, IntervalRegressor
from halfmoon.weak._fold_search import (
    KernelTrial,
    best_of,
    cross_fitted,
    kernel_choices,
)

X, TRUTH = load_iris(return_X_y=True)


def tried(losses, ties=None, values=None):
    losses = np.array(losses, dtype=float)
    ties = np.zeros_like(losses) if ties is None else np.array(ties, dtype=float)
    values = losses[:, :, None] if values is None else values
    return KernelTrial(losses, ties, values)


def test_the_least_mean_loss_wins_and_ties_are_broken():
    w = np.array([1.0, 1.0, 2.0])
    one, other = tried([[1, 0, 1], [0, 1, 0]]), tried([[1, 0, 0]])
    assert best_of([one, other], w) == (0, 1)  # 1 of 4, as the other: the first
    assert best_of([one, tried([[1, 0, 0]], [[-1, 0, 0]])], w) == (1, 0)
    assert best_of([one, other], np.array([0.0, 1.0, 1.0])) == (1, 0)


def test_each_fold_uses_the_choice_of_the_others():
    # The second is best on the last two rows only, the first on the first two.
    one = tried([[0, 0, 1, 1]], values=np.full((1, 4, 1), 10.0))
    other = tried([[1, 1, 0, 0]], values=np.full((1, 4, 1), 20.0))
    folds = [np.array([0, 1]), np.array([2, 3])]
    found = cross_fitted([one, other], folds, np.ones(4))
    assert_array_equal(found[:, 0], [20.0, 20.0, 10.0, 10.0])


def partial_labels(rng):
    sets = rng.uniform(size=(150, 3)) < 0.3
    sets[np.arange(150), TRUTH] = True
    return sets


def test_of_several_kernels_the_best_on_folds_is_fitted(rng):
    sets = partial_labels(rng)
    kernels = [Gaussian(50.0), Gaussian(1.0)]
    setting = {"random_state": 0, "alpha": [1e-5, 1e-3]}
    both = CandidateSetClassifier(kernel=kernels, **setting).fit(X, sets)
    alone = [CandidateSetClassifier(kernel=k, **setting).fit(X, sets) for k in kernels]
    assert both.fold_losses_.shape == (2, 2)
    for each, losses in zip(alone, both.fold_losses_, strict=True):
        assert_array_equal(each.fold_losses_, losses)
    best = int(both.fold_losses_.min(axis=1).argmin())
    assert both.kernel_ is kernels[best]
    assert both.alpha_ == alone[best].alpha_
    assert_allclose(both.decision_function(X), alone[best].decision_function(X))


def test_automatic_kernels_are_positive_definite_and_know_of_unlabeled_rows(rng):
    choices = kernel_choices("auto", X, np.random.default_rng(0))
    assert [each.uses_unlabeled for each in choices].count(True) == 2
    for each in choices:
        K = each.kernel.resolve(X, rng)(X, X)
        assert np.linalg.eigvalsh(K).min() > -1e-8 * np.abs(K).max()
    y = np.where(np.arange(150) % 5 == 0, TRUTH, np.nan)
    model = IntervalRegressor(random_state=0).fit(X, y)
    assert model.fold_losses_.shape[0] == len(choices)
    lowest = int(model.fold_losses_.min(axis=1).argmin())
    assert model.used_unlabeled_ == choices[lowest].uses_unlabeled


def test_a_budget_stops_the_search_but_not_before_one_kernel(rng):
    model = CandidateSetClassifier(budget=1e-9, random_state=0)
    model.fit(X, partial_labels(rng))
    assert model.fold_losses_.ndim == 1
    assert np.mean(model.predict(X) == TRUTH) > 0.9


def test_an_empty_sequence_of_kernels():
    with pytest.raises(ValueError, match="kernel is empty"):
        CandidateSetClassifier(kernel=[]).fit(X, TRUTH)


@pytest.mark.parametrize("energy", ["gradient", "graph"])
def test_automatic_kernels_suit_every_energy(energy, rng):
    X = rng.normal(size=(40, 2))
    y = X[:, 0]
    ends = np.column_stack([y - 0.1, y + 0.1])
    model = IntervalRegressor(energy=energy, random_state=0).fit(X, ends)
    assert model.score(X, ends) > 0.8
    assert model.used_unlabeled_
    sets = np.column_stack([y < 0.3, y > -0.3])
    found = CandidateSetClassifier(energy=energy, random_state=0).fit(X, sets)
    assert np.mean(found.predict(X) == (y > 0)) > 0.7


@pytest.mark.parametrize("scale", [(0.01, 1.0), "auto"])
def test_length_scales_are_chosen_by_folds(scale, rng):
    X = rng.normal(size=(40, 2))
    ends = np.column_stack([X[:, 0] - 0.1, X[:, 0] + 0.1])
    model = IntervalRegressor(kernel=Gaussian(scale)).fit(X, ends)
    count = len(scale) if isinstance(scale, tuple) else 5
    assert model.fold_losses_.shape == (count, 10)
    width = model.kernel_.length_scale
    assert width == 1.0 if isinstance(scale, tuple) else width > 0.5
    one = IntervalRegressor(kernel=Gaussian(width)).fit(X, ends)
    assert_allclose(one.predict(X), model.predict(X))
    best = model.fold_losses_.min(axis=1).argmin()
    assert_allclose(one.fold_losses_, model.fold_losses_[best])
