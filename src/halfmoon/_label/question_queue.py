"""Which row comes next, for each person.

Of every ten rows, two are drawn at random and have no proposal; one is a label that
looks wrong, if there is one; one was labeled by somebody else, if there are several
people. The last refit has chosen the others. Before there is a model, and when its
batch is used up, rows are drawn at random, so there is always a next row. Rows that are
on the page of somebody else come last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from halfmoon._label.answers import Answer
from halfmoon._label.refit import Proposal, RefitResult

__all__ = ["Question", "Questions"]

CYCLE = 10
TURNS = {2: "again", 4: "random", 6: "check", 9: "random"}  # of every ten questions
MAX_UPCOMING = 40  # random rows that a refit predicts ahead


@dataclass(frozen=True)
class Question:
    """A row that a person is asked for."""

    number: int  # in the table, from 0
    why: str  # "random", "chosen", "check" or "again"
    proposal: Proposal | None = None
    labels: int = 0  # that the model behind the proposal was fitted to

    @property
    def shows_proposal(self) -> bool:
        """Whether the person sees the proposal."""
        return self.why in ("chosen", "check") and self.proposal is not None


@dataclass
class Questions:
    """Rows to ask for."""

    numbers: Sequence[int]  # of the blanks, in random order
    refit: RefitResult = field(default_factory=RefitResult)  # the latest one
    _held: dict[str, set[int]] = field(default_factory=dict)  # rows on their pages

    @classmethod
    def drawn(cls, numbers: Collection[int], seed: int) -> Questions:
        """Shuffle the rows."""
        rng = np.random.default_rng([seed, 2])
        return cls([int(number) for number in rng.permutation(sorted(numbers))])

    def upcoming(self, done: Collection[int]) -> list[int]:
        """Return the next random rows."""
        free = (number for number in self.numbers if number not in done)
        return list(islice(free, MAX_UPCOMING))

    def next_for(
        self,
        who: str,
        n: int,
        held: Iterable[int],
        answers: Mapping[int, Mapping[str, Answer]],
        checked: Collection[int] = (),
    ) -> list[Question]:
        """Return the next n rows for a person; fewer if there are no more.

        The page of this person already has the rows `held`; `checked` are rows whose
        label they have checked, and `answers` come from `Answers.by_row`.
        """
        mine = set(held)
        others = (rows for name, rows in self._held.items() if name != who)
        taken = mine.union(answers, *others)
        seen = {number for number, people in answers.items() if who in people}
        # What a row is asked for depends on how many rows came before it, so a page
        # that discards half of its queue does not change the shares.
        turn = len(seen) + len(mine)
        seen |= set(checked)
        labeled = (
            number
            for number, people in answers.items()
            if any(x.value is not None for x in people.values())
        )
        queues = {  # evaluated one by one, while `mine` and `taken` grow
            "again": (x for x in labeled if x not in mine and x not in seen),
            "check": (x for x in self.refit.checks if x not in mine and x not in seen),
            "chosen": (x for x in self.refit.chosen if x not in taken),
            "random": (x for x in self.numbers if x not in taken),
            "held": (x for x in self.numbers if x not in mine and x not in answers),
        }
        found: list[Question] = []
        while len(found) < n:
            why = TURNS.get(turn % CYCLE, "chosen")
            before = () if why == "random" else (why, "chosen")
            order = (*before, "random", "held")
            first = next(((name, x) for name in order for x in queues[name]), None)
            if first is None:
                break
            name, number = first
            taken.add(number)
            mine.add(number)
            turn += 1
            found.append(self.question(number, "chosen" if name == "held" else name))
        self._held[who] = mine
        return found

    def leave(self, who: str) -> None:
        """Free the rows of a person who has gone."""
        self._held.pop(who, None)

    def question(self, number: int, why: str) -> Question:
        """Return a row with the proposal of the latest refit."""
        proposal = self.refit.proposals.get(number)
        return Question(number, why, proposal, self.refit.labels)
