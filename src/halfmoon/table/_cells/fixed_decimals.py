"""Write many numbers with a fixed number of decimals at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._rows import Array

__all__ = ["fixed_decimals"]

MAX_UNITS = 2.0**40  # a number times 10^digits is then exact to 2^-13
NEAR_HALF = 1e-3  # as close to a half, Python decides how to round
MAX_DIGITS = 12
POWERS = 10 ** np.arange(1, 14, dtype=np.int64)
ZERO, POINT, MINUS = b"0.-"


def fixed_decimals(values: Array, digits: int) -> pa.Array | None:
    """Return numbers as text with `digits` decimals, rounded as Python rounds them.

    Zero has no sign. None if a number is too large or not finite, or `digits` too many.

    Examples
    --------
    >>> fixed_decimals(np.array([1053.26, -0.25, -0.01]), 1).to_pylist()
    ['1053.3', '-0.2', '0.0']
    """
    scaled = np.abs(values) * 10.0**digits if digits <= MAX_DIGITS else np.array(np.inf)
    if not (scaled < MAX_UNITS).all():  # NaN too
        return None
    units = np.rint(scaled).astype(np.int64)
    for i in np.flatnonzero(np.abs(scaled % 1.0 - 0.5) < NEAR_HALF):
        units[i] = int(f"{abs(values[i]):.{digits}f}".replace(".", ""))
    negative = (values < 0) & (units > 0)
    n_digits = np.searchsorted(POWERS, units, side="right") + 1
    lengths = np.maximum(n_digits, digits + 1) + (digits > 0) + negative
    characters = _characters(units, digits, int(lengths.max(initial=0)))
    width = characters.shape[1]
    characters[negative, width - lengths[negative]] = MINUS
    used = np.arange(width) >= (width - lengths)[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(characters[used])]
    return pa.Array.from_buffers(pa.string(), len(units), buffers)


def _characters(units: NDArray[np.int64], digits: int, width: int) -> NDArray[np.uint8]:
    """Return all digits and the point, right-aligned, shape (n, width)."""
    characters = np.empty((len(units), width), dtype=np.uint8)
    left = units if units.max(initial=0) >= 2**32 else units.astype(np.uint32)
    point = width - 1 - digits if digits else -1
    for column in range(width - 1, -1, -1):
        if column == point:
            characters[:, column] = POINT
            continue
        rest = left // 10
        characters[:, column] = ZERO + (left - 10 * rest)
        left = rest
    return characters
