"""What the user should know of the columns: which were left out, and which might be."""

from __future__ import annotations

from collections.abc import Iterator

from halfmoon.report.findings import Note
from halfmoon.table.model import TableModel
from halfmoon.table.selection import listed

__all__ = ["choice_notes"]


def choice_notes(model: TableModel) -> Iterator[Note]:
    """Of columns that were left out because predictions are better without them."""
    choice = model.choice_
    if choice is None:
        return
    verb = "was" if len(choice.left_out) == 1 else "were"
    yield Note(
        f"{listed(choice.left_out)} {verb} left out: {choice.gain(model.kind)}.",
        "To learn from all columns anyway, name them as features.",
    )
