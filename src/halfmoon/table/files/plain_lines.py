"""Lines of delimited text without quotes, as places in one piece of UTF-8.

Where nothing is quoted, cells end at delimiters and line ends and nowhere else. All
places are found at once, the columns are taken from them by Arrow, and a line can be
copied, or given a new cell, without a string of Python for each line.
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
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PlainLines(Sequence[str]):
    """Records of a table as they stand in the file, with their line ends.

    Attributes
    ----------
    data : bytes
        Text in UTF-8, in which the places below are counted.
    starts, stops : ndarray of shape (n,)
        Where each line begins, and where it ends, its line end included.
    ends : ndarray of shape (n, d)
        Where each cell ends; the next one begins one byte behind.
    """

    data: bytes
    starts: Places
    ends: Places
    stops: Places

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

    @property
    def characters(self) -> NDArray[np.int64]:
        """How many each line has, its line end included."""
        if self.data.isascii():
            return (self.stops - self.starts).astype(np.int64)
        begins = (np.frombuffer(self.data, np.uint8) & 0xC0) != 0x80
        before = np.concatenate([[0], np.cumsum(begins)])
        counts: NDArray[np.int64] = before[self.stops] - before[self.starts]
        return counts

    def rows(self, schema: Any) -> Any:
        """The cells as columns, each with its exact text.

        Parameters
        ----------
        schema : pyarrow.Schema
            Strings only.
        """
        n, d = self.ends.shape
        places = np.empty((n, d, 2), dtype=np.int32)  # where cells begin and end
        places[:, 0, 0] = self.starts
        places[:, 1:, 0] = self.ends[:, :-1] + 1
        places[:, :, 1] = self.ends
        order = 2 * np.arange(n * d, dtype=np.int32).reshape(n, d).T.ravel()
        all_texts = texts_between(self.data, np.append(places.ravel(), self.stops[-1:]))
        cells = all_texts.take(pa.array(order))
        columns = [cells.slice(i * n, n) for i in range(d)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def around(self, columns: Sequence[int]) -> tuple[list[Any], Any]:
        """Lines cut about some of their cells, and their line ends.

        Parameters
        ----------
        columns : sequence of int
            In order.

        Returns
        -------
        texts : list of pyarrow.Array
            What stands before the first of these cells, the cell, what stands before
            the next one, and so on; at last what stands behind the last one.
        ends : pyarrow.Array
        """
        n, wide = len(self), 2 * len(columns) + 2
        places = np.empty((n, wide), dtype=np.int32)
        places[:, 0], places[:, -1] = self.starts, self.ends[:, -1]
        for i, column in enumerate(columns):
            begins = self.ends[:, column - 1] + 1 if column else self.starts
            places[:, 2 * i + 1], places[:, 2 * i + 2] = begins, self.ends[:, column]
        every = texts_between(self.data, np.append(places.ravel(), self.stops[-1:]))
        first = wide * np.arange(n, dtype=np.int32)
        texts = [every.take(pa.array(first + i)) for i in range(wide)]
        return texts[:-1], texts[-1]

    @classmethod
    def joined(cls, parts: Sequence[PlainLines]) -> PlainLines:
        """Lines from several pieces, one after the other, as one."""
        if len(parts) == 1:
            return parts[0]
        data, starts, ends, stops = [], [], [], []
        length = 0
        for part in parts:
            first, last = int(part.starts[0]), int(part.stops[-1])
            data.append(part.data[first:last])
            starts.append(part.starts - (first - length))
            ends.append(part.ends - (first - length))
            stops.append(part.stops - (first - length))
            length += last - first
        places = (np.concatenate(each) for each in (starts, ends, stops))
        return cls(b"".join(data), *places)


def plain_lines(text: str, delimiter: str, width: int) -> PlainLines | None:
    r"""Whole lines of text as places of their cells; None if a look is not enough.

    It is enough where no quote stands, each line ends with ``\n`` or ``\r\n`` (the last
    may have no end), and each has as many cells as the header.

    Parameters
    ----------
    text : str
    delimiter : str
        In ASCII.
    width : int
        Cells of a line.

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
    returns = "\r" in text  # a quick look, unlike a count
    if returns and text.count("\r") != text.count("\r\n"):
        return None
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half a character
        return None
    if 2 * len(data) > np.iinfo(np.int32).max:
        return None
    signs = np.frombuffer(data, np.uint8)
    marked = (signs == ord(delimiter)) | (signs == LINE_FEED)
    at = np.flatnonzero(marked).astype(np.int32)
    cut = not text.endswith("\n")
    if cut:
        at = np.append(at, np.int32(len(data)))
    if len(at) % width:
        return None
    ends = at.reshape(-1, width)
    feeds = signs[ends.ravel()[: len(at) - cut]] == LINE_FEED
    if feeds.sum() != len(ends) - cut or not feeds[width - 1 :: width].all():
        return None
    stops = np.minimum(ends[:, -1] + 1, len(data))
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int32)
    if returns:
        before = np.maximum(ends[:, -1] - 1, 0)
        ends[:, -1] -= (signs[before] == RETURN) & (ends[:, -1] > starts)
    return PlainLines(data, starts, ends, stops)


def texts_between(data: bytes, places: Places) -> Any:
    """The texts between places of a text and the next ones, as an array of Arrow.

    Nothing is copied.

    Parameters
    ----------
    data : bytes
        In UTF-8.
    places : ndarray of shape (n + 1,)
        In order.
    """
    buffers = [None, pa.py_buffer(places), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(places) - 1, buffers)
