"""A random sample of a stream of rows, of limited size in rows and in bytes.

Every row draws a number in [0, 1); the rows with the smallest numbers are the sample.
It does not depend on how the stream is divided into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Reservoir", "joined"]


def joined(parts: list[pa.Table]) -> pa.Table:
    """Join parts of a table, with each column in one piece."""
    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


@dataclass
class Reservoir:
    """A uniform sample of the rows offered so far."""

    max_rows: int  # at least one row is kept
    max_bytes: int
    rng: np.random.Generator
    offered: int = 0  # rows so far

    _parts: list[pa.Table] = field(default_factory=list)
    _keys: list[NDArray[np.float64]] = field(default_factory=list)
    _numbers: list[NDArray[np.int64]] = field(default_factory=list)
    _bytes: int = 0  # of the parts
    _max_key: float = 1.0  # rows with larger keys cannot enter the sample

    def offer(self, rows: Any, where: NDArray[np.intp], start: int) -> None:
        """Consider the rows at `where` of a batch that begins at row `start`."""
        keys = self.rng.random(len(where))
        self.offered += len(where)
        enters = keys < self._max_key
        if not enters.any():
            return
        taken = rows.take(pa.array(where[enters]))
        self._parts.append(pa.Table.from_batches([taken]))
        self._bytes += taken.nbytes
        self._keys.append(keys[enters])
        self._numbers.append(start + where[enters])
        if self._held() > 2 * self._capacity():
            self._shrink()

    def rows(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return the sample in the order of the stream, and its row numbers."""
        self._shrink()
        if not self._parts:
            raise ValueError("Nothing was offered.")
        return self._parts[0], self._numbers[0]

    def _held(self) -> int:
        return sum(map(len, self._keys))

    def _capacity(self) -> int:
        """Return how many rows of the present mean size may be kept."""
        row_bytes = max(1.0, self._bytes / max(1, self._held()))
        return max(1, min(self.max_rows, int(self.max_bytes / row_bytes)))

    def _shrink(self) -> None:
        if not self._parts:
            return
        capacity = self._capacity()
        rows, keys = joined(self._parts), np.concatenate(self._keys)
        numbers = np.concatenate(self._numbers)
        if len(keys) > capacity:
            kept = np.sort(np.argpartition(keys, capacity - 1)[:capacity])
            rows, keys, numbers = rows.take(pa.array(kept)), keys[kept], numbers[kept]
            self._max_key = float(keys.max())
        self._parts, self._keys, self._bytes = [rows], [keys], rows.nbytes
        self._numbers = [numbers]
