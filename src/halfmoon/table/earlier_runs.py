"""Columns that an earlier run of halfmoon added to a table.

A column ``y_source`` in which every cell is "given", "predicted" or empty, in a table
with a column ``y``, is one of them, and then so are ``y_confidence``, ``y_low`` and
``y_high`` (or ``y_predicted_low`` and ``y_predicted_high`` beside ends of the user's
own), and ``y_candidates``, from which ``y`` was chosen. What was predicted is a guess:
nothing is learned from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.report.findings import Note
from halfmoon.table.cells import GIVEN, PREDICTED
from halfmoon.table.reading import as_column, is_text

__all__ = ["added_by", "earlier_runs", "guess_notes", "is_predicted"]

SOURCES = {GIVEN, PREDICTED, ""}
SUFFIXES = ("_source", "_confidence", "_candidates", "_low", "_high")
#: In place of the last two, where these are the user's own.
PREDICTED_ENDS = ("_predicted_low", "_predicted_high")


def earlier_runs(table: Any) -> dict[str, tuple[str, ...]]:
    """The targets that an earlier run filled, each with the columns that it added.

    The table is read once if a column's name suggests it, and not at all otherwise.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    """
    columns = set(table.columns)
    targets = [name for name in table.columns if name + SUFFIXES[0] in columns]
    seen: dict[str, set[str]] = {name: set() for name in targets}
    if targets:
        for batch in table.batches():
            for name, values in seen.items():
                if values <= SOURCES:  # otherwise it is a column of the user's own
                    values |= _values(batch.plain.column(name + SUFFIXES[0]))
    return {
        name: tuple(
            name + suffix
            for suffix in _suffixes(name, columns)
            if name + suffix in columns
        )
        for name, values in seen.items()
        if values <= SOURCES and values != {""}
    }


def _suffixes(name: str, columns: Collection[str]) -> tuple[str, ...]:
    own = name + PREDICTED_ENDS[0] in columns
    return (*SUFFIXES[:-2], *PREDICTED_ENDS) if own else SUFFIXES


def added_by(runs: Mapping[str, tuple[str, ...]]) -> set[str]:
    """All columns that earlier runs added."""
    return {name for added in runs.values() for name in added}


def guess_notes(names: Sequence[str]) -> Iterator[Note]:
    """That columns with guesses were not learned from."""
    if not names:
        return
    one = len(names) == 1
    yield Note(
        f"{', '.join(map(repr, names))} {'was' if one else 'were'} not learned from: "
        f"some of {'its' if one else 'their'} cells are predictions.",
        f"To learn from {'it, name it' if one else 'them, name them'} among the "
        f"features (--features).",
    )


def is_predicted(column: Any) -> NDArray[np.bool_]:
    """Where a column of sources says "predicted", shape (n,)."""
    texts = _plain(as_column(column))
    found = pc.equal(texts, PREDICTED).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _values(column: Any) -> set[str]:
    array = as_column(column)
    if not is_text(array.type) and not pa.types.is_null(array.type):
        return {"of another kind"}
    return {value or "" for value in pc.unique(_plain(array)).to_pylist()}


def _plain(array: Any) -> Any:
    """Text without blanks around it, in small letters."""
    return pc.utf8_lower(pc.utf8_trim_whitespace(array.cast(pa.large_string())))
