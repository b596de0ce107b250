"""Formats of dates and times in text, found from examples.

Words in them are rewritten first (`_cells/date_spellings.py`). Numbers such as 20240503
or 202405 are dates, and 0915 to 2359 times, if all of them are, and they are many.
Among dates, numbers from 20000 to 59999 count days since 1899-12-30, as spreadsheets
do. A column of such numbers alone is one of numbers.
"""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.date_spellings import plain_dates
from halfmoon.table._cells.letter_patterns import pattern_for
from halfmoon.table._cells.number_detection import examples

__all__ = [
    "COMPACT_TIME",
    "SERIAL",
    "describe_date_format",
    "find_compact_format",
    "find_date_format",
    "find_time_format",
    "without_weekday",
]

MAX_EXAMPLES = 1_000  # distinct texts that a format is found from
MAX_DATE_LENGTH = 40  # characters
FIRST_EXAMPLES = 6  # that decide which formats are tried on all
MAX_FORMATS = 8  # in one column

ISO = r"^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:?[0-9]{2}.*)?)?$|^[0-9]{8}T[0-9]{4}"
#: The format of times in four digits.
COMPACT_TIME = "%H%M"
DAY, HOUR_MINUTE = "(?:0[1-9]|[12][0-9]|3[01])", "(?:[01][0-9]|2[0-3])[0-5][0-9]"
MONTH = "(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])"
COMPACT = {
    "%Y%m%d": rf"^(?:{MONTH}{DAY}|99991231|0+)$",
    "%Y%m": rf"^{MONTH}$",
    "%Y%m%d%H%M": rf"^{MONTH}{DAY}{HOUR_MINUTE}$",
    "%Y%m%d%H%M%S": rf"^{MONTH}{DAY}{HOUR_MINUTE}[0-5][0-9]$",
    "%m%d%Y": rf"^(?:0[1-9]|1[0-2]){DAY}(?:19|20)[0-9]{{2}}$",
    "%d%m%Y": rf"^{DAY}(?:0[1-9]|1[0-2])(?:19|20)[0-9]{{2}}$",
    COMPACT_TIME: f"^{HOUR_MINUTE}$",
}
MIN_COMPACT = 10  # different dates or times
#: The format of days since 1899-12-30.
SERIAL = "serial"
SERIAL_DAYS = r"^[2-5][0-9]{4}(\.[0-9]+)?$"
NUMBER_AND_SEPARATOR = r"[0-9]+[/. ,年-]+|^[\p{L}]{3,9}[ .-]+[0-9]{2,4}$"
DAY_AND_MONTH = r"^(?P<first>[0-9]{1,2})[/.-](?P<second>[0-9]{1,2})[/.-][0-9]{2,4}"
MAY_BE_DATE = r"^[^0-9]{0,24}[0-9]{1,8}(?:[^0-9].{0,70})?$"
CLOCK = r"^[0-9]{1,2}:[0-9]{2}"
TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
KNOWN_DATES = """
%Y/%m/%d | %Y.%m.%d
%m/%d/%Y | %d/%m/%Y | %d.%m.%Y | %m-%d-%Y | %d-%m-%Y
%m/%d/%y | %d/%m/%y | %d.%m.%y | %m-%d-%y | %d-%m-%y
%d %b %Y | %d %B %Y | %d. %B %Y | %d. %b %Y
%d-%b-%Y | %d-%b-%y | %d/%b/%Y | %d-%B-%Y | %d-%B-%y | %d/%B/%Y
%b %d, %Y | %B %d, %Y | %b %d %Y | %B %d %Y
%b %Y | %B %Y | %b-%y | %b %y | %b-%Y | %m/%Y | %m.%Y | %Y/%m
%B-%y | %B %y | %B-%Y
%G-W%V-%u
"""
DATES = tuple(  # where two fit, the month comes first
    each.strip() for row in KNOWN_DATES.split("\n")[1:-1] for each in row.split("|")
)
ZONED = (
    *("%d %b %Y %H:%M:%S %z", "%d/%b/%Y:%H:%M:%S %z", "%b %d %Y %H:%M:%S %z"),
    *("%b %d %H:%M:%S %Y", "%b %d %H:%M:%S %z %Y"),
)


def find_date_format(text: pa.Array, max_strays: float) -> str:
    """Return the format of dates in text, several joined by ``|``, or an empty string.

    A column may hold dates in several formats. Each cell is read by the first that
    fits. So 3/4/2020 is read like most of the cells with only one reading.
    `max_strays` is the share of the values that may be something else.

    Examples
    --------
    >>> find_date_format(pa.array(["2020-01-31", None]), 0)
    'ISO8601'
    >>> find_date_format(pa.array(["3/4/2020", "13/4/2020", "Feb 5, 2020"]), 0)
    '%d/%m/%Y|%b %d, %Y'
    >>> find_date_format(pa.array(["x"]), 0)
    ''
    """
    values = _rewritten(text, max_strays)
    if values is None:
        return ""
    serial = pc.match_substring_regex(values, SERIAL_DAYS)
    dates = values.filter(pc.invert(serial))
    if len(dates) == 0:
        return ""
    allowed = max_strays * len(values)
    found = _formats(dates, allowed)
    if found and len(dates) < len(values):
        found.append(SERIAL)
    return "|".join(found)


def _rewritten(text: pa.Array, max_strays: float) -> pa.Array | None:
    """Return examples of dates or times, rewritten; None if they look different.

    To look is much faster than to rewrite.
    """
    values = examples(text, MAX_EXAMPLES)
    share = pc.mean(pc.match_substring_regex(values, MAY_BE_DATE)).as_py() or 0.0
    return None if share < 1.0 - max_strays else plain_dates(values)


