r"""Dates and times with words and signs, rewritten so that few formats read them.

============================  ====================  ===========================
cell                          rewritten             what changes
============================  ====================  ===========================
3. März 2024                  3. March 2024         names of months
3 de mayo de 2024             3 May 2024
3. Sept. 2024, 3 févr. 2024   3. September 2024, 3 February 2024
Di, 03.09.2024                03.09.2024            days of the week
mardi 3 sept. 2024            3 September 2024
2024/5/3(金)                  2024/5/3
3rd May 2024, May 3rd 2024    3 May 2024, May 3 2024  endings of numbers
3. 5. 2024, 2024. 5. 3.       3.5.2024, 2024.5.3    spaces and a last point
2024-05-03 15:08 UTC          2024-05-03 15:08      zones, words for o'clock
5/3/2024 3:08 PM GMT+2        5/3/2024 3:08 PM
03.05.2024, 15:08 Uhr         03.05.2024 15:08
3/5/2024 at 15:08, 3/5/2024, 15h08  3/5/2024 15:08
3:05pm, 9 AM, 15h05           3:05 pm, 9:00 am, 15:05
... 15:08:00 GMT+0200 (CEST)  ... 15:08:00 +0200    as JavaScript writes them
2024年5月3日 15時08分         2024/5/3 15:08        hours and minutes
May '24, 03.05.2024 г.        May 24, 03.05.2024    signs beside the year
05FEB2024, 05FEB2024:15:08    05 FEB 2024 15:08     as SAS writes them
05-FEB-24 03.08.00.0 PM       05-FEB-24 03:08:00 PM as Oracle writes them
2024-W18, KW 18/2024          2024-W18-1            weeks, as their first day
Q2 2024, 2024Q2, 2Q24         2024-04-01            quarters, as their first day
H2 2024, 2. Halbjahr 2024     2024-07-01            halves of years
2024M05, 2024年5月            2024/05               months
============================  ====================  ===========================

A zone in letters says nothing that its column does not say: local times stay local.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.letter_patterns import pattern_for

__all__ = ["plain_dates"]

REST = r"[\p{L}]*"  # of a word, in the language's cases
MONTHS = {  # in languages of Europe, Russian and Turkish
    "January": "januari?|jänner|jän|janvier|janv|enero|ene|gennaio|gen|janeiro|ledna"
    rf"|stycz{REST}|sty|янв{REST}|ocak",
    "February": "februari?|février|fevrier|févr|fevr|fév|febrero|febbraio|fevereiro"
    rf"|fev|února|lut(?:y|ego)|фев{REST}|şubat",
    "March": "märz|maerz|mrz|mär|mars|marts|marzo|março|maart|mrt|března"
    rf"|marzec|marca|мар{REST}|mart",
    "April": rf"avril|avr|abril|abr|aprile|dubna|kwie{REST}|апр{REST}|nisan",
    "May": "mai|maj|mayo|maggio|mag|maio|mei|května|maja|ма[йя]|mayıs",
    "June": "juni|juin|junio|giugno|giu|junho|června|czerw(?:iec|ca)|cze|июн[ья]?"
    "|haziran",
    "July": "juli|juillet|juil|julio|luglio|lug|julho|července|lip(?:iec|ca)|июл[ья]?"
    "|temmuz",
    "August": rf"augusti|août|aout|agosto|ago|augustus|srpna|sierp{REST}|sie|авг{REST}"
    "|ağustos",
    "September": "septembre|septiembre|settembre|setembro|sept|set|září"
    rf"|wrze{REST}|wrz|сен{REST}|eylül",
    "October": "oktober|okt|octobre|octubre|ottobre|ott|outubro|out|října"
    rf"|paździer{REST}|paź|окт{REST}|ekim",
    "November": "novembre|noviembre|novembro|listopad[au]?|lis"
    rf"|ноя{REST}|kasım",
    "December": "dezember|dez|desember|des|décembre|decembre|déc|diciembre|dic"
    rf"|dicembre|dezembro|prosince|grud{REST}|gru|дек{REST}|aralık",
}
YEAR = "((?:19|20)[0-9]{2})"
BOUND = r"(^|[^\p{L}])"  # \b knows no letters with accents
ZONE = r"(?:[a-z]{3,5}|[ecmp]t)?(?:[+-][0-9]{1,2}(?::[0-9]{2})?)?"
PARTS = {  # of a year: names, and the first month
    **{
        f"[qt]{q}|{q}[qt]|{q}\\.? ?(?:quartal|quarter|trimestre)": f"{3 * q - 2:02}"
        for q in (1, 2, 3, 4)
    },
    **{f"hj?{h}|{h}h|{h}\\. ?halbjahr": f"{6 * h - 5:02}" for h in (1, 2)},
}
CHANGES = (
    (r"^([0-9]{1,4}\.) +([0-9]{1,2}\.) +([0-9]{1,4})", r"\1\2\3"),
    (r"^([0-9]{1,4}\.[0-9]{1,2}\.[0-9]{1,4})\.", r"\1"),
    (r"^([0-9]{4})年 ?([0-9]{1,2})月$", r"\1/\2"),
    (r"^([0-9]{4})年 ?([0-9]{1,2})月 ?([0-9]{1,2})日", r"\1/\2/\3"),
    (r"^([0-9]+[/.-][0-9]+[/.-][0-9]+) ?[(（][\p{L}]{1,9}\.?[)）]", r"\1"),
    (r" ?([0-9]+)[時时点] ?([0-9]+)分?$", r" \1:\2"),
    *(
        (rf"(?i){BOUND}(?:{names})\.?([^\p{{L}}]|$)", rf"\1{month}\2")
        for month, names in MONTHS.items()
    ),
    (r"(\d\.? [\p{L}]{3})\. ([0-9]{4})", r"\1 \2"),
    (r"(?i)([0-9]) de ([\p{L}]+) (?:de|del) ([0-9])", r"\1 \2 \3"),
    (r"(?i)^([\p{L}]{3,}) (?:de|del) ([0-9]{4})$", r"\1 \2"),
    (r"^[\p{L}]{2,12}\.?,? ([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2})", r"\1"),
    (r"^[\p{L}]{2,12}\.?,? ([0-9]{1,2}[\p{L}.]* [\p{L}]{3})", r"\1"),
    (r"^[\p{L}]{2,12}\.?,? ([\p{L}]{3,9}\.? [0-9]{1,2}[\p{L}]*[, ])", r"\1"),
    (r"(?i)^([\p{L}]* ?[0-9]{1,2})(?:st|nd|rd|th|er|º|ª)(,? )", r"\1\2"),
    (r" GMT([+-][0-9]{4})(?: \(.*\))?$", r" \1"),
    (rf"(?i)(:[0-9]{{2}}[0-9:.]*(?: ?[ap]\.?m\.?)?) \(?{ZONE}\)?$", r"\1"),
    (r"^([0-9]{1,2})([\p{L}]{3})([0-9]{2,4})(:|$)", r"\1 \2 \3\4"),
    (r"^(\d\d? [\p{L}]{3} \d+):", r"\1 "),
    (r"^(\d\d?-[\p{L}]{3}-\d\d) (\d\d?)\.(\d\d)\.(\d\d)[.0-9]*", r"\1 \2:\3:\4"),
    (r"^([\p{L}]{3,9})\.? ?['’]([0-9]{2})$", r"\1 \2"),
    (r"([0-9]{4}) ?г\.?$", r"\1"),
    (r"^([0-9/. -]+[0-9]), ([0-9]{1,2}:)", r"\1 \2"),
    (r"([0-9]),? (?:[\p{L}]{1,3}\.?|a las|alle) ([0-9]{1,2}[:h][0-9]{2})", r"\1 \2"),
    (r"(?i)([0-9]) ?([ap])\.?m\.?$", r"\1 \2m"),
    (r"(?i)^([0-9]{1,2}) ([ap]m)$", r"\1:00 \2"),
    (r"(^|[0-9] )([0-9]{1,2}) ?h ?([0-9]{2})$", r"\1\2:\3"),
    (r"^([0-9]{4})-?W([0-9]{1,2})$", r"\1-W\2-1"),
    (r"(?i)^(?:KW|CW|W|week) ?([0-9]{1,2})[/, -]+([0-9]{4})$", r"\2-W\1-1"),
    (r"^([0-9]{4})M([0-9]{1,2})$", r"\1/\2"),
    *(
        (pattern, rf"{century}\1\2-{month}-01")
        for names, month in PARTS.items()
        for century, pattern in (
            ("", rf"(?i)^(?:(?:{names})[ /-]*{YEAR}|{YEAR}[ /-]*(?:{names}))$"),
            ("20", rf"(?i)^(?:{names})[ /'-]*([0-9]{{2}})()$"),
        )
    ),
)
#: T and Z are in ISO dates.
WORDS = r"[A-SU-Ya-z]|[^\x00-\x7F]|[0-9](?:\.$|\. |, )|^T"


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
