"""Second moments of a basis against sums over rows and whole matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._moments import label_moments
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from helpers import BASES, BLOCK_ROWS


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


@pytest.mark.parametrize("case", BASES, ids=[case.name for case in BASES])
def test_second_moments(case, X):
    basis = case.build().fit(X, 0)
    rows = np.vstack([X, X + 0.3])
    expected = sum(np.outer(phi, phi) for phi in basis.transform(rows))
    G, _ = label_moments(
        basis.transform,
        rows,
        np.ones((22, 1)),
        np.zeros((22, 0)),
        row_bytes=basis.row_bytes,
        stream=Stream(block_rows=4),
    )
    assert_allclose(G, expected, rtol=1e-11, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_blocks_of_labeled_rows_add_up(rng, block_rows, n_jobs, make):
    X, C, w = rng.normal(size=(11, 3)), rng.normal(size=(11, 2)), rng.uniform(size=11)
    w[4] = 0
    basis = Nystrom(Gaussian(1.0), 5, "uniform").fit(X, 0)
    Phi, W = basis.transform(X), np.diag(w)
    G, b = label_moments(
        basis.transform,
        make(X),
        np.sqrt(w)[:, None],
        C,
        row_bytes=basis.row_bytes,
        stream=Stream(n_jobs=n_jobs, block_rows=block_rows),
    )
    assert_allclose(G, Phi.T @ W @ Phi, rtol=1e-10)
    assert_allclose(b, Phi.T @ np.sqrt(W) @ C, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
def test_features_that_are_the_rows_themselves_are_not_written_to(rng, block_rows):
    X, root = rng.normal(size=(11, 3)), rng.uniform(size=(11, 1))
    before = X.copy()
    G, b = label_moments(
        lambda rows: rows, X, root, X, row_bytes=8, stream=Stream(block_rows=block_rows)
    )
    assert_array_equal(X, before)
    assert_allclose(G, X.T @ (root**2 * X), rtol=1e-12)
    assert_allclose(b, X.T @ (root * X), rtol=1e-12, atol=1e-14)
