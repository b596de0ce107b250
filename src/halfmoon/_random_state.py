"""Random states of estimators, as NumPy generators."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_generator"]


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator from None, an int, a generator or a RandomState.

    A generator is returned itself, and a RandomState gives a seed, so both yield other
    numbers when used again. An int always yields the same numbers.

    Examples
    --------
    >>> as_generator(3).integers(100) == as_generator(3).integers(100)
    np.True_
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state is {random_state!r}; None, a whole number (0 or more), a "
            f"numpy Generator or a RandomState is needed."
        ) from error
