"""Copies of the parts of a problem, so that fitting does not change the originals."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, cast

from sklearn.base import clone

__all__ = ["unfitted_copy"]

Part = TypeVar("Part")


def unfitted_copy(part: Part) -> Part:
    """Return an unfitted copy. Unlike `clone`, it shares the parameters."""
    copy: Any = replace(cast(Any, part)) if is_dataclass(part) else clone(part)
    return cast(Part, copy)
