"""Numbers and dates that stand for a missing value, such as -999 and 1900-01-01."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from halfmoon._rows import Array

__all__ = ["missing_codes", "missing_dates", "without_codes"]

NINES = re.compile(r"-9|-?99+(\.9+)?")
FILL_VALUES = frozenset(  # of databases and of programs for grids
    (-(2.0**31), 2.0**31 - 1, -(2.0**63), 2.0**63, np.finfo(float).max, 1e20, 1e30)
)
CODE = re.compile(r"-[789]|-?9+[789](\.9+)?")
MIN_CODED = 2  # cells with a code of nines
MIN_UNCODED = 5  # different other numbers
ENDS = ((1, 1), (12, 30), (12, 31))  # month and day of dates that stand for none
MIN_SHARE = 0.5  # distance from all other dates, in ranges of these
MIN_DAYS = 365.0  # the same in days


def missing_codes(numbers: Array) -> tuple[float, ...]:
    """Return the numbers that stand for a missing value, such as -999 or 9999.

    Such a number consists of nines (or ends in 7 or 8, as 97 and 98 beside 99), or is
    the smallest or largest that a program can store. It occurs more than once, and is
    farther from all other numbers than they are from each other.

    Examples
    --------
    >>> missing_codes(np.array([3, 1, 4, 2, 5, -999, -999, np.nan]))
    (-999.0,)
    >>> missing_codes(np.array([80, 90, 95, 97, 98, 99, 99]))
    ()
    """
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    filled = np.isin(np.abs(values), np.abs([*FILL_VALUES]))
    codes = [CODE.fullmatch(f"{value:.10g}") is not None for value in values]
    coded = filled | np.array(codes, dtype=bool)
    if not coded.any() or (~coded).sum() < MIN_UNCODED:
        return ()
    low, high = values[~coded][[0, -1]]
    with np.errstate(over="ignore"):
        far = coded & (np.maximum(values - high, low - values) > high - low)
    nines = [
        (fill or NINES.fullmatch(f"{value:.10g}")) and count >= MIN_CODED
        for value, count, fill in zip(
            values[far], counts[far], filled[far], strict=True
        )
    ]
    return tuple(values[far].tolist()) if any(nines) else ()


def missing_dates(dates: pd.Series) -> tuple[float, ...]:
    """Return the dates that stand for none, in days since 1970-01-01.

    Databases write 1900-01-01 or 9999-12-31 for a date that is not known, or has not
    come yet. Such a date is the first or last of its year, occurs more than once, and
    is far from all others.

    Examples
    --------
    >>> known = [f"2024-02-{day:02}" for day in range(1, 20)]
    >>> missing_dates(pd.Series(pd.to_datetime([*known, "1970-01-01", "1970-01-01"])))
    (0.0,)
    """
    counts = dates.value_counts().sort_index()
    values = counts.index
    ends = pd.Series(zip(values.month, values.day, strict=True)).isin(ENDS)
    coded = ends.to_numpy() & (values == values.normalize())
    if not coded.any() or (~coded).sum() < MIN_UNCODED:
        return ()
    days = _days(values)
    low, high = days[~coded][[0, -1]]
    far = np.maximum(days - high, low - days) > max(MIN_SHARE * (high - low), MIN_DAYS)
    return tuple(days[coded & far & (counts.to_numpy() >= MIN_CODED)].tolist())


def without_codes(values: Any, codes: tuple[float, ...]) -> Any:
    """Return numbers or dates, missing where they are one of the codes."""
    if isinstance(values, pd.Series):
        return values.mask(np.isin(_days(values), codes))
    values[np.isin(values, codes)] = np.nan
    return values


def _days(dates: Any) -> Array:
    return np.asarray((dates - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1))
