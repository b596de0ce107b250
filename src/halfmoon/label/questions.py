"""Which row comes next, for each person: chosen ones, random ones, and second looks.

Of every ten rows two are drawn at random, without a proposal; one is a label that
looks wrong, if there is any; one is asked of a second person, if there are several.
The others are those that the last refit has chosen. Before there is a model, and where
its batch is used up, rows come at random: there is always a next row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from halfmoon.label.learned import Learned, Proposal

__all__ = ["Question", "Questions"]

RANDOM, CHECK, AGAIN = (4, 9), (6,), (2,)  # of every ten questions
CYCLE = 10
UPCOMING = 40  # random rows that a refit predicts ahead


@dataclass(frozen=True)
class Question:
    """A row that a person is asked for.

    Attributes
    ----------
    number : int
        In the table, from 0.
    why : "random", "chosen", "check" or "again"
    proposal : Proposal or None
    labels : int
        That the model behind the proposal had learned from.
    """

    number: int
    why: str
    proposal: Proposal | None = None
    labels: int = 0

    @property
    def shows(self) -> bool:
        """Whether the person sees the proposal."""
        return self.why in ("chosen", "check") and self.proposal is not None


@dataclass
class Questions:
    """Rows to ask for.

    Parameters
    ----------
    numbers : sequence of int
        Of the rows without a label, in an order drawn at random.

    Attributes
    ----------
    learned : Learned
        The last refit.
    """

    numbers: Sequence[int]
    learned: Learned = field(default_factory=Learned)
    _held: dict[str, set[int]] = field(default_factory=dict)  # on their pages

    @classmethod
    def drawn(cls, numbers: Collection[int], seed: int) -> Questions:
        """With the rows in an order that is drawn at random."""
        rng = np.random.default_rng([seed, 2])
        return cls([int(number) for number in rng.permutation(sorted(numbers))])

    def upcoming(self, done: Collection[int]) -> list[int]:
        """Rows that will come at random next."""
        free = (number for number in self.numbers if number not in done)
        return [number for number, _ in zip(free, range(UPCOMING), strict=False)]

    def next_for(
        self,
        who: str,
        n: int,
        held: Iterable[int],
        done: Collection[int],
        seen: Collection[int],
        others: Sequence[int] = (),
        before: int = 0,
    ) -> list[Question]:
        """The next rows for a person; fewer where there are no more.

        Parameters
        ----------
        who : str
        n : int
        held : iterable of int
            Rows that the page of this person has already.
        done : collection of int
            Rows that anybody has answered for or skipped.
        seen : collection of int
            Rows that this person has answered for, or had looked at again.
        others : sequence of int
            Rows that other people have answered for.
        before : int
            Rows that this person has answered for. What a row is asked for depends on
            how many come before it, so that a queue that is thrown away half-used
            leaves the shares as they are.
        """
        mine = set(held)
        taken = mine.union(
            done, *(rows for name, rows in self._held.items() if name != who)
        )
        chosen = (x for x in self.learned.chosen if x not in taken)
        checks = (x for x in self.learned.checks if x not in mine and x not in seen)
        again = (x for x in others if x not in mine and x not in seen)
        random = (x for x in self.numbers if x not in taken)
        found: list[Question] = []
        asked = before + len(mine)
        while len(found) < n:
            question = self._next(asked % CYCLE, chosen, checks, again, random, taken)
            if question is None:
                break
            taken.add(question.number)
            mine.add(question.number)
            asked += 1
            found.append(question)
        self._held[who] = mine
        return found

    def leave(self, who: str) -> None:
        """A person has gone: their rows are free for others."""
        self._held.pop(who, None)

    def _next(
        self,
        turn: int,
        chosen: Iterator[int],
        checks: Iterator[int],
        again: Iterator[int],
        random: Iterator[int],
        taken: set[int],
    ) -> Question | None:
        number = None
        if turn in CHECK and (number := next(checks, None)) is not None:
            return self.question(number, "check")
        if turn in AGAIN and (number := next(again, None)) is not None:
            return self.question(number, "again")
        if turn not in RANDOM:
            number = next((x for x in chosen if x not in taken), None)
            if number is not None:
                return self.question(number, "chosen")
        number = next((x for x in random if x not in taken), None)
        return None if number is None else self.question(number, "random")

    def question(self, number: int, why: str) -> Question:
        """A row with what the last refit says of it."""
        proposal = self.learned.proposals.get(number)
        return Question(number, why, proposal, self.learned.labels)
