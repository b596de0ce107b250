"""The circle of S2's section 6: its waves, spectra and modes, against integrals."""

import numpy as np
import pytest
from experiments.conditional.circle import (
    FLAT,
    KERNEL,
    TARGETS,
    coefficients,
    grid,
    predict,
    spectrum,
    waves,
)
from numpy.testing import assert_allclose

from halfmoon.theory import eigenlearning


def orthonormal(X, k):
    values = np.sqrt(2) * waves(X, k)
    values[:, 0] = 1.0
    return values


@pytest.mark.parametrize("kernel", [KERNEL, FLAT], ids=["periodic", "flat"])
def test_waves_are_eigenfunctions(kernel):
    """The mean of k(x, z) f(z) over z is s f(x); 0 is one of the rows x."""
    x, z, k = np.array([[0.0], [1.0], [4.0]]), grid(4096), 320
    applied = kernel(x, z) @ orthonormal(z, k) / len(z)
    expected = spectrum(kernel)[: 2 * k + 1] * orthonormal(x, k)
    assert_allclose(applied, expected, atol=1e-6)


def test_flat_kernel_is_its_sum():
    X, Z = np.array([[0.0], [0.3], [6.0]]), np.array([[0.3], [0.3 + 1e-12], [2.0]])
    expected = np.cos((X - Z.T)[:, :, None] * np.arange(301)).sum(axis=2)
    assert_allclose(FLAT(X, Z), expected, rtol=1e-8)


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_coefficients_are_means_with_the_waves(target):
    x, k = grid(16_000), 12
    expected = orthonormal(x, k).T @ target(x) / len(x)
    assert_allclose(coefficients(target)[: 2 * k + 1], expected, atol=1e-4)


def test_prediction_is_that_of_eigenlearning():
    target = TARGETS["cos 3x + sin 12x"]
    v = np.zeros(2001)
    v[[5, 24]] = np.sqrt(0.5)  # cos 3x and sin 12x
    s = spectrum()
    tail = 1 + np.pi**2 / 6 - s.sum()
    settings = {"noise_variance": 0.5, "n_unpenalized": 11, "tail": tail}
    expected = eigenlearning(s, 80, 0.02, target=v, **settings)
    actual = predict(target, 80, 0.5, free=11, alpha=0.02)
    assert_allclose(actual.risk, expected.risk, rtol=1e-9)
