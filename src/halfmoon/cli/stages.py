"""Progress on the terminal: a bar for each stage of a run."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

__all__ = ["Bars"]


class Bars:
    """Stages as bars on standard error; none if it is to be quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=quiet,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage, which ends the one before."""
        for task in self._progress.tasks:
            if not task.finished:
                self._progress.update(task.id, total=1.0, completed=1.0)
        number = self._progress.add_task(name, total=1.0)

        def report(done: float, in_all: float) -> None:
            share = min(1.0, done / in_all) if in_all else 1.0
            self._progress.update(number, completed=share)

        return report

    def say(self, text: str) -> None:
        """A line above the bars."""
        self._progress.console.print(text, highlight=False)

    def finish(self) -> None:
        """Fill the last bar."""
        for task in self._progress.tasks:
            self._progress.update(task.id, completed=1.0)
