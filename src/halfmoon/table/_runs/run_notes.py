"""Notes on a run: what the user should know, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from halfmoon._notes import Note
from halfmoon._number_format import count, listed
from halfmoon._selection.supervised_families import LABELS_PER_FEATURE
from halfmoon.table._columns.column_kinds import Columns, ColumnUse
from halfmoon.table._columns.column_names import quoted
from halfmoon.table._columns.column_vectors import unpenalized_outputs
from halfmoon.table._columns.leaking_columns import WHY, LeakingColumns
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._models.weak_table_model import ENOUGH, WeakTableModel
from halfmoon.table._parameter_text import argument
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._runs.second_pass import Filled

__all__ = [
    "clumped_note",
    "common_notes",
    "leaking_columns",
    "learning_notes",
    "order_note",
]

MAX_NOTE_COLUMNS = 5  # columns named in one note
MAX_LEFT_OUT_NOTES = 5
MAX_ARGUMENTS = 12  # columns in a command


def learning_notes(
    model: TableModel, scan: Scan, leaks: LeakingColumns
) -> Iterator[Note]:
    """Note what was and was not learned from; `leaks` are of `leaking_columns`."""
    yield from scan.notes
    if scan.learned_labels < scan.n_labeled:
        weak = isinstance(model, WeakTableModel)
        yield Note(
            f"Learned from {scan.learned_labels:,} of the {scan.n_labeled:,} labels, "
            f"drawn at random.",
            "" if weak else "To learn from more, allow more memory with `memory`.",
        )
    if scan.learned_unlabeled < scan.n_blank:
        yield Note(
            f"Of the {scan.n_blank:,} unlabeled rows, learning saw "
            f"{scan.learned_unlabeled:,}, drawn at random; all of them are filled."
        )
    if isinstance(model, WeakTableModel):
        yield from weak_notes(model)
    free = len(unpenalized_outputs(model.columns_.uses, model.encoder_))
    if LABELS_PER_FEATURE * free > scan.learned_labels:
        known = ", ".join(map(repr, model.known))
        yield Note(
            f"The effects of the known columns ({known}: {count(free, 'number')}) are "
            f"measured with only {count(scan.learned_labels, 'label')}; this often "
            f"makes predictions worse.",
            "Name only columns with a straight-line effect as known, or none.",
            important=True,
        )
    yield from code_notes(model.columns_.used)
    yield from leak_notes(model, leaks)
    yield from choice_notes(model)
    chosen = model.choice_.left_out if model.choice_ else ()
    left_out = [
        use
        for use in model.columns_.uses
        if use.role == "left out" and use.why not in WHY and use.name not in chosen
    ]
    groups: dict[tuple[str, str], list[str]] = {}
    for use in left_out:
        why = use.why or use.kind
        only = use.name if why.startswith("it") else ""  # "it" is a single column
        groups.setdefault((why, only), []).append(use.name)
    named = list(groups.items())[:MAX_LEFT_OUT_NOTES]
    kinds = {use.name: use.kind for use in left_out}
    for (why, _), names in named:
        verb = "was" if len(names) == 1 else "were"
        keep = "To use it anyway, name it and the other columns in `features`."
        yield Note(
            f"{quoted(names)} {verb} not learned from: {why}.",
            keep if kinds[names[0]] == "identifier" else "",
        )
    rest = len(left_out) - sum(len(names) for _, names in named)
    if rest:
        more = count(rest, "more column was", "more columns were")
        yield Note(f"{more} not learned from.")


def code_notes(uses: Sequence[ColumnUse]) -> Iterator[Note]:
    """Note numbers such as -999 that stand for a missing value."""
    for use in uses:
        if use.codes:
            yield Note(
                f"{use.coded} in {use.name!r} {'is' if len(use.codes) == 1 else 'are'} "
                f"far from all other {use.kind}s there and counted as missing.",
                important=True,
            )


def weak_notes(model: WeakTableModel) -> Iterator[Note]:
    """Note how the intervals of numbers with ends were measured."""
    if model.intervals_ is None:
        return
    low, high = (repr(name) for name in model.added[1:])
    if not model.has_intervals:
        yield Note(
            f"{low} and {high} are empty: the error of predictions cannot be measured, "
            f"because fewer than two rows have a number or both ends.",
            "Give some rows an exact number, or both ends.",
            important=True,
        )
    elif not model.by_exact:
        yield Note(
            f"{low} and {high} are wide: few numbers are exact, so each error counts "
            f"as large as the ends of its row allow.",
            f"Give at least {ENOUGH} rows an exact number.",
        )


def leaking_columns(model: TableModel, scan: Scan) -> LeakingColumns:
    """Compare the used columns on labeled and on unlabeled rows."""
    # A copy, because reading counts unreadable cells.
    columns = Columns(model.columns_.used)
    return LeakingColumns.of(columns.read(scan.rows), columns.used, scan.labels)


def leak_notes(model: TableModel, found: LeakingColumns) -> Iterator[Note]:
    """Note columns that differ between labeled and unlabeled rows."""
    for use in model.columns_.uses:
        if use.role == "left out" and use.why in WHY:
            others = (
                c for c in model.columns_.uses if c.role != "left out" or c is use
            )
            yield Note(
                f"{use.name!r} was not learned from: {use.why}.",
                "To use it anyway, name it in `features`.",
                _command("features", [each.name for each in others]),
                important=True,
            )
    for name, why in found.left_out.items():
        yield Note(f"{name!r} was learned from because it was named, though {why}.")
    for name in found.copies:
        fix = argument("exclude", [name])
        yield Note(
            f"{name!r} is a copy of {model.target!r} on the labeled rows.",
            f"If it was made from the labels, leave it out: `{fix}`.",
            fix,
            important=True,
        )
    if found.shifted:
        names = ", ".join(map(repr, found.shifted[:MAX_NOTE_COLUMNS]))
        more = len(found.shifted) - MAX_NOTE_COLUMNS
        names += f" and {count(more, 'more column')}" if more > 0 else ""
        yield Note(
            f"Labeled and unlabeled rows differ a lot in {names}. Predictions may be "
            f"worse than the labels suggest.",
            "Label some rows whose values there are like those of the unlabeled rows.",
        )


def clumped_note(measured: bool) -> Note:
    """Note that labels were given to groups of similar rows."""
    so = (
        "So the quality was measured with the labels of similar rows hidden together."
        if measured
        else "Predictions may be worse than the labels suggest."
    )
    return Note(
        f"Labeled rows are much closer to each other than the blank rows are to them, "
        f"as if all rows of some people, places or days were labeled. {so}",
        "Label some of the other rows, drawn at random.",
        important=True,
    )


def order_note() -> Note:
    """Note that labels of a sorted table leave out most of it."""
    return Note(
        "Labels change with the row number, as in a table that is sorted or grows over "
        "time, and most blank rows come before the first or after the last labeled "
        "row. Their true values may lie beyond all labels.",
        "Label some rows from all over the table.",
        important=True,
    )


def choice_notes(model: TableModel) -> Iterator[Note]:
    """Note columns that make predictions worse, or may do so."""
    choice, doubtful = model.choice_, model.doubtful_
    if choice is not None:
        verb = "was" if len(choice.left_out) == 1 else "were"
        yield Note(
            f"{quoted(choice.left_out)} {verb} left out: {choice.gain(model.kind)}. "
            f"Columns that you name as features are never left out like this."
        )
    if doubtful and (model.kind == "numbers" or model.estimator_.loo_score_ < 1.0):
        yield Note(
            f"Predictions may be better without {quoted(doubtful)}: in "
            f"cross-validation the error is lower, but this could be chance.",
            f"Try to leave {'them' if len(doubtful) > 1 else 'it'} out.",
            _command("exclude", doubtful),
        )


def _command(parameter: str, names: Sequence[str]) -> str:
    """Return an argument for a command; empty if it would be too long."""
    return "" if len(names) > MAX_ARGUMENTS else argument(parameter, names)


def common_notes(filled: Filled, learned: bool = False) -> Iterator[Note]:
    """Note what was read and written; `learned` if the model is from this table."""
    yield from filled.notes
    strays = {use.name: use.stray for use in filled.model.columns_.uses if learned}
    found = []
    for name, n in filled.model.columns_.unread.items():
        like = f" (such as {strays[name]!r})" if strays.get(name) else ""
        found += [f"{n:,} in {name!r}{like}"] if n else []
    if found:
        more = len(found) - MAX_NOTE_COLUMNS
        found[MAX_NOTE_COLUMNS:] = [f"others in {count(more, 'column')}"] * (more > 0)
        yield Note(
            f"Cells of predicted rows that could not be read like the rest of their "
            f"column counted as missing: {listed(found)}."
        )
    if filled.escaped:
        yield Note(
            f"{count(filled.escaped, 'cell')} that a spreadsheet would take for a "
            f"formula got an apostrophe in front.",
            "To leave the apostrophe out, use `formulas='keep'`.",
        )
