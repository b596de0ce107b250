"""Rows of a table found again: by their content, and among equal ones by position.

The key of a row is a hash of the texts of its cells, without the target and without
what halfmoon has added. So a table that was sorted, or has more rows or columns than
before, still has the rows that were answered for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from halfmoon.table.earlier_runs import added_by, earlier_runs
from halfmoon.table.files import Table
from halfmoon.table.files.values import column_text
from halfmoon.table.reading import as_column

__all__ = ["Place", "key_columns", "matched_rows", "row_keys"]

#: Head, key, and the number as a spreadsheet counts.
Place = tuple[str, str, int]

BETWEEN = "\x1f"  # cells
KEY_BYTES = 8  # 10^6 rows share a key with a chance of 10^-7


def key_columns(table: Table, target: str) -> tuple[str, ...]:
    """Columns that the keys of a table are made of."""
    added = added_by(earlier_runs(table))
    return tuple(n for n in table.columns if n != target and n not in added)


def row_keys(rows: pa.RecordBatch | pa.Table, columns: Sequence[str]) -> list[str]:
    """The key of each row.

    Examples
    --------
    >>> row_keys(pa.table({"a": ["1 ", "2"], "b": ["x", None]}), ["a", "b"])
    ['4d8bce2375920758', '93f73942c93c8b76']
    """
    texts = [column_text(as_column(rows.column(name))) for name in columns]
    return [
        blake2b(
            BETWEEN.join(cell.strip() for cell in row).encode("utf-8", "replace"),
            digest_size=KEY_BYTES,
        ).hexdigest()
        for row in (zip(*texts, strict=True) if texts else [()] * rows.num_rows)
    ]


def matched_rows(
    table: Table,
    places: Iterable[Place],
    heads: Mapping[str, Sequence[str]],
    batches: Iterable[Any] | None = None,
) -> dict[Place, int]:
    """Numbers of rows, from 0, by what answers know them by.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    places : iterable of (str, str, int)
    heads : mapping of str to sequence of str
        Columns that keys are made of.
    batches : iterable of Batch or None
        Of the table, where it is walked through anyway.

    Returns
    -------
    dict
        Without the places that are not in the table any more.
    """
    wanted: dict[str, dict[str, list[int]]] = {}
    asked = sorted(set(places), key=lambda place: place[2])
    for head, key, _ in asked:
        if set(heads.get(head, ("",))) <= set(table.columns):
            wanted.setdefault(head, {}).setdefault(key, [])
    for batch in table.batches() if batches is None else batches:
        for head, found in wanted.items():
            for i, key in enumerate(row_keys(batch.plain, heads[head])):
                if key in found:
                    found[key].append(batch.start + i)
    return _assigned(asked, wanted, table.first_row)


def _assigned(
    asked: Sequence[Place], found: Mapping[str, Mapping[str, list[int]]], first: int
) -> dict[Place, int]:
    """The row at the same position if it is one of them, or else the next that is."""
    rows: dict[Place, int] = {}
    moved: list[Place] = []
    free = {(head, key): list(at) for head in found for key, at in found[head].items()}
    for place in asked:
        head, key, number = place
        if number - first in free.get((head, key), ()):
            rows[place] = number - first
            free[head, key].remove(number - first)
        else:
            moved.append(place)
    for place in moved:
        left = free.get(place[:2])
        if left:
            rows[place] = left.pop(0)
    return rows
