"""Keys of rows: equal rows have equal keys, in any batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._files.arrow_types import column_text

__all__ = ["cell_keys", "value_keys"]

MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses no bit


def cell_keys(
    rows: pa.RecordBatch | pa.Table, columns: Sequence[str]
) -> NDArray[np.uint64]:
    """Return keys that are equal if the cells of some columns are equal as text.

    The number 1.5 equals the text "1.5".
    """
    texts = (
        [text.strip() for text in column_text(as_column(rows.column(name)))]
        for name in columns
    )
    hashes = (pd.util.hash_array(np.array(each, dtype=object)) for each in texts)
    return _mixed(hashes, rows.num_rows)


def value_keys(rows: pa.RecordBatch | pa.Table, columns: Columns) -> NDArray[np.uint64]:
    """Return keys that are equal if the used columns hold equal values, as 21, 21.0."""
    # A copy, because reading counts unreadable cells.
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
        keys = (keys ^ each) * MIXER
    return keys
