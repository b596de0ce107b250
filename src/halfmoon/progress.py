"""Progress of long work, as lines in the log."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

__all__ = ["LoggedProgress", "show_log"]

logger = logging.getLogger("halfmoon")

EVERY = 2.0  # seconds between lines: nothing is said of what takes less


@dataclass
class LoggedProgress:
    """Called with (rows done, rows in all), it writes a line every other second."""

    last: float = field(default_factory=time.monotonic)

    def __call__(self, done: int, n: int) -> None:
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            logger.info("%d of %d rows (%d %%)", done, n, 100 * done // n)


def show_log() -> None:
    """Let the lines of the log be seen where the user has set up no logging."""
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
