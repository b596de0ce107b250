"""Progress on the terminal: a bar for each stage of a run."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

__all__ = ["ProgressBars"]


class ProgressBars(Progress):
    """Bars on standard error, one for each stage; a quiet run shows none."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=quiet,
        )

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage, which ends the one before; return its progress callback."""
        self.finish()
        task = self.add_task(name, total=1.0)

        def report(done: float, total: float) -> None:
            share = min(1.0, done / total) if total else 1.0
            self.update(task, completed=share)

        return report

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        self.console.print(text, highlight=False)

    def finish(self) -> None:
        """Fill the bars of all stages so far."""
        for task in self.tasks:
            if not task.finished:
                self.update(task.id, completed=1.0)

    def stop(self) -> None:
        """End all bars. Rich before 14.3 would print an empty line in a quiet run."""
        if not self.disable:
            super().stop()
