"""Rows that hold no data: empty, of the header, of totals, and notes below a table.

Spreadsheets write empty rows, often many below a table. Files that were joined end to
end repeat the header. Below it, exports of surveys have rows with the questions, and
other tables a row of units.

At the end there may be totals and notes: ``Total,,,1234``, ``Source: us,,,``. The first
cell of a row of totals that is not empty, or its label, is a word such as Total or
Average that occurs nowhere else in that column. At least half of its other cells are
empty. A note is the only cell of its row, and begins with a word such as Source, or
many columns are empty in no other row. Only such rows follow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon._number_format import count, listed, row_numbers
from halfmoon.table._cells.cell_values import (
    as_column,
    as_text,
    without_missing,
    without_words,
)
from halfmoon.table._cells.letter_patterns import pattern_for
from halfmoon.table._files import Batch
from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._labels.target_labels import quoted

__all__ = [
    "NotData",
    "TotalsRow",
    "TotalsRows",
    "description_note",
    "description_rows",
    "empty_note",
    "empty_rows",
    "header_note",
    "not_data",
    "repeated_headers",
    "totals_note",
    "without_data_notes",
]

BOM = "\ufeff"  # at the start of each of the joined files
SHOWN = 3  # row numbers in a note
MIN_COLUMNS = 3  # of a table whose empty rows are no data
MAX_DESCRIPTIONS = 3  # rows below the header that describe the columns
MIN_NUMBERS = 2  # columns of numbers that show it, by a word
WORDS_PER_NUMBER = 4  # at least; a description may be "0 1" for no and yes
MIN_ALONE = 4  # columns of a few words that show it, by another word
CELLS_PER_WORD = 5  # at least, in such a column
MAX_FILLED = 0.25  # share of the cells of a nearly empty row that have a value
MIN_CELLS = 5  # numbers in such a column
MOSTLY = 0.9  # share of the cells of such a column that are numbers
MAX_READ = 1_000  # rows that are looked at
NUMBER = r"^[^\p{L}]{0,3}[0-9]"

WORDS = (
    *("total", "totals", "grand total", "subtotal", "sub-total", "total sum", "sum"),
    *("average", "avg", "avg.", "mean"),
    *("summe", "gesamt", "mittelwert", "somme", "moyenne", "suma", "totale"),
)
NOTE = re.compile(
    r"(?:sources?|notes?|remarks?|footnotes?|legend|disclaimer|copyright|quellen?|nota"
    r"|hinweise?|anmerkung(?:en)?|fuente|fonte|exported|generated|downloaded|created"
    r"|last updated|updated|end of|as of)\b.|[*†‡©#].|https?://|\x1a",
    re.IGNORECASE,
)
LEADING = 3  # columns in which the word may be, besides the target
FIRST_LETTER = ord("A")  # digits and most signs come before it in UTF-8
TAIL_ROWS = 8  # rows at the end that may be totals
MIN_WIDTH = 5  # columns of a table in which any words alone at the end are a note
MIN_EMPTY = 0.5  # share of the other cells


def empty_rows(rows: pa.RecordBatch) -> NDArray[np.bool_]:
    """Return where a batch has no cell with a value, shape (b,).

    With one column beside the target, a row may be about what that column lacks.

    Examples
    --------
    >>> rows = {"a": ["1", " ", ""], "b": [None, 2, None], "c": ["", "", ""]}
    >>> empty_rows(pa.record_batch(rows))
    array([False, False,  True])
    """
    if rows.num_columns < MIN_COLUMNS:
        return np.zeros(rows.num_rows, dtype=bool)
    return _where_all(rows, _are_empty)


def _are_empty(cells: pa.Array, _: str) -> pa.Array:
    empty = cells.is_null(nan_is_null=pa.types.is_floating(cells.type))
    if is_text(cells.type):
        blank = pc.or_(pc.equal(cells, ""), pc.utf8_is_space(cells))
        empty = pc.or_kleene(empty, blank)
    return empty


def repeated_headers(rows: pa.RecordBatch) -> NDArray[np.bool_]:
    """Return where every cell of a batch is the name of its column, shape (b,).

    Examples
    --------
    >>> rows = pa.record_batch({"day": ["Mon", "day"], "kind": ["a", "kind "]})
    >>> repeated_headers(rows)
    array([False,  True])
    """
    if rows.num_columns < 2:  # a column of words may hold its own name
        return np.zeros(rows.num_rows, dtype=bool)
    return _where_all(rows, _are_their_name)


def _are_their_name(cells: pa.Array, name: str) -> pa.Array:
    if not is_text(cells.type):
        return pa.array(np.zeros(len(cells), dtype=bool))
    cells = pc.utf8_trim_whitespace(pc.utf8_ltrim(cells, BOM))
    return pc.equal(cells, name.strip()).fill_null(False)


def _where_all(
    rows: pa.RecordBatch, holds: Callable[[pa.Array, str], pa.Array]
) -> NDArray[np.bool_]:
    """Return where all cells of a row, with the names of their columns, are such."""
    places = np.arange(rows.num_rows)
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if not len(places):
            break
        cells = as_column(column)
        if len(places) < rows.num_rows:
            cells = cells.take(pa.array(places))
        places = places[holds(cells, name).to_numpy(zero_copy_only=False)]
    found = np.zeros(rows.num_rows, dtype=bool)
    found[places] = True
    return found


def description_rows(rows: pa.RecordBatch) -> int:
    """Return how many of the first rows of a table describe its columns.

    They have words in columns of numbers, and hardly any number there, or other words
    in several columns of a few words, and no other cell that occurs again below. A
    nearly empty row after such a row describes some of the columns.

    Examples
    --------
    >>> numbers = [str(i) for i in range(9)]
    >>> description_rows(
    ...     pa.record_batch({"a": ["mm", *numbers], "b": ["kg", *numbers]})
    ... )
    1
    """
    found = MAX_DESCRIPTIONS
    words = np.zeros(found, dtype=int)  # columns of numbers with a word in each row
    alone = np.zeros(found, dtype=int)  # columns of a few words with another one
    numbers = np.zeros(found, dtype=int)  # columns of numbers with a number
    filled = np.zeros(found, dtype=int)  # cells with a value
    for column in rows.columns:
        cells = as_column(column)
        if not is_text(cells.type):
            return 0
        cells = without_words(without_missing(cells.slice(0, MAX_READ)))
        below = cells[MAX_DESCRIPTIONS:].drop_null()
        digits = pc.match_substring_regex(below, pattern_for(below, NUMBER))
        of_numbers = len(below) >= MIN_CELLS and pc.mean(digits).as_py() > MOSTLY
        known = set(below.to_pylist())
        for i, cell in enumerate(cells[:found].to_pylist()):
            filled[i] += cell is not None
            if of_numbers and cell:
                is_number = cell in known or re.search("^[^A-Za-z]*[0-9]", cell)
                numbers[i] += bool(is_number)
                words[i] += not is_number
            elif cell in known:
                found = i
                break
            elif cell:
                alone[i] += 0 < CELLS_PER_WORD * len(known) <= len(below)
        if not found:
            return 0
    describes = (words >= MIN_NUMBERS) & (words >= WORDS_PER_NUMBER * numbers)
    describes |= (words + alone >= MIN_ALONE) & (numbers == 0)
    nearly_empty = (numbers == 0) & (filled <= MAX_FILLED * rows.num_columns)
    for i in range(found):
        if not describes[i] and not (i > 0 and nearly_empty[i]):
            return i
    return found


class NotData(NamedTuple):
    """Which rows of a batch hold no data, but for totals at the end of a table."""

    empty: NDArray[np.bool_]  # (b,)
    of_header: NDArray[np.bool_]  # (b,)
    n_described: int  # the first of these, which describe the columns

    @property
    def rows(self) -> NDArray[np.bool_]:
        """Either kind, shape (b,)."""
        return self.empty | self.of_header


def not_data(batch: Batch) -> NotData:
    """Return which rows of a batch are empty or belong to the header."""
    rows = batch.plain
    empty, of_header = empty_rows(rows), repeated_headers(rows)
    n_described = description_rows(rows) if batch.start == 0 else 0
    of_header[:n_described] = True
    return NotData(empty, of_header & ~empty, n_described)


def description_note(rows: int, first_row: int) -> Note:
    """Note the first rows, which describe the columns."""
    if rows == 1:
        what = f"Row {first_row:,} below the header describes the columns"
    else:
        numbers = listed([f"{first_row + i:,}" for i in range(rows)])
        what = f"Rows {numbers} below the header describe the columns"
    return _skipped_note(rows, what)


def empty_note(rows: int) -> Note:
    """Note empty rows."""
    return _skipped_note(rows, count(rows, "row is empty", "rows are empty"))


def without_data_notes(rows: int) -> Iterator[Note]:
    """Note rows of a table that were not predicted."""
    if rows:
        one = rows == 1
        yield Note(
            f"{count(rows, 'row')} {'was' if one else 'were'} not predicted: "
            f"{'it is' if one else 'each is'} empty or belongs to the header."
        )


def header_note(numbers: Sequence[int]) -> Note:
    """Note rows that repeat the header, by their numbers in a spreadsheet."""
    shown = row_numbers(numbers[:SHOWN], len(numbers))
    if len(numbers) == 1:
        return _skipped_note(1, f"{shown.capitalize()} repeats the header")
    rows = count(len(numbers), "row")
    return _skipped_note(len(numbers), f"{rows} repeat the header ({shown})")


def _skipped_note(rows: int, what: str, remedy: str = "") -> Note:
    were = "it was" if rows == 1 else "they were"
    text = f"{what}: {were} not learned from and not filled."
    return Note(text, remedy, important=remedy != "")


class TotalsRow(NamedTuple):
    """A row of totals, or a note."""

    number: int  # in the table, from 0
    word: str  # as written, or the note
    blank: bool  # whether its label is blank


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
    # Number, cells and whether the label is blank, of the last rows so far.
    _last: list[tuple[int, list[str], bool]] = field(default_factory=list)
    _words: Counter[tuple[int, str]] = field(default_factory=Counter)
    _columns: tuple[int, ...] = ()
    _at: int = 0  # place of the target
    _n_alone: int = 0  # rows with a value in their first cell only

    def see(
        self,
        rows: pa.RecordBatch,
        start: int,
        blank: NDArray[np.bool_],
        empty: NDArray[np.bool_] | None = None,
    ) -> None:
        """Consider a batch with all columns that begins at row `start`.

        `blank` is where labels are blank, `empty` where all cells are, shape (b,).
        """
        at = rows.schema.get_field_index(self.target)  # -1 if it is a new column
        leading = range(min(LEADING, rows.num_columns))
        self._columns = tuple(sorted({*leading, max(0, at)}))
        self._at = max(0, at)
        for column in self._columns:
            for word in _totals_words(as_column(rows.column(column))):
                self._words[column, word] += 1
        empty = np.zeros(rows.num_rows, dtype=bool) if empty is None else empty
        if rows.num_columns >= MIN_WIDTH:
            others = rows.select(rows.schema.names[1:])
            self._n_alone += int((_where_all(others, _are_empty) & ~empty).sum())
        for i in np.flatnonzero(~empty)[-TAIL_ROWS:].tolist():
            (row,) = rows.slice(i, 1).to_pylist()
            cells = [as_text(cell).strip() for cell in row.values()]
            self._last.append((start + i, cells, bool(blank[i])))
        self._last = self._last[-TAIL_ROWS:]

    @property
    def found(self) -> list[TotalsRow]:
        """The rows of totals, in the order of the table."""
        found: list[TotalsRow] = []
        seen: Counter[tuple[int, str]] = Counter()
        end = takewhile(self._may_be_below, reversed(self._last))
        n_alone = sum(not any(cells[1:]) for _, cells, _ in end)
        any_words = n_alone == self._n_alone  # nowhere else is a cell alone
        for number, cells, blank in reversed(self._last):
            first, *others = cells
            alone = others.count("") >= MIN_EMPTY * len(others)
            alone = alone if first.startswith("#") else not any(others)
            is_note = NOTE.match(first) or (any_words and any(map(str.isalpha, first)))
            if is_note and alone and len(others) > 1:
                found.append(TotalsRow(number, first, blank))
                continue
            column = self._column_of_word(cells)
            if column is None:
                break
            seen[column, _word(cells[column])] += 1
            found.append(TotalsRow(number, cells[column], blank))
        if any(self._words[key] != times for key, times in seen.items()):
            return []  # the word is an ordinary value
        return found[::-1]

    def _may_be_below(self, row: tuple[int, list[str], bool]) -> bool:
        cells = row[1]
        return not any(cells[1:]) or self._column_of_word(cells) is not None

    def _column_of_word(self, cells: list[str]) -> int | None:
        first = next((i for i, cell in enumerate(cells) if cell), 0)
        for column in self._columns:
            others = cells[:column] + cells[column + 1 :]
            leads = column in (first, self._at)
            if leads and _word(cells[column]) in WORDS and others:
                empty = others.count("") >= MIN_EMPTY * len(others)
                sums = all(not cell or re.search("[0-9]", cell) for cell in others)
                return column if empty or sums else None
        return None


def totals_note(rows: list[TotalsRow]) -> Note:
    """Note rows of totals, and notes."""
    words = listed([quoted(row.word) for row in rows])
    last, remedy = (
        f"The last {count(len(rows), 'row')} ({words}) look",
        ("If they are ordinary rows, change their words in the table."),
    )
    if len(rows) == 1:
        last = f"The last row ({words}) looks"
        remedy = "If it is an ordinary row, change its words in the table."
    what = f"{last} like totals or notes below the table"
    return _skipped_note(len(rows), what, remedy)


def _word(cell: str) -> str:
    return cell.rstrip(":").strip().casefold()


def _totals_words(column: pa.Array) -> list[str]:
    """Return the cells that are words for totals."""
    if not is_text(column.type) or not _may_have_letters(column):
        return []
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
