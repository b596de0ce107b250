r"""Numbers that are written as two or three, each column in one form.

==========================  =========  ======================================
cell                        form       read as
==========================  =========  ======================================
94-102, $5 to $7, 65+       range      the middle: 98, 6; a limit alone: 65
[18, 25), (2.5, inf]        interval   the middle, 21.5; a limit alone, 2.5
1/2, 2 3/4", 7½, 7 out of 9  fraction  0.5, 2.75, 7.5, 0.78
3:1, 16:9                   ratio      3, 1.78
48°51'30"N, 2.35 W          angle      degrees: 48.858, -2.35
5'11", 5 ft 11 in; 180 cm   feet       inches: 71; 70.9
8 lb 3 oz; 4 kg             pounds     ounces: 131; 141.1
1h 30m, 2 days 03:04:05,    duration   seconds; a column with one unit, such as
94:58, PT1H30M, 1h30                   90 min, is a column of numbers
0x1F, 0xA30F                hex        31, 41743; a few different ones are codes
==========================  =========  ======================================

Dates, phone numbers and other codes have such signs too. So nearly all cells of a
column must agree, and ranges must ascend, fractions be at most 1 and of few
denominators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon._rows import Array
from halfmoon.table._cells.number_detection import examples
from halfmoon.table._cells.number_signs import normalized, without_signs

__all__ = ["FORMS", "duration_seconds", "find_form", "ranges_beside_words", "read_form"]

MAX_EXAMPLES = 1_000  # distinct texts that decide
MAX_LENGTH = 40  # characters
MAX_RANGE_WORDS = 2  # different words beside ranges
MIN_RANGES = 3  # different ranges beside words
MIN_HALF_OPEN = 0.5  # share of the different intervals
MIN_COMPOUND = 0.3  # share of the distinct cells that have two parts
MAX_DENOMINATORS = 6  # more make 3/17 a day of the year

MIN_HEX = 40  # different cells
HEX = re.compile(r"0[xX][0-9a-fA-F]{1,8}")

NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
MONEY = "(?:[$€£¥₹]|[A-Z]{3} )?"
LETTER = "((?:[kKMB](?![a-zA-Z]))?)"
FROM = "(?:(?i:between|from|von|zwischen|de|entre|desde) )?"
BETWEEN = (
    r" ?(?:-|\.\.+|…|~) ?"
    r"| (?:to|bis|à|a|and|und|et|until|through)(?: (?:under|unter|less than))? "
)
SIGN = r" ?[%€$£°]?"
LIMIT = re.compile(
    r"(?:or|and) (?:more|over|older|above|less|under|younger|below|up)$", re.I
)
RANGE = re.compile(
    rf"{FROM}{MONEY} ?({NUMBER}) ?{LETTER}{SIGN}(?:{BETWEEN})"
    rf"{MONEY} ?({NUMBER}) ?{LETTER}(?: ?[^\d\s][^\d]{{0,14}})?"
)
SINGLE = re.compile(rf"{MONEY} ?({NUMBER}){LETTER}(?: ?[^\d\s][^\d]{{0,14}})?")
END = r"([-+]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+|inf(?:inity)?|∞))"
INTERVAL = re.compile(rf"([\[(\]]) ?{END} ?[,;] ?{END} ?([\])\[])", re.I)
HALF_OPEN = ("[)", "(]", "[[", "]]")  # (48.85, 2.35) and [1, 2] are other things
LETTERS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}
FRACTION = re.compile(
    r"(-?)(?:([0-9]+)[ -])?([0-9]+)(?: ?/ ?| out of | von )([1-9][0-9]*)(?:\"|''|″)?"
)
WHOLE = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:\"|''|″)?")
RATIO = re.compile(rf"({NUMBER}) ?: ?({NUMBER})")
PART = r"([0-9]+(?:[.,][0-9]+)?)"
SIDES = ("N", "S", "E", "W")
ANGLE = re.compile(
    rf"([NSEW-]?) ?{PART} ?(°?) ?(?:{PART} ?['′] ?)?(?:{PART} ?(?:\"|''|″) ?)?([NSEW]?)"
)
FEET = re.compile(
    rf"{PART} ?(?:'|′|ft\.?|feet|foot) ?(?:{PART} ?(?:\"|''|″|in\.?|inch|inches)?)?",
    re.I,
)
METRIC = re.compile(rf"{PART} ?(mm|cm|m|kg|g)")
INCHES = {"mm": 1 / 25.4, "cm": 1 / 2.54, "m": 100 / 2.54}
OUNCES = {"g": 1 / 28.349523125, "kg": 1 / 0.028349523125}
POUNDS = re.compile(
    rf"{PART} ?(?:lbs?\.?|pounds?) ?(?:{PART} ?(?:oz\.?|ounces?))?", re.I
)

DURATION_UNITS = (  # seconds and names
    (365.25 * 86400, r"y|yrs?\.?|years?|jahre?|ans?|años?"),
    (30.4375 * 86400, r"mos?\.?|mths?\.?|months?|monate?|mois|mes(?:es)?"),
    (7 * 86400, r"w|wks?\.?|weeks?|wochen?"),
    (86400, r"d|days?|tage?|jours?|días?"),
    (3600, r"h|hrs?\.?|hours?|std\.?|stunden?|heures?|horas?"),
    (60, r"m|mins?\.?|minutes?|minuten?|minutos?"),
    (1, r"s|secs?\.?|seconds?|sek\.?|sekunden?|secondes?"),
)
DURATION = re.compile(
    "".join(
        rf"(?:{PART} ?(?:{names})[, ]*(?:and |und )?)?" for _, names in DURATION_UNITS
    ),
    re.IGNORECASE,
)
CLOCK = re.compile(
    rf"-?(?:{PART} days?,? )?(?:([0-9]+):)?([0-9]+):([0-9]{{2}}(?:[.,][0-9]+)?)"
)
HOURS = re.compile(r"([0-9]+) ?h ?([0-9]{2})", re.IGNORECASE)
ISO_DURATION = re.compile(
    rf"P(?:{PART}Y)?(?:{PART}M)?(?:{PART}W)?(?:{PART}D)?"
    rf"(?:T(?:{PART}H)?(?:{PART}M)?(?:{PART}S)?)?",
    re.IGNORECASE,
)


class Form(NamedTuple):
    """How cells are read, words for it, and whether the cells of a column may be so."""

    read_one: Callable[[str], float]
    words: str
    may_be: Callable[[list[str]], bool] = lambda cells: True
    #: What is done to all cells first, in one call of Arrow.
    prepare: Callable[[list[str]], list[str]] = lambda cells: cells

    def read(self, cells: list[str]) -> Array:
        """Return the numbers in cells, NaN for other texts, shape (n,)."""
        values = [self.read_one(cell) for cell in self.prepare(cells)]
        return np.array(values, dtype=np.float64)


def find_form(text: pa.Array, max_strays: float) -> str:
    """Return the form of numbers in text, null for no value; empty if there is none.

    Examples
    --------
    >>> find_form(pa.array(["18-24", "25-34", "65+"]), 0.0)
    'range'
    >>> find_form(pa.array(["3/17", "12/3"]), 0.0)
    ''
    """
    values = examples(text, MAX_EXAMPLES)
    if len(values) == 0:
        return ""
    values = normalized(values)
    digits = pc.match_substring_regex(values, "[0-9]")
    if pc.mean(digits).as_py() < 1.0 - max_strays:
        return ""
    cells = _plain(values)
    for name, form in FORMS.items():
        read = form.read(cells)
        fit = [cell for cell, x in zip(cells, read, strict=True) if x == x]
        if len(fit) >= (1.0 - max_strays) * len(cells) and form.may_be(fit):
            return name
    return ""


def ranges_beside_words(text: pa.Array) -> str:
    """Return the form of ranges beside which there are a few words.

    There are too few different ones for `without_missing_words`: 18-24, 25-34, 35+ and
    "Prefer not to say".
    """
    digits = pc.match_substring_regex(text, "[0-9]")
    ranges, words = text.filter(digits), text.filter(pc.invert(digits))
    few = pc.count_distinct(words).as_py() <= MAX_RANGE_WORDS
    many = len(ranges) > len(words) and pc.count_distinct(ranges).as_py() >= MIN_RANGES
    form = find_form(ranges, 0.0) if few and many else ""
    return form if form in ("range", "interval") else ""


def read_form(cells: pa.Array, form: str) -> Array:
    """Return the numbers in cells of one form, NaN for other texts, shape (n,)."""
    return FORMS[form].read(_plain(cells))


def _plain(cells: pa.Array) -> list[str]:
    return [cell[: MAX_LENGTH + 1] for cell in normalized(cells).to_pylist()]


def _number(text: str) -> float:
    """Return a number with commas or points between thousands or before decimals."""
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", text):
        return float(text.replace(",", ""))
    if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}", text):
        return float(text.replace(".", ""))
    return (
        float(text.replace(",", ".")) if len(re.findall("[.,]", text)) < 2 else np.nan
    )


def _part(text: str | None) -> float:
    return float((text or "0").replace(",", "."))


def _middle(cell: str) -> float:
    found = RANGE.fullmatch(cell)
    is_code = found and any(re.match("0[0-9]", found[i]) for i in (1, 3))  # as 01-15
    if found is None or is_code:
        one = SINGLE.fullmatch(cell)
        return _number(one[1]) * LETTERS[one[2]] if one else np.nan
    low, low_letter, high, letter = found.groups()
    bottom = _number(low) * LETTERS[low_letter or letter]
    top = _number(high) * LETTERS[letter]
    return (bottom + top) / 2 if bottom <= top else np.nan


def _interval(cell: str) -> float:
    found = INTERVAL.fullmatch(cell)
    if found is None:
        return np.nan
    ends = [float(found[i].replace("∞", "inf")) for i in (2, 3)]
    if found[1] + found[4] == "()" or ends[0] > ends[1]:
        return np.nan
    finite = [end for end in ends if np.isfinite(end)]
    return sum(finite) / len(finite) if finite else np.nan


def _are_intervals(cells: list[str]) -> bool:
    """Whether most cells are half-open, as the classes of a histogram are."""
    half = sum(cell[0] + cell[-1] in HALF_OPEN for cell in cells)
    return half > MIN_HALF_OPEN * len(cells)


def _without_limits(cells: list[str]) -> list[str]:
    """Return cells that are no ranges without words and signs beside the number."""
    single = [
        cell if RANGE.fullmatch(cell) else LIMIT.sub("", cell).strip() for cell in cells
    ]
    bare = without_signs(pa.array(single, pa.string())).to_pylist()
    return [
        cell if RANGE.fullmatch(cell) else one
        for cell, one in zip(cells, bare, strict=True)
    ]


def _are_ranges(cells: list[str]) -> bool:
    found = [RANGE.fullmatch(cell) for cell in cells]
    ranges = [each for each in found if each]
    # If the second number always has more digits, it is a code, such as 555-1234.
    codes = all(len(each[1]) < len(each[3]) for each in ranges)
    return len(ranges) >= MIN_COMPOUND * len(cells) and not (codes and len(ranges) > 1)


def _fraction(cell: str) -> float:
    found = FRACTION.fullmatch(cell)
    if found is None:
        return float(cell.rstrip("\"'″")) if WHOLE.fullmatch(cell) else np.nan
    minus, whole, top, bottom = found.groups()
    if int(top) > int(bottom):
        return np.nan
    value = int(whole or 0) + int(top) / int(bottom)
    return -value if minus else value


def _are_fractions(cells: list[str]) -> bool:
    bottoms = [found[4] for cell in cells if (found := FRACTION.fullmatch(cell))]
    many = len(bottoms) >= MIN_COMPOUND * len(cells)
    return many and len(set(bottoms)) <= MAX_DENOMINATORS


def _ratio(cell: str) -> float:
    found = RATIO.fullmatch(cell)
    bottom = _number(found[2]) if found else 0.0
    return _number(found[1]) / bottom if found and bottom else np.nan


def _angle(cell: str) -> float:
    found = ANGLE.fullmatch(cell)
    if found is None:
        return np.nan
    side, degrees, sign, minutes, seconds, last = (
        each or "" for each in found.groups()
    )
    side = last or side
    if side not in SIDES and not (sign and minutes):
        return np.nan
    parts = map(_part, (degrees, minutes, seconds))
    value = sum(part / 60**i for i, part in enumerate(parts))
    return -value if side in ("-", "S", "W") else value


def _sum_of(
    pattern: re.Pattern[str], size: float, units: Mapping[str, float], words: str
) -> Form:
    """Return the form of two parts, of which the first counts `size` times.

    Some cells may be in metric `units`, given by their size.
    """

    def read(cell: str) -> float:
        if found := pattern.fullmatch(cell):
            first, second = map(_part, found.groups())
            return size * first + second
        metric = METRIC.fullmatch(cell)
        return _part(metric[1]) * units.get(metric[2], np.nan) if metric else np.nan

    def may_be(cells: list[str]) -> bool:
        n = sum(pattern.fullmatch(cell) is not None for cell in cells)
        return n >= MIN_COMPOUND * len(cells)

    return Form(read, words, may_be)


def duration_seconds(cell: str) -> float:
    """Return a duration in seconds; NaN if the text is none.

    Examples
    --------
    >>> [duration_seconds(each) for each in ("1h 30m", "94:58", "PT2M", "1h and")]
    [5400.0, 5698.0, 120.0, nan]
    """
    if len(cell) > MAX_LENGTH:
        return np.nan
    sizes = [size for size, _ in DURATION_UNITS]
    if found := DURATION.fullmatch(cell.strip()) or ISO_DURATION.fullmatch(cell):
        pass
    elif found := CLOCK.fullmatch(cell):
        sizes = [86400, 3600, 60, 1]
    elif found := HOURS.fullmatch(cell.strip()):
        sizes = [3600, 60]
    else:
        return np.nan
    parts = found.groups()
    if not any(parts):
        return np.nan
    total = sum(
        size * _part(part) for part, size in zip(parts, sizes, strict=True) if part
    )
    return -total if cell.startswith("-") else total


def _hex(cell: str) -> float:
    return float(int(cell, 16)) if HEX.fullmatch(cell) else np.nan


FORMS = {
    "duration": Form(duration_seconds, "durations in seconds"),
    "fraction": Form(_fraction, "fractions", _are_fractions),
    "feet": _sum_of(FEET, 12.0, INCHES, "feet and inches, read in inches"),
    "pounds": _sum_of(POUNDS, 16.0, OUNCES, "pounds and ounces, read in ounces"),
    "angle": Form(_angle, "angles in degrees"),
    "range": Form(
        _middle, "ranges, read as their middle", _are_ranges, _without_limits
    ),
    "interval": Form(_interval, "intervals, read as their middle", _are_intervals),
    "ratio": Form(_ratio, "ratios"),
    "hex": Form(_hex, "hexadecimal", lambda cells: len(cells) >= MIN_HEX),
}
