"""A projected kernel matrix at its numerical rank."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._solvers.positive_part import (
    IndefiniteKernelError,
    column_sum_norm,
    positive_part,
)


def test_eigenvalues_that_are_rounding_become_0(rng):
    V = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    M = (V * [3.0, 2.0, 1e-10, 1e-17, -1e-17, 0.0]) @ V.T
    expected = (V[:, :3] * [3.0, 2.0, 1e-10]) @ V[:, :3].T
    actual = positive_part(M, column_sum_norm(M))
    assert_allclose(actual, expected, atol=1e-14)
    # The rounding errors are those of the matrix before the projection.
    expected = (V[:, :2] * [3.0, 2.0]) @ V[:, :2].T
    assert_allclose(positive_part(M, 1e6), expected, atol=1e-14)


def test_other_negative_eigenvalues_are_refused():
    with pytest.raises(IndefiniteKernelError, match="range from -1 to 3"):
        positive_part(np.diag([3.0, -1.0]), 3.0)


def test_the_norm_bounds_the_eigenvalues(rng):
    A = rng.normal(size=(9, 9))
    assert np.abs(np.linalg.eigvalsh(A + A.T)).max() <= column_sum_norm(A + A.T)
