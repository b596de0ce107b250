"""A number for each row by which equal rows are found, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.table.columns import Columns
from halfmoon.table.files.values import column_text
from halfmoon.table.reading import as_column

__all__ = ["cell_keys", "value_keys"]

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses no bit


def cell_keys(
    rows: pa.RecordBatch | pa.Table, columns: Sequence[str]
) -> NDArray[np.uint64]:
    """Keys that agree where the cells of some columns agree as text.

    1.5 in a file with types is "1.5" in one without.
    """
    texts = (
        [text.strip() for text in column_text(as_column(rows.column(name)))]
        for name in columns
    )
    hashes = (pd.util.hash_array(np.array(each, dtype=object)) for each in texts)
    return _mixed(hashes, rows.num_rows)


def value_keys(rows: pa.RecordBatch | pa.Table, columns: Columns) -> NDArray[np.uint64]:
    """Keys that agree where the columns that are used hold the same values.

    21 and 21.0 are one number, however they are written.
    """
    # A copy: cells that cannot be read are counted where rows are predicted.
    frame = Columns(columns.uses).read(rows)
    hashes = (_hashes(frame[name]) for name in frame.columns)
    return _mixed(hashes, rows.num_rows)


def _hashes(values: pd.Series) -> Any:
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object).fillna("")
    return pd.util.hash_pandas_object(values, index=False).to_numpy()


def _mixed(hashes: Iterable[Any], n: int) -> NDArray[np.uint64]:
    keys = np.zeros(n, dtype=np.uint64)
    for each in hashes:
        keys = (keys ^ each) * MIX
    return keys
