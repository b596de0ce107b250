"""A labeling session: the table, the answers so far, the model, and the next rows.

Several pages may be open at once. Every change takes the lock for a moment only; a
refit works on a copy of the labels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from halfmoon._label.journal import Journal
from halfmoon._label.labeling_progress import describe_progress
from halfmoon._label.question_queue import Question, Questions
from halfmoon._label.refit import Neighbor, RefitResult, refit_model
from halfmoon._label.session_rows import joined_labels, sample_rows
from halfmoon.table._files import Table
from halfmoon.table._labels.given_labels import label_text
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.run_costs import MemoryBudget
from halfmoon.table._table_errors import TableError

__all__ = ["Labeling", "RefusedAnswer"]

MAX_LENGTH = 1_000  # characters of a class or of a name
MAX_NUMBER = 1e100
MAX_SECONDS = 1e9
MIN_NEW = 3  # answers for a refit, and
NEW_SHARE = 10  # at least one new answer for so many labels
NEIGHBOR_COLUMNS, NEIGHBOR_TEXT = 4, 200  # columns, and characters of a cell


class RefusedAnswer(TableError):
    """An answer that cannot be saved; its text tells the person why."""

    status = 422


class Labeling:
    """The state that the pages of one server share.

    The table is read once. `classes` are those that the user has named, in their order;
    those of a scale (`settings.order`) come after them.
    """

    def __init__(
        self,
        table: Table,
        settings: Settings,
        journal: Journal,
        classes: Sequence[str],
        stages: Stages,
    ) -> None:
        self.name, self.settings, self.journal = table.name, settings, journal
        self.sample, self.answers = sample_rows(
            table, settings, journal.read, stages, classes
        )
        self.allowance = MemoryBudget.within(settings.memory)
        named = (*classes, *settings.order)
        self._named = [text.strip() for text in named if text.strip()]
        blank = [
            number for number in self.sample.at if not self.sample.has_label(number)
        ]
        self.questions = Questions.drawn(blank, settings.seed)
        self.questions.refit = RefitResult(order=list(self.sample.columns))
        self.lock = threading.RLock()
        self.is_learning = False
        self.refits = 0
        self._asked: dict[tuple[str, int], Question] = {}
        # Includes undone answers: a row that was answered once is not new any more.
        self._ever = {
            (str(line.get("who", "")), self.answers.rows[place])
            for line in journal.read.lines
            if "undo" not in line
            and (place := (line["head"], line["key"], line["row"])) in self.answers.rows
        }
        self._checked = {
            (answer.who, self.answers.rows[answer.place])
            for answer in self.answers.every.values()
            if answer.why == "check" and answer.place in self.answers.rows
        }
        self._undos: dict[str, int] = {}
        self._last_time = _latest(journal.read.lines)
        self._new = 0  # answers since the last refit
        self.listeners: list[Callable[[str], None]] = []

    # What pages ask for

    def next_questions(
        self, who: str, n: int, held: Iterable[int] = ()
    ) -> list[dict[str, Any]]:
        """Return the next rows for a person, in the form that the page gets."""
        with self.lock:
            checked = {number for name, number in self._checked if name == who}
            found = self.questions.next_for(
                who, n, held, self.answers.by_row(), checked
            )
            return [self._asked_for(who, question) for question in found]

    def question(self, who: str, number: int) -> dict[str, Any]:
        """Return one row, to be answered again."""
        with self.lock:
            return self._asked_for(who, self.questions.question(number, "chosen"))

    def leave(self, who: str) -> None:
        """Free the rows of a person who has closed their pages."""
        with self.lock:
            self.questions.leave(who)

    def progress(self, who: str) -> dict[str, Any]:
        """Return the progress, for the page of a person."""
        with self.lock:
            return describe_progress(self, who)

    @property
    def classes(self) -> list[str]:
        """Named classes, then those of the table, then new ones, in a stable order."""
        with self.lock:
            values = [answer.value for answer in self.answers.every.values()]
        new = [value for value in values if isinstance(value, str)]
        return list(dict.fromkeys([*self._named, *self.sample.given_classes(), *new]))

    def history(self, who: str, n: int) -> list[dict[str, Any]]:
        """Return the last answers of a person, the latest first."""
        with self.lock:
            rows, first = self.answers.rows, self.sample.scan.first_row
            mine = [x for x in self.answers.of_person(who) if x.place in rows][-n:]
            found = [(x, rows[x.place]) for x in reversed(mine)]
            return [
                {"id": x.id, "row": row, "name": row + first, "value": x.value}
                for x, row in found
                if row in self.sample.at
            ]

    # What pages send

    def answer(self, body: Mapping[str, Any]) -> None:
        """Save an answer; when this returns, it is on disk.

        `body` has ``id``, ``row`` (from 0), ``value`` (None is a skip), ``who``,
        ``seconds`` and ``shown``: whether the page showed a proposal.
        """
        number, who = body.get("row"), _text(body, "who")
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if not is_number or number not in self.sample.at:
            raise RefusedAnswer("This row is not in the table.")
        value = self._checked_value(body.get("value"))
        with self.lock:
            line = self._line(number, value, body)
            if self.journal.append(line, self.sample.columns):
                self.answers.add(line, number)
                self._ever.add((who, number))
                if line["why"] == "check":
                    self._checked.add((who, number))
                self._new += value is not None
        self.notify("progress")

    def undo(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Take back an answer and return its row; None if there is nothing to undo.

        `body` has ``id`` (of this request), ``who`` and ``undo`` (the id of an answer;
        None is the last one of this person).
        """
        who, id_ = _text(body, "who"), _text(body, "id")
        with self.lock:
            if id_ in self._undos:  # the page asks again, since no reply reached it
                return self.question(who, self._undos[id_])
            wanted, rows = body.get("undo"), self.answers.rows
            before = next(
                (
                    x
                    for x in reversed(self.answers.of_person(who))
                    if wanted in (None, x.id) and rows.get(x.place) in self.sample.at
                ),
                None,
            )
            if before is None:
                return None
            line = {"id": id_, "undo": before.id, "who": who, "when": self._now()}
            self.journal.append(line)
            self.answers.add(line)
            self._new += 1
            number = self._undos[id_] = rows[before.place]
            shown = self.question(who, number) | {"undone": before.value}
        self.notify("progress")
        return shown

    # Refits

    @property
    def wants_refit(self) -> bool:
        """Whether there are enough new answers for a refit."""
        with self.lock:
            return self._new >= max(MIN_NEW, self.questions.refit.labels // NEW_SHARE)

    @property
    def has_new(self) -> bool:
        """Whether there is a new answer."""
        return self._new > 0

    def refit(self) -> None:
        """Fit the model to the labels so far; pages use the old queue meanwhile."""
        with self.lock:
            people, answered = self.answers.by_row(), self.answers.labels()
            labels = joined_labels(self.sample, answered)
            not_asked = {number for _, number in self._checked}
            not_asked |= set(people) - set(answered)  # skipped rows
            upcoming = self.questions.upcoming(people)
            before = self.questions.refit
            self._new, self.is_learning = 0, True
        self.notify("progress")
        n_labels = sum(label is not None for label in labels)
        is_stable = before.has_model and n_labels < 2 * before.labels
        try:
            found = refit_model(
                self.sample,
                labels,
                self.settings,
                self.allowance,
                upcoming,
                not_asked,
                before.order if is_stable else (),
            )
        finally:
            self.is_learning = False
        with self.lock:
            self.questions.refit = found
            self.refits += 1
        self.notify("queue")

    def notify(self, what: str) -> None:
        """Tell pages and the background that something has changed."""
        for listener in list(self.listeners):
            listener(what)

    # Internals

    def _checked_value(self, value: Any) -> str | float | None:
        if value is None:
            return None
        if self.sample.kind == "numbers":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise RefusedAnswer(f"{value!r} is not a number.")
            if not abs(value) < MAX_NUMBER:
                raise RefusedAnswer("This number is too large.")
            value = float(value)
        else:
            value = label_text(value) if isinstance(value, str) else ""
            # No reader of text tables accepts NUL.
            if not 0 < len(value) <= MAX_LENGTH or "\0" in value:
                raise RefusedAnswer(
                    f"A class needs a name of 1 to {MAX_LENGTH:,} characters, none of "
                    f"them NUL."
                )
        try:
            self.sample.label(value)
        except ValueError:
            raise RefusedAnswer(
                f"{label_text(value)!r} does not fit into "
                f"{self.settings.target!r}, a column of {self.sample.type}."
            ) from None
        return value

    def _line(
        self, number: int, value: str | float | None, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        who = _text(body, "who")
        head, key, row = self.sample.place(number)
        question = self._asked.get((who, number)) or Question(number, "chosen")
        seconds = body.get("seconds")
        is_time = isinstance(seconds, (int, float)) and 0 <= seconds < MAX_SECONDS
        line: dict[str, Any] = {
            "id": _text(body, "id"),
            "head": head,
            "row": row,
            "key": key,
            "column": self.settings.target,
            "value": value,
            "who": who,
            "when": self._now(),
            "seconds": round(float(seconds), 2) if is_time else None,  # type: ignore[arg-type]
            "shown": body.get("shown", question.shows_proposal) is True,
            "why": question.why,
        }
        if question.why != "random":
            return line
        if (who, number) in self._ever or line["shown"]:
            line["why"] = "chosen"
            return line
        # The latest model that has not seen the answer.
        now = self.questions.question(number, "random")
        if now.proposal is not None:
            line["predicted"], line["labels"] = now.proposal.value, now.labels
        return line

    def _now(self) -> str:
        """Return the time, or that of the last line if the clock was set back.

        The later answer of a person counts, by time, since files may be joined.
        """
        self._last_time = max(_time_text(datetime.now(UTC)), self._last_time)
        return self._last_time

    def _asked_for(self, who: str, question: Question) -> dict[str, Any]:
        """Note that a person is asked for a row, and return what the page gets."""
        sample, number = self.sample, question.number
        self._asked[who, number] = question
        order = self.questions.refit.order or list(sample.columns)
        given = proposal = None
        if question.why == "check":
            cell = sample.scan.labels[sample.at[number]]
            given = self.answers.labels().get(number)
            if given is None and cell is not None:
                given = sample.answer(cell)
        if question.shows_proposal and question.proposal is not None:
            near = question.proposal.neighbors
            neighbors = [
                self._neighbor(each, order[:NEIGHBOR_COLUMNS]) for each in near
            ]
            proposal = asdict(question.proposal) | {"neighbors": neighbors}
        return {
            "row": number,
            "name": number + sample.scan.first_row,
            "why": question.why,
            "cells": sample.cells(number, order),
            "given": given,
            "proposal": proposal,
        }

    def _neighbor(self, near: Neighbor, columns: Sequence[str]) -> dict[str, Any]:
        cells = self.sample.cells(near.number, columns)
        return {
            "name": near.number + self.sample.scan.first_row,
            "label": near.label,
            "for": near.speaks_for,
            "cells": [(name, text[:NEIGHBOR_TEXT]) for name, text in cells],
        }


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_LENGTH:
        raise RefusedAnswer(f"{name!r} is missing.")
    return value


def _time_text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _latest(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return the latest time in a journal, or an empty text."""
    times = []
    for line in lines:
        with suppress(ValueError):
            time = datetime.fromisoformat(str(line.get("when")))
            times.append(_time_text(time.astimezone(UTC)))
    return max(times, default="")
