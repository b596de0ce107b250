"""What the user should know of a run, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.fill import Filled

__all__ = ["common_notes", "learning_notes"]

SHOWN = 5  # columns that are told of one by one
LABELS_A_FREE_FEATURE = 5  # with fewer, what is not penalized is learned by heart


def learning_notes(filled: Filled) -> Iterator[Note]:
    """Of what was and was not learned from."""
    scan = filled.scan
    if scan is None:
        return
    yield from scan.notes
    if scan.learned_labels < scan.n_labeled:
        yield Note(
            f"Learned from {scan.learned_labels:,} of the {scan.n_labeled:,} labels, "
            f"drawn at random: more would take more time or --memory."
        )
    if scan.learned_unlabeled < scan.n_blank:
        yield Note(
            f"Of the {scan.n_blank:,} rows without a label, {scan.learned_unlabeled:,} "
            f"drawn at random were learned from; all are filled in."
        )
    free = filled.model.n_unpenalized_
    if LABELS_A_FREE_FEATURE * free > scan.learned_labels:
        known = ", ".join(repr(name) for name in filled.model.known)
        yield Note(
            f"The known column(s) {known} become {count(free, 'number')} that "
            f"{count(scan.learned_labels, 'label')} must set without a penalty; that "
            f"often makes predictions worse.",
            "Name only columns with a straight-line effect as known, or none.",
            important=True,
        )
    left_out = [use for use in filled.model.columns_ if use.role == "left out"]
    for use in left_out[:SHOWN]:
        yield Note(f"{use.name!r} was not learned from: {use.why or use.kind}.")
    if len(left_out) > SHOWN:
        yield Note(f"{count(len(left_out) - SHOWN, 'more column')} not learned from.")


def common_notes(filled: Filled) -> Iterator[Note]:
    """Of what was read and written."""
    yield from filled.notes
    for name, cells in filled.model.unread_.items():
        if cells:
            yield Note(
                f"{count(cells, 'cell')} of {name!r} did not read as the rest of the "
                f"column does and counted as missing."
            )
    if filled.escaped:
        yield Note(
            f"{count(filled.escaped, 'cell')} that a spreadsheet would take for a "
            f"formula got an apostrophe in front (--formulas keep leaves it out)."
        )
