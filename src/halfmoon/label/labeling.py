"""A labeling session: the table, the answers so far, the model, and what comes next.

Several pages may be open at once. Whatever changes something takes the lock for
moments only; a refit works on a copy of the labels meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from halfmoon.label.journal import Journal
from halfmoon.label.kept_rows import KeptRows, joined_labels, keep_rows
from halfmoon.label.learned import Learned, learned
from halfmoon.label.progress import told_progress
from halfmoon.label.questions import Question, Questions
from halfmoon.table.allowance import Allowance
from halfmoon.table.errors import TableError
from halfmoon.table.files import Table
from halfmoon.table.given_labels import label_text
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Stages

__all__ = ["Labeling", "RefusedAnswer"]

SKIPS = None  # the value of a row that was skipped
LONGEST = 1_000  # characters of a class or of a name
SHARE_OF_LABELS = 10  # a refit comes after one new answer for so many labels
FEWEST_NEW = 3


class RefusedAnswer(TableError):
    """An answer that cannot be kept; its text says why, to the person."""


class Labeling:
    """What the pages of one server share.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
        Read once, here.
    settings : Settings
    journal : Journal
    classes : sequence of str
        That the user has named, in their order.
    stages : Stages
        Told how far reading has come.
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
        self.kept: KeptRows
        self.kept, self.rows, self.answers = keep_rows(
            table, settings, journal.read, stages, classes
        )
        self.allowance = Allowance.within(settings.memory)
        self._named = [text.strip() for text in classes if text.strip()]
        blank = [
            int(number)
            for number, label in zip(
                self.kept.scan.numbers, self.kept.scan.labels, strict=True
            )
            if label is None
        ]
        self.with_cell = set(self.kept.at) - set(
            blank
        )  # rows with a label in the table
        hidden = sum(number in self.with_cell for number in self.kept.under)
        self.n_cells = self.kept.scan.n_labeled - len(self.kept.under) + hidden
        self.questions = Questions.drawn(blank, settings.seed)
        self.questions.learned = Learned(order=list(self.kept.columns))
        self.lock = threading.RLock()
        self.is_learning = False
        self.refits = 0
        self._asked: dict[tuple[str, int], Question] = {}
        # Of undone answers too: a row that was answered for is not new any more.
        self._ever = {
            (str(line.get("who", "")), self.rows[place])
            for line in journal.read.lines
            if "undo" not in line
            and (place := (line["head"], line["key"], line["row"])) in self.rows
        }
        self._checked = {
            (answer.who, self.rows[answer.place])
            for answer in self.answers.every.values()
            if answer.why == "check" and answer.place in self.rows
        }
        self._undos: dict[str, int] = {}
        self._new = 0  # answers since the last refit
        self._times: list[float] = []
        self.listeners: list[Callable[[str], None]] = []

    # What pages ask for

    def next_questions(
        self, who: str, n: int, held: Iterable[int] = ()
    ) -> list[dict[str, Any]]:
        """The next rows for a person, as the page gets them."""
        with self.lock:
            people = self.answers.of_people(self.rows)
            seen = {number for number, each in people.items() if who in each}
            before = len(seen)
            seen |= {number for name, number in self._checked if name == who}
            others = [
                number
                for number, each in people.items()
                if who not in each and any(x.value is not None for x in each.values())
            ]
            done = set(people)
            found = self.questions.next_for(who, n, held, done, seen, others, before)
            for question in found:
                self._asked[who, question.number] = question
            return [self._shown(question) for question in found]

    def question(self, who: str, number: int) -> dict[str, Any]:
        """One row, to be answered for again."""
        with self.lock:
            question = self.questions.question(number, "chosen")
            self._asked[who, number] = question
            return self._shown(question)

    def progress(self, who: str) -> dict[str, Any]:
        """How far it has come, for the page of a person."""
        with self.lock:
            return told_progress(self, who)

    @property
    def classes(self) -> list[str]:
        """Named ones, those of the table, and new ones; none ever moves."""
        found = dict.fromkeys([*self._named, *self.kept.given_classes()])
        with self.lock:
            for answer in self.answers.every.values():
                if isinstance(answer.value, str):
                    found.setdefault(answer.value)
        return list(found)

    # What pages say

    def answer(self, said: Mapping[str, Any]) -> None:
        """Keep an answer: when this returns, it is on the disk.

        Parameters
        ----------
        said : mapping
            ``id``, ``row`` (from 0), ``value`` (None is a skip), ``who``, ``seconds``.
        """
        number, who = self._row(said), _text(said, "who")
        value = self._value(said.get("value"))
        with self.lock:
            line = self._line(_text(said, "id"), number, value, who, said)
            if self.journal.append(line, self.kept.columns):
                self.answers.add(line)
                self.rows.setdefault(self.kept.place(number), number)
                self._ever.add((who, number))
                if line["why"] == "check":
                    self._checked.add((who, number))
                self._new += value is not SKIPS
                self._times.append(time.monotonic())
        self.tell("progress")

    def undo(self, said: Mapping[str, Any]) -> dict[str, Any] | None:
        """Take back an answer, by ``undo`` its id or else a person's last; its row.

        Parameters
        ----------
        said : mapping
            ``id`` (of this request), ``who``, ``undo`` (or None).
        """
        who, id_ = _text(said, "who"), _text(said, "id")
        with self.lock:
            if id_ in self._undos:  # the page has asked before, and heard nothing
                return self.question(who, self._undos[id_])
            wanted = said.get("undo")
            before = self.answers.every.get(wanted) if wanted else None
            if wanted is None:
                before = self.answers.last_of(who)
            if before is None or before.who != who or before.place not in self.rows:
                return None
            when = _now()
            line = {
                "id": id_,
                "undo": before.id,
                "who": who,
                "when": when,
            }
            self.journal.append(line)
            self.answers.add(line)
            self._new += 1
            number = self.rows[before.place]
            if number not in self.kept.at:
                return None
            self._undos[id_] = number
            shown = self.question(who, number) | {"undone": before.value}
        self.tell("progress")
        return shown

    def history(self, who: str, n: int) -> list[dict[str, Any]]:
        """The last answers of a person, the latest first."""
        with self.lock:
            own = [x for x in self.answers.every.values() if x.who == who]
            last = [x for x in reversed(own) if x.place in self.rows][:n]
            first = self.kept.scan.first_row
            numbers = [self.rows[x.place] for x in last]
            return [
                {"id": x.id, "row": row, "name": row + first, "value": x.value}
                for x, row in zip(last, numbers, strict=True)
                if row in self.kept.at
            ]

    # Refits

    @property
    def wants_refit(self) -> bool:
        """Whether enough is new for a refit."""
        with self.lock:
            known = self.questions.learned.labels
            return self._new >= max(FEWEST_NEW, known // SHARE_OF_LABELS)

    @property
    def has_new(self) -> bool:
        """Whether anything is."""
        return self._new > 0

    def refit(self) -> None:
        """Learn from the labels so far; pages go on with the old queue meanwhile."""
        with self.lock:
            people = self.answers.of_people(self.rows)
            answered = self.answers.labels(self.rows)
            labels = joined_labels(self.kept, answered)
            not_asked = {number for _, number in self._checked}
            not_asked |= set(people) - set(answered)  # skipped ones
            upcoming = self.questions.upcoming(people)
            before = self.questions.learned
            self._new, self.is_learning = 0, True
        self.tell("progress")
        known = sum(label is not None for label in labels)
        order = before.order if before.has_model and known < 2 * before.labels else ()
        try:
            found = learned(
                self.kept,
                labels,
                self.settings,
                self.allowance,
                upcoming,
                not_asked,
                order,
            )
        finally:
            self.is_learning = False
        with self.lock:
            self.questions.learned = found
            self.refits += 1
        self.tell("queue")

    def tell(self, what: str) -> None:
        """Let pages know that something has changed."""
        for listener in list(self.listeners):
            listener(what)

    # Within

    def _row(self, said: Mapping[str, Any]) -> int:
        number = said.get("row")
        if not isinstance(number, int) or number not in self.kept.at:
            raise RefusedAnswer("This row is not in the table.")
        return number

    def _value(self, value: Any) -> str | float | None:
        if value is SKIPS:
            return SKIPS
        if self.kept.kind == "numbers":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise RefusedAnswer(f"{value!r} is not a number.")
            value = float(value)
            if not abs(value) < 1e100:
                raise RefusedAnswer(f"{value!r} is too large.")
        else:
            value = label_text(value) if isinstance(value, str) else ""
            if not value or len(value) > LONGEST:
                raise RefusedAnswer(
                    f"A class needs a name of 1 to {LONGEST:,} characters."
                )
        try:
            self.kept.label(value)
        except ValueError:
            raise RefusedAnswer(
                f"{label_text(value)!r} does not fit into "
                f"{self.settings.target!r}, a column of {self.kept.type}."
            ) from None
        return value

    def _line(
        self,
        id_: str,
        number: int,
        value: str | float | None,
        who: str,
        said: Mapping[str, Any],
    ) -> dict[str, Any]:
        head, key, row = self.kept.place(number)
        question = self._asked.get((who, number)) or Question(number, "chosen")
        seconds = said.get("seconds")
        line: dict[str, Any] = {
            "id": id_,
            "head": head,
            "row": row,
            "key": key,
            "column": self.settings.target,
            "value": value,
            "who": who,
            "when": _now(),
            "seconds": round(float(seconds), 2)
            if isinstance(seconds, (int, float))
            else None,
            "shown": question.shows,
            "why": question.why,
        }
        if question.why == "random" and (who, number) not in self._ever:
            # The latest model that has not seen the answer.
            now = self.questions.question(number, "random")
            if now.proposal is not None:
                line["predicted"], line["labels"] = now.proposal.value, now.labels
        elif question.why == "random":
            line["why"] = "chosen"
        return line

    def _shown(self, question: Question) -> dict[str, Any]:
        kept, order = self.kept, self.questions.learned.order
        given = kept.scan.labels[kept.at[question.number]]
        shown: dict[str, Any] = {
            "row": question.number,
            "name": question.number + kept.scan.first_row,
            "why": question.why,
            "cells": kept.cells(question.number, order or kept.columns),
            "given": None,
            "proposal": None,
        }
        if question.why == "check":
            labels = self.answers.labels(self.rows)
            now = labels.get(
                question.number, None if given is None else kept.shown(given)
            )
            shown["given"] = now
        if question.shows and question.proposal is not None:
            proposal = asdict(question.proposal)
            few = (order or list(kept.columns))[:4]
            proposal["neighbors"] = [
                {
                    "name": near.number + kept.scan.first_row,
                    "label": near.label,
                    "for": near.speaks_for,
                    "cells": [
                        (name, text[:200])
                        for name, text in kept.cells(near.number, few)
                    ],
                }
                for near in question.proposal.neighbors
            ]
            shown["proposal"] = proposal
        return shown


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        raise RefusedAnswer(f"{name!r} is missing.")
    return value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
