"""The labeled rows of a table, and samples of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from halfmoon.candidates import Labeled


@pytest.fixture
def data(rng):
    targets = np.array([np.nan, 2.0, 1.0, np.nan, 5.0])
    return Labeled.of(rng.normal(size=(5, 2)), targets, np.arange(1.0, 6.0))


def test_labeled_rows_are_those_with_targets(data):
    assert_array_equal(data.chosen, [1, 2, 4])
    assert_array_equal(data.y, [[2.0], [1.0], [5.0]])
    assert_array_equal(data.w, [2.0, 3.0, 5.0])
    assert_array_equal(data.X_l, data.X[[1, 2, 4]])
    assert_array_equal(data.root_w[:, 0] ** 2, np.sqrt(data.w) ** 2)
    assert data.total_weight == 10.0
    assert_array_equal(data.on_table[:, 0], [np.nan, 2.0, 1.0, np.nan, 5.0])
    assert_array_equal(data.weight_on_table, [1.0, 2.0, 3.0, 1.0, 5.0])


def test_errors():
    X = np.zeros((3, 1))
    some = np.array([[1.0, 2.0], [np.nan, 1.0], [np.nan, np.nan]])
    with pytest.raises(ValueError, match=r"1 row\(s\) have some of their targets"):
        Labeled.of(X, some, np.ones(3))
    with pytest.raises(ValueError, match="None of the 3 rows is labeled"):
        Labeled.of(X, np.full(3, np.nan), np.ones(3))


def test_a_sample_is_a_part_of_the_labels(data, rng):
    assert data.sample(3, rng) is data
    some = data.sample(2, rng)
    assert len(some.y) == 2
    assert_array_equal(some.on_table[some.chosen], data.on_table[some.chosen])
    assert_array_equal(some.w, data.weight_on_table[some.chosen])
    assert some.X is data.X


@pytest.mark.parametrize("seed", range(5))
def test_a_sample_keeps_a_label_of_each_class(seed):
    codes = np.repeat([0, 1, 2, 3], [50, 1, 48, 1])
    y = (codes[:, None] == np.arange(4)).astype(float)
    data = Labeled(sp.csr_array((100, 2)), np.arange(100), y, np.ones(100))
    for size in (4, 5, 12, 99):
        some = data.sample(size, np.random.default_rng(seed))
        assert len(np.unique(some.chosen)) == size
        counts = some.y.sum(axis=0)
        assert counts[1] == counts[3] == 1
        assert abs(counts[0] - counts[2]) <= 0.05 * size + 1


def test_a_sample_of_numbers_spans_their_range(rng):
    y = rng.normal(size=(200, 1))
    data = Labeled(rng.normal(size=(200, 1)), np.arange(200), y, np.ones(200))
    some = np.sort(data.sample(21, rng).y[:, 0])
    every_tenth = np.sort(y[:, 0])[np.linspace(0, 199, 21).astype(int)]
    assert_array_equal(some, every_tenth)
