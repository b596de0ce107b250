"""Columns that an earlier run of halfmoon added to a table.

If a table has columns ``y`` and ``y_source``, and every cell of the latter is "given",
"predicted" or empty, then an earlier run added ``y_source``, and also ``y_confidence``,
``y_candidates``, ``y_low`` and ``y_high`` (or ``y_predicted_low`` and
``y_predicted_high``, if the user has columns of the former names). Nothing is learned
from what was predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._report.findings import Note
from halfmoon.table._cells.cell_values import as_column, is_text
from halfmoon.table._runs.output_columns import GIVEN, PREDICTED

__all__ = ["added_by", "earlier_runs", "guess_notes", "is_predicted"]

SOURCES = {GIVEN, PREDICTED, ""}
SUFFIXES = ("_source", "_confidence", "_candidates")
ENDS = ("_low", "_high")
PREDICTED_ENDS = ("_predicted_low", "_predicted_high")


def earlier_runs(table: Any) -> dict[str, tuple[str, ...]]:
    """Return the targets that an earlier run filled, with the columns that it added.

    A table of `halfmoon.table._files` is read once if the name of a column suggests an
    earlier run, and not at all otherwise.
    """
    columns = set(table.columns)
    targets = [name for name in table.columns if f"{name}_source" in columns]
    seen: dict[str, set[str]] = {name: set() for name in targets}
    if targets:
        for batch in table.batches():
            for name, values in seen.items():
                if values <= SOURCES:  # otherwise it is a column of the user's own
                    values |= _values(batch.plain.column(f"{name}_source"))
    runs = {}
    for name, values in seen.items():
        if values <= SOURCES and values != {""}:
            own_ends = f"{name}_predicted_low" in columns
            suffixes = (*SUFFIXES, *(PREDICTED_ENDS if own_ends else ENDS))
            added = (name + suffix for suffix in suffixes)
            runs[name] = tuple(column for column in added if column in columns)
    return runs


def added_by(runs: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return all columns that earlier runs added."""
    return {name for added in runs.values() for name in added}


def guess_notes(names: Sequence[str]) -> Iterator[Note]:
    """Note columns that were not learned from because they hold predictions."""
    if not names:
        return
    one = len(names) == 1
    yield Note(
        f"{', '.join(map(repr, names))} {'was' if one else 'were'} not learned from: "
        f"some of {'its' if one else 'their'} cells are predictions.",
        f"To learn from {'it, name it' if one else 'them, name them'} in `features`.",
    )


def is_predicted(column: Any) -> NDArray[np.bool_]:
    """Return where a column of sources says "predicted", shape (n,)."""
    texts = _plain(as_column(column))
    found = pc.equal(texts, PREDICTED).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _values(column: Any) -> set[str]:
    array = as_column(column)
    if not is_text(array.type) and not pa.types.is_null(array.type):
        return {"of another kind"}
    return {value or "" for value in pc.unique(_plain(array)).to_pylist()}


def _plain(array: Any) -> Any:
    """Return text in lower case without spaces around it."""
    return pc.utf8_lower(pc.utf8_trim_whitespace(array.cast(pa.large_string())))
