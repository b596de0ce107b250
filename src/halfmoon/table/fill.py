"""Fill the blank labels of a table: read it, learn from it, read it again and write.

Memory does not grow with the table. The first pass keeps the labeled rows and a sample
of the others, from which the model is learned; the second predicts batch by batch and
writes every row as it was, with what is new.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.allowance import Allowance
from halfmoon.table.blanks import Blanks
from halfmoon.table.cells import column_types
from halfmoon.table.earlier_runs import added_by, earlier_runs, guess_notes
from halfmoon.table.errors import ModelError
from halfmoon.table.files import Table, new_table
from halfmoon.table.files.arrow_types import refuse_target_type
from halfmoon.table.forecast import Forecast
from halfmoon.table.given_labels import GivenLabels
from halfmoon.table.label_checks import CheckedLabels, checked_labels, mark_notes
from halfmoon.table.model import TableModel
from halfmoon.table.row_keys import value_keys
from halfmoon.table.scan import Scan, scan
from halfmoon.table.scored_rows import ScoredRows
from halfmoon.table.second_pass import Job, write_filled
from halfmoon.table.selection import (
    added_columns,
    chosen_features,
    existing,
    known_columns,
    listed,
    refuse_taken,
)
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Silent, Stages
from halfmoon.table.tally import Tally
from halfmoon.table.unseen import Unseen
from halfmoon.table.weak_given import GivenIntervals, GivenSets
from halfmoon.table.weak_labels import checked_ends, checked_sets
from halfmoon.table.weak_model import WeakTableModel

__all__ = ["Filled", "Stages", "fill_table", "fill_targets", "learn", "predict_table"]


@dataclass(repr=False)
class Filled:
    """What came of filling a table.

    Attributes
    ----------
    model : TableModel
    scan : Scan or None
        The first pass; None where there was none, because the model was there.
    tally : Tally
        The second.
    escaped : int
        Cells that a spreadsheet would have taken for formulas.
    sha256 : str
        Of the table.
    seconds : float
    notes : tuple of Note
        Of how the file was read.
    scored : ScoredRows or None
        Rows with a known label beside their predictions, where the model was there.
    """

    model: TableModel
    scan: Scan | None
    tally: Tally
    escaped: int
    sha256: str
    seconds: float
    notes: tuple[Note, ...] = ()
    scored: ScoredRows | None = None

    def __repr__(self) -> str:
        filled = f"{self.tally.n:,} cells of {self.model.target!r} filled"
        given = "" if self.scan is None else f" from {self.scan.n_labeled:,} labels"
        return f"Filled({filled}{given} in {self.seconds:.1f} s)"


def fill_table(
    table: Table,
    destination: Any,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Learn from the labels of a table and write it with its blanks filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    destination : path, binary stream or FrameWriter
        Where the filled table goes; it appears there when it is whole.
    settings : Settings
    overwrite : bool
        Replace a file that is there.
    formulas : "escape" or "keep"
        What to do with labels that a spreadsheet would take for formulas.
    stages : Stages or None
        Told how far it has come.
    """
    (filled,) = fill_targets(
        table,
        destination,
        [settings],
        overwrite=overwrite,
        formulas=formulas,
        stages=stages,
    )
    return filled


