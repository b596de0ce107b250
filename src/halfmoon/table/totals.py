"""Rows of totals at the end of a table, which are no data: ``Total,,,1234``.

A row is one if its first cell, or its label, is a word such as Total or Average, which
stands nowhere else in that column, if at least half of its other cells are empty, and
if only such rows come after it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.reading import as_column, is_text

__all__ = ["TotalsRow", "TotalsRows", "totals_note"]

WORDS = (
    "total",
    "totals",
    "grand total",
    "subtotal",
    "sub-total",
    "total sum",
    "sum",
    "average",
    "avg",
    "avg.",
    "mean",
    "summe",
    "gesamt",
    "mittelwert",
    "somme",
    "moyenne",
    "suma",
    "totale",
)
TAIL = 4  # rows at the end that are looked at
EMPTY = 0.5  # of the other cells, at least


class TotalsRow(NamedTuple):
    """A row of totals."""

    number: int  # in the table, from 0
    word: str  # as it is written
    blank: bool  # its label is


class _Last(NamedTuple):
    number: int
    cells: tuple[str, ...]
    blank: bool


@dataclass
class TotalsRows:
    """Watches the batches of a table for rows of totals at its end.

    Parameters
    ----------
    target : str

    Examples
    --------
    >>> totals = TotalsRows("kind")
    >>> rows = pa.record_batch({"day": ["Mon", "Total"], "kind": ["a", ""]})
    >>> totals.see(rows, 0, np.array([False, True]))
    >>> totals.found
    [TotalsRow(number=1, word='Total', blank=True)]
    """

    target: str
    _last: list[_Last] = field(default_factory=list)
    _words: Counter[tuple[int, str]] = field(default_factory=Counter)
    _columns: tuple[int, ...] = ()

    def see(self, rows: pa.RecordBatch, start: int, blank: NDArray[np.bool_]) -> None:
        """Take a batch into account.

        Parameters
        ----------
        rows : RecordBatch
            With all columns.
        start : int
            Number of its first row.
        blank : ndarray of bool of shape (b,)
            Where the label is.
        """
        at = rows.schema.get_field_index(self.target)  # -1 where it is a new column
        self._columns = tuple(sorted({0, max(0, at)}))
        for column in self._columns:
            for word in _totals_words(as_column(rows.column(column))):
                self._words[column, word] += 1
        first = max(0, rows.num_rows - TAIL)
        for i, row in enumerate(rows.slice(first).to_pylist(), start=first):
            cells = tuple(map(_text, row.values()))
            self._last.append(_Last(start + i, cells, bool(blank[i])))
        self._last = self._last[-TAIL:]

    @property
    def found(self) -> list[TotalsRow]:
        """The rows of totals, in the order of the table."""
        found: list[TotalsRow] = []
        seen: Counter[tuple[int, str]] = Counter()
        for row in reversed(self._last):
            column = self._column_of_word(row.cells)
            if column is None:
                break
            seen[column, _word(row.cells[column])] += 1
            found.append(TotalsRow(row.number, row.cells[column], row.blank))
        if any(self._words[key] != times for key, times in seen.items()):
            return []  # the word is a value like others
        return found[::-1]

    def _column_of_word(self, cells: tuple[str, ...]) -> int | None:
        for column in self._columns:
            others = cells[:column] + cells[column + 1 :]
            if _word(cells[column]) in WORDS and others:
                empty = sum(not cell for cell in others)
                return column if empty >= EMPTY * len(others) else None
        return None


def totals_note(rows: list[TotalsRow]) -> Note:
    """That rows of totals were found."""
    words = " and ".join(repr(row.word) for row in rows)
    one = len(rows) == 1
    return Note(
        f"The last {'row' if one else count(len(rows), 'row')} ({words}) "
        f"{'looks like a row' if one else 'look like rows'} of totals: "
        f"{'it was' if one else 'they were'} not learned from and not filled.",
        f"If {'it is an ordinary row' if one else 'they are ordinary rows'}, change "
        f"{'this word' if one else 'these words'} in the table.",
        important=True,
    )


def _word(cell: str) -> str:
    return cell.rstrip(":").strip().casefold()


def _totals_words(column: pa.Array) -> list[str]:
    """Those of the cells that are words for totals."""
    if not is_text(column.type):
        return []
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    lower = pc.utf8_rtrim(pc.utf8_lower(pc.utf8_trim_whitespace(column)), ": ")
    marked = pc.is_in(lower, pa.array(WORDS, lower.type))
    return [_word(value) for value in column.filter(marked).to_pylist()]


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
