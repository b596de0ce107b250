"""A Dask data frame as a table: one partition in memory at a time.

Partitions are read in order, a pass of the table computes each of them once, and the
filled frame is lazy again: a partition is filled when it is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.table._files.frame_rows import as_rows
from halfmoon.table._files.frame_table import FrameTable, with_columns
from halfmoon.table._table_errors import ReadError

__all__ = ["DaskTable"]


class DaskTable(FrameTable):
    """A Dask data frame that is read partition by partition."""

    def _begin(self) -> None:
        self.parts: Sequence[Any] = self.frame.to_delayed()
        self.schema = as_rows(self.frame._meta_nonempty).schema
        self.size = len(self.parts)  # progress counts partitions

    @cached_property
    def part_rows(self) -> list[int]:
        """Number of rows in each partition."""
        return [len(self._read(number)) for number in range(len(self.parts))]

    def arrow_batches(self) -> Iterator[tuple[Any, int]]:
        part_rows = []
        for number in range(len(self.parts)):
            rows = self._read(number)
            part_rows.append(len(rows))
            for batch in rows.to_batches(max_chunksize=self.batch_rows):
                yield batch, number
        self.__dict__["part_rows"] = part_rows

    def filled(
        self, replaced: Mapping[str, NDArray[Any]], added: Mapping[str, NDArray[Any]]
    ) -> Any:
        from halfmoon._partitions.dask_rows import lazy_frame

        ends = np.cumsum([0, *self.part_rows])
        pieces = [
            [{name: v[a:b] for name, v in new.items()} for new in (replaced, added)]
            for a, b in pairwise(ends)
        ]
        first = int(np.argmax(self.part_rows))  # shows the types of all partitions
        like = with_columns(self.parts[first].compute(), *pieces[first]).head(0)
        arguments = [
            (part, *piece, like) for part, piece in zip(self.parts, pieces, strict=True)
        ]
        return lazy_frame(_filled_part, arguments, like, self.frame.divisions)

    def rows_at(self, positions: Sequence[int]) -> Any:
        """Return some rows as a pandas data frame, in the order of their positions."""
        import pandas as pd

        ends = np.cumsum([0, *self.part_rows])
        numbers = np.searchsorted(ends, positions, side="right") - 1
        parts = {number: self.parts[number].compute() for number in set(numbers)}
        found = [
            parts[number].iloc[[position - ends[number]]]
            for number, position in zip(numbers, positions, strict=True)
        ]
        return pd.concat(found) if found else self.frame._meta

    def _read(self, number: int) -> Any:
        """Return a partition as an Arrow table."""
        rows = as_rows(self.parts[number].compute())
        try:
            return rows.select(self.schema.names).cast(self.schema)
        except (pa.ArrowException, KeyError) as error:
            raise ReadError(
                f"Partition {number} of the data frame does not have the columns and "
                f"types of the frame: {error}. Give all partitions the same, for "
                f"example with frame.astype(...)."
            ) from error


def _filled_part(part: Any, replaced: Any, added: Any, like: Any) -> Any:
    """Fill a partition; its columns get the types that others have."""
    filled = with_columns(part, replaced, added)
    return filled.astype({name: like[name].dtype for name in (*replaced, *added)})
