"""The first pass: count rows, find labels and blanks, keep a sample to learn from.

Every row draws a number in [0, 1); the rows with the smallest numbers are the sample.
It does not depend on how the stream is divided into batches.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon.table._columns.column_names import added_by, earlier_runs
from halfmoon.table._labels.given_labels import Blanks, GivenLabels
from halfmoon.table._labels.target_labels import refuse_no_blanks
from halfmoon.table._runs.rows_without_data import (
    TotalsRow,
    TotalsRows,
    description_note,
    empty_note,
    header_note,
    not_data,
    totals_note,
)
from halfmoon.table._table_errors import ReadError

__all__ = ["Reservoir", "Scan", "columns_with_blanks", "joined_rows", "scan"]

MAX_LABELED = 100_000  # rows to learn from; more hardly change the model
MAX_UNLABELED = 20_000  # nor do more of these, and time grows with them

#: Rows, what they drew, and their numbers.
Part = tuple[pa.Table, NDArray[np.float64], NDArray[np.int64]]


@dataclass(frozen=True)
class Scan:
    """What the first pass found."""

    n_rows: int
    n_labeled: int  # rows with a label that can be learned from
    rows: pa.Table  # to learn from, in the order of the table, without the target
    labels: list[Any]  # of these rows, None for a blank
    numbers: NDArray[np.int64]  # positions of these rows in the table, from 0
    given: GivenLabels  # how they were read, and what counted as blank
    first_row: int = 1  # number of the first row in a spreadsheet
    n_ignored: int = 0  # rows that are neither learned from nor filled
    totals: tuple[TotalsRow, ...] = ()  # rows at the end; they are among the ignored
    notes: tuple[Note, ...] = ()
    seconds: float = 0.0  # duration of the pass

    @property
    def n_blank(self) -> int:
        """Rows to fill."""
        return self.n_rows - self.n_labeled - self.n_ignored

    @property
    def learned_labels(self) -> int:
        """Labels to learn from."""
        return sum(label is not None for label in self.labels)

    @property
    def learned_unlabeled(self) -> int:
        """Unlabeled rows to learn from."""
        return len(self.labels) - self.learned_labels


def scan(
    table: Any,
    given: GivenLabels,
    features: Sequence[str],
    *,
    max_bytes: int,
    seed: int,
    max_labeled: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    to_learn: bool = True,
) -> Scan:
    """Read the table once, in memory of fixed size, and keep rows to learn from.

    Of the `max_bytes` of these rows, half are for labeled ones. If the rows are
    `to_learn`, it is an error that there are no blanks.
    """
    start = time.monotonic()
    labeled, unlabeled = (
        Reservoir(max_rows, max_bytes // 2, np.random.default_rng([seed, stream]))
        for stream, max_rows in enumerate((max_labeled or MAX_LABELED, MAX_UNLABELED))
    )
    target = given.target
    totals, n_open, n_empty = TotalsRows(target), 0, 0
    headers: list[int] = []  # numbers of rows that belong to the header
    n_described = 0  # the first of them, which describe the columns
    for batch in table.batches(progress=progress):
        given.refuse_far_dates(batch)
        batch_labels, blank = given.of(batch)
        n_open += int(given.is_open(batch_labels, blank).sum())
        plain = batch.plain
        rows = pa.RecordBatch.from_arrays(
            [*(plain.column(name) for name in features), batch_labels],
            [*features, target],
        )
        skipped = not_data(batch)
        totals.see(plain, batch.start, blank, skipped.empty)
        n_empty += int(skipped.empty.sum())
        headers += (batch.start + np.flatnonzero(skipped.of_header)).tolist()
        n_described += skipped.n_described
        for sample, mask in ((labeled, ~blank), (unlabeled, blank)):
            chosen = np.flatnonzero(mask & ~skipped.rows)
            if len(chosen):
                sample.offer(rows, chosen, batch.start)
    n_data = labeled.offered + unlabeled.offered
    if n_data == 0:
        raise ReadError("The table has columns but no rows.")
    found, first_row = totals.found, table.first_row
    n_labeled = labeled.offered - sum(not row.blank for row in found)
    parts = [sample.rows() for sample in (labeled, unlabeled) if sample.offered]
    both = joined_rows([rows for rows, _ in parts])
    numbers = np.concatenate([part_numbers for _, part_numbers in parts])
    labels = parts[0][0].column(target).to_pylist() if labeled.offered else []
    labels += [None] * (len(numbers) - len(labels))
    order = np.argsort(numbers)
    order = order[~np.isin(numbers[order], [row.number for row in found])]
    labels = [labels[i] for i in order]
    if to_learn and not n_open and n_labeled == n_data - len(found):
        refuse_no_blanks(target, labels)
    notes = [totals_note(found)] if found else []
    if n_described:
        notes.append(description_note(n_described, first_row))
    if repeated := [number for number in headers if number >= n_described]:
        notes.append(header_note([number + first_row for number in repeated]))
    if n_empty:
        notes.append(empty_note(n_empty))
    return Scan(
        n_data + len(headers) + n_empty,
        n_labeled,
        both.select(list(features)).take(pa.array(order)),
        labels,
        numbers[order],
        given,
        first_row,
        n_ignored=len(found) + len(headers) + n_empty,
        totals=tuple(found),
        notes=tuple(notes),
        seconds=time.monotonic() - start,
    )


def columns_with_blanks(table: Any, unlabeled: Any) -> dict[str, int]:
    """Count the blanks of each column that has both labels and blanks.

    `unlabeled` is that of `Blanks`.
    """
    runs = earlier_runs(table)
    added = added_by(runs)
    readers = {
        name: GivenLabels(name, Blanks(unlabeled), runs.get(name, ()))
        for name in table.columns
        if name not in added
    }
    blanks = Counter[str]()
    n = 0
    for batch in table.batches():
        n += len(batch)
        for name, given in readers.items():
            blanks[name] += int(given.of(batch)[1].sum())
    return {name: count for name, count in blanks.items() if 0 < count < n}


def joined_rows(parts: Sequence[pa.Table]) -> pa.Table:
    """Join parts of a table, with each column in one piece."""
    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


@dataclass
class Reservoir:
    """A uniform sample of the rows offered so far."""

    max_rows: int  # at least one row is kept
    max_bytes: int
    rng: np.random.Generator
    offered: int = 0  # rows so far

    _parts: list[Part] = field(default_factory=list)
    _bytes: int = 0  # of their rows
    _max_key: float = 1.0  # rows with larger keys cannot enter the sample

    def offer(self, rows: Any, where: NDArray[np.intp], start: int) -> None:
        """Consider the rows at `where` of a batch that begins at row `start`."""
        keys = self.rng.random(len(where))
        self.offered += len(where)
        enters = keys < self._max_key
        if not enters.any():
            return
        taken = rows.take(pa.array(where[enters]))
        numbers = start + where[enters]
        self._parts.append((pa.Table.from_batches([taken]), keys[enters], numbers))
        self._bytes += taken.nbytes
        if self._held() > 2 * self._capacity():
            self._shrink()

    def rows(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return the sample in the order of the stream, and its row numbers.

        Some row must have been offered.
        """
        self._shrink()
        ((rows, _, numbers),) = self._parts
        return rows, numbers

    def _held(self) -> int:
        return sum(len(keys) for _, keys, _ in self._parts)

    def _capacity(self) -> int:
        """Return how many rows of the present mean size may be kept."""
        row_bytes = max(1.0, self._bytes / max(1, self._held()))
        return max(1, min(self.max_rows, int(self.max_bytes / row_bytes)))

    def _shrink(self) -> None:
        capacity = self._capacity()
        parts, *others = zip(*self._parts, strict=True)
        rows, (keys, numbers) = joined_rows(parts), map(np.concatenate, others)
        if len(keys) > capacity:
            kept = np.sort(np.argpartition(keys, capacity - 1)[:capacity])
            rows, keys, numbers = rows.take(pa.array(kept)), keys[kept], numbers[kept]
            self._max_key = float(keys.max())
        self._parts, self._bytes = [(rows, keys, numbers)], rows.nbytes
