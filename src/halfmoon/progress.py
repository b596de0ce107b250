"""Progress of long work: one line on a screen that is written over, or a log.

``verbose=1`` shows the line, and a sentence at the end. Where there is no screen, as in
a file or a batch job, both go to the log "halfmoon", a few lines in all. ``verbose=2``
logs every step. A caller that draws its own bar asks for the steps of a search by
`search_told_to`.
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
    "row_progress",
    "search_step",
    "search_told_to",
    "show_log",
]

logger = logging.getLogger("halfmoon")

EVERY = 2.0  # seconds between lines: nothing is said of what takes less
SELDOM = 10.0  # seconds between lines in a log that was not asked for every step
REFRESH = 0.1  # seconds between two states of the line on a screen

Item = TypeVar("Item")

#: Called with the share of the work that is done and what is being done.
Progress = Callable[[float, str], None]

_listener: ContextVar[Progress | None] = ContextVar("halfmoon_search", default=None)


@contextmanager
def search_told_to(
    tell: Progress, start: float = 0.0, share: float = 1.0
) -> Iterator[None]:
    """Have `tell` called with each step of the searches inside, never backwards.

    The search is a `share` of the caller's work, from `start` on.
    """
    furthest = 0.0

    def step(done: float, what: str) -> None:
        nonlocal furthest
        furthest = max(furthest, done)
        tell(start + share * furthest, what)

    token = _listener.set(step)
    try:
        yield
    finally:
        _listener.reset(token)


def search_step(spent: float, budget: float, name: str, log_level: int) -> None:
    """A model was tried: log it, and tell whoever asked how far the search is."""
    logger.log(log_level, "%5.1f s of %g: %s", spent, budget, name)
    if (tell := _listener.get()) is not None:
        tell(min(1.0, spent / budget) if budget > 0 else 1.0, name)


@dataclass
class LoggedProgress:
    """Called with (rows done, rows in all), it writes a line every other second."""

    last: float = field(default_factory=time.monotonic)

    def __call__(self, done: int, n: int) -> None:
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            logger.info("%d of %d rows (%d %%)", done, n, 100 * done // n)


@dataclass
class ProgressLine:
    """One line that is written over, and a sentence at its end.

    Called with (rows done, rows in all), it tells of that.

    Attributes
    ----------
    last : float
        When it was written last.
    width : int
        Characters that are on the screen.
    """

    last: float = field(default_factory=time.monotonic)
    width: int = 0

    def __call__(self, done: int, n: int) -> None:
        if done < n:
            self.show(f"{done:,} of {n:,} rows ({100 * done // n} %)")
        else:
            self._write("")

    def show(self, text: str) -> None:
        """Say what is being done, if the last time was long enough ago."""
        now, on_screen = time.monotonic(), _screen() is not None
        if now - self.last >= (REFRESH if on_screen else SELDOM):
            self.last = now
            if on_screen:
                self._write(text)
            else:
                logger.info("%s", text)

    def over(self, items: Iterable[Item], budget: float) -> Iterator[Item]:
        """The items of a search that may take so many seconds, told of one by one."""
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
        """The sentence at the end, in the place of the line."""
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
    """Who is told how many rows are done, by an estimator's `verbose`."""
    if verbose <= 0:
        return None
    show_log()
    return ProgressLine() if verbose == 1 else LoggedProgress()


def show_log() -> None:
    """Let the lines of the log be seen where the user has set up no logging."""
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


def _screen() -> TextIO | None:
    """Where a line can be written over: a terminal, or the output of a notebook."""
    out: Any = sys.stdout
    if type(out).__module__.startswith("ipykernel"):
        return cast(TextIO, out)
    return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
