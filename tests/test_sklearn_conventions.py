"""Random states of every kind become generators."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon._sklearn_conventions import as_generator


def test_kinds():
    assert_array_equal(
        as_generator(5).integers(100, size=9),
        np.random.default_rng(5).integers(100, size=9),
    )
    generator = np.random.default_rng(5)
    assert as_generator(generator) is generator
    state = np.random.RandomState(5)
    first, second = (as_generator(state).integers(10**9) for _ in range(2))
    assert first != second  # it is drawn from
    assert as_generator(np.random.RandomState(5)).integers(10**9) == first
    assert as_generator(None).integers(10**9) != as_generator(None).integers(10**9)


@pytest.mark.parametrize("wrong", ["seed", -1, 1.5])
def test_others_are_refused(wrong):
    with pytest.raises(ValueError, match="random_state is"):
        as_generator(wrong)
