"""Which rows have a label that is known in part, and what is known of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.table.blanks import Blanks
from halfmoon.table.files import Batch
from halfmoon.table.given_labels import GivenLabels
from halfmoon.table.reading import as_column, is_text
from halfmoon.table.weak_labels import HIGH, LABEL, LOW

__all__ = ["GivenIntervals", "GivenSets"]


@dataclass
class GivenSets(GivenLabels):
    """Labels that are candidates with a sign between them.

    Parameters
    ----------
    separator : str
    kept : str or None
        The column in which an earlier run kept the candidates that it chose from.
    """

    separator: str = "|"
    kept: str | None = None

    def of(self, batch: Batch) -> tuple[Any, NDArray[np.bool_]]:
        """The labels of a batch, and where there are none, each of shape (b,)."""
        column, blank = super().of(batch)
        if self.kept is None:
            return column, blank
        kept = as_column(batch.plain.column(self.kept)).cast(column.type)
        again = blank & ~Blanks().mask(kept)
        self.refilled -= int(again.sum())
        return pc.if_else(pa.array(again), kept, column), blank & ~again

    def is_open(self, labels: Any, blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where there are several candidates."""
        if not is_text(labels.type):
            return np.zeros(len(blank), dtype=bool)
        found = pc.match_substring(labels, self.separator).fill_null(False)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool) & ~blank


@dataclass
class GivenIntervals(GivenLabels):
    """Numbers, or the ends between which they lie.

    Parameters
    ----------
    low, high : str or None
        Columns of the ends.
    """

    low: str | None = None
    high: str | None = None

    def of(self, batch: Batch) -> tuple[Any, NDArray[np.bool_]]:
        """What is known in a batch: a struct of label, low and high; and where nothing.

        Cells that are blank are null.
        """
        rows, n = batch.plain, len(batch)
        if self.target in rows.schema.names:
            label, no_label = super().of(batch)
        else:
            label, no_label = pa.nulls(n, pa.string()), np.ones(n, dtype=bool)
            here = self.typed_in(batch)
            if here:
                label = pa.array([here.get(i) for i in range(n)], pa.string())
                no_label[list(here)] = False
        parts, nothing = [pc.if_else(pa.array(no_label), None, label)], no_label.copy()
        for name, sign in ((self.low, -1), (self.high, 1)):
            if name is None:
                parts.append(pa.nulls(n, pa.string()))
                continue
            end = as_column(rows.column(name))
            blank = Blanks(self.blanks.unlabeled).mask(end)
            parts.append(pc.if_else(pa.array(blank), None, end))
            nothing &= blank | _is_infinite(end, sign)
        return pa.StructArray.from_arrays(parts, [LABEL, LOW, HIGH]), nothing

    def refuse_far_dates(self, batch: Batch) -> None:
        """Refuse labels that are dates; ends are read as numbers or refused later."""
        if self.target in batch.rows.schema.names:
            super().refuse_far_dates(batch)

    def is_open(self, labels: Any, blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where the ends are known, and not the number."""
        return np.asarray(labels.field(LABEL).is_null()) & ~blank

    def check_counts(
        self, labeled: int, rows: int, n_open: int, labels: Sequence[Any]
    ) -> None:
        """Raise an error where every number is known; `checked_ends` does the rest."""
        if labeled == rows:
            super().check_counts(labeled, rows, n_open, [])

    def exact(self, labels: Any) -> Any:
        """The numbers alone."""
        return labels.field(LABEL)


def _is_infinite(column: Any, sign: int) -> NDArray[np.bool_]:
    """Where an end is written as infinite, below or above: it is open."""
    if is_text(column.type):
        text = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.large_string())))
        words = ["-inf", "-infinity"] if sign < 0 else ["inf", "+inf", "infinity"]
        found = pc.is_in(text, pa.array(words, text.type))
    elif pa.types.is_floating(column.type):
        found = pc.equal(column, sign * math.inf).fill_null(False)
    else:
        return np.zeros(len(column), dtype=bool)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)
