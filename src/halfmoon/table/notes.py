"""What the user should know of a run, in plain words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from halfmoon.report.advice import run_again
from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.column_notes import choice_notes
from halfmoon.table.columns import ColumnUse
from halfmoon.table.fill import Filled
from halfmoon.table.giveaways import WHY, Giveaways
from halfmoon.table.in_python import CALL, told_in_python
from halfmoon.table.model import TableModel
from halfmoon.table.reading import as_column
from halfmoon.table.scan import Scan
from halfmoon.table.weak_model import ENOUGH, WeakTableModel

__all__ = [
    "common_notes",
    "giveaway_notes",
    "learning_notes",
    "weak_notes",
    "with_command",
]

SHOWN = 5  # columns that are told of one by one
LISTED = 12  # columns in a command
LABELS_A_FREE_FEATURE = 5  # with fewer, what is not penalized is learned by heart


def learning_notes(filled: Filled) -> Iterator[Note]:
    """Of what was and was not learned from."""
    scan = filled.scan
    if scan is None:
        return
    yield from scan.notes
    if scan.learned_labels < scan.n_labeled:
        weak = isinstance(filled.model, WeakTableModel)
        yield Note(
            f"Learned from {scan.learned_labels:,} of the {scan.n_labeled:,} labels, "
            f"drawn at random.",
            "" if weak else "To learn from more, allow more memory (--memory).",
        )
    if scan.learned_unlabeled < scan.n_blank:
        yield Note(
            f"Learned from {scan.learned_unlabeled:,} of the {scan.n_blank:,} rows "
            f"without a label, drawn at random; all of them are filled."
        )
    if isinstance(filled.model, WeakTableModel):
        yield from weak_notes(filled.model)
    free = filled.model.n_unpenalized_
    if LABELS_A_FREE_FEATURE * free > scan.learned_labels:
        known = ", ".join(repr(name) for name in filled.model.known)
        yield Note(
            f"The effects of the known columns ({known}: {count(free, 'number')}) are "
            f"measured with only {count(scan.learned_labels, 'label')}; this often "
            f"makes predictions worse.",
            "Name only columns with a straight-line effect as known, or none.",
            important=True,
        )
    yield from giveaway_notes(filled.model, scan)
    yield from choice_notes(filled.model)
    choice = filled.model.choice_
    chosen = choice.left_out if choice else ()
    left_out = [
        use
        for use in filled.model.columns_
        if use.role == "left out" and use.why not in WHY and use.name not in chosen
    ]
    for use in left_out[:SHOWN]:
        yield Note(f"{use.name!r} was not learned from: {use.why or use.kind}.")
    if len(left_out) > SHOWN:
        more = count(len(left_out) - SHOWN, "more column was", "more columns were")
        yield Note(f"{more} not learned from.")


def weak_notes(model: WeakTableModel) -> Iterator[Note]:
    """Of what is said of numbers whose ends alone are known."""
    if model.intervals_ is None:
        return
    low, high = (repr(name) for name in model.added[1:])
    if not model.has_intervals:
        yield Note(
            f"{low} and {high} are empty: how far predictions are off cannot be told, "
            f"because fewer than two rows are known on both sides.",
            "Give some rows an exact number, or both ends.",
            important=True,
        )
    elif not model.by_exact:
        yield Note(
            f"{low} and {high} are wide: too few numbers are exact, so that each error "
            f"counts as large as the ends of its row allow.",
            f"Give at least {ENOUGH} rows an exact number.",
        )


def giveaway_notes(model: TableModel, scan: Scan) -> Iterator[Note]:
    """Of columns that labeled and unlabeled rows tell apart."""
    used = model.table_.used
    for use in model.columns_:
        if use.role == "left out" and use.why in WHY:
            yield Note(
                f"{use.name!r} was not learned from: {use.why}.",
                "To use it all the same, name it among the features (--features).",
                _features(model.columns_, use.name),
                important=True,
            )
    # Read here, and not by the model, which counts the cells that it cannot read.
    frame = pd.DataFrame(
        {use.name: use.read(as_column(scan.rows[use.name]))[0] for use in used}
    )
    found = Giveaways.of(frame, used, scan.labels)
    for name, why in found.left_out.items():
        yield Note(f"{name!r} was learned from because it was named, though {why}.")
    for name in found.copies:
        yield Note(
            f"{name!r} is a copy of {model.target!r} on the labeled rows.",
            f"If it was made from the labels, leave it out: --exclude "
            f"{shlex.quote(name)}.",
            f"--exclude {shlex.quote(name)}",
            important=True,
        )
    if found.shifted:
        names = ", ".join(map(repr, found.shifted[:SHOWN]))
        more = len(found.shifted) - SHOWN
        names += f" and {count(more, 'more column')}" if more > 0 else ""
        one = len(found.shifted) == 1
        yield Note(
            f"Labeled and unlabeled rows differ much in {names}. Predictions may be "
            f"worse than the labels suggest.",
            f"Label some rows in which {'it has' if one else 'they have'} the values "
            f"of the unlabeled rows.",
        )


def with_command(note: Note, run: str) -> Note:
    """A note whose option, if it has one, is put into the command of the run.

    Examples
    --------
    >>> note = Note("Two spellings.", command="--merge-labels")
    >>> with_command(note, "halfmoon fill t.csv --target y").command
    'halfmoon fill t.csv --target y --merge-labels --overwrite'
    """
    if run.startswith(CALL):
        return told_in_python(note, run)
    if not note.command.startswith("--"):
        return note
    return replace(note, command=run_again(run, note.command))


def _features(columns: Sequence[ColumnUse], name: str) -> str:
    """The option that brings a column back beside those that are used."""
    wanted = [use.name for use in columns if use.role != "left out" or use.name == name]
    if len(wanted) > LISTED:
        return ""
    return f"--features {' '.join(map(shlex.quote, wanted))}"


def common_notes(filled: Filled) -> Iterator[Note]:
    """Of what was read and written."""
    yield from filled.notes
    for name, cells in filled.model.unread_.items():
        if cells:
            yield Note(
                f"In {count(cells, 'predicted row')}, {name!r} could not be read like "
                f"the rest of the column and counted as missing."
            )
    if filled.escaped:
        yield Note(
            f"{count(filled.escaped, 'cell')} that a spreadsheet would take for a "
            f"formula got an apostrophe in front.",
            "To leave the apostrophe out, use formulas='keep' (--formulas keep).",
        )
