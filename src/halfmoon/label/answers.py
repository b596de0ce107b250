"""What the lines of a journal add up to.

The later answer of one person counts, unless it was undone. Where several people have
answered for one row, the commonest answer is its label; of equally common ones the
latest. A skipped row has no label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Answer", "Answers"]

SURE = ("random", "again")  # asked for without a proposal


@dataclass(frozen=True)
class Answer:
    """An answer that counts.

    Attributes
    ----------
    id : str
    place : tuple of (str, str, int)
        What its row is known by: head, key and number as a spreadsheet counts.
    value : str, float or None
        None where the row was skipped.
    who, when : str
    seconds : float
        From when the row was shown.
    shown : bool
        Whether a proposal was.
    why : str
        "random", "chosen", "check" (of a given label) or "again" (asked of a second
        person).
    predicted : str, float or None
        By a model that did not know the answer.
    labels : int
        That this model had learned from.
    """

    id: str
    place: tuple[str, str, int]
    value: str | float | None
    who: str = ""
    when: str = ""
    seconds: float = 0.0
    shown: bool = False
    why: str = ""
    predicted: str | float | None = None
    labels: int = 0

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Answer:
        """From a line of a journal."""
        return cls(
            line["id"],
            (line["head"], line["key"], line["row"]),
            line["value"],
            str(line.get("who", "")),
            str(line.get("when", "")),
            float(line.get("seconds") or 0.0),
            bool(line.get("shown")),
            str(line.get("why", "")),
            line.get("predicted"),
            int(line.get("labels") or 0),
        )


@dataclass
class Answers:
    """Answers for one column, line by line.

    Parameters
    ----------
    column : str

    Attributes
    ----------
    every : dict of str to Answer
        By their ids, in the order they came in; undone ones are gone.
    """

    column: str
    every: dict[str, Answer] = field(default_factory=dict)
    _undone: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.every)

    def add(self, line: Mapping[str, Any]) -> None:
        """Take a line into account; an undo may come before its answer."""
        if "undo" in line:
            self._undone.add(line["undo"])
            self.every.pop(line["undo"], None)
        elif line["column"] == self.column and line["id"] not in self._undone:
            self.every.setdefault(line["id"], Answer.of(line))

    def add_all(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Take lines into account, in their order."""
        for line in lines:
            self.add(line)

    def last_of(self, who: str) -> Answer | None:
        """The latest answer of a person, which can be undone."""
        found = [answer for answer in self.every.values() if answer.who == who]
        return found[-1] if found else None

    def of_people(
        self, rows: Mapping[tuple[str, str, int], int]
    ) -> dict[int, dict[str, Answer]]:
        """The answer of each person to each row, by the row's number in the table.

        Parameters
        ----------
        rows : mapping of (str, str, int) to int
            Numbers of the rows that answers are for; others are not in the table.
        """
        found: dict[int, dict[str, Answer]] = {}
        for answer in _in_time(self.every.values()):
            if answer.place in rows:
                people = found.setdefault(rows[answer.place], {})
                people.pop(answer.who, None)  # so that the latest comes last
                people[answer.who] = answer
        return found

    def labels(
        self, rows: Mapping[tuple[str, str, int], int]
    ) -> dict[int, str | float]:
        """The label of each row that has one."""
        labels = {}
        for row, people in self.of_people(rows).items():
            values = [x.value for x in people.values() if x.value is not None]
            if values:
                labels[row] = commonest(values)
        return labels

    def agreement(self, rows: Mapping[tuple[str, str, int], int]) -> tuple[int, int]:
        """Rows that several people gave a label, and those of them with one label."""
        both = same = 0
        for people in self.of_people(rows).values():
            values = [x.value for x in people.values() if x.value is not None]
            if len(values) > 1:
                both += 1
                same += len(set(values)) == 1
        return both, same


def commonest(values: list[str | float]) -> str | float:
    """The commonest of some values; of equally common ones the last.

    Examples
    --------
    >>> commonest(["a", "b", "a"]), commonest(["a", "b"])
    ('a', 'b')
    """
    counts = Counter(values)
    return max(reversed(values), key=lambda value: counts[value])


def _in_time(answers: Iterable[Answer]) -> Iterator[Answer]:
    """By the time they were given at: files may be joined in any order."""
    yield from sorted(answers, key=lambda answer: answer.when)
