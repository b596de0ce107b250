"""Sums of Gaussian kernels compared with the matrices of their values."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.kernels import Gaussian
from halfmoon.kernels import _length_scales as length_scales
from halfmoon.kernels._gaussian_sums import gaussian_sum

WIDTHS = {
    "one": [0.7],
    "powers": [2.0, 1.0, 0.5],
    "far powers": [8.0, 0.5],
    "root of two": [1.0, np.sqrt(0.5)],
    "others": [1.1, 0.4, 0.3],
    "mixed, in any order": [0.25, 3.0, 0.5, 0.3, 1.0],
    "twice the same": [0.6, 0.6],
}


@pytest.fixture
def rows(rng):
    return rng.normal(size=(50, 4)), rng.normal(size=(23, 4))


@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("cached", [1, 100, 2**16])  # entries: rows at a time
def test_sums_are_those_of_the_matrices(rng, rows, widths, cached, monkeypatch):
    monkeypatch.setattr(length_scales, "CACHED_ENTRIES", cached)
    X, Z = rows
    terms = [(width, rng.normal(size=(23, 2))) for width in widths]
    expected = sum(Gaussian(width)(X, Z) @ C for width, C in terms)
    actual = gaussian_sum(Z, terms)(X)
    assert actual.shape == (50, 2)
    assert_allclose(actual, expected, rtol=1e-12, atol=1e-13)


def test_a_row_does_not_depend_on_the_others(rng, rows):
    X, Z = rows
    total = gaussian_sum(Z, [(1.0, rng.normal(size=(23, 1)))])
    one_by_one = np.vstack([total(X[i : i + 1]) for i in range(len(X))])
    assert_allclose(one_by_one, total(X), rtol=1e-13, atol=1e-14)
    assert total(X[:0]).shape == (0, 1)


def test_an_offset_of_all_rows_costs_no_digits(rng, rows):
    X, Z = rows
    terms = [(1.0, rng.normal(size=(23, 1)))]
    moved = gaussian_sum(Z + 2.0**20, terms)(X + 2.0**20)
    assert_allclose(moved, gaussian_sum(Z, terms)(X), rtol=1e-8, atol=1e-9)


def test_far_rows_have_no_value_and_values_are_at_most_1(rng):
    Z = np.array([[0.0], [1e9]])
    total = gaussian_sum(Z, [(1e-3, np.ones((2, 1)))])
    assert_array_equal(total(np.array([[5e8], [1e150]])), [[0.0], [0.0]])
    assert total(Z).max() <= 1.0


@pytest.mark.parametrize("sparse", [True, False])
def test_the_combination_of_the_kernel(rng, rows, sparse):
    X, Z = (sp.csr_array(each) if sparse else each for each in rows)
    C = rng.normal(size=(23, 3))
    kernel = Gaussian(0.8)
    assert_allclose(kernel.combination(Z, C)(X), kernel(X, Z) @ C, rtol=1e-12)
    with pytest.raises(ValueError, match="X has 3 columns and Z has 4"):
        kernel.combination(Z, C)(X[:, :3])
