"""The settings of a run, which repeat it with the same table, and its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, cast

from halfmoon.table._table_errors import CommandError

__all__ = ["Settings", "Stages", "Task", "as_tuple"]

Task = Literal["classes", "numbers", "ordered"]


@dataclass(frozen=True)
class Settings:
    """How to fill the blank labels of a column.

    Where several names or texts are possible, one may be given alone. Numbers stand for
    their texts: ``unlabeled=-1``, or ``features=[0, 1]`` for columns without names.

    Parameters
    ----------
    target : str
        The column with labels and blanks.
    features : tuple of str
        Columns to learn from; empty for all but the target. A name may be a pattern,
        such as ``"bill_*"``.
    exclude : tuple of str
        Columns not to learn from.
    known : tuple of str
        Columns with a straight-line effect, which is not penalized.
    unlabeled : tuple of str
        Further texts that count as blank. If one of them is empty, the usual words for
        a blank (NA, None, null) are labels.
    task : {"classes", "numbers", "ordered"} or None
        What the labels are; ordered classes are the steps of a scale. None finds out
        whether they are classes or numbers.
    order : tuple of str
        The classes from low to high. Implies the task "ordered".
    merge_labels : bool
        Treat spellings of one class, such as Yes and yes, as one class.
    sets : str or None
        Separator between candidates in a cell, such as "|" in "cat|dog". None if
        each cell holds one label.
    low, high : str or None
        Columns with the ends of numbers that are not known exactly. With them, the
        target may be a new column.
    level : float
        Share of the true numbers that the predicted intervals should contain.
    budget : float
        Seconds to search for a model.
    memory : str
        Memory limit of the whole process; in `fill_table` and `halfmoon.fill`, of what
        the run adds to it.
    seed : int
        Random seed.
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
        for name in ("features", "exclude", "known", "unlabeled", "order"):
            object.__setattr__(self, name, as_tuple(getattr(self, name)))
        for name, value in (("low", self.low), ("high", self.high)):
            object.__setattr__(self, name, None if value is None else str(value))
        if self.order and self.task is None:
            object.__setattr__(self, "task", "ordered")
        if self.order and self.task != "ordered":
            raise CommandError(
                f"An order of the classes needs `task='ordered'`, but the task is "
                f"{self.task!r}. Leave out one of them."
            )
        self._check_values()
        self._check_weak()

    @property
    def ends(self) -> tuple[str, ...]:
        """The columns with ends of numbers."""
        return tuple(name for name in (self.low, self.high) if name is not None)

    @property
    def is_weak(self) -> bool:
        """Whether labels may be partial: sets of candidates, or intervals."""
        return self.sets is not None or bool(self.ends)

    def _check_values(self) -> None:
        if self.task not in (None, "classes", "numbers", "ordered"):
            raise CommandError(
                f"task is {self.task!r}, but must be 'classes', 'numbers' or "
                f"'ordered', or None to find out."
            )
        if not (isinstance(self.level, Real) and 0 < self.level < 1):
            raise CommandError(
                f"level is {self.level!r}, but must be between 0 and 1, e.g. 0.9."
            )
        if not (isinstance(self.budget, Real) and 0 < self.budget < float("inf")):
            raise CommandError(
                f"budget is {self.budget!r}, but must be a positive number of seconds."
            )
        if not (isinstance(self.seed, Integral) and self.seed >= 0):
            raise CommandError(
                f"seed is {self.seed!r}, but must be a whole number of at least 0."
            )

    def _check_weak(self) -> None:
        if not isinstance(self.sets, str | None):
            raise CommandError(
                f"sets is {self.sets!r}, but must be the text between candidates, such "
                f"as '|' for cells such as cat|dog."
            )
        if self.sets is not None and not self.sets.strip():
            raise CommandError(
                "The separator of candidates is blank. Name it, e.g. `sets='|'` for "
                "cells such as cat|dog."
            )
        kinds: set[str] = {self.task} if self.task else set()
        kinds |= {"classes"} if self.sets is not None else set()
        kinds |= {"numbers"} if self.ends else set()
        if self.is_weak and len(kinds) > 1:
            raise CommandError(
                f"Candidates (`sets`) are classes without an order, and ends (`low`, "
                f"`high`) are numbers, but these settings ask for "
                f"{' and '.join(sorted(kinds))}. Leave out one of them."
            )
        if self.low is not None and self.low == self.high:
            raise CommandError(
                f"{self.low!r} is named as low and as high. Name two columns, or only "
                f"one if the other end is open."
            )
        if self.target in self.ends:
            raise CommandError(
                f"{self.target!r} is the target and one of its ends. Name another "
                f"target; it may be a new column."
            )


def as_tuple(texts: object) -> tuple[str, ...]:
    """Return one or several texts, or numbers as texts, as a tuple.

    Examples
    --------
    >>> as_tuple("?"), as_tuple(None), as_tuple(["?", "todo"]), as_tuple(-1)
    (('?',), (), ('?', 'todo'), ('-1',))
    """
    if texts is None:
        return ()
    one = isinstance(texts, str) or not isinstance(texts, Iterable)
    return (str(texts),) if one else tuple(map(str, cast(Iterable[object], texts)))


class Stages:
    """Shows the progress of a run; this one shows nothing."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage; return a function to call with the work done and in all."""
        return lambda done, in_all: None

    def say(self, text: str) -> None:
        """Show a line of text."""
