"""Conventions of scikit-learn, for the parts of a problem and for random states."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

__all__ = ["as_generator", "refuse_unfitted", "unfitted_copy"]

Part = TypeVar("Part")


def unfitted_copy(part: Part) -> Part:
    """Return an unfitted copy. Unlike `clone`, it shares the parameters."""
    copy: Any = replace(cast(Any, part)) if is_dataclass(part) else clone(part)
    return cast(Part, copy)


def refuse_unfitted(part: Any, name: str) -> Any:
    """Raise an error for a missing attribute, as ``__getattr__`` of a part.

    What `fit` sets ends in an underscore.
    """
    kind = type(part).__name__
    if name.endswith("_") and not name.startswith("_"):
        raise NotFittedError(f"This {kind} is not fitted yet; call fit(X) first.")
    raise AttributeError(f"{kind!r} object has no attribute {name!r}")


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
