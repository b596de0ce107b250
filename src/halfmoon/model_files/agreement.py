"""Attributes that must agree with each other, where compiled code relies on it.

A sparse matrix is made from the numbers of neighbors, or of words, without a look at
each of them. A file in which they go beyond what they number would have memory read
that is none of the model's, long after it was loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["agree"]


def agree(cls: type, state: dict[str, Any]) -> bool:
    """Whether the attributes of an object fit together; True where none need to."""
    try:
        return all(
            holds(state)
            for each in cls.__mro__
            for holds in CHECKS.get(_name(each), ())
        )
    except (AttributeError, KeyError, TypeError, ValueError):  # something is missing
        return False


def _name(cls: type) -> str:
    return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"


def _index(state: dict[str, Any]) -> bool:
    """A search among n rows that finds rows below n, with a scale for each."""
    n, own = state["_rows"].shape[0], state["_own"]
    sizes = {state["_search"].n_samples_fit_, len(state["scales"]), own.shape[0]}
    within = own.size == 0 or (own.min() >= 0 and own.max() < n)
    k = state["n_neighbors"]
    return sizes == {n} and bool(within) and type(k) is int and 1 <= k < n


def _graph(state: dict[str, Any]) -> bool:
    n = len(state["index"].scales)
    return tuple(state["W"].shape) == (n, n)


def _words(state: dict[str, Any]) -> bool:
    """Each word, or feature, has one number, and the numbers have no gaps."""
    words = state.get("vocabulary_")
    if words is None:
        return True
    numbers = sorted(words.values())
    whole = all(isinstance(each, (int, np.integer)) for each in numbers)
    return whole and numbers == list(range(len(numbers)))


CHECKS: dict[str, tuple[Callable[[dict[str, Any]], bool], ...]] = {
    "halfmoon.NeighborIndex": (_index,),
    "halfmoon.NearestRows": (_graph,),
    "sklearn.CountVectorizer": (_words,),
    "sklearn.DictVectorizer": (_words,),
}
