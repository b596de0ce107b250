"""Progress of a run, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["Silent", "Stages"]


class Stages(Protocol):
    """Shows the progress of a run."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage; return a function to call with the work done and in all."""

    def say(self, text: str) -> None:
        """Show a line of text."""


class Silent:
    """Shows nothing."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage."""
        return lambda done, in_all: None

    def say(self, text: str) -> None:
        """Show nothing."""
