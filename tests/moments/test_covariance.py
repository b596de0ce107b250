"""Covariance of a basis against the sum over rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from halfmoon.blocks import Stream
from halfmoon.moments import covariance
from helpers import BASES, BLOCK_ROWS


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


@pytest.mark.parametrize("case", BASES, ids=[case.name for case in BASES])
def test_second_moments(case, X):
    basis = case.build().fit(X, 0)
    rows = np.vstack([X, X + 0.3])
    expected = sum(np.outer(phi, phi) for phi in basis.transform(rows)) / 22
    actual = covariance(basis, rows, stream=Stream(block_rows=4))
    assert_allclose(actual, expected, rtol=1e-11, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_add_up(X, block_rows, n_jobs, make, dtype):
    X = X.astype(dtype)
    basis = BASES[0].build().fit(X[:6])
    Phi = basis.transform(X)
    stream = Stream(n_jobs=n_jobs, block_rows=block_rows)
    actual = covariance(basis, make(X), stream=stream)
    assert_allclose(actual, Phi.T @ Phi / 11, rtol=1e-10, atol=1e-14)


def test_without_a_stream(X):
    basis = BASES[0].build().fit(X)
    Phi = basis.transform(X)
    assert_allclose(covariance(basis, X), Phi.T @ Phi / 11, rtol=1e-13)
