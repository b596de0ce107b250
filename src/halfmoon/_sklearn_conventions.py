"""Conventions of scikit-learn: random states, unfitted copies, and callbacks.

``model.set_callbacks(sklearn.callback.ProgressBar())`` shows the progress of a fit,
from version 1.9 on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

__all__ = [
    "CallbackSupport",
    "announced",
    "as_generator",
    "refuse_unfitted",
    "unfitted_copy",
    "with_callbacks",
]

Part = TypeVar("Part")
Item = TypeVar("Item")
Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for the mixin of scikit-learn 1.9; does nothing."""

    def with_callbacks(method: Method) -> Method:
        """Return the method unchanged."""
        return method


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


def announced(estimator: Any, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a fit, and tell the callbacks when each begins and ends.

    The fit may stop before the last item, when its time is over.
    """
    if not hasattr(estimator, "_init_callback_context"):
        yield from items
        return
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator)
    try:
        for item in items:
            task = root.subcontext(task_name=getattr(item, "name", ""))
            task.call_on_fit_task_begin(estimator=estimator)
            try:
                yield item
            finally:
                task.call_on_fit_task_end(estimator=estimator)
    finally:
        root.call_on_fit_task_end(estimator=estimator)
