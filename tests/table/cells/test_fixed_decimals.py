"""Many numbers as text are what Python writes for each."""

import numpy as np
import pytest

from halfmoon.table._cells.fixed_decimals import fixed_decimals


def by_python(values, digits):
    texts = [f"{value:.{digits}f}" for value in values]
    zero = f"{-0.0:.{digits}f}"
    return [text[1:] if text == zero else text for text in texts]


@pytest.mark.parametrize("digits", [0, 1, 2, 4, 9, 12])
def test_random_numbers(digits):
    rng = np.random.default_rng(digits)
    for scale in 10.0 ** np.arange(-15, 12 - digits):
        values = rng.normal(size=200) * scale
        texts = fixed_decimals(values, digits)
        if texts is None:
            assert np.abs(values).max() * 10.0**digits >= 2**40
        else:
            assert texts.to_pylist() == by_python(values, digits)


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 6])
def test_halves_and_their_neighbors(digits):
    middle = (np.arange(-2_000, 2_000) + 0.5) / 10.0**digits
    values = np.concatenate(
        [middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), -middle]
    )
    texts = fixed_decimals(values, digits)
    assert texts.to_pylist() == by_python(values, digits)


def test_every_length():
    steps, powers = np.array([-1.0, 0.0, 1.0]), 10.0 ** np.arange(12)
    values = (powers[:, None] + steps).ravel()
    values = np.concatenate([values, -values])
    assert fixed_decimals(values, 0).to_pylist() == by_python(values, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 2.0**40])
def test_left_to_python(value):
    assert fixed_decimals(np.array([1.0, value]), 0) is None


def test_many_decimals_and_no_numbers():
    assert fixed_decimals(np.array([1.0]), 13) is None
    assert fixed_decimals(np.array([]), 3).to_pylist() == []
    assert fixed_decimals(np.array([0.0, -0.0, -1e-9]), 2).to_pylist() == ["0.00"] * 3
