"""Refits behind the page: one thread, one piece of work at a time.

A refit begins when enough answers are new, or when the last answer was some time ago.
Whoever labels never waits for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from halfmoon.label.labeling import Labeling

__all__ = ["Background"]

IDLE = 10.0  # seconds without an answer, after which a few new ones are learned from

logger = logging.getLogger(__name__)


class Background:
    """Keeps the queue of a session filled.

    Parameters
    ----------
    labeling : Labeling
    """

    def __init__(self, labeling: Labeling) -> None:
        self.labeling = labeling
        self._wake = threading.Condition()
        self._tasks: list[tuple[Callable[[], Any], Future[Any]]] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="refits", daemon=True)
        labeling.listeners.append(self._told)

    def start(self) -> None:
        """Begin; the first refit is to the labels that are there."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()

    @property
    def is_running(self) -> bool:
        """Whether something is still being worked on."""
        return self._thread.is_alive()

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        """Have something done between two refits, since both take memory."""
        future: Future[Any] = Future()
        with self._wake:
            self._tasks.append((task, future))
            self._wake.notify_all()
        return future

    def _told(self, what: str) -> None:
        with self._wake:
            self._wake.notify_all()

    def _run(self) -> None:
        self._refit()
        while True:
            with self._wake:
                woken = self._wake.wait_for(self._has_work, timeout=IDLE)
                if self._stopping:
                    return
                task = self._tasks.pop(0) if self._tasks else None
            if task is not None:
                _done(*task)
            elif woken or self.labeling.has_new:
                self._refit()

    def _has_work(self) -> bool:
        return self._stopping or bool(self._tasks) or self.labeling.wants_refit

    def _refit(self) -> None:
        try:
            self.labeling.refit()
        except Exception:  # the page goes on with what it has
            logger.exception("A refit has failed; the page goes on without it.")


def _done(task: Callable[[], Any], future: Future[Any]) -> None:
    try:
        future.set_result(task())
    except BaseException as error:
        future.set_exception(error)
