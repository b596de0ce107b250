"""Progress of long work: a line on the screen that is overwritten, or a log.

``verbose=1`` shows the line, and a sentence at the end. Without a screen, as in a batch
job, both go to the log "halfmoon", in a few lines. ``verbose=2`` logs every step. A
caller with its own progress bar gets the steps of a search by `report_search_to`.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeVar, cast

__all__ = [
    "LoggedProgress",
    "Progress",
    "ProgressLine",
    "report_search_to",
    "row_progress",
    "search_step",
    "show_log",
]

logger = logging.getLogger("halfmoon")

LOG_SECONDS = 2.0  # between lines with verbose=2; shorter work logs nothing
BRIEF_LOG_SECONDS = 10.0  # between lines with verbose=1 and no screen
SCREEN_SECONDS = 0.1  # between updates of the line on a screen

Item = TypeVar("Item")

#: Called with the share of the work that is done, and a description of the step.
Progress = Callable[[float, str], None]

_listener: ContextVar[Progress | None] = ContextVar("halfmoon_search", default=None)


@contextmanager
def report_search_to(
    report: Progress, start: float = 0.0, share: float = 1.0
) -> Iterator[None]:
    """Report the steps of searches in this context; progress never goes backwards.

    The search is a `share` of the caller's work, from `start` on.
    """
    furthest = 0.0

    def step(done: float, description: str) -> None:
        nonlocal furthest
        furthest = max(furthest, done)
        report(start + share * furthest, description)

    token = _listener.set(step)
    try:
        yield
    finally:
        _listener.reset(token)


def search_step(spent: float, budget: float, name: str, log_level: int) -> None:
    """Log that a model was tried, and report the progress of the search."""
    logger.log(log_level, "%5.1f s of %g: %s", spent, budget, name)
    if (report := _listener.get()) is not None:
        report(min(1.0, spent / budget) if budget > 0 else 1.0, name)


@dataclass
class LoggedProgress:
    """Logs a line every two seconds; called with (rows done, total rows)."""

    last: float = field(default_factory=time.monotonic)

    def __call__(self, done: int, n: int) -> None:
        now = time.monotonic()
        if now - self.last >= LOG_SECONDS:
            self.last = now
            logger.info("%d of %d rows (%d %%)", done, n, 100 * done // n)


@dataclass
class ProgressLine:
    """A line that is overwritten; called with (rows done, total rows).

    Attributes
    ----------
    last : float
        Time of the last update.
    width : int
        Number of characters on the screen.
    """

    last: float = field(default_factory=time.monotonic)
    width: int = 0

    def __call__(self, done: int, n: int) -> None:
        if done < n:
            self.show(f"{done:,} of {n:,} rows ({100 * done // n} %)")
        else:
            self._write("")

    def show(self, text: str) -> None:
        """Show what is being done, if the last update was long enough ago."""
        now, on_screen = time.monotonic(), _screen() is not None
        if now - self.last >= (SCREEN_SECONDS if on_screen else BRIEF_LOG_SECONDS):
            self.last = now
            if on_screen:
                self._write(text)
            else:
                logger.info("%s", text)

    def over(self, items: Iterable[Item], budget: float) -> Iterator[Item]:
        """Yield the items of a search, and show how many were tried in the budget."""
        start = time.monotonic()
        try:
            for tried, item in enumerate(items):
                spent = time.monotonic() - start
                models = f"{tried} model{'s' * (tried != 1)}"
                self.show(f"{models} tried in {spent:.0f} of {budget:g} s")
                yield item
        finally:
            self._write("")

    def end(self, outcome: str) -> None:
        """Replace the line by a final sentence."""
        screen = _screen()
        if screen is None:
            logger.info("%s", outcome)
        else:
            self._write("")
            screen.write(f"{outcome}\n")
            screen.flush()

    def _write(self, text: str) -> None:
        screen = _screen()
        if screen is not None and (text or self.width):
            screen.write(f"\r{text.ljust(self.width)}" + ("" if text else "\r"))
            screen.flush()
            self.width = len(text)


def row_progress(verbose: int) -> LoggedProgress | ProgressLine | None:
    """Return the progress of rows for an estimator's `verbose`."""
    if verbose <= 0:
        return None
    show_log()
    return ProgressLine() if verbose == 1 else LoggedProgress()


def show_log() -> None:
    """Show the log if the user has not set up logging."""
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


def _screen() -> TextIO | None:
    """Return a terminal or the output of a notebook, or None if there is neither."""
    out: Any = sys.stdout
    if type(out).__module__.startswith("ipykernel"):
        return cast(TextIO, out)
    return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
