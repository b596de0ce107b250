"""Who is told how far a run has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["Silent", "Stages"]


class Stages(Protocol):
    """Told how far a run has come: one stage after the other."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage; what comes back is called with done and in all."""

    def say(self, text: str) -> None:
        """Tell of something in a line."""


class Silent:
    """Stages of which nobody is told."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage."""
        return lambda done, in_all: None

    def say(self, text: str) -> None:
        """Tell nobody."""
