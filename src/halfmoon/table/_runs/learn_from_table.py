"""Learn from a table: the first pass, and the model of the rows that it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import compress
from typing import Any

import pyarrow as pa

from halfmoon._notes import Note
from halfmoon.table._columns.column_names import (
    added_by,
    added_columns,
    chosen_features,
    earlier_runs,
    guess_notes,
    known_columns,
    refuse_taken,
)
from halfmoon.table._files import Table
from halfmoon.table._labels.given_labels import Blanks, GivenLabels
from halfmoon.table._labels.label_checks import (
    CheckedLabels,
    checked_labels,
    filled_word_notes,
    mark_notes,
)
from halfmoon.table._labels.weak_labels import (
    GivenIntervals,
    GivenSets,
    checked_ends,
    checked_sets,
)
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._models.weak_table_model import WeakTableModel
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.first_pass import Scan, scan
from halfmoon.table._runs.run_costs import MemoryBudget
from halfmoon.table._runs.running_counts import value_keys

__all__ = ["features_of", "given_labels", "learn", "learn_from", "settings_of"]

MAX_WEAK_LABELS = 2_000  # partial labels to learn from: time grows with l^3


def given_labels(
    table: Table,
    settings: Settings,
    runs: Mapping[str, tuple[str, ...]],
    typed: Mapping[int, str] | None = None,
) -> GivenLabels:
    """Return the reader of a target's labels; `runs` are those of `earlier_runs`.

    `typed` are labels that are not in the table itself, by the number of their row.
    """
    common: dict[str, Any] = {
        "target": settings.target,
        "blanks": Blanks(settings.unlabeled),
        "earlier": runs.get(settings.target, ()),
        "typed": typed or {},
        "first_row": table.first_row,
    }
    if settings.sets is not None:
        return GivenSets(**common, separator=settings.sets)
    if settings.ends:
        return GivenIntervals(**common, low=settings.low, high=settings.high)
    return GivenLabels(**common)


def settings_of(model: TableModel, columns: Sequence[str]) -> Settings | None:
    """Return how the labels of a table are read, by the record of a model.

    Returns None if the columns of the table hold no labels.
    """
    ends = getattr(model, "ends", ())
    if not {model.target, *ends} & set(columns):
        return None
    recorded = model.record_.get("settings", {})
    found = {end: recorded.get(end) for end in ("low", "high")}
    return Settings(
        model.target,
        unlabeled=recorded.get("unlabeled", ()),
        sets=recorded.get("sets"),
        **{end: name for end, name in found.items() if name in columns},
    )


def learn(
    table: Table,
    settings: Settings,
    stages: Stages,
    *,
    runs: Mapping[str, tuple[str, ...]] | None = None,
    typed: Mapping[int, str] | None = None,
    targets: Sequence[str] = (),
    fitted: TableModel | None = None,
) -> tuple[TableModel, Scan]:
    """Make the first pass over a table, and fit a model to the rows that it kept.

    `runs` and `typed` are those of `given_labels`, `targets` all targets of this run. A
    model that was already `fitted` to this table is not fitted again.
    """
    runs = earlier_runs(table) if runs is None else runs
    given = given_labels(table, settings, runs, typed)
    features, guessed = features_of(table, settings, runs, targets)
    budget = MemoryBudget.within(settings.memory)
    found = scan(
        table,
        given,
        features,
        max_bytes=budget.rows,
        seed=settings.seed,
        max_labeled=MAX_WEAK_LABELS if settings.is_weak else None,
        progress=stages.stage("Reading"),
    )
    notes = [*given.notes(), *found.notes]
    if settings.target not in table.columns:
        new = Note(f"The table had no column {settings.target!r}; it was added.")
        notes.insert(0, new)
    known = [n for n in known_columns(table.columns, settings) if n in features]
    model, found = learn_from(
        replace(found, notes=tuple(notes)), settings, budget, stages, known, fitted
    )
    left_out = set() if settings.features else guessed - set(features)
    guesses = guess_notes([name for name in table.columns if name in left_out])
    return model, replace(found, notes=(*found.notes, *guesses))


def features_of(
    table: Table,
    settings: Settings,
    runs: Mapping[str, tuple[str, ...]],
    targets: Sequence[str] = (),
) -> tuple[list[str], set[str]]:
    """Return the columns to learn from, and those with predictions; see `learn`."""
    guessed = {*targets, *runs} - {settings.target}
    added = added_by(runs)
    features = chosen_features(table.columns, settings, added, guessed)
    kinds = ["classes", "numbers"] if settings.task is None else [settings.task]
    if settings.is_weak:
        kinds = ["numbers" if settings.ends else "classes"]
    for kind in kinds:
        new = added_columns(settings.target, kind, settings.sets, settings.ends)
        refuse_taken(set(table.columns) - added, new)
    return list(features), guessed


def learn_from(
    found: Scan,
    settings: Settings,
    budget: MemoryBudget,
    stages: Stages,
    known: Sequence[str] = (),
    fitted: TableModel | None = None,
) -> tuple[TableModel, Scan]:
    """Fit a model to the rows that a first pass kept.

    `found` holds the columns to learn from, and no others. The effects of `known`
    columns are not penalized. `fitted` is that of `learn`. The returned scan holds the
    labels that were learned from.
    """
    checked = _checked(found, settings)
    blanks = found.given.blanks
    unmatched = mark_notes(settings.target, blanks, found.labels)
    filled = filled_word_notes(settings.target, blanks, checked.kind)
    kept = [
        before is None or after is not None or checked.n_empty > 0
        for before, after in zip(found.labels, checked.labels, strict=True)
    ]
    found = replace(
        found,
        rows=found.rows.filter(pa.array(kept)),
        labels=list(compress(checked.labels, kept)),
        numbers=found.numbers[kept],
        n_labeled=found.n_labeled - checked.n_ignored - checked.n_empty,
        n_ignored=found.n_ignored + checked.n_ignored,
        notes=(*found.notes, *unmatched, *filled, *checked.notes),
    )
    if fitted is not None:
        return fitted, found
    options: dict[str, Any] = {
        "target": settings.target,
        "kind": checked.kind,
        "known": known,
        "keep": found.rows.column_names if settings.features else (),
        "budget": settings.budget,
        "memory_limit": budget.learning,
        "random_state": settings.seed,
        "level": settings.level,
        "order": checked.order,
        "style": checked.style,
    }
    model = (
        WeakTableModel(**options, sets=settings.sets, ends=settings.ends)
        if settings.is_weak
        else TableModel(**options)
    )
    learning = stages.stage("Learning")
    model.fit(
        found.rows,
        found.labels,
        progress=lambda share, what: learning(share, 1.0),
        positions=found.numbers,
    )
    labeled = found.rows.filter(pa.array([x is not None for x in found.labels]))
    model.learned_keys_ = value_keys(labeled, model.columns_)
    model.record_ = {"settings": asdict(settings)}
    return model, found


def _checked(found: Scan, settings: Settings) -> CheckedLabels:
    """Return the labels to learn from, which may be partial."""
    if settings.sets is not None:
        return checked_sets(found.labels, settings)
    if settings.ends:
        numbers = (found.numbers + found.first_row).tolist()
        return checked_ends(found.labels, settings, numbers)
    return checked_labels(found.labels, settings)
