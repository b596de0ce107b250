"""Formats of dates and times in text, found from examples.

Dates and times with words in them are rewritten first, so that few formats read them:

=========================  ====================  =============================
cell                       rewritten             what changes
=========================  ====================  =============================
3. März 2024               3. March 2024         names of months
3 de mayo de 2024          3 May 2024
3. Sept. 2024, 3 févr. 2024 3. September 2024, 3 February 2024
Di, 03.09.2024             03.09.2024            days of the week
3rd May 2024, May 3rd 2024 3 May 2024, May 3 2024  endings of numbers
2024-05-03 15:08 UTC       2024-05-03 15:08      letters of a zone, words for o'clock
03.05.2024, 15:08 Uhr      03.05.2024 15:08
3:05pm, 15h05              3:05 pm, 15:05
... 15:08:00 GMT+0200 (CEST) ... 15:08:00 +0200  zones as JavaScript writes them
2024年5月3日 15時08分      2024/5/3 15:08        hours and minutes
May '24, 03.05.2024 г.     May 24, 03.05.2024    signs beside the year
05FEB2024, 05FEB2024:15:08 05 FEB 2024 15:08     as SAS writes them
05-FEB-24 03.08.00.0 PM    05-FEB-24 03:08:00 PM as Oracle writes them
2024-W18, KW 18/2024       2024-W18-1            weeks, as their first day
Q2 2024, 2024Q2            2024-04-01            quarters, as their first day
=========================  ====================  =============================

Numbers such as 20240503 are dates if all of them are, and they are many. Among dates,
numbers from 20000 to 59999 count days since 1899-12-30, as spreadsheets do. A column of
such numbers alone is one of numbers.
"""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.letter_patterns import pattern_for
from halfmoon.table._cells.number_detection import examples

__all__ = [
    "COMPACT",
    "SERIAL",
    "are_compact_dates",
    "describe_date_format",
    "find_date_format",
    "find_time_format",
    "plain_dates",
]

MAX_EXAMPLES = 1_000  # distinct texts that a format is found from
MAX_DATE_LENGTH = 40  # characters
FIRST_EXAMPLES = 6  # that decide which formats are tried on all
MAX_FORMATS = 8  # in one column

ISO = r"^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:?[0-9]{2}.*)?)?$|^[0-9]{8}T[0-9]{4}"
#: The format of dates in eight digits.
COMPACT = "%Y%m%d"
COMPACT_DATE = (
    r"^(?:(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])|99991231|0+)$"
)
MIN_COMPACT = 10  # different dates
#: The format of days since 1899-12-30.
SERIAL = "serial"
SERIAL_DAYS = r"^[2-5][0-9]{4}(\.[0-9]+)?$"
NUMBER_AND_SEPARATOR = r"[0-9]+[/. ,年-]+|^[\p{L}]{3,9}[ .-]+[0-9]{2,4}$"
DAY_AND_MONTH = r"^(?P<first>[0-9]{1,2})[/.-](?P<second>[0-9]{1,2})[/.-][0-9]{2,4}"
CLOCK = r"^[0-9]{1,2}:[0-9]{2}"
TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
KNOWN_DATES = """
%Y/%m/%d | %Y.%m.%d
%m/%d/%Y | %d/%m/%Y | %d.%m.%Y | %m-%d-%Y | %d-%m-%Y
%m/%d/%y | %d/%m/%y | %d.%m.%y | %m-%d-%y | %d-%m-%y
%d %b %Y | %d %B %Y | %d. %B %Y | %d-%b-%Y | %d-%b-%y | %d/%b/%Y
%b %d, %Y | %B %d, %Y | %b %d %Y | %B %d %Y
%a, %d %b %Y | %A, %d %B %Y | %A %d %B %Y | %A, %B %d, %Y | %d. %b %Y
%a %d %b %Y | %a %b %d %Y | %a, %b %d, %Y
%b %Y | %B %Y | %b-%y | %b %y | %b-%Y | %m/%Y | %m.%Y | %Y/%m
%G-W%V-%u | %Y年%m月%d日
"""
DATES = tuple(  # where two fit, the month comes first
    each.strip() for row in KNOWN_DATES.split("\n")[1:-1] for each in row.split("|")
)
ZONED = (
    *("%a, %d %b %Y %H:%M:%S %z", "%d/%b/%Y:%H:%M:%S %z", "%a %b %d %Y %H:%M:%S %z"),
    *("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %z %Y"),
)

