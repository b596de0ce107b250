"""Durations in text, read in seconds.

==================  =======================================================
cell                seconds
==================  =======================================================
1h 30m, 1 Std.      hours, minutes and so on, also in words
2 days 03:04:05     as pandas writes them
94:58, 30:10:05     minutes and seconds; hours, minutes and seconds
PT1H30M             ISO 8601
==================  =======================================================

A column with one unit, such as 90 min, is a column of numbers (`number_style.py`).
"""

from __future__ import annotations

import re

import numpy as np

__all__ = ["duration_seconds"]

MAX_LENGTH = 40  # characters
NUMBER = r"([0-9]+(?:[.,][0-9]+)?)"
UNITS = (  # seconds and names
    (365.25 * 86400, r"y|yrs?\.?|years?|jahre?|ans?|años?"),
    (30.4375 * 86400, r"mos?\.?|mths?\.?|months?|monate?|mois|mes(?:es)?"),
    (7 * 86400, r"w|wks?\.?|weeks?|wochen?"),
    (86400, r"d|days?|tage?|jours?|días?"),
    (3600, r"h|hrs?\.?|hours?|std\.?|stunden?|heures?|horas?"),
    (60, r"m|mins?\.?|minutes?|minuten?|minutos?"),
    (1, r"s|secs?\.?|seconds?|sek\.?|sekunden?|secondes?"),
)
PARTS = re.compile(
    "".join(rf"(?:{NUMBER} ?(?:{names})[, ]*(?:and |und )?)?" for _, names in UNITS),
    re.IGNORECASE,
)
CLOCK = re.compile(
    rf"-?(?:{NUMBER} days?,? )?(?:([0-9]+):)?([0-9]+):([0-9]{{2}}(?:[.,][0-9]+)?)"
)
ISO = re.compile(
    rf"P(?:{NUMBER}D)?(?:T(?:{NUMBER}H)?(?:{NUMBER}M)?(?:{NUMBER}S)?)?", re.IGNORECASE
)


def duration_seconds(cell: str) -> float:
    """Return a duration in seconds; NaN if the text is none.

    Examples
    --------
    >>> [duration_seconds(each) for each in ("1h 30m", "94:58", "PT2M", "1h and")]
    [5400.0, 5698.0, 120.0, nan]
    """
    if len(cell) > MAX_LENGTH:
        return np.nan
    if found := PARTS.fullmatch(cell.strip()):
        sizes = [size for size, _ in UNITS]
    elif (found := CLOCK.fullmatch(cell)) or (found := ISO.fullmatch(cell)):
        sizes = [86400, 3600, 60, 1]
    else:
        return np.nan
    parts = found.groups()
    if not any(parts):
        return np.nan
    total = sum(
        float(part.replace(",", ".")) * size
        for part, size in zip(parts, sizes, strict=True)
        if part
    )
    return -total if cell.startswith("-") else total
