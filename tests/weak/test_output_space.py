"""Losses as inner products, against their definition."""

from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau

from halfmoon.weak._output_space import (
    hamming_space,
    kendall_space,
    label_sets,
    matrix_space,
    orders,
    zero_one_space,
)


def matrix(space):
    return space.constant + space.psi @ space.T.T


def test_zero_one():
    assert_allclose(matrix(zero_one_space(np.arange(3))), 1 - np.eye(3))


def test_any_matrix_with_distances_of_its_columns(rng):
    L = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 5))
    space = matrix_space(np.arange(5), L)
    assert_allclose(matrix(space), L)
    assert space.T.shape == (5, 2)
    gaps = np.linalg.norm(L[:, :, None] - L[:, None, :], axis=0)
    ours = np.linalg.norm(space.T[:, None] - space.T[None], axis=2)
    assert_allclose(ours, gaps, atol=1e-12)


def test_hamming():
    sets = label_sets(3)
    assert len(np.unique(sets, axis=0)) == 8
    expected = (sets[:, None] != sets[None]).mean(axis=2)
    assert_allclose(matrix(hamming_space(sets)), expected)


def test_kendall():
    ranking = orders(4)
    assert_array_equal(ranking, list(permutations(range(4))))
    L = matrix(kendall_space(ranking, ranking))
    place = np.argsort(ranking, axis=1)
    for z, y in combinations(range(0, 24, 5), 2):
        tau = kendalltau(place[z], place[y]).statistic
        assert_allclose(L[z, y], (1 - tau) / 2)
    assert_allclose(np.diag(L), 0.0, atol=1e-15)


def test_decoding_and_infimum_in_blocks(rng, monkeypatch):
    space = matrix_space(np.arange(6), rng.uniform(size=(6, 6)))
    g, sets = rng.normal(size=(11, 6)), rng.uniform(size=(11, 6)) < 0.4
    sets[:, 1] = True
    codes, L = space.losses(g).argmin(axis=1), matrix(space)
    expected = [L[z, row].min() for z, row in zip(codes, sets, strict=True)]
    for block in (1, 24, 10_000):  # single rows, ragged, all at once
        monkeypatch.setattr("halfmoon.weak._disambiguation.BLOCK_ENTRIES", block)
        assert_array_equal(space.decode(g), codes)
        assert_allclose(space.infimum_losses(g, sets), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: matrix_space(np.arange(3), np.eye(2)),
            r"shape \(2, 2\), but there are 3",
        ),
        (lambda: matrix_space(np.arange(2), [[0, np.nan], [1, 0]]), "NaN"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()
