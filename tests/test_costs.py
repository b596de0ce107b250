"""The cost model: its counts other those of the loops themselves."""

import time

import numpy as np
import pytest

from halfmoon._costs import EnergyCost, in_words, seconds_a_call
from halfmoon._moments import dirichlet
from halfmoon._partitioned_rows import PartitionedRows, Reader
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from helpers import InTurn


def test_operations_are_those_of_the_products():
    """Two products of p-by-n and n-by-p, distances, and p exponentials a row."""
    n, d, p = 1_000, 7, 30
    products, distances, exponentials = 2 * 2 * n * p * p, 2 * n * p * d, 20 * n * p
    other = 5 * n * p  # norms, clipping, scaling
    expected = products + distances + exponentials + other
    assert EnergyCost(n, d, p).operations == expected


def test_bytes_are_what_a_sum_over_partitions_moves(rng):
    """Counted by an engine that weighs the arrays it moves."""
    X = rng.normal(size=(600, 4))
    basis = Nystrom(Gaussian(1.0), 20, "uniform").fit(X, 0)
    moved = []

    class Weighing(InTurn):
        def map(self, function, partitions):
            for _, total in super().map(function, partitions):
                arrays = {id(part): part.nbytes for part in total}
                moved.append(sum(arrays.values()))
                yield 1, total

    parts = list(enumerate(np.split(X, 3)))
    reader = Reader(None, 4, "float64")
    rows = PartitionedRows(parts, reader, lambda client: Weighing(), 600, X[:1])
    dirichlet(basis, rows, stream=Stream())
    landmarks = basis.sections.Z.nbytes
    assert len(moved) == 3
    expected = EnergyCost(600, 4, 20, partitions=3).bytes_moved
    assert sum(moved) + 3 * landmarks == expected


def test_seconds_follow_from_the_rate_and_the_workers():
    cost = EnergyCost(10**6, 10, 100)  # 4.45e10 operations
    assert cost.seconds(1e9) == pytest.approx(44.5)
    assert cost.seconds(1e9, workers=2, reading=3.0) == pytest.approx(44.5 / 2 + 3.0)


def test_a_call_is_timed_by_the_least_of_several():
    pauses = iter([0.05, 0.02, 0.01, 0.02, *[0.01] * 1_000])
    taken = seconds_a_call(lambda: time.sleep(next(pauses)), least=0.1)
    assert 0.01 <= taken < 0.02


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "About 1 second"),
        (59.0, "About 59 seconds"),
        (89.0, "About 89 seconds"),
        (90.0, "About 2 minutes"),
        (89 * 60.0, "About 89 minutes"),
        (5_400.0, "About 2 hours"),
        (36 * 3_600.0, "About 2 days"),
    ],
)
def test_lengths_of_time(seconds, words):
    assert in_words(seconds, 1_000).startswith(f"{words}: 1,000 rows at ")


def test_a_cost_in_words():
    cost = EnergyCost(10, 10, 100, partitions=10)
    assert cost.in_words(4.0) == (
        "About 4 seconds: 10 rows at 2 a second. That is 4.4e+05 operations, 1.68 MB "
        "moved."
    )
