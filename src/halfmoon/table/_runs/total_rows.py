"""Rows of totals and notes at the end of a table: ``Total,,,1234``, ``Source: us,,,``.

The first cell of a row of totals that is not empty, or its label, is a word such as
Total or Average that occurs nowhere else in that column. At least half of its other
cells are empty. A note is the only cell of its row. Only such rows follow.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._cells.cell_values import as_column, is_text
from halfmoon.table._labels.target_labels import quoted

__all__ = ["TotalsRow", "TotalsRows", "totals_note"]

WORDS = (
    *("total", "totals", "grand total", "subtotal", "sub-total", "total sum", "sum"),
    *("average", "avg", "avg.", "mean"),
    *("summe", "gesamt", "mittelwert", "somme", "moyenne", "suma", "totale"),
)
NOTE = re.compile(
    r"(?:sources?|notes?|remarks?|footnotes?|legend|disclaimer|copyright|quellen?|nota"
    r"|hinweise?|anmerkung(?:en)?|fuente|fonte|exported|generated|downloaded|created"
    r"|last updated|updated|end of|as of)\b.|[*†‡©].|https?://",
    re.IGNORECASE,
)
LEADING = 3  # columns in which the word may be, besides the target
FIRST_LETTER = ord("A")  # digits and most signs come before it in UTF-8
TAIL_ROWS = 4  # rows at the end that may be totals
MIN_EMPTY = 0.5  # share of the other cells


class TotalsRow(NamedTuple):
    """A row of totals, or a note."""

    number: int  # in the table, from 0
    word: str  # as written, or the note
    blank: bool  # whether its label is blank


class _LastRow(NamedTuple):
    number: int
    cells: tuple[str, ...]
    blank: bool


@dataclass
class TotalsRows:
    """Finds rows of totals at the end of a table, batch by batch.

    Examples
    --------
    >>> totals = TotalsRows("kind")
    >>> rows = pa.record_batch({"day": ["Mon", "Total"], "kind": ["a", ""]})
    >>> totals.see(rows, 0, np.array([False, True]))
    >>> totals.found
    [TotalsRow(number=1, word='Total', blank=True)]
    """

    target: str
    _last: list[_LastRow] = field(default_factory=list)
    _words: Counter[tuple[int, str]] = field(default_factory=Counter)
    _columns: tuple[int, ...] = ()
    _at: int = 0  # place of the target

    def see(self, rows: pa.RecordBatch, start: int, blank: NDArray[np.bool_]) -> None:
        """Consider a batch with all columns that begins at row `start`.

        `blank` is where labels are blank, shape (b,).
        """
        at = rows.schema.get_field_index(self.target)  # -1 if it is a new column
        leading = range(min(LEADING, rows.num_columns))
        self._columns = tuple(sorted({*leading, max(0, at)}))
        self._at = max(0, at)
        for column in self._columns:
            for word in _totals_words(as_column(rows.column(column))):
                self._words[column, word] += 1
        first = max(0, rows.num_rows - TAIL_ROWS)
        for i, row in enumerate(rows.slice(first).to_pylist(), start=first):
            cells = tuple(map(_text, row.values()))
            self._last.append(_LastRow(start + i, cells, bool(blank[i])))
        self._last = self._last[-TAIL_ROWS:]

    @property
    def found(self) -> list[TotalsRow]:
        """The rows of totals, in the order of the table."""
        found: list[TotalsRow] = []
        seen: Counter[tuple[int, str]] = Counter()
        for row in reversed(self._last):
            first, *others = row.cells
            if NOTE.match(first) and not any(others) and len(others) > 1:
                found.append(TotalsRow(row.number, first, row.blank))
                continue
            column = self._column_of_word(row.cells)
            if column is None:
                break
            seen[column, _word(row.cells[column])] += 1
            found.append(TotalsRow(row.number, row.cells[column], row.blank))
        if any(self._words[key] != times for key, times in seen.items()):
            return []  # the word is an ordinary value
        return found[::-1]

    def _column_of_word(self, cells: tuple[str, ...]) -> int | None:
        first = next((i for i, cell in enumerate(cells) if cell), 0)
        for column in self._columns:
            others = cells[:column] + cells[column + 1 :]
            leads = column in (first, self._at)
            if leads and _word(cells[column]) in WORDS and others:
                empty = sum(not cell for cell in others)
                return column if empty >= MIN_EMPTY * len(others) else None
        return None


def totals_note(rows: list[TotalsRow]) -> Note:
    """Note rows of totals, and notes."""
    one = len(rows) == 1
    words = " and ".join(map(quoted, (row.word for row in rows)))
    return Note(
        f"The last {'row' if one else count(len(rows), 'row')} ({words}) "
        f"{'looks' if one else 'look'} like totals or notes below the table: "
        f"{'it was' if one else 'they were'} not learned from and not filled.",
        f"If {'it is an ordinary row' if one else 'they are ordinary rows'}, change "
        f"{'its' if one else 'their'} words in the table.",
        important=True,
    )


def _word(cell: str) -> str:
    return cell.rstrip(":").strip().casefold()


def _totals_words(column: pa.Array) -> list[str]:
    """Return the cells that are words for totals."""
    if not is_text(column.type) or not _may_have_letters(column):
        return []
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    lower = pc.utf8_rtrim(pc.utf8_lower(pc.utf8_trim_whitespace(column)), ": ")
    marked = pc.is_in(lower, pa.array(WORDS, lower.type))
    return [_word(value) for value in column.filter(marked).to_pylist()]


def _may_have_letters(column: pa.Array) -> bool:
    """Return whether texts may have letters: columns of numbers have none."""
    if not pa.types.is_string(column.type) or not len(column):
        return True
    offsets = np.frombuffer(column.buffers()[1], np.int32)
    first, last = (int(offsets[column.offset + i]) for i in (0, len(column)))
    data = column.buffers()[2]
    return data is None or bool(
        (np.frombuffer(data[first:last], np.uint8) >= FIRST_LETTER).any()
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
