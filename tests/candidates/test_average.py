"""A fitted average: limits, shapes, blocks and the variance of a mixture."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.blocks import Stream
from halfmoon.candidates import (
    ALPHAS,
    Average,
    Blend,
    Candidate,
    Entry,
    Labeled,
    Logarithm,
)


def entry_at(candidate, alpha):
    left_out = candidate.left_out()[ALPHAS.index(alpha)]
    return Entry(candidate, alpha, left_out, np.zeros(len(left_out)))


@pytest.fixture
def entries(parts, data, constant):
    mixes = [
        ((parts["linear"], 0.5), (parts["laplace"], 0.5)),
        ((parts["walk"], 1.0), (parts["gaussian"], 0.2)),
        ((parts["energy"], 1.0),),
    ]
    made = [Candidate(str(i), mix, constant, data) for i, mix in enumerate(mixes)]
    return [entry_at(candidate, 0.01) for candidate in made]


WEIGHTS = np.array([0.6, 0.39, 0.01])


@pytest.mark.parametrize("block_rows", [1, 3, 7, None])
def test_rows_do_not_depend_on_those_beside_them(entries, data, new, block_rows):
    whole = Average(Blend(entries, WEIGHTS), data, False, Stream())
    average = replace(whole, stream=Stream(block_rows=block_rows))
    for method in ("predict", "std", "smoother_matrix"):
        expected = getattr(whole, method)(new)
        assert_allclose(getattr(average, method)(new), expected, rtol=1e-7, atol=1e-9)


def test_std_is_that_of_a_mixture_of_those_with_a_say(entries, data, new):
    average = Average(Blend(entries, WEIGHTS), data, False, Stream())
    mean = average.predict(new)
    expected = 0.0
    for share, entry in zip((0.6 / 0.99, 0.39 / 0.99), entries[:2], strict=True):
        own = Blend([entry], np.ones(1))(new)
        variance = entry.candidate.variance(entry.alpha)(new)
        expected = expected + share * (variance + (own - mean) ** 2)
    assert_allclose(average.std(new), np.sqrt(expected), rtol=1e-9)


def test_one_entry_has_its_own_std_however_small_its_weight(entries, data, new):
    average = Average(Blend(entries[:1], np.ones(1)), data, False, Stream())
    variance = entries[0].candidate.variance(0.01)(new)
    assert_allclose(average.std(new), np.sqrt(variance), rtol=1e-7)
    many = [entries[0]] * 100  # none has as much as two in a hundred
    average = Average(Blend(many, np.full(100, 0.01)), data, False, Stream())
    assert_allclose(average.std(new), np.sqrt(variance), rtol=1e-7)


def test_std_of_logarithms_is_in_units_of_the_targets(parts, data, new, constant):
    # Targets a thousandfold: so is the deviation, on whichever scale they were fitted.
    y = np.exp(data.y[:, :1])
    stds = []
    for factor in (1.0, 1_000.0):
        plain = Labeled(data.X, data.chosen, factor * y, data.w)
        target = Logarithm.of(factor * y)
        logs = replace(plain, y=target.forward(factor * y), target=target)
        mix = ((parts["gaussian"], 1.0),)
        entry = entry_at(Candidate("", mix, constant, logs), 0.1)
        average = Average(Blend([entry], np.ones(1)), plain, True, Stream())
        values, std = average.predict(new), average.std(new)
        variance = entry.candidate.variance(0.1)(new)[:, 0]
        expected = (values + target.shift) * np.sqrt(np.expm1(variance))
        assert_allclose(std, expected, rtol=1e-9)
        stds.append(std)
    assert_allclose(stds[1], 1_000.0 * stds[0], rtol=1e-7)


def test_values_are_held_to_the_limits(entries, data, new):
    free = Average(Blend(entries, WEIGHTS), data, False, Stream())
    values = free.predict(new)
    limits = np.quantile(values, 0.3, axis=0), np.quantile(values, 0.7, axis=0)
    held = replace(free, limits=limits)
    assert_array_equal(held.predict(new), np.clip(values, *limits))
    assert_array_equal(held.left_out, np.clip(free.left_out, *limits))
    expected = data.y - np.clip(free.left_out, *limits)
    assert_array_equal(held.leave_one_out(), expected)
    assert_array_equal(held.leave_one_out(np.array([3, 1])), expected[[3, 1]])


def test_targets_that_came_as_a_vector_leave_as_one(entries, data, new):
    average = Average(Blend(entries, WEIGHTS), data, True, Stream())
    assert average.predict(new).shape == average.std(new).shape == (7,)
    assert average.leave_one_out().shape == (18,)
    assert average.left_out.shape == (18, 2)


def test_the_smoother_matrix_gives_values_of_all_targets(entries, data, new):
    average = Average(Blend(entries, WEIGHTS), data, False, Stream())
    H = average.smoother_matrix(new)
    assert H.shape == (7, 18)
    assert_allclose(H @ data.y, average.predict(new), rtol=1e-7, atol=1e-9)
    assert_allclose(H.sum(axis=1), 1.0, rtol=1e-9)  # the constant is unpenalized
    assert average.unlabeled
