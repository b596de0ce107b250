"""Runs the cells that have no result yet, with a bar and the time that is left."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.data import DataNotFound, find
from experiments.experiment import Experiment, Run, Size
from experiments.store import COMMITTED, Store, key

__all__ = ["Outcome", "missing_data", "run_all"]

#: Guessed for a cell that nobody has run yet.
UNKNOWN_SECONDS = 10.0


@dataclass(frozen=True)
class Outcome:
    """How a run of several experiments ended."""

    done: int
    skipped: dict[str, str]  # experiment -> what is missing
    failed: dict[str, str]  # experiment -> the last traceback


def missing_data(experiment: Experiment) -> str | None:
    """What to say where a data set of the experiment is not here; None if all are."""
    for name in experiment.data:
        try:
            find(name)
        except DataNotFound as error:
            return str(error)
    return None


def run_all(
    experiments: Sequence[Experiment], size: Size, store: Store, fresh: bool = False
) -> Outcome:
    """Run what is not in the store yet, keeping each result at once.

    An experiment whose data is missing is skipped, and one in which a cell fails goes
    on with the next cell; both are told at the end.
    """
    skipped: dict[str, str] = {}
    failed: dict[str, str] = {}
    work = []
    for experiment in experiments:
        if experiment.runs_of is not None:
            continue
        missing = missing_data(experiment)
        if missing is not None:
            skipped[experiment.name] = missing
            continue
        kept = store.read(experiment.name)
        cells = {key(cell): cell for cell in experiment.cells(size)}
        todo = {at: cell for at, cell in cells.items() if fresh or at not in kept}
        work.append((experiment, cells, kept, todo))
    guess = _Guess([(e.name, list(todo)) for e, _, _, todo in work])
    done = 0
    with _bar(guess) as step:
        for experiment, cells, kept, todo in work:
            for at, cell in todo.items():
                step(f"{experiment.name} {_short(cell)}")
                start = time.perf_counter()
                try:
                    result = experiment.run(**cell)
                except Exception:  # told at the end; other cells go on
                    failed[experiment.name] = traceback.format_exc()
                    continue
                seconds = round(time.perf_counter() - start, 2)
                kept[at] = Run(cell, result, seconds)
                guess.learn(experiment.name, at, seconds)
                # In the order of the cells, then those of other sizes.
                ordered = {c: kept[c] for c in cells if c in kept}
                store.write(experiment.name, ordered | kept)
                done += 1
    return Outcome(done, skipped, failed)


class _Guess:
    """Seconds that are left, by what the same cells took before."""

    def __init__(self, work: list[tuple[str, list[str]]]) -> None:
        before = Store(COMMITTED)
        self._before = {
            name: {at: run.seconds for at, run in before.read(name).items()}
            for name, _ in work
        }
        self._left = {name: list(keys) for name, keys in work}
        self._seen: dict[str, list[float]] = {name: [] for name, _ in work}
        self._pace: list[float] = []  # how this machine compares with that run

    def learn(self, name: str, at: str, seconds: float) -> None:
        self._left[name].remove(at)
        self._seen[name].append(seconds)
        before = self._before[name].get(at)
        if before and before > 1:
            self._pace.append(seconds / before)

    def left(self) -> float:
        pace = float(np.median(self._pace)) if self._pace else 1.0
        total = 0.0
        for name, keys in self._left.items():
            seen = self._seen[name]
            mean = float(np.mean(seen)) if seen else UNKNOWN_SECONDS
            for at in keys:
                before = self._before[name].get(at)
                total += mean if before is None else pace * before
        return total


@contextmanager
def _bar(guess: _Guess) -> Iterator[Any]:
    """A bar on the terminal; plain lines where standard output is not one."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console()
    start = time.perf_counter()
    whole = max(guess.left(), 1e-9)
    columns = [
        BarColumn(),
        TextColumn("{task.fields[left]} left"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    ]
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, left="?")

        def step(label: str) -> None:
            left = guess.left()
            elapsed = time.perf_counter() - start
            share = elapsed / (elapsed + left) if elapsed + left else 1.0
            bar.update(task, completed=share, description=label, left=_clock(left))
            if not console.is_terminal:
                print(f"[{_clock(elapsed)}, {_clock(left)} left] {label}", flush=True)

        step(f"about {_clock(whole)} of work")
        yield step
        bar.update(task, completed=1.0, description="done", left=_clock(0))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _short(cell: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in cell.items())[:70]
