"""Which answers of a journal count, and the labels that they add up to.

The latest answer of a person counts, unless it was undone. If several people have
answered for a row, the most common answer is its label; in a tie, the latest. A skipped
row has no label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Answer", "Answers", "Place"]

#: What identifies a row: head, key, and its number in a spreadsheet.
Place = tuple[str, str, int]


@dataclass(frozen=True)
class Answer:
    """An answer that was not undone."""

    id: str
    place: Place
    value: str | float | None  # None if the row was skipped
    who: str = ""
    when: str = ""
    seconds: float = 0.0  # since the row was shown
    shown: bool = False  # whether the person saw a proposal
    #: "random", "chosen", "check" (of a given label) or "again" (a second person).
    why: str = ""
    predicted: str | float | None = None  # by a model that did not know the answer
    labels: int = 0  # that this model was fitted to

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Answer:
        """Read a line of a journal."""
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
    """Answers for one column."""

    column: str
    #: Row numbers in the table, from 0. Answers for other places are ignored.
    rows: dict[Place, int] = field(default_factory=dict)
    #: All answers by id, in the order of the journal, without undone ones.
    every: dict[str, Answer] = field(default_factory=dict)
    _undone: set[str] = field(default_factory=set)
    _by_row: dict[int, dict[str, Answer]] | None = None  # until a line is added

    def __len__(self) -> int:
        return len(self.every)

    @property
    def lost(self) -> int:
        """Number of answers for rows that the table does not have."""
        return sum(answer.place not in self.rows for answer in self.every.values())

    def add(self, line: Mapping[str, Any], row: int | None = None) -> None:
        """Add a line of a journal; an undo may come before its answer.

        `row` is the number of its row, unless `rows` has it already.
        """
        self._by_row = None
        if row is not None:
            self.rows.setdefault((line["head"], line["key"], line["row"]), row)
        if "undo" in line:
            self._undone.add(line["undo"])
            self.every.pop(line["undo"], None)
        elif line["column"] == self.column and line["id"] not in self._undone:
            self.every.setdefault(line["id"], Answer.of(line))

    def add_all(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines in their order."""
        for line in lines:
            self.add(line)

    def of_person(self, who: str) -> list[Answer]:
        """Return the answers of a person, the latest last."""
        return [answer for answer in self.every.values() if answer.who == who]

    def by_row(self) -> dict[int, dict[str, Answer]]:
        """Return the answer of each person to each row, by row number."""
        if self._by_row is None:
            found: dict[int, dict[str, Answer]] = {}
            # By time, since files may be joined in any order.
            for answer in sorted(self.every.values(), key=lambda each: each.when):
                if answer.place in self.rows:
                    people = found.setdefault(self.rows[answer.place], {})
                    people.pop(answer.who, None)  # so that the latest comes last
                    people[answer.who] = answer
            self._by_row = found
        return self._by_row

    def labels(self) -> dict[int, str | float]:
        """Return the label of each row that has one, by row number."""
        return {row: most_common(x) for row, x in self._values().items() if x}

    def agreement(self) -> tuple[int, int]:
        """Count the rows labeled by several people, and those where all agree."""
        several = [values for values in self._values().values() if len(values) > 1]
        return len(several), sum(len(set(values)) == 1 for values in several)

    def _values(self) -> dict[int, list[str | float]]:
        return {
            row: [x.value for x in people.values() if x.value is not None]
            for row, people in self.by_row().items()
        }


def most_common(values: list[str | float]) -> str | float:
    """Return the most common value; in a tie, the last.

    Examples
    --------
    >>> most_common(["a", "b", "a"]), most_common(["a", "b"])
    ('a', 'b')
    """
    if len(values) == 1:  # by far the most frequent case
        return values[0]
    counts = Counter(values)
    return max(reversed(values), key=lambda value: counts[value])
