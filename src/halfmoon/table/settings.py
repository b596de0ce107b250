"""What is asked for: everything that a run needs to be repeated, beside the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Settings", "Task"]

Task = Literal["classes", "numbers"]


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
    unlabeled : str or None
        A further text that counts as blank; with it, only empty cells do beside.
    task : {"classes", "numbers"} or None
        What the labels are; None is to find out.
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
    unlabeled: str | None = None
    task: Task | None = None
    level: float = 0.9
    budget: float = 60.0
    memory: str = "1GB"
    seed: int = 0
