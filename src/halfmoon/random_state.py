"""Random states: what an estimator's parameter may be, as a generator."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_generator"]


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from None, an int, a seed sequence, a generator or a RandomState.

    A generator is used as it is and a RandomState is drawn from, so that either gives
    other numbers when it is used again; an int gives the same ones.

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
            f"random_state is {random_state!r}; None, a whole number that is not "
            f"negative, a numpy Generator or a RandomState is needed."
        ) from error
