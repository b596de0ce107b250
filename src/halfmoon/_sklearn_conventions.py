"""Conventions of scikit-learn: parameters, random states, copies and callbacks.

`check_parameters` holds the values of an estimator's parameters against its `Rule` for
each, at the start of ``fit``. Parameters with a parser of their own (`kernel`,
`unpenalized`, `random_state`) are checked there.

``model.set_callbacks(sklearn.callback.ProgressBar())`` shows the progress of a fit,
from version 1.9 on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import is_dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from halfmoon._rows import Array

__all__ = [
    "NOT_NEGATIVE",
    "WHOLE",
    "CallbackSupport",
    "Rule",
    "announced",
    "as_generator",
    "as_numbers",
    "check_parameters",
    "is_bool",
    "is_name",
    "is_number",
    "is_numbers",
    "is_positive",
    "is_whole",
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


class Rule(NamedTuple):
    """What a parameter may be, in words and as a function of the value."""

    needed: str
    holds: Callable[[Any], bool]


def is_whole(value: Any, least: int = 1) -> bool:
    """Return whether a value is a whole number of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and int(value) >= least


def is_positive(value: Any) -> bool:
    """Return whether a value is a number above 0, perhaps infinity."""
    real = isinstance(value, Real) and not is_bool(value)
    return real and (0 < value <= sys.float_info.max or value == np.inf)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number of at least 0."""
    real = isinstance(value, Real)
    return real and 0 <= value <= sys.float_info.max


def is_bool(value: Any) -> bool:
    """Return whether a value is True or False."""
    return isinstance(value, (bool, np.bool_))


def is_name(value: Any, *names: str) -> bool:
    """Return whether a value is one of these names."""
    return isinstance(value, str) and value in names


def is_numbers(value: Any) -> bool:
    """Return whether a value is a number, or a sequence of at least one."""
    try:
        as_numbers(value, "")
    except ValueError:
        return False
    return True


def as_numbers(values: float | Sequence[float] | Array, name: str) -> list[float]:
    """Return a number, or a sequence of at least one number, as a list."""
    numbers = np.empty(0)
    if values is not None and not isinstance(values, (str, bool, np.bool_)):
        with suppress(TypeError, ValueError, OverflowError):
            numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(
            f"{name} is {values!r}; a number, or a sequence of at least one, is needed."
        )
    return [float(number) for number in numbers]


WHOLE = Rule("1, 2, 3, ...", is_whole)

NOT_NEGATIVE = Rule(
    "None, or a number that is not negative,", lambda v: v is None or is_number(v)
)


def check_parameters(estimator: Any, rules: dict[str, Rule]) -> None:
    """Raise a ValueError for the first parameter that breaks its rule."""
    for name, value in estimator.get_params(deep=False).items():
        rule = rules.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name} is {value!r}; {rule.needed} is needed.")


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
