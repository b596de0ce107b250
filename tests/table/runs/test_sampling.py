"""Samples of streams are uniform, limited, and independent of the batches."""

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table._runs.sampling import Reservoir, joined


def offered(n, cut, max_rows, max_bytes=10**9, seed=0):
    kept = Reservoir(max_rows, max_bytes, np.random.default_rng(seed))
    for start in range(0, n, cut):
        numbers = np.arange(start, min(n, start + cut))
        rows = pa.record_batch({"x": pa.array(numbers * 10)})
        kept.offer(rows, np.arange(len(numbers)), start)
    return kept


@pytest.mark.parametrize("cut", [1, 7, 100, 1000])  # single, ragged, exact, over
def test_the_sample_does_not_depend_on_batches(cut):
    # Twin: all numbers at once, the rows with the smallest kept in their order.
    keys = np.random.default_rng(0).random(100)
    expected = np.sort(np.argsort(keys)[:12])
    rows, numbers = offered(100, cut, 12).rows()
    np.testing.assert_array_equal(numbers, expected)
    assert rows.column("x").to_pylist() == (10 * expected).tolist()


def test_all_rows_where_they_fit():
    rows, numbers = offered(30, 8, 30).rows()
    np.testing.assert_array_equal(numbers, np.arange(30))
    assert rows.num_rows == 30


def test_every_row_has_the_same_probability():
    counts = np.zeros(40)
    for seed in range(400):
        counts[offered(40, 9, 10, seed=seed).rows()[1]] += 1
    # Binomial(400, 1/4): mean 100, deviation 8.7.
    assert np.abs(counts - 100).max() < 4.5 * 8.7
    assert abs(counts[:20].sum() - counts[20:].sum()) < 4.5 * np.sqrt(8.7**2 * 40)


def test_bytes_limit_the_rows():
    kept = offered(1000, 50, 1000, max_bytes=8 * 100)
    rows, _ = kept.rows()
    assert 50 <= rows.num_rows <= 100
    assert kept.offered == 1000


def test_one_row_of_any_size_is_kept():
    assert offered(10, 3, 5, max_bytes=1).rows()[0].num_rows == 1


def test_parts_with_other_dictionaries_are_joined():
    one, two = (
        pa.table({"c": pa.array(values).dictionary_encode()})
        for values in (["a", "b"], ["c", "a"])
    )
    both = joined([one, two])
    assert both.column("c").to_pylist() == ["a", "b", "c", "a"]
    assert both.take(pa.array([3, 2])).column("c").to_pylist() == ["a", "c"]