MONTHS = {  # German, French, Spanish, Italian, Portuguese, Dutch
    "January": "januar|jänner|jän|janvier|janv|enero|ene|gennaio|gen|janeiro|januari",
    "February": "februar|février|fevrier|févr|fevr|fév|febrero|febbraio|fevereiro|fev"
    "|februari",
    "March": "märz|maerz|mrz|mär|mars|marzo|março|maart|mrt",
    "April": "avril|avr|abril|abr|aprile",
    "May": "mai|mayo|maggio|mag|maio|mei",
    "June": "juni|juin|junio|giugno|giu|junho",
    "July": "juli|juillet|juil|julio|luglio|lug|julho",
    "August": "août|aout|agosto|ago|augustus",
    "September": "septembre|septiembre|settembre|setembro|sept|set",
    "October": "oktober|okt|octobre|octubre|ottobre|ott|outubro|out",
    "November": "novembre|noviembre|novembro",
    "December": "dezember|dez|décembre|decembre|déc|diciembre|dic|dicembre|dezembro",
}
ZONES = "UTC|GMT|WES?T|CES?T|EES?T|BST|MSK|[ECMP][SD]T|JST"  # local times stay so
BOUND = r"(^|[^\p{L}])"  # \b knows no letters with accents
CHANGES = (
    *(
        (rf"(?i){BOUND}(?:{names})\.?([^\p{{L}}]|$)", rf"\1{month}\2")
        for month, names in MONTHS.items()
    ),
    (r"^[\p{L}]{2,10}\.?,? ([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2})", r"\1"),
    (r"(\d\.? [\p{L}]{3})\. ([0-9]{4})", r"\1 \2"),
    (r"(?i)^([\p{L}]* ?[0-9]{1,2})(?:st|nd|rd|th|er|º|ª)(,? )", r"\1\2"),
    (r"(?i)([0-9]) de ([\p{L}]+) (?:de|del) ([0-9])", r"\1 \2 \3"),
    (r" GMT([+-][0-9]{4})(?: \(.*\))?$", r" \1"),
    (rf"(?i)([0-9]|[0-9] ?[ap]\.?m\.?) ?(?:{ZONES}|Uhr|o'clock)$", r"\1"),
    (
        r"^([0-9]{4})年([0-9]+)月([0-9]+)日 ?([0-9]+)[時时点]([0-9]+)分?$",
        r"\1/\2/\3 \4:\5",
    ),
    (r"^([0-9]{1,2})([\p{L}]{3})([0-9]{2,4})(:|$)", r"\1 \2 \3\4"),
    (r"^(\d\d? [\p{L}]{3} \d+):", r"\1 "),
    (r"^(\d\d?-[\p{L}]{3}-\d\d) (\d\d?)\.(\d\d)\.(\d\d)[.0-9]*", r"\1 \2:\3:\4"),
    (r"^([\p{L}]{3,9})\.? ?['’]([0-9]{2})$", r"\1 \2"),
    (r"([0-9]{4}) ?г\.?$", r"\1"),
    (r"^([0-9/. -]+[0-9]), ([0-9]{1,2}:)", r"\1 \2"),
    (r"(?i)([0-9]) ?([ap])\.?m\.?$", r"\1 \2m"),
    (r"^([0-9]{1,2}) ?h ?([0-9]{2})$", r"\1:\2"),
    (r"^([0-9]{4})-?W([0-9]{1,2})$", r"\1-W\2-1"),
    (r"(?i)^(?:KW|CW|W|week) ?([0-9]{1,2})[/, -]+([0-9]{4})$", r"\2-W\1-1"),
    *(
        (rf"^(?:Q{q}[ /-]?([0-9]{{4}})|([0-9]{{4}})[ -]?Q{q})$", rf"\1\2-{month}-01")
        for q, month in ((1, "01"), (2, "04"), (3, "07"), (4, "10"))
    ),
)
WORDS = r"[A-SU-Ya-z]|[^\x00-\x7F]"  # T and Z are in ISO dates


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
    values = plain_dates(examples(text, MAX_EXAMPLES))
    serial = pc.match_substring_regex(values, SERIAL_DAYS)
    dates = values.filter(pc.invert(serial))
    if len(dates) == 0:
        return ""
    allowed = max_strays * len(values)
    found = _formats(dates, allowed)
    if found and len(dates) < len(values):
        found.append(SERIAL)
    return "|".join(found)


def are_compact_dates(text: pa.Array) -> bool:
    """Whether all texts are dates in eight digits, or zeros or 99991231 for none.

    Examples
    --------
    >>> days = [f"202402{day}" for day in range(10, 30)]
    >>> are_compact_dates(pa.array(days)), are_compact_dates(pa.array([*days, "9"]))
    (True, False)
    """
    dates = pc.match_substring_regex(text, COMPACT_DATE)
    many = pc.count_distinct(text).as_py() >= MIN_COMPACT
    return many and bool(pc.all(dates).as_py())


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
    formats = date_format.split("|")
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

    Examples
    --------
    >>> find_time_format(pa.array(["08:15", "23:59"]), 0)
    '%H:%M'
    """
    values = plain_dates(examples(text, MAX_EXAMPLES))
    if pc.mean(pc.match_substring_regex(values, CLOCK)).as_py() < 1.0 - max_strays:
        return ""
    for each in TIMES:
        if pc.mean(_fits(values, each)).as_py() >= 1.0 - max_strays:
            return each
    return ""


def _fits(values: pa.Array, date_format: str) -> pa.Array:
    """Return which values are written in a format."""
    series = pd.Series(values.to_numpy(zero_copy_only=False), dtype=object)
    dates = pd.to_datetime(series, format=date_format, errors="coerce", utc=True)
    return pa.array(dates.notna().to_numpy(dtype=bool))


def plain_dates(text: pa.Array) -> pa.Array:
    """Return texts rewritten as above; only dates and times are changed.

    Examples
    --------
    >>> plain_dates(pa.array(["3. März 2024", "Q2 2024", "2024-05-03"])).to_pylist()
    ['3. March 2024', '2024-04-01', '2024-05-03']
    """
    for needed in (WORDS, "[0-9]"):  # of every text that changes
        if not pc.any(pc.match_substring_regex(text, needed), min_count=0).as_py():
            return text
    for pattern, replacement in CHANGES:
        pattern = pattern_for(text, pattern)
        text = pc.replace_substring_regex(text, pattern, replacement)
    return text
