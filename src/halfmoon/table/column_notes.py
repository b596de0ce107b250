"""What the user should know of the columns: which were left out, and which might be."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from halfmoon.report.findings import Note
from halfmoon.table.model import TableModel
from halfmoon.table.selection import listed

__all__ = ["choice_notes"]

LISTED = 12  # columns in a command


def choice_notes(model: TableModel) -> Iterator[Note]:
    """Of columns that predictions are better without, or may be."""
    choice, doubtful = model.choice_, model.doubtful_
    if choice is not None:
        verb = "was" if len(choice.left_out) == 1 else "were"
        yield Note(
            f"{listed(choice.left_out)} {verb} left out: {choice.gain(model.kind)}. "
            f"Columns that you name as features are never left out like this."
        )
    if doubtful and not _perfect(model):
        yield Note(
            f"Predictions may be better without {listed(doubtful)}: in "
            f"cross-validation the error is lower, but this could be chance.",
            "Try to leave them out." if len(doubtful) > 1 else "Try to leave it out.",
            _option("--exclude", doubtful),
        )


def _perfect(model: TableModel) -> bool:
    """There is nothing to gain."""
    return model.kind != "numbers" and model.estimator_.loo_score_ == 1.0


def _option(option: str, names: Sequence[str]) -> str:
    """For a command; empty where it would be too long."""
    if len(names) > LISTED:
        return ""
    return f"{option} {' '.join(map(shlex.quote, names))}"
