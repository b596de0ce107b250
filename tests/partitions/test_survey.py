"""The survey of partitions: a uniform sample, and the labeled rows."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon._partitioned_rows import Reader
from halfmoon._partitions import survey as module
from halfmoon._partitions.survey import combine, survey_one

READER = Reader(None, 1, "float64")


def surveyed(sizes, *, seed=0, most=20, y=None, w=None, limit=10**9):
    ends = np.cumsum(sizes)
    X = np.arange(ends[-1], dtype=float)[:, None]
    see = partial(survey_one, READER, seed, most, limit, None)
    found = []
    for i, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        some = slice(end - size, end)
        given = [None if each is None else each[some] for each in (y, w)]
        found.append(see(i, X[some], *given))
    return combine(iter(found), limit)


def test_few_rows_are_all_at_hand_in_their_order():
    got = surveyed([7, 0, 1, 5])
    assert got.complete
    assert_array_equal(got.rows[:, 0], np.arange(13))
    assert_array_equal(got.numbers, np.arange(13))


def test_the_sample_depends_on_the_seed_alone():
    sizes = [300, 200, 500]
    assert_array_equal(surveyed(sizes, seed=3).numbers, surveyed(sizes, seed=3).numbers)
    one, other = surveyed(sizes, seed=3).numbers, surveyed(sizes, seed=4).numbers
    assert not np.array_equal(one, other)


def test_all_rows_are_equally_likely_for_any_partitions():
    """Partitions of 1,000, 100 and 10 rows give in proportion to their rows."""
    sizes = [1_000, 100, 10]
    counts, total = np.zeros(3), 0
    for seed in range(400):
        numbers = surveyed(sizes, seed=seed, most=20).numbers
        counts += np.histogram(numbers, [0, 1_000, 1_100, 1_110])[0]
        total += len(numbers)
    shares = counts / total
    expected = np.array(sizes) / 1_110
    deviation = np.sqrt(expected * (1 - expected) / total)
    assert (np.abs(shares - expected) < 4 * deviation).all()
    assert total / 400 > 18  # and there are enough


def test_the_sample_keeps_to_its_size(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS", 30)
    assert len(surveyed([400, 400], most=100).numbers) == 30


def test_labeled_rows_are_all_at_hand(rng):
    y = np.full(1_000, np.nan)
    known = np.sort(rng.choice(1_000, 50, replace=False))
    y[known] = known
    got = surveyed([500, 500], most=10, y=y)
    labeled = ~np.isnan(got.labels)
    assert_array_equal(got.numbers[labeled], known)
    assert_array_equal(got.labels[labeled], known)
    assert_array_equal(got.rows[labeled, 0], known)
    assert len(got.numbers) < 80


def test_rows_of_weight_0_are_left_out():
    w = np.tile([0.0, 2.0], 10)
    got = surveyed([10, 10], y=np.arange(20.0), w=w)
    assert (got.n, got.n_all) == (10, 20)
    assert_array_equal(got.numbers, np.arange(1, 20, 2))
    assert_array_equal(got.labels, np.arange(1, 20, 2))
    assert_array_equal(got.weights, np.full(10, 2.0))


def test_labels_of_many_kinds_are_put_together():
    texts = np.array(["a", None, "b", None], dtype=object)
    assert surveyed([2, 2], y=texts).labels.tolist() == ["a", None, "b", None]
    whole = surveyed([2, 2], y=np.array([1, 0, 1, 1])).labels
    assert whole.tolist() == [1, 0, 1, 1]
    assert whole.dtype.kind == "i"
    sets = np.array([[True, False], [True, True]] * 2)
    assert_array_equal(surveyed([2, 2], y=sets).labels, sets)


def test_labeled_rows_beyond_the_memory_limit():
    y = np.zeros(1_000)
    with pytest.raises(MemoryError, match="labeled rows or more need 4 kB, more than"):
        surveyed([500, 500], y=y, limit=3_999)
    with pytest.raises(MemoryError, match="1,000 labeled rows or more need 8 kB"):
        surveyed([500, 500], y=y, limit=5_000)


def test_no_rows_and_no_weight():
    with pytest.raises(ValueError, match="no rows in any partition"):
        surveyed([0, 0])
    with pytest.raises(ValueError, match="zero in every row"):
        surveyed([2, 2], w=np.zeros(4))
