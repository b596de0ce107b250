"""Arrays in the safetensors format, written and read one at a time.

A file is the length of the header in 8 bytes (little endian), the header as JSON, and
the bytes of all tensors without gaps:

    {"3": {"dtype": "F64", "shape": [2, 5], "data_offsets": [0, 80]}, ...}

The format is simple enough to be read and written here. Each array goes straight
between its memory and the file, where the library `safetensors` would hold two more
copies of all arrays. The tests read our files with that library.

The memory order of an array is kept (`order` lists its axes from the slowest to the
fastest), because the order of sums, and so the last bits of results, depend on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from halfmoon._model_files.strict_json import parsed

__all__ = ["ArrayLayout", "read_tensors", "write_tensors"]

CHUNK_BYTES = 2**20
#: Names of dtypes in the format: f8 is F64, ...
NAMES = {f"{c}{n}": f"{c.upper()}{8 * n}" for c in "fiu" for n in (1, 2, 4, 8)}
NAMES = NAMES | {"b1": "BOOL"}
MAX_AXES = 32
LAST_CODE_POINT = 0x10FFFF


@dataclass(frozen=True)
class ArrayLayout:
    """How an array lies in memory.

    Attributes
    ----------
    dtype : numpy.dtype
    shape : tuple of int
    order : tuple of int
        Axes from the slowest to the fastest: (0, 1) is C order, (1, 0) Fortran's.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, array: NDArray[Any]) -> ArrayLayout:
        """Return the layout of an array, without the gaps of a view."""
        if array.flags.c_contiguous:
            order = tuple(range(array.ndim))
        else:
            steps = [-abs(step) for step in array.strides]
            order = tuple(int(axis) for axis in np.argsort(steps, kind="stable"))
        return cls(array.dtype, array.shape, order)

    def __post_init__(self) -> None:
        if len(self.shape) > MAX_AXES or any(size < 0 for size in self.shape):
            raise ValueError("an array has an impossible shape")
        if sorted(self.order) != list(range(len(self.shape))):
            raise ValueError("the order of an array's axes is not a permutation")

    @property
    def in_memory(self) -> tuple[int, ...]:
        """Shape with the axes from the slowest to the fastest."""
        return tuple(self.shape[axis] for axis in self.order)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries, as an integer that cannot overflow."""
        return prod(self.shape) * self.dtype.itemsize

    def entry(self, start: int) -> dict[str, Any]:
        """Return the entry of the header."""
        code = NAMES.get(self.dtype.str[1:]) if self.dtype.isnative else None
        shape = list(self.in_memory)
        if code is None:  # dates and texts are bytes to other readers
            code, shape = "U8", [self.nbytes]
        offsets = [start, start + self.nbytes]
        return {"dtype": code, "shape": shape, "data_offsets": offsets}


def header_of(layouts: dict[str, ArrayLayout]) -> dict[str, Any]:
    """Return the header of consecutive arrays."""
    header, start = {}, 0
    for name, layout in layouts.items():
        header[name] = layout.entry(start)
        start += layout.nbytes
    return header


def write_tensors(arrays: dict[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the file in pieces; at most one array is copied at a time."""
    layouts = {name: ArrayLayout.of(array) for name, array in arrays.items()}
    text = json.dumps(header_of(layouts), separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name, array in arrays.items():
        rows = np.ascontiguousarray(array.transpose(layouts[name].order))
        if rows.nbytes:
            yield rows.reshape(-1).view(np.uint8).data


def read_tensors(
    stream: BinaryIO, size: int, layouts: dict[str, ArrayLayout]
) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file of a known size; all and only those expected.

    Nothing is allocated before the header, the layouts and the size agree.
    """
    length = int.from_bytes(_exactly(stream, 8), "little")
    header = header_of(layouts)
    total = sum(layout.nbytes for layout in layouts.values())
    if length > size or 8 + length + total != size:
        raise ValueError("the size of the arrays is wrong")
    if parsed(_exactly(stream, length)) != header:
        raise ValueError("the arrays are not those that model.json lists")
    return {name: _read(stream, layout) for name, layout in layouts.items()}


def _read(stream: BinaryIO, layout: ArrayLayout) -> NDArray[Any]:
    raw = np.empty(layout.nbytes, dtype=np.uint8)
    view = raw.data
    for start in range(0, layout.nbytes, CHUNK_BYTES):
        part = view[start : start + CHUNK_BYTES]
        part[:] = _exactly(stream, len(part))
    if layout.dtype.kind == "b" and raw.size and raw.max() > 1:
        raise ValueError("an array of truth values holds other values")
    if layout.dtype.itemsize == 0 or raw.size == 0:
        array = np.zeros(layout.in_memory, dtype=layout.dtype)
    else:
        array = raw.view(layout.dtype).reshape(layout.in_memory)
    if layout.dtype.kind == "U" and raw.size:
        points = raw.view(np.dtype(np.uint32).newbyteorder(layout.dtype.byteorder))
        if points.max() > LAST_CODE_POINT:
            raise ValueError("an array of text holds an invalid character")
    return array.transpose(np.argsort(layout.order)) if array.ndim else array


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise ValueError("the file ends too early")
    return data
