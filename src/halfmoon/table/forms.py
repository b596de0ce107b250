"""Forms in which dates and times of the day are written, found from examples."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["date_form", "time_form"]

EXAMPLES = 1_000  # different texts that a form is found from

ISO = r"^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:?[0-9]{2}.*)?)?$"
DAYS = (  # where both fit, the month comes first
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%a, %d %b %Y",
)
CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
CLOCK = r"^[0-9]{1,2}:[0-9]{2}"
LONGEST = 40  # characters of a date


def date_form(text: pa.Array, stray: float) -> str:
    """The form of dates in text; nothing if they are none.

    Parameters
    ----------
    text : pyarrow.Array
        Null where there is no value.
    stray : float
        Share of the values that may be written otherwise.

    Examples
    --------
    >>> date_form(pa.array(["2020-01-31", None]), 0), date_form(pa.array(["x"]), 0)
    ('ISO8601', '')
    >>> date_form(pa.array(["3/4/2020", "13/4/2020"]), 0)
    '%d/%m/%Y'
    """
    values = _examples(text)
    share = 1.0 - stray
    if pc.mean(pc.match_substring_regex(values, ISO)).as_py() >= share:
        return "ISO8601" if _fits(values, "ISO8601") >= share else ""
    # Dates have a number, and something that parts it from others.
    numbered = pc.match_substring_regex(values, r"[0-9]+[/. ,-]+")
    short = pc.less_equal(pc.utf8_length(values), LONGEST)
    if pc.mean(pc.and_(numbered, short)).as_py() < share:
        return ""
    forms = [*DAYS, *(f"{day} {clock}" for day in DAYS for clock in CLOCKS)]
    some = values.slice(0, 5)  # most forms fit none of them
    for form in forms:
        if _fits(some, form) > 0 and _fits(values, form) >= share:
            return form
    return ""


def time_form(text: pa.Array, stray: float) -> str:
    """The form of times of the day in text, if all are written so; as above.

    Examples
    --------
    >>> time_form(pa.array(["08:15", "23:59"]), 0)
    '%H:%M'
    """
    values = _examples(text)
    if pc.mean(pc.match_substring_regex(values, CLOCK)).as_py() < 1.0 - stray:
        return ""
    for form in CLOCKS:
        if _fits(values, form) >= 1.0 - stray:
            return form
    return ""


def _examples(text: pa.Array) -> pa.Array:
    """Some of the different values, from all over the column."""
    values = text.drop_null().unique()
    step = max(1, len(values) // EXAMPLES)
    return values.take(pa.array(range(0, len(values), step)))


def _fits(values: pa.Array, form: str) -> float:
    """Share of the values that are written in a form."""
    series = pd.Series(values.to_numpy(zero_copy_only=False), dtype=object)
    dates = pd.to_datetime(series, format=form, errors="coerce", utc=True)
    return float(dates.notna().mean())
