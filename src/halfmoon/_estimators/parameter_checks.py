"""Which values each parameter may have: one table, checked at the start of ``fit``.

Parameters that have a parser of their own (`kernel`, `unpenalized`, `random_state`) are
checked there.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from halfmoon._memory import parse_bytes
from halfmoon.bases import Basis
from halfmoon.filters import FILTERS, Filter

__all__ = ["BASES", "RULES", "Rule", "check_parameters", "is_positive", "is_whole"]

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
    return isinstance(value, Real) and not _is_bool(value) and float(value) > 0


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_numbers(value: Any) -> bool:
    """Whether a value is a number, or a sequence of at least one."""
    if value is None or _is_bool(value):
        return False
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and numbers.size > 0 and not isinstance(value, str)


def _is_name(value: Any, *names: str) -> bool:
    return isinstance(value, str) and value in names


def _is_accepted(parse: Callable[[Any], Any], value: Any) -> bool:
    try:
        parse(value)
    except (TypeError, ValueError):
        return False
    return True


def _quoted(names: Any) -> str:
    return ", ".join(map(repr, names))


RULES: dict[str, Rule] = {
    "alpha": Rule(
        "'auto', a number, or a sequence of at least one,",
        lambda value: _is_name(value, "auto") or _is_numbers(value),
    ),
    "mu": Rule(
        "None, a number, or a sequence of at least one,",
        lambda value: value is None or _is_numbers(value),
    ),
    "basis": Rule(
        f"one of {_quoted(BASES)}, or a basis of halfmoon.bases,",
        lambda value: isinstance(value, Basis) or _is_name(value, *BASES),
    ),
    "n_components": Rule(
        "None, or 1, 2, ...,", lambda value: value is None or is_whole(value)
    ),
    "energy": Rule(
        "None, 'gradient', 'graph' or a sparse matrix",
        lambda value: (
            value is None or sp.issparse(value) or _is_name(value, "gradient", "graph")
        ),
    ),
    "filter": Rule(
        f"None, a filter of halfmoon.filters, or one of {_quoted(FILTERS)}",
        lambda value: (
            value is None or isinstance(value, Filter) or _is_name(value, *FILTERS)
        ),
    ),
    "covariance": Rule(
        "'labeled' or 'all'", lambda value: _is_name(value, "labeled", "all")
    ),
    "normalize": Rule("True or False", _is_bool),
    "safe": Rule("True or False", _is_bool),
    "smoother": Rule(
        "None, or a smoother of halfmoon.smoothers,",
        lambda value: (
            value is None or (hasattr(value, "fit") and not isinstance(value, type))
        ),
    ),
    "budget": Rule("a positive number of seconds", is_positive),
    "memory_limit": Rule(
        "an amount such as '512MB' or a positive number of bytes",
        lambda value: _is_accepted(parse_bytes, value),
    ),
    "n_jobs": Rule(
        "None or a whole number other than 0",
        lambda value: value is None or (is_whole(value, -(2**31)) and value != 0),
    ),
    "verbose": Rule(
        "0, 1 or 2", lambda value: _is_bool(value) or is_whole(value, least=0)
    ),
}


def check_parameters(estimator: Any, rules: dict[str, Rule]) -> None:
    """Raise a ValueError for the first parameter that breaks its rule."""
    for name, value in estimator.get_params(deep=False).items():
        rule = rules.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name} is {value!r}; {rule.needed} is needed.")
