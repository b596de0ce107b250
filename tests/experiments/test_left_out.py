"""Leave-one-out from the threshold's eigendecomposition, against leaving rows out."""

import numpy as np
import pytest
from experiments.conditional.left_out import left_out_errors
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

from halfmoon._solvers.feature_path import hard_threshold
from halfmoon.blocks import Stream


def test_equals_fits_without_each_row():
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((23, 30)), rng.standard_normal((23, 2))
    K, alphas = A @ A.T, np.array([1e-3, 0.2, 4.0])
    expected = []
    for alpha in alphas:
        squares = []
        for i in range(23):
            others = np.delete(np.arange(23), i)
            # lam is held at 23 alpha, as the row stays in the table.
            model = KernelRidge(alpha=23 * alpha, kernel="precomputed")
            model.fit(K[np.ix_(others, others)], y[others])
            squares.append((model.predict(K[[i]][:, others]) - y[i]) ** 2)
        expected.append(np.mean(squares))
    actual = left_out_errors(hard_threshold(K, y), y, alphas)
    assert_allclose(actual, expected, rtol=1e-9)


@pytest.mark.parametrize("rows", [1, 7, 23, 50])
def test_blocks_add_up(monkeypatch, rows):
    rng = np.random.default_rng(1)
    A, y = rng.standard_normal((23, 9)), rng.standard_normal((23, 1))
    path, alphas = hard_threshold(A @ A.T, y), np.array([1e-2, 1.0])
    assert path.s.size == 9
    H = A @ np.linalg.solve(A.T @ A + 23 * 1e-2 * np.eye(9), A.T)
    expected = np.mean(((y - H @ y)[:, 0] / (1 - np.diag(H))) ** 2)
    monkeypatch.setattr(
        "experiments.conditional.left_out.Stream", lambda: Stream(block_rows=rows)
    )
    assert_allclose(left_out_errors(path, y, alphas)[0], expected, rtol=1e-9)
