"""Numbers that stand for a missing value, such as -999 or 9999.

Such a number consists of nines (or ends in 7 or 8, as 97 and 98 beside 99), occurs more
than once, and is farther from all other numbers than they are from each other.
"""

from __future__ import annotations

import re

import numpy as np

from halfmoon._rows import Array

__all__ = ["missing_codes"]

NINES = re.compile(r"-9|-?99+(\.9+)?")
CODE = re.compile(r"-[789]|-?9+[789](\.9+)?")
MIN_CELLS = 2  # with a code of nines
MIN_OTHERS = 5  # different other numbers


def missing_codes(numbers: Array) -> tuple[float, ...]:
    """Return the numbers that stand for a missing value, in ascending order.

    Examples
    --------
    >>> missing_codes(np.array([3, 1, 4, 2, 5, -999, -999, np.nan]))
    (-999.0,)
    >>> missing_codes(np.array([80, 90, 95, 97, 98, 99, 99]))
    ()
    """
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    coded = np.array([CODE.fullmatch(f"{value:.10g}") is not None for value in values])
    if not coded.any() or (~coded).sum() < MIN_OTHERS:
        return ()
    low, high = values[~coded][[0, -1]]
    far = coded & (np.maximum(values - high, low - values) > high - low)
    nines = [
        NINES.fullmatch(f"{value:.10g}") and count >= MIN_CELLS
        for value, count in zip(values[far], counts[far], strict=True)
    ]
    return tuple(values[far].tolist()) if any(nines) else ()
