"""How far a search has come, heard from what the estimator logs of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "heard", "say_nothing"]

#: Called with the share of the work that is done and what is being done.
Progress = Callable[[float, str], None]

BEFORE, SEARCH = 0.05, 0.85  # shares of the work: reading the table, the search

logger = logging.getLogger("halfmoon")


@contextmanager
def heard(tell: Progress) -> Iterator[None]:
    """What the estimator logs of its search, told as progress."""
    handler, level = _Listener(tell, logger.getEffectiveLevel()), logger.level
    propagate = logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


class _Listener(logging.Handler):
    """Tells of candidates; other lines go where they would have gone."""

    def __init__(self, tell: Progress, level: int) -> None:
        super().__init__(logging.DEBUG)
        self.tell, self.others = tell, level

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and len(record.args) == 3:
            spent, budget, name = record.args
            if isinstance(spent, float) and isinstance(budget, (int, float)):
                self.tell(BEFORE + SEARCH * min(1.0, spent / budget), str(name))
                return
        if record.levelno >= self.others and logger.parent is not None:
            logger.parent.handle(record)


def say_nothing(done: float, text: str) -> None:
    """No progress is asked for."""
