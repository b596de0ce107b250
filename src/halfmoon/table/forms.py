"""Forms in which dates and times of the day are written, found from examples."""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table.number_detection import examples

__all__ = ["date_form", "describe_form", "time_form"]

EXAMPLES = 1_000  # different texts that a form is found from

ISO = r"^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:?[0-9]{2}.*)?)?$"
DAYS = (  # where both fit, the month comes first
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%m-%d-%y",
    "%d-%m-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%d. %B %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d/%b/%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%B %d %Y",
    "%a, %d %b %Y",
    "%A, %d %B %Y",
    "%A %d %B %Y",
    "%A, %B %d, %Y",
)
CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
CLOCK = r"^[0-9]{1,2}:[0-9]{2}"
LONGEST = 40  # characters of a date
SOME = 6  # values that tell which forms to try on all
MOST_FORMS = 8  # in one column
PLACES = r"^(?P<first>[0-9]{1,2})[/.-](?P<second>[0-9]{1,2})[/.-][0-9]{2,4}"


def date_form(text: pa.Array, stray: float) -> str:
    """The form of dates in text, or the forms with | between; nothing if it has none.

    A column may have dates in several forms. Each cell is read by the first that fits
    it, so that 3/4/2020 is what most cells say which can be read in one way only.

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
    >>> date_form(pa.array(["3/4/2020", "13/4/2020", "Feb 5, 2020"]), 0)
    '%d/%m/%Y|%b %d, %Y'
    """
    values = _examples(text)
    if len(values) == 0:
        return ""
    share = 1.0 - stray
    iso = pc.match_substring_regex(values, ISO)
    # Dates have a number, and something that parts it from others.
    numbered = pc.match_substring_regex(values, r"[0-9]+[/. ,-]+")
    short = pc.less_equal(pc.utf8_length(values), LONGEST)
    if pc.mean(pc.and_(pc.or_(iso, numbered), short)).as_py() < share:
        return ""
    forms: list[str] = []
    left, allowed = values, stray * len(values)
    if pc.any(iso).as_py():
        left = values.filter(pc.invert(pc.and_(iso, _fitting(values, "ISO8601"))))
        forms += ["ISO8601"] if len(left) < len(values) else []
    order = _ordered_forms(values)
    while len(left) > allowed and len(forms) < MOST_FORMS:
        some = examples(left, SOME)  # most forms fit none of them
        fits = [f for f in order if pc.any(_fitting(some, f)).as_py()]
        masks = {form: _fitting(left, form) for form in fits}
        if not masks:
            return ""
        # Of two that fit as many the first: what the places of days and months say.
        best = max(masks, key=lambda form: pc.sum(masks[form]).as_py())
        forms.append(best)
        left = left.filter(pc.invert(masks[best]))
    return "|".join(forms) if len(left) <= allowed else ""


def describe_form(form: str) -> str:
    """What there is to know of forms of dates, for a person to read.

    Examples
    --------
    >>> describe_form("%d/%m/%Y"), describe_form("ISO8601|%m/%d/%Y")
    ('day before month', 'written in 2 ways, month before day')
    """
    forms = form.split("|")
    parts = [f"written in {len(forms)} ways"] if len(forms) > 1 else []
    numeric = [f for f in forms if re.match(r"%[dm][/-]%[dm]", f)]
    orders = {f[1] for f in numeric}
    if orders == {"d"}:
        parts.append("day before month")
    elif orders == {"m"}:
        parts.append("month before day")
    return ", ".join(parts)


def _ordered_forms(values: pa.Array) -> list[str]:
    """All forms, those first whose place of the day the values tell."""
    places = pc.extract_regex(values, PLACES).drop_null()
    first, second = (
        pc.sum(pc.greater(places.field(name).cast(pa.int64()), 12)).as_py() or 0
        for name in ("first", "second")
    )
    day_first = first > second
    days = sorted(DAYS, key=lambda f: f[:2] == "%m" if day_first else f[:2] == "%d")
    return [*days, *(f"{day} {clock}" for day in days for clock in CLOCKS)]


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
        if pc.mean(_fitting(values, form)).as_py() >= 1.0 - stray:
            return form
    return ""


def _examples(text: pa.Array) -> pa.Array:
    return examples(text, EXAMPLES)


def _fitting(values: pa.Array, form: str) -> pa.Array:
    """Which of the values are written in a form."""
    series = pd.Series(values.to_numpy(zero_copy_only=False), dtype=object)
    dates = pd.to_datetime(series, format=form, errors="coerce", utc=True)
    return pa.array(dates.notna().to_numpy(dtype=bool))
