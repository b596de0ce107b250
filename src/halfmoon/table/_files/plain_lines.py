"""Lines of delimited text without quotes, as offsets into one piece of UTF-8.

Without quotes, cells end exactly at delimiters and line ends. NumPy finds all offsets
at once, Arrow takes the columns from them, and lines can be copied or get new cells
without a Python string for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["PlainLines", "plain_lines", "texts_between"]

LINE_FEED, RETURN = 10, 13
Offsets = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PlainLines(Sequence[str]):
    """Records of a table as in the file, with their line ends.

    Attributes
    ----------
    data : bytes
        Text in UTF-8; the offsets below count its bytes.
    starts, stops : ndarray of shape (n,)
        Begin and end of each line, including its line end.
    ends : ndarray of shape (n, d)
        End of each cell; the next cell begins one byte later.
    """

    data: bytes
    starts: Offsets
    ends: Offsets
    stops: Offsets

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> PlainLines: ...
    def __getitem__(self, at: int | slice) -> str | PlainLines:
        if isinstance(at, slice):
            return PlainLines(self.data, self.starts[at], self.ends[at], self.stops[at])
        return self.data[self.starts[at] : self.stops[at]].decode()

    def rows(self, schema: Any) -> Any:
        """Return the cells as columns of strings, with their exact text."""
        n, d = self.ends.shape
        offsets = np.empty((n, d, 2), dtype=np.int32)  # begin and end of each cell
        offsets[:, 0, 0] = self.starts
        offsets[:, 1:, 0] = self.ends[:, :-1] + 1
        offsets[:, :, 1] = self.ends
        order = 2 * np.arange(n * d, dtype=np.int32).reshape(n, d).T.ravel()
        texts = texts_between(self.data, np.append(offsets.ravel(), self.stops[-1:]))
        cells = texts.take(pa.array(order))
        columns = [cells.slice(i * n, n) for i in range(d)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def around(self, columns: Sequence[int]) -> tuple[list[Any], Any]:
        """Return the lines split around some columns, in ascending order.

        Returns
        -------
        texts : list of pyarrow.Array
            The text before the first of these cells, the cell, the text before the
            next cell, and so on; last the text after the last cell.
        ends : pyarrow.Array
        """
        n, wide = len(self), 2 * len(columns) + 2
        offsets = np.empty((n, wide), dtype=np.int32)
        offsets[:, 0], offsets[:, -1] = self.starts, self.ends[:, -1]
        for i, column in enumerate(columns):
            begins = self.ends[:, column - 1] + 1 if column else self.starts
            offsets[:, 2 * i + 1], offsets[:, 2 * i + 2] = begins, self.ends[:, column]
        texts = texts_between(self.data, np.append(offsets.ravel(), self.stops[-1:]))
        first = wide * np.arange(n, dtype=np.int32)
        parts = [texts.take(pa.array(first + i)) for i in range(wide)]
        return parts[:-1], parts[-1]


def plain_lines(text: str, delimiter: str, width: int) -> PlainLines | None:
    r"""Return whole lines of text as offsets of their cells; None for other text.

    The text must have no quotes, each line must end with ``\n`` or ``\r\n`` (the last
    one may have no end), and each line must have as many cells as the header.

    Parameters
    ----------
    text : str
    delimiter : str
        An ASCII character.
    width : int
        Number of cells of a line.

    Examples
    --------
    >>> lines = plain_lines("1,x\n2,y", ",", 2)
    >>> list(lines), lines.ends.tolist()
    (['1,x\n', '2,y'], [[1, 3], [5, 7]])
    >>> plain_lines('1,"x"\n', ",", 2) is None, plain_lines("1\n", ",", 2) is None
    (True, True)
    """
    if '"' in text or "\0" in text:
        return None
    returns = "\r" in text  # faster than a count
    if returns and text.count("\r") != text.count("\r\n"):
        return None
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    if 2 * len(data) > np.iinfo(np.int32).max:
        return None
    codes = np.frombuffer(data, np.uint8)
    marked = (codes == ord(delimiter)) | (codes == LINE_FEED)
    at = np.flatnonzero(marked).astype(np.int32)
    cut = not text.endswith("\n")
    if cut:
        at = np.append(at, np.int32(len(data)))
    if len(at) % width:
        return None
    ends = at.reshape(-1, width)
    feeds = codes[ends.ravel()[: len(at) - cut]] == LINE_FEED
    if feeds.sum() != len(ends) - cut or not feeds[width - 1 :: width].all():
        return None
    stops = np.minimum(ends[:, -1] + 1, len(data))
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int32)
    if returns:
        before = np.maximum(ends[:, -1] - 1, 0)
        ends[:, -1] -= (codes[before] == RETURN) & (ends[:, -1] > starts)
    return PlainLines(data, starts, ends, stops)


def texts_between(data: bytes, offsets: Offsets) -> Any:
    """Return the texts between consecutive offsets as an array, without a copy."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
