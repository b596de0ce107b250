"""A random sample of the rows of a stream, of bounded size in rows and in bytes.

Every row draws a number in [0, 1); the rows with the smallest numbers are the sample.
Which rows these are does not depend on how the stream is cut into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Reservoir", "joined"]


def joined(parts: list[pa.Table]) -> pa.Table:
    """Parts of a table as one, in one piece each column."""
    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


@dataclass
class Reservoir:
    """A uniform sample of what has been offered so far.

    Parameters
    ----------
    most_rows, most_bytes : int
        What may be kept; at least one row is.
    rng : Generator
    """

    most_rows: int
    most_bytes: int
    rng: np.random.Generator
    offered: int = 0

    _parts: list[pa.Table] = field(default_factory=list)
    _keys: list[NDArray[np.float64]] = field(default_factory=list)
    _numbers: list[NDArray[np.int64]] = field(default_factory=list)
    _bytes: int = 0  # of the parts
    _below: float = 1.0  # keys that may still be in the sample

    def offer(self, rows: Any, where: NDArray[np.intp], start: int) -> None:
        """Take some rows of a batch into account.

        Parameters
        ----------
        rows : RecordBatch
        where : ndarray of int
            Which of them.
        start : int
            Number of the first of the batch.
        """
        keys = self.rng.random(len(where))
        self.offered += len(where)
        in_it = keys < self._below
        if not in_it.any():
            return
        taken = rows.take(pa.array(where[in_it]))
        self._parts.append(pa.Table.from_batches([taken]))
        self._bytes += taken.nbytes
        self._keys.append(keys[in_it])
        self._numbers.append(start + where[in_it])
        if self._held() > 2 * self._capacity():
            self._shrink()

    def rows(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """The sample in the order of the stream, and the rows' numbers."""
        self._shrink()
        if not self._parts:
            raise ValueError("Nothing was offered.")
        return self._parts[0], self._numbers[0]

    def _held(self) -> int:
        return sum(map(len, self._keys))

    def _capacity(self) -> int:
        """Rows that may be kept, at the size that rows have had."""
        held = self._held()
        if not held:
            return self.most_rows
        row_bytes = max(1.0, self._bytes / held)
        return max(1, min(self.most_rows, int(self.most_bytes / row_bytes)))

    def _shrink(self) -> None:
        if not self._parts:
            return
        capacity = self._capacity()
        rows, keys = joined(self._parts), np.concatenate(self._keys)
        numbers = np.concatenate(self._numbers)
        if len(keys) > capacity:
            kept = np.sort(np.argpartition(keys, capacity - 1)[:capacity])
            rows, keys, numbers = rows.take(pa.array(kept)), keys[kept], numbers[kept]
            self._below = float(keys.max())
        self._parts, self._keys, self._bytes = [rows], [keys], rows.nbytes
        self._numbers = [numbers]
