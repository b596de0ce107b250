"""Find the rows of answers again: by their content, and equal rows by position.

The key of a row is a hash of its cells, except for the target and the columns that
halfmoon has added. So answers still match a table that was sorted, or that got more
rows or columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from halfmoon._label.answers import Place
from halfmoon._label.journal import head_of
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._columns.column_names import added_by, earlier_runs
from halfmoon.table._files import Table
from halfmoon.table._files.arrow_types import column_text

__all__ = ["key_columns", "known_heads", "matched_rows", "row_keys"]

SEPARATOR = "\x1f"  # of cells
KEY_BYTES = 8  # two of 10^6 rows have the same key with a probability of 10^-7


def key_columns(table: Table, target: str) -> tuple[str, ...]:
    """Return the columns that the keys of a table are made of."""
    added = added_by(earlier_runs(table))
    return tuple(n for n in table.columns if n != target and n not in added)


def known_heads(
    table: Table, target: str, heads: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Add the head of a table to those of a journal, where its line may be damaged."""
    columns = key_columns(table, target)
    return {head_of(columns): columns, **heads}


def row_keys(rows: pa.RecordBatch | pa.Table, columns: Sequence[str]) -> list[str]:
    """Return the key of each row.

    Examples
    --------
    >>> row_keys(pa.table({"a": ["1 ", "2"], "b": ["x", None]}), ["a", "b"])
    ['4d8bce2375920758', '93f73942c93c8b76']
    """
    texts = [column_text(as_column(rows.column(name))) for name in columns]
    return [
        blake2b(
            SEPARATOR.join(cell.strip() for cell in row).encode("utf-8", "replace"),
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
    """Return row numbers, from 0, of the places that are still in the table.

    `heads` are the columns that keys are made of. The `batches` of the table are given
    if it is read anyway.
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
    """Assign the row at the same position if it matches, or else the next that does.

    Several people may have answered for one row in tables of another order: if no equal
    row is left, these rows are assigned once more.
    """
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
        head, key, _ = place
        if not free.get((head, key)):
            free[head, key] = list(found.get(head, {}).get(key, ()))
        if free[head, key]:
            rows[place] = free[head, key].pop(0)
    return rows
