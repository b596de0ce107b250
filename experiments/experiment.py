"""What an experiment is: cells to run, how to run one, and what to tell of them.

A cell is a small dict of settings (a split, a number of rows, a kernel) that fully
determines a piece of work: its result does not depend on which cells ran before, so
that a run can stop anywhere and go on. What many settings share (one kernel matrix for
all splits, one eigendecomposition for all alphas) belongs into one cell.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PAPERS", "Experiment", "Run", "Size", "all_experiments"]

PAPERS = ("fredholm", "laplacian", "conditional")


@dataclass(frozen=True)
class Size:
    """How much of an experiment to run: as in the paper, or small."""

    splits: int = 10
    quick: bool = False

    def pick(self, full: Any, quick: Any) -> Any:
        """One of two settings."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Run:
    """A cell, what came out of it, and how long it took."""

    cell: dict[str, Any]
    result: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Attributes
    ----------
    name : str
        Such as "fredholm-table-6"; its first word is the paper.
    title : str
        What it shows, in a line.
    cells : callable
        From a `Size` to the cells.
    run : callable
        From the settings of a cell, as keywords, to a dict that JSON can hold.
    report : callable
        From a list of `Run` to a `Page`.
    data : tuple of str
        Names of the real data sets that it reads.
    setting : str
        What was chosen where the paper is silent; the docstring of the script.
    runs_of : str or None
        The name of another experiment whose runs this one tells of.
    """

    name: str
    title: str
    cells: Callable[[Size], list[dict[str, Any]]]
    run: Callable[..., dict[str, Any]]
    report: Callable[[list[Run]], Any]
    data: tuple[str, ...] = ()
    setting: str = field(default="", repr=False)
    runs_of: str | None = None

    @property
    def paper(self) -> str:
        return self.name.split("-")[0]

    @property
    def source(self) -> str:
        """The experiment whose runs are told of."""
        return self.runs_of or self.name


def all_experiments() -> dict[str, Experiment]:
    """Every experiment by its name, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for paper in PAPERS:
        package = importlib.import_module(f"experiments.{paper}")
        modules = (m.name for m in pkgutil.iter_modules(package.__path__))
        for name in sorted(modules, key=_natural):
            module = importlib.import_module(f"experiments.{paper}.{name}")
            for experiment in _declared(module):
                found[experiment.name] = experiment
    return found


def _declared(module: Any) -> Iterable[Experiment]:
    one = getattr(module, "EXPERIMENT", None)
    return [] if one is None else [one]


def _natural(name: str) -> list[int | str]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
