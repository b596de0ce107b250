"""Kernels of the toy examples against their formulas and the library's estimators."""

import numpy as np
import pytest
from experiments.fredholm.toys import (
    STRENGTHS,
    averaged,
    deformed,
    deformed_linear,
    draw_toy,
    laplacian,
)
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import FredholmClassifier
from halfmoon.baselines import LapRLSClassifier
from halfmoon.datasets import noisy_circles, noisy_line
from halfmoon.kernels import Gaussian, Linear


@pytest.fixture
def toy():
    return draw_toy(noisy_line, 3, 40, 0)


def _ridge(K, toy, lam):
    """Scores at the validation and test rows of (K_l + lam I)^-1 y."""
    l = len(toy.labeled)
    signs = 2.0 * toy.y[:l] - 1.0
    return K[l:] @ np.linalg.solve(K[:l] + lam * np.eye(l), signs)


def _known(toy):
    y = np.full(len(toy.y), np.nan)
    y[toy.labeled] = 2.0 * toy.y[toy.labeled] - 1.0
    return y


def test_labeled_rows_come_first_and_no_row_comes_twice(toy):
    assert_array_equal(toy.y[toy.labeled], [0, 0, 0, 1, 1, 1])
    assert toy.X.shape == (46, 100)
    everything = np.vstack([toy.X, toy.X_validation, toy.X_test])
    assert len(np.unique(everything, axis=0)) == 126
    assert_array_equal(toy.y, toy.X[:, 0] >= 0)
    assert_array_equal(toy.y_test, toy.X_test[:, 0] >= 0)


def test_draws_differ_by_split_and_labels():
    draws = [(3, 0), (3, 1), (4, 0)]
    first = [draw_toy(noisy_circles, l, 20, split).X[0, 0] for l, split in draws]
    assert len(set(first)) == 3


@pytest.mark.parametrize(
    ("outer", "inner", "normalize"),
    [
        (Linear(), Gaussian(2.0), False),
        (Gaussian(1.5), Linear(), True),
        (Gaussian(1.5), Gaussian(1.5), True),
    ],
)
def test_averaged_kernel_is_that_of_the_estimator(toy, outer, inner, normalize):
    alpha, l = 1e-3, len(toy.labeled)
    model = FredholmClassifier(
        outer, inner, normalize=normalize, alpha=alpha, unpenalized=None
    ).fit(toy.X, _known(toy))
    scores = _ridge(averaged(toy, outer, inner, normalize=normalize), toy, alpha * l)
    rows = np.vstack([toy.X_validation, toy.X_test])
    assert_allclose(model.decision_function(rows), scores, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(2.5)], ids=["linear", "gauss"])
def test_deformed_kernels_are_lap_rls(toy, kernel):
    L, n, l = laplacian(toy), len(toy.X), len(toy.labeled)
    linear = isinstance(kernel, Linear)
    grams = deformed_linear(toy, L) if linear else deformed(toy, kernel, L)
    lam, rows = 0.1, np.vstack([toy.X_validation, toy.X_test])
    unit = n / (L @ kernel(toy.X, toy.X)).trace()
    seen = []
    for name, setting, gram in grams:
        assert name == "LapRLSC"
        seen.append(setting["strength"])
        model = LapRLSClassifier(
            kernel,
            gamma_A=lam / l,
            gamma_I=setting["strength"] * unit * lam / l * n**2,
        ).fit(toy.X, _known(toy))
        scores = model.decision_function(rows)
        assert_allclose(_ridge(gram, toy, lam), scores, rtol=1e-3, atol=1e-4)
    assert tuple(seen) == STRENGTHS
