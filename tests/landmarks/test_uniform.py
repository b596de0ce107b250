from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from halfmoon._landmarks import uniform


def test_different_rows_in_order():
    chosen = uniform(100, 30, rng=0)
    assert chosen.size == 30
    assert (np.diff(chosen) > 0).all()
    assert_array_equal(chosen, uniform(100, 30, rng=np.random.default_rng(0)))
    assert_array_equal(uniform(4, 9), [0, 1, 2, 3])


def test_each_row_is_as_likely():
    rng = np.random.default_rng(1)
    counts = np.bincount(np.concatenate([uniform(8, 2, rng) for _ in range(2_000)]))
    assert chisquare(counts).pvalue > 1e-3
