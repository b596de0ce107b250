r"""Signs around the digits of a number: many for one meaning, and those of no value.

There are many digits, spaces, minus signs and apostrophes. Other signs say that a
number is not exact, or more about it:

====================  ======================================================
cell                  read as
====================  ======================================================
<5, >= 100, ≤ 3       the limit: 5, 100, 3
~12, ±3, +/-3, c. 30  the number
65+, 12*, 8 (est)     the number; also 10+ years
12[1], 5.2 ± 0.3      the number before: 12, 5.2
30 (12 %), 1st, "7"   the number: 30, 1, 7; also ="7", as spreadsheets protect it
59.-, 1.234,– €, 5/-  no cents: 59.0, 1.234,0 €, 5; also in labels
1.2K, 3M, 2 GB        1.2e3, 3e6, 2e9, if a column has several such letters
5,2 Mio. €            5,2e6 €, if other cells have another such word
1.2 x 10^3, 1.2×10³   1.2e3
90.10 DR, 20.00 CR    -90.1, 20.0: debit and credit, if a column has both
====================  ======================================================

If one limit occurs in both directions, as in <18 and >18, the cells are classes and
not numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.letter_patterns import pattern_for

__all__ = [
    "BYTE",
    "COMMAS",
    "DASHES",
    "MAGNITUDES",
    "MONEY",
    "POINTS",
    "are_classes",
    "are_in_bytes",
    "has_balances",
    "has_magnitudes",
    "normalized",
    "with_balances",
    "with_exponents",
    "without_signs",
]

SPACES = "[\u00a0\u2000-\u200a\u202f\u205f\u3000\t]"
MINUSES = "[\u2212\u2012\u2013\ufe63\uff0d]"
APOSTROPHES = "[\u2018\u2019\u02bc\u00b4`]"
POINTS, COMMAS = "[\u066b\uff0e]", "[\u066c\uff0c]"
INVISIBLE = "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
ZEROS = "٠۰०০੦૦௦౦೦൦๐໐༠၀០０"  # of other scripts; their other digits follow
DIGITS = tuple("".join(chr(ord(zero) + i) for zero in ZEROS) for i in range(10))
HALVES = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}
HALVES |= {"⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
POWER = rf"([0-9]) ?[x×·*] ?10(?:\^|\*\*)?([+-]?[0-9]+|[{POWERS}]+)$"
ABOUT = (
    r"[~≈∼±]|\+/?-|(?:ca?|approx|est|env|aprox)(?:\. ?| )"
    r"|(?:circa|approximately|about|around|roughly|environ|etwa|rund|ungefähr)"
    r" |cerca de "
)
BELOW = r"<=|=<|<|≤|⩽|(?:less than|under|below|up to|unter|bis|moins de|menos de) "
ABOVE = r">=|=>|>|≥|⩾|(?:more than|over|above|at least|über|plus de|más de) "
NUMBER = r"(?:[^\p{L}<>=~≈0-9]*|[A-Z]{3} ?)[0-9].*"  # with a currency before it
BEFORE = rf"^(?i:{ABOUT}|{BELOW}|{ABOVE}) ?({NUMBER})$"
IN_BRACKETS = r"(?:[0-9<±~-][^()]*|est\.?|e|p|r|approx\.?|ca\.?)"
AFTER = (
    r"(?i)^(.*[0-9][^+*†‡()±]*?) ?"
    rf"(?:[+*†‡]+|\({IN_BRACKETS}\)|\[[^\[\]]{{1,12}}\]|(?:±|\+/-) ?[0-9].*)$"
)
PLUS_UNIT = r"^([^+]*[0-9])\+( ?[\p{L}][\p{L} .]*)$"
ENDING = r"(?i)^([0-9]+)(?:st|nd|rd|th|º|ª)$"
QUOTED = r"^=?[\"“”„]([^\"“”„]*[0-9][^\"“”„]*)[\"“”]$"
DASHES = "-{1,2}|[\u2012-\u2015]"
NO_CENTS = rf"([0-9][.,]) ?(?:{DASHES})( ?[\p{{L}}\p{{Sc}}.]*)$"
NO_PAISE = rf"([0-9]) ?/ ?(?:{DASHES})$"
MIN_BALANCES = 0.5  # share of the cells that are marked as debit or credit
DEBIT = r"(?i)^([^-(]*[0-9]) ?(?:dr|db|debit|soll|(?-i:S))\.?$"
CREDIT = r"(?i)^([^-(]*[0-9]) ?(?:cr|credit|haben|(?-i:H))\.?$"
DIRECTIONS = (rf"(?i)^(?:{BELOW})", rf"(?i)^(?:{ABOVE})|\+$")

#: A currency, or a word such as views, after a letter for a power of ten.
MONEY = r"(?: ?[€$£¥₹円元원]|(?-i: (?:EUR|USD|GBP|CHF|INR|[a-z][a-z]+[a-z])))?"
MAGNITUDES = {  # powers of 10
    r"k|tsd\.?|thousand|ki?b": 3,
    r"万|萬|만": 4,
    r"lakhs?|lacs?": 5,
    r"m|mn|mln|mio\.?|million|mi?b": 6,
    r"cr|crores?": 7,
    r"億|亿|억": 8,
    r"b|bn|mrd\.?|billion|gi?b": 9,
    r"ti?b": 12,
}
BYTES = r"(?i)[0-9] ?[kmgt]i?b$"
BYTE = r"(?i)([0-9]) ?(?:b|bytes?)$"
AT_END = (  # a minus sign, behind a space or before a currency
    (r"^([0-9][0-9.,' ]*(?:[0-9]{3}|[.,][0-9]+)) -$", r"\1-"),
    (r"^([0-9.,' ]*(?:[0-9]{3}|[.,][0-9]+)) ?-( ?(?:[\p{Sc}]|[A-Z]{3}))$", r"-\1\2"),
)


def normalized(text: pa.Array) -> pa.Array:
    """Return text with one kind of digit, space, minus and apostrophe.

    Examples
    --------
    >>> normalized(pa.array(["٦٣٫٧", "\u22125", "2½", "59.–"])).to_pylist()
    ['63.7', '-5', '2 1/2', '59.0']
    """
    if _has(text, rf"[.,/] ?(?:{DASHES})"):  # the whole pattern takes long to compile
        text = pc.replace_substring_regex(text, pattern_for(text, NO_CENTS), r"\10\2")
        text = pc.replace_substring_regex(text, NO_PAISE, r"\1")
    if _has(text, '^="'):
        text = pc.replace_substring_regex(text, QUOTED, r"\1")
    if _has(text, r"[0-9] ?-[^0-9]*$"):
        for pattern, plain in AT_END:
            text = pc.replace_substring_regex(text, pattern_for(text, pattern), plain)
    if pc.all(pc.string_is_ascii(text), min_count=0).as_py():
        return text
    signs = [(SPACES, " "), (MINUSES, "-"), (APOSTROPHES, "'"), (INVISIBLE, "")]
    if _has(text, f"[{''.join(DIGITS)}]"):
        signs += [(f"[{same}]", str(value)) for value, same in enumerate(DIGITS)]
        signs += [(POINTS, "."), (COMMAS, ",")]
    for kind, plain in signs:
        text = pc.replace_substring_regex(text, kind, plain)
    if _has(text, f"[{''.join(HALVES)}]"):
        for sign, plain in HALVES.items():
            text = pc.replace_substring(text, sign, f" {plain}")
        text = pc.utf8_trim_whitespace(text)
    return text


def _has(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, pattern), min_count=0).as_py())


def without_signs(text: pa.Array) -> pa.Array:
    """Return cells without signs beside the number.

    Examples
    --------
    >>> without_signs(pa.array(["<5", "ca. 30 kg", "65+", "7", "about us"])).to_pylist()
    ['5', '30 kg', '65', '7', 'about us']
    >>> without_signs(pa.array(["12[1]", "5.2 ± 0.3", "3 (9 %)", "1st"])).to_pylist()
    ['12', '5.2', '3', '1']
    """
    text = normalized(text)
    for pattern in (QUOTED, pattern_for(text, BEFORE), AFTER, ENDING):
        text = pc.replace_substring_regex(text, pattern, r"\1")
    return pc.replace_substring_regex(text, pattern_for(text, PLUS_UNIT), r"\1\2")


def are_classes(cells: list[str]) -> bool:
    """Whether one limit occurs in both directions.

    Examples
    --------
    >>> are_classes(["<=50K", ">50K"]), are_classes(["<5", "7", ">90"])
    (True, False)
    """
    found: dict[str, set[int]] = defaultdict(set)
    limits = without_signs(pa.array(cells, pa.string())).to_pylist()
    for cell, limit in zip(cells, limits, strict=True):
        for i, direction in enumerate(DIRECTIONS):
            if cell != limit and re.search(direction, cell):
                found[limit.strip()].add(i)
    return any(len(directions) > 1 for directions in found.values())


def has_magnitudes(text: pa.Array) -> bool:
    """Whether cells have powers of ten: 1.2K and 3M, or 950 and 1.2K, or 1.2 x 10^3.

    Examples
    --------
    >>> (
    ...     has_magnitudes(pa.array(["950", "1.2K"])),
    ...     has_magnitudes(pa.array(["5 m", "7"])),
    ... )
    (True, False)
    """
    ends = rf"(?i)[0-9] ?(?:{{}}){MONEY}$".format
    found = [letters for letters in MAGNITUDES if _has(text, ends(letters))]
    mixed = len(found) > 1 or (_has(text, ends("k")) and _has(text, ends("")))
    return mixed or _has(text, POWER)


def are_in_bytes(text: pa.Array) -> bool:
    """Whether some cells are like 3 KB or 1.2 GiB, so that B is a byte in others."""
    return _has(text, BYTES)


def with_exponents(text: pa.Array, in_bytes: bool = False) -> pa.Array:
    """Return cells with exponents, such as 1.2e3 for 1.2K and 1.2 x 10^3."""
    if in_bytes:
        text = pc.replace_substring_regex(text, BYTE, r"\1")
    powers = pc.match_substring_regex(text, POWER)
    if pc.any(powers, min_count=0).as_py():
        plain = text
        for sign, digit in zip(POWERS, "0123456789-+", strict=True):
            plain = pc.replace_substring(plain, sign, digit)
        plain = pc.replace_substring_regex(plain, POWER, r"\1e\2")
        text = pc.if_else(powers, plain, text)
    for letters, power in MAGNITUDES.items():
        pattern = rf"(?i)([0-9]) ?(?:{letters})({MONEY})$"
        text = pc.replace_substring_regex(text, pattern, rf"\1e{power}\2")
    return text


def has_balances(text: pa.Array) -> bool:
    """Whether all cells are amounts of debit and credit, and there are both.

    Examples
    --------
    >>> has_balances(pa.array(["90.10 DR", "20 CR"])), has_balances(pa.array(["2 CR"]))
    (True, False)
    """
    debit, credit = (pc.match_substring_regex(text, each) for each in (DEBIT, CREDIT))
    both = _has(text, DEBIT) and _has(text, CREDIT)
    return both and bool(pc.mean(pc.or_(debit, credit)).as_py() > MIN_BALANCES)


def with_balances(text: pa.Array) -> pa.Array:
    """Return amounts with a minus sign for a debit, such as -90.10 for 90.10 DR."""
    text = pc.replace_substring_regex(normalized(text), DEBIT, r"-\1")
    return pc.replace_substring_regex(text, CREDIT, r"\1")
