"""Work behind the page, in one thread, one piece at a time.

A refit begins when enough answers are new, or after some time without an answer. Nobody
who labels waits for it. Other tasks, such as filling the table, run between two refits.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from halfmoon._label.session import Labeling

__all__ = ["Background"]

IDLE_SECONDS = 10.0  # without an answer, after which even a few new ones are used

logger = logging.getLogger(__name__)


class Background:
    """The thread that refits the model of a session."""

    def __init__(self, labeling: Labeling) -> None:
        self.labeling = labeling
        self._wake = threading.Condition()
        self._tasks: list[Callable[[], None]] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="refits", daemon=True)
        labeling.listeners.append(self._changed)

    def start(self) -> None:
        """Start the thread; it first fits a model to the labels that exist."""
        self._thread.start()

    def stop(self) -> None:
        """Start no more work."""
        self._stopping = True
        self._changed()

    @property
    def is_running(self) -> bool:
        """Whether work is still going on."""
        return self._thread.is_alive()

    def submit(self, task: Callable[[], None]) -> None:
        """Run a task between two refits, since both need memory."""
        self._tasks.append(task)
        self._changed()

    def _changed(self, what: str = "") -> None:
        with self._wake:
            self._wake.notify_all()

    def _run(self) -> None:
        self._try(self.labeling.refit)
        while True:
            with self._wake:
                woken = self._wake.wait_for(self._has_work, timeout=IDLE_SECONDS)
            if self._stopping:
                return
            if self._tasks:
                self._try(self._tasks.pop(0))
            elif woken or self.labeling.has_new:
                self._try(self.labeling.refit)

    def _has_work(self) -> bool:
        return self._stopping or bool(self._tasks) or self.labeling.wants_refit

    def _try(self, task: Callable[[], None]) -> None:
        try:
            task()
        except Exception:
            logger.exception("A refit failed. The page continues without it.")
