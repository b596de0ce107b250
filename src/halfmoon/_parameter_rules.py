"""Which values a parameter may have: one table, checked at the start of ``fit``.

Parameters with a parser of their own (`kernel`, `unpenalized`, `random_state`) are
checked there.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from halfmoon._landmarks.methods import METHODS
from halfmoon._memory import parse_bytes
from halfmoon.bases import Basis
from halfmoon.filters import FILTERS, Filter

__all__ = [
    "NOT_NEGATIVE",
    "RULES",
    "WHOLE",
    "Rule",
    "check_parameters",
    "is_bool",
    "is_name",
    "is_number",
    "is_positive",
    "is_whole",
]

BASES = ("auto", "exact", "nystrom", "random_features", "derivatives")


class Rule(NamedTuple):
    """What a parameter may be, in words and as a function of the value."""

    needed: str
    holds: Callable[[Any], bool]


def is_whole(value: Any, least: int = 1) -> bool:
    """Return whether a value is a whole number of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and int(value) >= least


def is_positive(value: Any) -> bool:
    """Return whether a value is a number above 0."""
    return isinstance(value, Real) and not is_bool(value) and float(value) > 0


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number of at least 0."""
    return isinstance(value, Real) and 0 <= float(value) < np.inf


def is_bool(value: Any) -> bool:
    """Return whether a value is True or False."""
    return isinstance(value, (bool, np.bool_))


def _is_numbers(value: Any) -> bool:
    """Whether a value is a number, or a sequence of at least one."""
    if value is None or is_bool(value):
        return False
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and numbers.size > 0 and not isinstance(value, str)


def is_name(value: Any, *names: str) -> bool:
    """Return whether a value is one of these names."""
    return isinstance(value, str) and value in names


def _is_memory(value: Any) -> bool:
    if is_bool(value):
        return False
    try:
        parse_bytes(value)
    except (TypeError, ValueError):
        return False
    return True


WHOLE = Rule("1, 2, 3, ...", is_whole)

RULES: dict[str, Rule] = {
    "alpha": Rule(
        "'auto', a number, or a sequence of at least one,",
        lambda v: is_name(v, "auto") or _is_numbers(v),
    ),
    "mu": Rule(
        "None, a number, or a sequence of at least one,",
        lambda v: v is None or _is_numbers(v),
    ),
    "basis": Rule(
        f"one of {', '.join(map(repr, BASES))}, or a basis of halfmoon.bases,",
        lambda v: isinstance(v, Basis) or is_name(v, *BASES),
    ),
    "landmarks": Rule(
        f"one of {', '.join(map(repr, METHODS))}, or an array of row numbers or rows,",
        lambda v: is_name(v, *METHODS) or np.ndim(v) > 0,
    ),
    "n_neighbors": WHOLE,
    "n_components": Rule("None, or 1, 2, ...,", lambda v: v is None or is_whole(v)),
    "energy": Rule(
        "None, 'gradient', 'graph' or a sparse matrix",
        lambda v: v is None or sp.issparse(v) or is_name(v, "gradient", "graph"),
    ),
    "filter": Rule(
        "None, a filter of halfmoon.filters, or one of "
        + ", ".join(map(repr, FILTERS)),
        lambda v: v is None or isinstance(v, Filter) or is_name(v, *FILTERS),
    ),
    "covariance": Rule("'labeled' or 'all'", lambda v: is_name(v, "labeled", "all")),
    "normalize": Rule("True or False", is_bool),
    "normalized": Rule("True or False", is_bool),
    "safe": Rule("True or False", is_bool),
    "smoother": Rule(
        "None, or a smoother of halfmoon.smoothers,",
        lambda v: v is None or (hasattr(v, "fit") and not isinstance(v, type)),
    ),
    "budget": Rule("a positive number of seconds", is_positive),
    "length_scale": Rule(
        "a positive number, 'median', or None for self-tuned weights,",
        lambda v: v is None or is_name(v, "median") or (is_number(v) and v > 0),
    ),
    "memory_limit": Rule(
        "an amount such as '512MB' or a positive number of bytes", _is_memory
    ),
    "n_jobs": Rule(
        "None or a whole number other than 0",
        lambda v: v is None or (is_whole(v, -(2**31)) and v != 0),
    ),
    "verbose": Rule("0, 1 or 2", lambda v: is_bool(v) or is_whole(v, least=0)),
}


NOT_NEGATIVE = Rule(
    "None, or a number that is not negative,", lambda v: v is None or is_number(v)
)


def check_parameters(estimator: Any, rules: dict[str, Rule]) -> None:
    """Raise a ValueError for the first parameter that breaks its rule."""
    for name, value in estimator.get_params(deep=False).items():
        rule = rules.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name} is {value!r}; {rule.needed} is needed.")
