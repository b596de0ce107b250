"""Pieces of a problem: fitted on copies, so that yours stay as they are."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, cast

from sklearn.base import clone

__all__ = ["fresh"]

Piece = TypeVar("Piece")


def fresh(piece: Piece) -> Piece:
    """An unfitted copy with the same parameters, which are shared and not copied."""
    copy: Any = replace(cast(Any, piece)) if is_dataclass(piece) else clone(piece)
    return cast(Piece, copy)
