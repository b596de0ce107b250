"""Labels of the first rows, of sorted tables and of others."""

import numpy as np
import pytest

from halfmoon.table._labels.unrepresentative_labels import leave_out_a_part

N = 300


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def first(values, l):
    return [*values[:l], *[None] * (len(values) - l)]


def test_the_first_rows_of_a_sorted_table(rng):
    prices = np.sort(rng.lognormal(size=N)).tolist()
    assert leave_out_a_part(first(prices, 60), np.arange(N), "numbers")
    assert leave_out_a_part(first(prices[::-1], 60), np.arange(N), "numbers")
    assert leave_out_a_part(first(prices, 60)[::-1], np.arange(N), "numbers")


def test_the_first_rows_of_sorted_classes():
    kinds = [f"k{i // 40}" for i in range(N)]
    assert leave_out_a_part(first(kinds, 100), np.arange(N), "classes")


def test_a_target_that_grows_over_time(rng):
    y = (np.arange(N) / 20 + rng.normal(size=N)).tolist()
    assert leave_out_a_part(first(y, 60), np.arange(N), "numbers")


def test_labels_from_all_over_a_sorted_table(rng):
    y = np.sort(rng.normal(size=N))
    for _ in range(50):
        some = np.isin(np.arange(N), rng.permutation(N)[:20])
        labels = [v if s else None for v, s in zip(y.tolist(), some, strict=True)]
        assert not leave_out_a_part(labels, np.arange(N), "numbers")


def test_the_first_rows_of_a_table_in_random_order(rng):
    for _ in range(50):
        y = rng.normal(size=N)
        assert not leave_out_a_part(first(y.tolist(), 60), np.arange(N), "numbers")
        kinds = np.array(["a", "b", "c"])[rng.integers(0, 3, N)].tolist()
        assert not leave_out_a_part(first(kinds, 60), np.arange(N), "classes")


def test_both_ends_of_a_sorted_table():
    y = [float(i) if i < 40 or i > 260 else None for i in range(N)]
    assert not leave_out_a_part(y, np.arange(N), "numbers")


@pytest.mark.parametrize(
    "labels", [["a"], [None, None], ["a", None], ["a", "b", None], ["a", "a", None]]
)
def test_few_labels(labels):
    assert not leave_out_a_part(labels, np.arange(len(labels)), "classes")
