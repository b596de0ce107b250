"""The first pass: count rows, tell labels from blanks, keep what is learned from."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.findings import Note
from halfmoon.table.blanks import Blanks
from halfmoon.table.earlier_runs import added_by, earlier_runs
from halfmoon.table.errors import ReadError
from halfmoon.table.given_labels import GivenLabels
from halfmoon.table.sampling import Reservoir, joined
from halfmoon.table.totals import TotalsRow, TotalsRows, totals_note

__all__ = ["Scan", "columns_with_blanks", "scan"]

MOST_LABELED = 100_000  # rows learned from; more labels hardly change the answer
MOST_UNLABELED = 20_000  # nor do more rows without, which the time goes with


@dataclass(frozen=True)
class Scan:
    """What the first pass found.

    Attributes
    ----------
    n_rows, n_labeled : int
        Of the whole table, the latter with a label that can be learned from.
    rows : pyarrow.Table
        The rows that are learned from, in the order of the table, without the target.
    labels : list
        Of these rows, None where there is none.
    numbers : ndarray of int
        Where these rows stand in the table, from 0.
    blanks : Blanks
        What counted as blank, and how often.
    first_row : int
        What a spreadsheet calls the row that stands at 0.
    n_ignored : int
        Rows that are neither learned from nor filled in.
    n_open : int
        Labeled rows whose label is known in part, which are filled in too.
    totals : tuple of TotalsRow
        Rows at the end that sum up the others; they are among the ignored.
    notes : tuple of Note
        What was found in the labels.
    seconds : float
        That it took.
    """

    n_rows: int
    n_labeled: int
    rows: pa.Table
    labels: list[Any]
    numbers: NDArray[np.int64]
    blanks: Blanks
    first_row: int = 1
    n_ignored: int = 0
    n_open: int = 0
    totals: tuple[TotalsRow, ...] = ()
    notes: tuple[Note, ...] = ()
    seconds: float = 0.0

    @property
    def n_blank(self) -> int:
        """Rows that are to be filled in."""
        return self.n_rows - self.n_labeled - self.n_ignored

    @property
    def learned_labels(self) -> int:
        """Labels that are learned from."""
        return sum(label is not None for label in self.labels)

    @property
    def learned_unlabeled(self) -> int:
        """Rows without a label that are learned from."""
        return len(self.labels) - self.learned_labels


def scan(
    table: Any,
    given: GivenLabels,
    features: Sequence[str],
    *,
    most_bytes: int,
    seed: int,
    most_labeled: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    to_learn: bool = True,
) -> Scan:
    """Read the table once, in memory that does not grow with it.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    given : GivenLabels
        The labels of the target.
    features : sequence of str
        Columns to learn from.
    most_bytes : int
        What the kept rows may take: half for labeled ones, half for others.
    seed : int
    most_labeled : int or None
        Labeled rows that may be kept; None is `MOST_LABELED`.
    progress : callable or None
        Called with bytes read and bytes in all.
    to_learn : bool
        Raise an error where there are no labels to learn from, or no blanks.
    """
    start = time.monotonic()
    streams = [np.random.default_rng([seed, which]) for which in (0, 1)]
    labeled = Reservoir(most_labeled or MOST_LABELED, most_bytes // 2, streams[0])
    unlabeled = Reservoir(MOST_UNLABELED, most_bytes // 2, streams[1])
    target, blanks = given.target, given.blanks
    totals, n_open = TotalsRows(target), 0
    for batch in table.batches(progress=progress):
        given.refuse_far_dates(batch)
        labels_here, blank = given.of(batch)
        n_open += int(given.is_open(labels_here, blank).sum())
        plain = batch.plain
        rows = pa.RecordBatch.from_arrays(
            [*(plain.column(name) for name in features), labels_here],
            [*features, target],
        )
        totals.see(plain, batch.start, blank)
        for kept, those in ((labeled, ~blank), (unlabeled, blank)):
            chosen = np.flatnonzero(those)
            if len(chosen):
                kept.offer(rows, chosen, batch.start)
    n_rows = labeled.offered + unlabeled.offered
    if n_rows == 0:
        raise ReadError("The table has a header and no rows.")
    found = totals.found
    n_labeled = labeled.offered - sum(not row.blank for row in found)
    numbers_of_totals = [row.number for row in found]
    with_label = _without(labeled, numbers_of_totals)
    labels = with_label[0].column(target).to_pylist() if with_label else []
    if to_learn:
        given.check_counts(n_labeled, n_rows - len(found), n_open, labels)
    both_kinds = (with_label, _without(unlabeled, numbers_of_totals))
    parts = [part for part in both_kinds if part]
    numbers = np.concatenate([part[1] for part in parts])
    order = np.argsort(numbers)
    labels += [None] * (len(numbers) - len(labels))
    both = joined([part[0] for part in parts]).select(list(features))
    return Scan(
        n_rows,
        n_labeled,
        both.take(pa.array(order)),
        [labels[i] for i in order],
        numbers[order],
        blanks,
        table.first_row,
        len(found),
        n_open,
        tuple(found),
        (totals_note(found),) if found else (),
        time.monotonic() - start,
    )


def _without(
    sample: Reservoir, left_out: Sequence[int]
) -> tuple[pa.Table, NDArray[np.int64]] | None:
    """A sample and its row numbers, without some rows; None if nothing is in it."""
    if not sample.offered:
        return None
    rows, numbers = sample.rows()
    stays = ~np.isin(numbers, left_out)
    return rows.filter(pa.array(stays)), numbers[stays]


def columns_with_blanks(table: Any, unlabeled: Any) -> dict[str, int]:
    """Of each column that has both labels and blanks, how many blanks.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    unlabeled
        Of `Blanks`.
    """
    runs = earlier_runs(table)
    own = [name for name in table.columns if name not in added_by(runs)]
    found = {
        name: GivenLabels(
            name, Blanks(unlabeled), runs[name][0] if name in runs else None
        )
        for name in own
    }
    blanks = Counter[str]()
    n = 0
    for batch in table.batches():
        n += len(batch)
        for name, given in found.items():
            blanks[name] += int(given.of(batch)[1].sum())
    return {name: count for name, count in blanks.items() if 0 < count < n}
