"""What is asked for: everything that a run needs to be repeated, beside the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from halfmoon.table.errors import CommandError

__all__ = ["Settings", "Task", "as_marks"]

Task = Literal["classes", "numbers", "ordered"]


@dataclass(frozen=True)
class Settings:
    """How blank labels are to be filled in.

    Parameters
    ----------
    target : str
        The column with labels and blanks.
    features : tuple of str
        Columns to learn from; empty is all but the target.
    exclude : tuple of str
        Columns not to learn from.
    known : tuple of str
        Columns that no penalty touches: what the user trusts.
    unlabeled : tuple of str, or str
        Further texts that count as blank. An empty text among them takes the usual
        words for nothing (NA, None, null) as labels.
    task : {"classes", "numbers", "ordered"} or None
        What the labels are; None is to find out. Ordered classes are those of a scale.
    order : tuple of str
        The classes of a scale from low to high, for the task "ordered", which it
        implies; empty is to find out.
    merge_labels : bool
        Spellings of one class, such as Yes and yes, are one class.
    sets : str or None
        What stands between the candidates of a row, as in "cat|dog"; None takes each
        label as it is.
    low, high : str or None
        Columns with the ends of the numbers of which no more is known. The target may
        then be missing from the table.
    level : float
        Share of true numbers that low and high should enclose.
    budget : float
        Seconds that the search may take.
    memory : str
        The most that the whole process should hold.
    seed : int
        Of everything that is drawn at random.
    """

    target: str
    features: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    unlabeled: tuple[str, ...] = ()
    task: Task | None = None
    order: tuple[str, ...] = ()
    merge_labels: bool = False
    sets: str | None = None
    low: str | None = None
    high: str | None = None
    level: float = 0.9
    budget: float = 60.0
    memory: str = "1GB"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "unlabeled", as_marks(self.unlabeled))
        object.__setattr__(self, "order", as_marks(self.order))
        if self.order and self.task is None:
            object.__setattr__(self, "task", "ordered")
        if self.order and self.task != "ordered":
            raise CommandError(
                f"An order of classes needs the task 'ordered', but the task is "
                f"{self.task!r}. Leave out one of them."
            )
        self._check_weak()

    @property
    def ends(self) -> tuple[str, ...]:
        """The columns with ends of numbers."""
        return tuple(name for name in (self.low, self.high) if name is not None)

    @property
    def is_weak(self) -> bool:
        """Whether labels may be known in part."""
        return self.sets is not None or bool(self.ends)

    def _check_weak(self) -> None:
        if self.sets is not None and not self.sets.strip():
            raise CommandError(
                "The sign between candidates (--sets) is blank. Give it, e.g. "
                "--sets '|' for cells such as cat|dog."
            )
        if self.sets is not None and self.ends:
            raise CommandError(
                "Candidates (--sets) are classes, and ends (--low, --high) are of "
                "numbers. Leave out one of them."
            )
        wrong = ("numbers", "ordered") if self.sets else ("classes", "ordered")
        if self.is_weak and self.task in wrong:
            raise CommandError(
                f"Candidates (--sets) are classes without an order, and ends (--low, "
                f"--high) are of numbers, but the task is {self.task!r}. Leave it out."
            )
        if self.low is not None and self.low == self.high:
            raise CommandError(
                f"{self.low!r} is named as low and as high. Name two columns, or one "
                f"of them alone if the other end is open."
            )
        if self.target in self.ends:
            raise CommandError(
                f"{self.target!r} is the target and an end of it too. Name another "
                f"target: a new column if none holds numbers that are known."
            )


def as_marks(unlabeled: str | Iterable[str] | None) -> tuple[str, ...]:
    """Texts, of one or several, as a tuple.

    Examples
    --------
    >>> as_marks("?"), as_marks(None), as_marks(["?", "todo"])
    (('?',), (), ('?', 'todo'))
    """
    if unlabeled is None:
        return ()
    return (unlabeled,) if isinstance(unlabeled, str) else tuple(unlabeled)
