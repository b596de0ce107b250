"""Dates and times with words in them, rewritten so that few formats read them.

=========================  ====================  =============================
cell                       rewritten             what changes
=========================  ====================  =============================
3. März 2024               3. March 2024         names of months
3 de mayo de 2024          3 May 2024
3rd May 2024               3 May 2024            endings of numbers
2024-05-03 15:08 UTC       2024-05-03 15:08      zone UTC, and words for o'clock
03.05.2024, 15:08 Uhr      03.05.2024 15:08
3:05pm, 15h05              3:05 pm, 15:05
2024-W18, KW 18/2024       2024-W18-1            weeks, as their first day
Q2 2024, 2024Q2            2024-04-01            quarters, as their first day
=========================  ====================  =============================
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["plain_dates"]

MONTHS = {  # German, French, Spanish, Italian, Portuguese, Dutch
    "January": "januar|jänner|janvier|enero|gennaio|janeiro|januari",
    "February": "februar|février|fevrier|febrero|febbraio|fevereiro|februari",
    "March": "märz|maerz|mrz|mär|mars|marzo|março|maart",
    "April": "avril|abril|aprile",
    "May": "mai|mayo|maggio|maio|mei",
    "June": "juni|juin|junio|giugno|junho",
    "July": "juli|juillet|julio|luglio|julho",
    "August": "août|aout|agosto|augustus",
    "September": "septembre|septiembre|settembre|setembro",
    "October": "oktober|okt|octobre|octubre|ottobre|outubro",
    "November": "novembre|noviembre|novembro",
    "December": "dezember|dez|décembre|decembre|diciembre|dicembre|dezembro",
}
BOUND = r"(^|[^\p{L}])"  # \b knows no letters with accents
CHANGES = (
    *(
        (rf"(?i){BOUND}(?:{names})\.?([^\p{{L}}]|$)", rf"\1{month}\2")
        for month, names in MONTHS.items()
    ),
    (r"(?i)^([0-9]{1,2})(?:st|nd|rd|th|er|º|ª)(,? )", r"\1\2"),
    (r"(?i)([0-9]) de (\p{L}+) (?:de|del) ([0-9])", r"\1 \2 \3"),
    (r"(?i)([0-9]) ?(?:UTC|GMT|Uhr|o'clock)$", r"\1"),
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
WORDS = r"[^0-9TZ:.,/ +-]"


def plain_dates(text: pa.Array) -> pa.Array:
    """Return texts with the changes above; only dates and times are changed.

    Examples
    --------
    >>> plain_dates(pa.array(["3. März 2024", "Q2 2024", "2024-05-03"])).to_pylist()
    ['3. March 2024', '2024-04-01', '2024-05-03']
    """
    if not pc.any(pc.match_substring_regex(text, WORDS), min_count=0).as_py():
        return text
    for pattern, replacement in CHANGES:
        text = pc.replace_substring_regex(text, pattern, replacement)
    return text
