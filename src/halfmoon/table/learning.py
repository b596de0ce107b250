"""Learn from a table: the first pass, and the model of what it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.allowance import Allowance
from halfmoon.table.blanks import Blanks
from halfmoon.table.earlier_runs import added_by, earlier_runs, guess_notes
from halfmoon.table.files import Table
from halfmoon.table.given_labels import GivenLabels
from halfmoon.table.label_checks import CheckedLabels, checked_labels, mark_notes
from halfmoon.table.model import TableModel
from halfmoon.table.row_keys import value_keys
from halfmoon.table.scan import Scan, scan
from halfmoon.table.selection import (
    added_columns,
    chosen_features,
    existing,
    known_columns,
    refuse_taken,
)
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Stages
from halfmoon.table.weak_given import GivenIntervals, GivenSets
from halfmoon.table.weak_labels import checked_ends, checked_sets
from halfmoon.table.weak_model import WeakTableModel

__all__ = [
    "features_of",
    "given_labels",
    "learn",
    "learn_from",
    "settings_of",
]

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


def settings_of(model: TableModel, columns: Sequence[str]) -> Settings | None:
    """How the labels of a table are to be read; None if it has none.

    Parameters
    ----------
    model : TableModel
        With the settings that it was learned with in its record.
    columns : sequence of str
        Of the table.
    """
    ends = getattr(model, "ends", ())
    if not {model.target, *ends} & set(columns):
        return None
    asked = model.record_["settings"]
    found = {end: asked.get(end) for end in ("low", "high")}
    return Settings(
        model.target,
        unlabeled=asked["unlabeled"],
        sets=asked.get("sets"),
        **{end: name for end, name in found.items() if name in columns},
    )


def learn(
    table: Table,
    settings: Settings,
    stages: Stages,
    runs: Mapping[str, tuple[str, ...]] | None = None,
    given: GivenLabels | None = None,
    targets: Sequence[str] = (),
    fitted: TableModel | None = None,
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
    fitted : TableModel or None
        A model that was learned from this table already, which is not done again.
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
    model, found = learn_from(found, settings, allowance, stages, known, fitted)
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
    fitted: TableModel | None = None,
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
    fitted : TableModel or None
        Of `learn`.

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
    if fitted is not None:
        return fitted, found
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
