"""Shifted kernels: the proof of the table in `kernels._shifted`, in numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from halfmoon.kernels._shifted import Shifted
from halfmoon.unpenalized import Polynomials
from kernels.test_base import KERNELS

INVARIANT = [kernel for kernel in KERNELS if kernel.origin_degree < np.inf]


@pytest.mark.parametrize("kernel", INVARIANT, ids=str)
def test_a_shift_matters_only_to_polynomials_up_to_the_degree(kernel, rng):
    d = 1 if "Periodic" in str(kernel) else 2
    X, origin = rng.normal(size=(25, d)), rng.normal(size=d)
    N = np.eye(25)
    if kernel.origin_degree >= 0:
        N = null_space(Polynomials(int(kernel.origin_degree)).fit(X).transform(X).T)
    expected = N.T @ kernel(X) @ N
    shifted = N.T @ Shifted(kernel, origin)(X) @ N
    assert_allclose(shifted, expected, atol=1e-10 * np.abs(expected).max())


def test_no_lower_degree_would_do(rng):
    X, origin = rng.normal(size=(25, 2)), rng.normal(size=2)
    for kernel in INVARIANT:
        if kernel.origin_degree < 0:
            continue
        N, below = np.eye(25), int(kernel.origin_degree) - 1
        if below >= 0:
            N = null_space(Polynomials(below).fit(X).transform(X).T)
        change = N.T @ (Shifted(kernel, origin)(X) - kernel(X)) @ N
        assert np.abs(change).max() > 1e-3