def fill_targets(
    table: Table,
    destination: Any,
    several: Sequence[Settings],
    *,
    typed: Mapping[str, Mapping[int, str]] | None = None,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> list[Filled]:
    """Fill several targets of a table, none of them learning from another.

    Parameters
    ----------
    table, destination, overwrite, formulas, stages
        Of `fill_table`.
    several : sequence of Settings
        One for each target.
    typed : mapping of str to mapping of int to str, or None
        Of each target, labels that stand in no cell, by the number of the row, from 0.

    Returns
    -------
    list of Filled
        One for each target; escaped cells are counted in the first.
    """
    start, stages = time.monotonic(), stages or Silent()
    targets = [settings.target for settings in several]
    runs = earlier_runs(table)
    types: dict[str, Any] = {}  # known when the models are
    jobs, scans = [], []
    with new_table(
        destination, like=table, overwrite=overwrite, formulas=formulas, types=types
    ) as out:
        for name in (n for n in targets if n in table.columns):
            refuse_target_type(name, table.schema.field(name).type)
        for settings in several:
            labels = (typed or {}).get(settings.target, {})
            given = given_labels(table, settings, runs, labels)
            model, found = learn(table, settings, stages, runs, given, targets)
            types |= column_types(model, table.schema)
            model.unread_.clear()  # from now on of the rows that are filled in
            skip = [row.number for row in found.totals]
            earlier = runs.get(settings.target, ())
            jobs.append(Job(model, given.again(), skip, earlier))
            scans.append(found)
        forecast = Forecast.of([job.model for job in jobs], scans[0])
        forecast.tell(stages.say)
        write_filled(table, out, jobs, stages.stage("Filling in"))
    seconds, sha256 = time.monotonic() - start, _sha256(table)
    notes = (*table.notes, *forecast.notes())
    return [
        Filled(job.model, found, job.tally, escaped, sha256, seconds, notes)
        for job, found, escaped in zip(
            jobs, scans, [out.escaped, *[0] * (len(jobs) - 1)], strict=True
        )
    ]


def predict_table(
    table: Table,
    destination: Any,
    model: TableModel,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Write a table with what a model says of its rows; as `fill_table`.

    Labels that are given stay, and are compared with what the model says of them.
    """
    start, stages = time.monotonic(), stages or Silent()
    runs = earlier_runs(table)
    earlier = runs.get(model.target, ())
    refuse_taken(set(table.columns) - set(earlier), model.added)
    missing = [u.name for u in model.table_.used if u.name not in table.columns]
    if missing:
        raise ModelError(
            f"The table has no column {missing[0]!r}, which the model learned from; it "
            f"needs {listed([use.name for use in model.table_.used])} and the table "
            f"has {listed(table.columns)}."
        )
    given = None
    ends = getattr(model, "ends", ())
    if {model.target, *ends} & set(table.columns):
        asked = model.record_["settings"]
        settings = Settings(
            model.target,
            unlabeled=asked["unlabeled"],
            sets=asked.get("sets"),
            **{
                end: asked.get(end)
                for end in ("low", "high")
                if asked.get(end) in table.columns
            },
        )
        given = given_labels(table, settings, runs)
    scored, unseen = ScoredRows(model), Unseen(model)
    job = Job(model, given, earlier=earlier, scored=scored, unseen=unseen)
    with new_table(
        destination,
        like=table,
        overwrite=overwrite,
        formulas=formulas,
        types=column_types(model, table.schema),
    ) as out:
        write_filled(table, out, [job], stages.stage("Predicting"))
    seconds = time.monotonic() - start
    notes = (*table.notes, *(given.notes() if given else ()), *unseen.notes())
    sha256 = _sha256(table)
    return Filled(model, None, job.tally, out.escaped, sha256, seconds, notes, scored)


MOST_WEAK = 2_000  # labels known in part that are learned from: time goes with l^3


def given_labels(
    table: Table,
    settings: Settings,
    runs: Mapping[str, tuple[str, ...]],
    typed: Mapping[int, str] | None = None,
) -> GivenLabels:
    """The labels of a target: its cells, without what an earlier run predicted."""
    source = runs[settings.target][0] if settings.target in runs else None
    common: dict[str, Any] = {
        "target": settings.target,
        "blanks": Blanks(settings.unlabeled),
        "source": source,
        "typed": typed or {},
        "first_row": table.first_row,
    }
    if settings.sets is not None:
        kept = f"{settings.target}_candidates"
        kept_here = kept if kept in runs.get(settings.target, ()) else None
        return GivenSets(**common, separator=settings.sets, kept=kept_here)
    if settings.ends:
        return GivenIntervals(**common, low=settings.low, high=settings.high)
    return GivenLabels(**common)


def learn(
    table: Table,
    settings: Settings,
    stages: Stages,
    runs: Mapping[str, tuple[str, ...]] | None = None,
    given: GivenLabels | None = None,
    targets: Sequence[str] = (),
) -> tuple[TableModel, Scan]:
    """The first pass, and the model that is learned from what it kept.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    settings : Settings
    stages : Stages
    runs : mapping or None
        Of `earlier_runs`; None is to look.
    given : GivenLabels or None
        The labels; None are those in the cells.
    targets : sequence of str
        All that are filled in this run.
    """
    runs = earlier_runs(table) if runs is None else runs
    given = given_labels(table, settings, runs) if given is None else given
    features, guessed = features_of(table, settings, runs, targets)
    allowance = Allowance.within(settings.memory)
    found = scan(
        table,
        given,
        features,
        most_bytes=allowance.rows,
        seed=settings.seed,
        most_labeled=MOST_WEAK if settings.is_weak else None,
        progress=stages.stage("Reading"),
    )
    left = set() if settings.features else guessed - set(features)
    guesses = guess_notes([name for name in table.columns if name in left])
    new = _new_column(settings.target, table.columns)
    found = replace(found, notes=(*new, *given.notes(), *found.notes))
    known = [n for n in known_columns(table.columns, settings) if n in features]
    model, found = learn_from(found, settings, allowance, stages, known)
    return model, replace(found, notes=(*found.notes, *guesses))


def features_of(
    table: Table,
    settings: Settings,
    runs: Mapping[str, tuple[str, ...]],
    targets: Sequence[str] = (),
) -> tuple[list[str], set[str]]:
    """Columns to learn from, and those that hold guesses; or an error.

    Parameters
    ----------
    table, settings, runs, targets
        Of `learn`.
    """
    if not settings.ends:  # with ends the target may be new
        existing(settings.target, table.columns, "target")
    guessed = {*targets, *runs} - {settings.target}
    features = chosen_features(table.columns, settings, added_by(runs), guessed)
    own = set(table.columns) - added_by(runs)
    for task in _tasks(settings):
        refuse_taken(
            own, added_columns(settings.target, task, settings.sets, settings.ends)
        )
    return list(features), guessed


def learn_from(
    found: Scan,
    settings: Settings,
    allowance: Allowance,
    stages: Stages,
    known: Sequence[str] = (),
) -> tuple[TableModel, Scan]:
    """The model that is learned from what a first pass kept.

    Parameters
    ----------
    found : Scan
        With the columns to learn from, and no others.
    settings : Settings
    allowance : Allowance
    stages : Stages
    known : sequence of str
        Columns that no penalty touches.

    Returns
    -------
    model : TableModel
    found : Scan
        With the labels as they were learned.
    """
    checked = _checked(found, settings)
    unmatched = mark_notes(settings.target, found.blanks, found.labels)
    stays = [
        before is None or after is not None
        for before, after in zip(found.labels, checked.labels, strict=True)
    ]
    found = replace(
        found,
        rows=found.rows.filter(pa.array(stays)),
        labels=[x for x, stay in zip(checked.labels, stays, strict=True) if stay],
        numbers=found.numbers[stays],
        n_labeled=found.n_labeled - checked.n_ignored,
        n_ignored=found.n_ignored + checked.n_ignored,
        notes=(*found.notes, *unmatched, *checked.notes),
    )
    features = found.rows.column_names
    options: dict[str, Any] = {
        "target": settings.target,
        "kind": checked.kind,
        "known": known,
        "keep": features if settings.features else (),
        "budget": settings.budget,
        "memory_limit": allowance.learning,
        "random_state": settings.seed,
        "level": settings.level,
        "order": checked.order,
        "style": checked.style,
    }
    model = TableModel(**options)
    if settings.is_weak:
        model = WeakTableModel(**options, sets=settings.sets, ends=settings.ends)
    learning = stages.stage("Learning")
    model.fit(
        found.rows,
        found.labels,
        progress=lambda share, what: learning(share, 1.0),
        positions=found.numbers,
    )
    labeled = found.rows.filter(pa.array([x is not None for x in found.labels]))
    model.learned_keys_ = value_keys(labeled, model.table_)
    return model, found


def _new_column(target: str, columns: Sequence[str]) -> list[Note]:
    if target in columns:
        return []
    return [Note(f"The table had no column {target!r}; it was added.")]


def _tasks(settings: Settings) -> tuple[str, ...]:
    """What the labels may turn out to be."""
    if settings.is_weak:
        return ("numbers",) if settings.ends else ("classes",)
    return ("classes", "numbers") if settings.task is None else (settings.task,)


def _checked(found: Scan, settings: Settings) -> CheckedLabels:
    if settings.sets is not None:
        return checked_sets(found.labels, settings)
    if settings.ends:
        numbers = (found.numbers + found.first_row).tolist()
        return checked_ends(found.labels, settings, numbers)
    return checked_labels(found.labels, settings)


def _sha256(table: Table) -> str:
    with table.source.open() as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