def find_compact_format(text: pa.Array) -> str:
    """Return the format of dates or times that are digits alone, or an empty string.

    Zeros and 99991231 stand for no date. Times without a zero before them are numbers.

    Examples
    --------
    >>> days = [f"202402{day}" for day in range(10, 30)]
    >>> find_compact_format(pa.array(days)), find_compact_format(pa.array([*days, "9"]))
    ('%Y%m%d', '')
    """
    values = text.drop_null()
    for form, pattern in COMPACT.items():
        if pc.all(pc.match_substring_regex(values, pattern), min_count=0).as_py():
            padded = pc.any(pc.starts_with(values, "0"), min_count=0).as_py()
            many = pc.count_distinct(values).as_py() >= MIN_COMPACT
            return form if many and (padded or form != COMPACT_TIME) else ""
    return ""


def _formats(values: pa.Array, allowed: float) -> list[str]:
    """Return formats of all dates but an `allowed` number; none if there are none."""
    iso = pc.match_substring_regex(values, ISO)
    separated = pattern_for(values, NUMBER_AND_SEPARATOR)
    dated = pc.or_(iso, pc.match_substring_regex(values, separated))
    short = pc.less_equal(pc.utf8_length(values), MAX_DATE_LENGTH)
    if pc.sum(pc.and_(dated, short)).as_py() < len(values) - allowed:
        return []
    found: list[str] = []
    left = values
    if pc.any(iso).as_py():
        left = values.filter(pc.invert(pc.and_(iso, _fits(values, "ISO8601"))))
        found += ["ISO8601"] if len(left) < len(values) else []
    candidates = _ordered_formats(values)
    while len(left) > allowed and len(found) < MAX_FORMATS:
        first = examples(left, FIRST_EXAMPLES)  # most formats fit none of them
        timed = set(pc.match_substring(first, ":").to_pylist())  # as in all times
        fitting = [
            each
            for each in candidates
            if (":" in each) in timed and pc.any(_fits(first, each)).as_py()
        ]
        masks = {each: _fits(left, each) for each in fitting}
        if not masks:
            return []
        # Of two that fit equally many, the first: its order of day and month is right.
        best = max(masks, key=lambda each: pc.sum(masks[each]).as_py())
        found.append(best)
        left = left.filter(pc.invert(masks[best]))
    return found if len(left) <= allowed else []


def describe_date_format(date_format: str) -> str:
    """Return what a person should know about the formats of dates.

    Examples
    --------
    >>> describe_date_format("%d/%m/%Y"), describe_date_format("ISO8601|%m/%d/%Y")
    ('day before month', 'written in 2 ways, month before day')
    >>> describe_date_format("%d/%m/%Y|%m/%d/%Y")
    'written in 2 ways, some with the day and some with the month first'
    """
    # Months in other languages are read as %b if they are short in English.
    formats = list(dict.fromkeys(date_format.replace("%B", "%b").split("|")))
    parts = [f"written in {len(formats)} ways"] if len(formats) > 1 else []
    first = {each[1] for each in formats if re.match(r"%[dm][/-]%[dm]", each)}
    if first == {"d", "m"}:
        parts.append("some with the day and some with the month first")
    elif first == {"d"}:
        parts.append("day before month")
    elif first == {"m"}:
        parts.append("month before day")
    return ", ".join(parts)


def _ordered_formats(values: pa.Array) -> list[str]:
    """Return all formats, first those with the order of day and month of the values."""
    places = pc.extract_regex(values, DAY_AND_MONTH).drop_null()
    first, second = (
        pc.sum(pc.greater(places.field(name).cast(pa.int64()), 12)).as_py() or 0
        for name in ("first", "second")
    )
    later = "%m" if first > second else "%d"
    dates = sorted(DATES, key=lambda each: each.startswith(later))
    times = (f"{date} {time}" for date in dates for time in TIMES)
    return [*dates, *times, *ZONED]


def find_time_format(text: pa.Array, max_strays: float) -> str:
    """Return the format of times of the day in text, or an empty string.

    Several formats are joined by ``|``.

    Examples
    --------
    >>> find_time_format(pa.array(["08:15", "23:59"]), 0)
    '%H:%M'
    """
    values = _rewritten(text, max_strays)
    if values is None:
        return ""
    if pc.mean(pc.match_substring_regex(values, CLOCK)).as_py() < 1.0 - max_strays:
        return ""
    found, left = [], values
    for each in TIMES:
        fits = _fits(left, each)
        if pc.any(fits, min_count=0).as_py():
            found.append(each)
            left = left.filter(pc.invert(fits))
    if len(left) > max_strays * len(values):
        return ""
    # 9:58 beside 1:02:11 is a duration, 14:03 beside 16:09:00 is not.
    long = pc.match_substring_regex(values, CLOCK + ":[0-9]{2}")
    hours = pc.match_substring_regex(values.filter(long), "^[12][0-9]")
    mixed = TIMES[0] in found and len(found) > 1 and pc.any(long).as_py()
    return "" if mixed and not pc.any(hours).as_py() else "|".join(found)


def without_weekday(date_format: str) -> str:
    """Return a format of an earlier version, which named days of the week."""
    return re.sub("%[aA],? ", "", date_format)


def _fits(values: pa.Array, date_format: str) -> pa.Array:
    """Return which values are written in a format."""
    series = pd.Series(values.to_numpy(zero_copy_only=False), dtype=object)
    dates = pd.to_datetime(series, format=date_format, errors="coerce", utc=True)
    return pa.array(dates.notna().to_numpy(dtype=bool))
