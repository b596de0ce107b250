"""Work behind the page, in one thread, one piece at a time: refits and downloads.

A refit begins when enough answers are new, or after some time without an answer. Nobody
who labels waits for it. Other tasks, such as filling the table, run between two refits.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halfmoon._label.journal import read_journal
from halfmoon._label.labels_from_journal import labels_of
from halfmoon._label.session import Labeling
from halfmoon._report.report_page import render
from halfmoon.table._files import Table
from halfmoon.table._fill_table import fill_targets
from halfmoon.table._runs.build_findings import findings_of
from halfmoon.table._runs.run_summary import record_of

__all__ = ["Background", "FilledTable", "filled_table"]

IDLE_SECONDS = 10.0  # without an answer, after which even a few new ones are used
BUDGET_FACTOR = 4  # the model that fills is searched for longer than a refit

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


@dataclass(frozen=True)
class FilledTable:
    """A filled table and its report."""

    table: Path
    report: Path
    sentence: str  # the headline of the report


def filled_table(
    labeling: Labeling, opened: Callable[[], Table], folder: Path, name: str
) -> FilledTable:
    """Fill the table as ``halfmoon fill --labels`` would, into a file of a folder."""
    path, settings = labeling.journal.path, labeling.settings
    target = settings.target
    with labeling.lock:  # between two answers
        read = read_journal(path)
        has_answers = bool(labeling.answers)
    made = folder / name, folder / f"{name.partition('.filled')[0]}.report.html"
    command = f"halfmoon fill {labeling.name} --target {target} --labels {path.name}"
    with opened() as table:
        typed = {}
        if has_answers:  # matched again, since the table may have changed on disk
            blanks = settings.unlabeled
            typed[target] = labels_of(read, path.name, table, target, blanks)
        settings = replace(settings, budget=BUDGET_FACTOR * settings.budget)
        (filled,) = fill_targets(
            table, made[0], [settings], typed=typed, overwrite=True
        )
        findings = findings_of(filled, settings, source=labeling.name, command=command)
        made[1].write_text(render(findings), encoding="utf-8")
    return FilledTable(*made, record_of(findings, settings)["summary"][0])
