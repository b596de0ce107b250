"""Random states of every kind become generators; callbacks hear of each step."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon._sklearn_conventions import announced, as_generator


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


class Context:
    """What callbacks are told, in a list."""

    def __init__(self, told, name="fit"):
        self.told, self.name = told, name

    def subcontext(self, task_name):
        return Context(self.told, task_name)

    def call_on_fit_task_begin(self, estimator):
        self.told.append(f"{self.name} begins")

    def call_on_fit_task_end(self, estimator):
        self.told.append(f"{self.name} ends")


class Watched:
    def __init__(self):
        self.told = []

    def _init_callback_context(self, max_subtasks):
        return Context(self.told)


class Item:
    def __init__(self, name):
        self.name = name


@pytest.mark.parametrize("n_used", [1, 2])
def test_callbacks_hear_the_end_of_a_fit_that_stops_early(n_used):
    fit = Watched()
    items = announced(fit, [Item("one"), Item("two")])
    for _ in range(n_used):
        next(items)
    items.close()
    inner = [f"{n} {e}" for n in ("one", "two")[:n_used] for e in ("begins", "ends")]
    assert fit.told == ["fit begins", *inner, "fit ends"]
