"""Unfitted parts of a problem: copies, so that fitting leaves the originals alone."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, cast

from sklearn.base import clone
from sklearn.exceptions import NotFittedError

__all__ = ["refuse_unfitted", "unfitted_copy"]

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
