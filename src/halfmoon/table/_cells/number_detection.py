"""Find the style in which the numbers of a column are written.

A comma may separate thousands or decimals. The style in which most cells are numbers
wins: 12,5 and 0,125 have decimal commas, 1,234,567 has thousands. If all cells are like
1,234, both are possible; then a comma separates thousands, and a point decimals, but
not in money above 10: 59.222 € is 59222. Nor among whole numbers: in 961, 1.234, 12.500
a point separates thousands, as decimals would be 961.000 or 12.5. If some cells are
like 12.5 and others like 12,5, either sign separates decimals. Digits that identify
something are no numbers: 01099, 192.168.100.101, 030 123 456.

Labels have one unit or currency. In other columns amounts in kg and lb are converted.
The rate between two currencies is not known: the amounts of the rarer one are
multiplied so that both have the same median. That keeps their order, and is right if
the currency says nothing about the size.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.letter_patterns import pattern_for
from halfmoon.table._cells.number_marks import (
    find_marks,
    minus_arrows,
    with_arrows,
    without_marks,
)
from halfmoon.table._cells.number_signs import (
    BYTE,
    MAGNITUDES,
    MONEY,
    are_classes,
    are_in_bytes,
    has_balances,
    has_magnitudes,
    normalized,
    with_balances,
    with_exponents,
    without_signs,
)
from halfmoon.table._cells.number_style import (
    CASED,
    PLAIN,
    Letter,
    NumberStyle,
    OtherUnit,
    as_written,
)
from halfmoon.table._cells.points_and_commas import (
    are_whole_with_points,
    is_money_with_points,
    may_be_thousands,
)
from halfmoon.table._cells.unit_sizes import UNITS, conversion
from halfmoon.table._files.arrow_types import null_where

__all__ = ["are_codes", "converted", "examples", "number_style"]

MAX_EXAMPLES = 5_000  # different cells that the style is found from
MAX_LENGTH = 500  # bytes of a number; some patterns take the square of the length
LONG = "(long)"  # instead of a longer text
CODE_WIDTH = 3  # digits from which numbers with leading zeros are codes
PHONE_WIDTH = 9  # digits from which numbers of one length with spaces are phones
MIN_UNIT_SHARE = 0.5  # share of the cells that have an unknown unit
MIN_AMOUNTS = 5  # different amounts in a currency, to compare medians
MAX_UNITS = 4  # in one column

CURRENCY_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
CURRENCY_SIGNS |= {"fr.": "chf", "rp": "idr", "rp.": "idr"}
CODES = (
    *("usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "aud", "cad", "nzd"),
    *("sek", "nok", "dkk", "pln", "czk", "huf", "rub", "brl", "zar"),
)

CURRENCY = rf"(?:[A-Z]{{0,3}}[\p{{Sc}}]|{'|'.join(CODES).upper()}|R[ps]\.?|Fr\.|kr\.?)"
# The longest is checked afterwards: {0,14} in the pattern takes 30 ms to compile.
UNIT = r"(?:[\p{L}%‰°\"″′µ/\p{Sc}][\p{L}\p{M}\p{Sc}%°²³·./ ]*[23]?)"
MAX_UNIT = 16  # characters
SECOND_AMOUNT = r"\p{Sc} ?[23]$"  # of $9 $2, while m2 and ft3 are units
CELL = (
    rf"^'?[+(-]? ?(?P<prefix>{CURRENCY})?(?P<gap> ?)[+(-]? ?"
    r"(?P<number>[0-9.,](?:[0-9.,'_]| [0-9])*(?:[eE][+-]?[0-9]+)?)"
    rf"(?P<space> ?)(?P<suffix>{UNIT})? ?\)?(?P<after>{UNIT})?-?$"
)
DOTTED = r"^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$"
TRAILING = r"(?:[0-9]{3}|[.,][0-9]+)-$"  # an amount; 2- may be a school grade
# Decimal, thousands; if two fit equally well, the first is taken.
SIGNS = (
    (".", ""),
    (".", ","),
    (",", ""),
    (",", "."),
    *((a, b) for b in " '_" for a in ".,"),
)


def number_style(
    text: pa.Array, stray: float, *, inexact: bool = False
) -> NumberStyle | None:
    """Return how numbers are written in text; None if it is not numbers.

    The text has no spaces around it, and is null for no value. `stray` is the share of
    the cells that may be something else, and `inexact` whether cells such as ~12 and <5
    are numbers, and several units are converted. Letters for powers of ten, as in 630M
    and 4.87B, always belong to numbers.

    Examples
    --------
    >>> number_style(pa.array(["$1,053", "$ 986.50", None]), 0).describe()
    'written with $ and commas'
    >>> number_style(pa.array(["3 kg", "200 g"]), 0) is None
    True
    """
    text = pc.if_else(pc.greater(pc.binary_length(text), MAX_LENGTH), LONG, text)
    style = _exact_style(text, stray)
    if style is not None:
        return _with_signs(_with_shares(style, text), text) if inexact else style
    cells = examples(text, MAX_EXAMPLES)
    if inexact and len(cells) and has_balances(normalized(cells)):
        style = _exact_style(with_balances(text), stray)
        return None if style is None else replace(style, balances=True)
    if inexact and (minus := minus_arrows(cells.to_pylist())):
        style = number_style(with_arrows(text, minus), stray, inexact=True)
        return None if style is None else replace(style, minus=minus)
    if inexact and are_classes(cells.to_pylist()):
        return None
    bare = without_signs(text) if inexact else normalized(text)
    numbers = without_signs(cells) if inexact else normalized(cells)
    magnitudes = has_magnitudes(numbers)
    if not (inexact or magnitudes):
        return None
    in_bytes = magnitudes and are_in_bytes(numbers)
    powers = with_exponents(bare, in_bytes) if magnitudes else bare
    style = _exact_style(powers, stray, convert=inexact)
    if style is None:
        return _with_marks(text, cells.to_pylist(), stray) if inexact else None
    letters = _letters_of(numbers.to_pylist(), style.decimal, in_bytes)
    return replace(
        style,
        inexact=inexact and not bare.equals(normalized(text)),
        magnitudes=magnitudes,
        in_bytes=in_bytes,
        exponent="" if magnitudes else style.exponent,  # it stood for a letter
        letters=letters if magnitudes else (),
    )


def _with_marks(text: pa.Array, cells: list[str], stray: float) -> NumberStyle | None:
    """Return the style of numbers some of which have a mark, such as H for high."""
    marks = find_marks(cells)
    if not marks:
        return None
    style = number_style(without_marks(text, marks), stray, inexact=True)
    return None if style is None else replace(style, marks=marks)


def _letters_of(cells: list[str], decimal: str, in_bytes: bool) -> tuple[Letter, ...]:
    """Return the letters for powers of ten in cells, the largest power first."""
    letters = []
    of_bytes = [text for text in cells if in_bytes and re.search(BYTE, text)]
    cells = [text for text in cells if text not in {*of_bytes}]
    for names, power in MAGNITUDES.items():
        amount = rf"[0-9](?:{re.escape(decimal)}([0-9]+))?"
        cell = re.compile(rf"(?i:{amount}( ?(?:{names})){MONEY})$")
        found = [each for text in cells if (each := cell.search(text))]
        if found:
            sign = Counter(each[2] for each in found).most_common(1)[0][0]
            digits = max(len(each[1] or "") for each in found)
            letters.append(Letter(power, sign, digits))
    if letters and any(re.search(rf"[0-9]{MONEY}$", text) for text in cells):
        letters.insert(0, Letter(0, "", 0))
    if of_bytes:
        letters.insert(0, Letter(0, re.split("[0-9]", of_bytes[0])[-1], 0))
    return tuple(reversed(letters))


def _with_shares(style: NumberStyle, text: pa.Array) -> NumberStyle:
    """Return the style of percentages, with shares of 1 if there are such cells."""
    if style.suffix.strip() != "%":
        return style
    cells = examples(text, MAX_EXAMPLES)
    marked = pc.match_substring(cells, "%")
    percents = style.read(cells.filter(marked)).drop_null()
    bare = style.read(cells.filter(pc.invert(marked))).drop_null()
    if min(len(percents), len(bare)) < MIN_AMOUNTS:
        return style
    low, high = pc.min_max(bare).as_py().values()
    shares = low >= 0.0 and high <= 1.0 and pc.quantile(percents)[0].as_py() > 1.0
    return replace(style, shares=shares)


def _with_signs(style: NumberStyle, text: pa.Array) -> NumberStyle:
    """Return the style that also reads a few cells such as <5, if there are some."""
    found = _count(style.read(text))
    signed = replace(style, inexact=True)
    complete = found == len(text) - text.null_count
    return style if complete or _count(signed.read(text)) == found else signed


def _exact_style(
    text: pa.Array, stray: float, convert: bool = False
) -> NumberStyle | None:
    """Return the style of exact numbers, in several units if they are to `convert`."""
    present = len(text) - text.null_count
    if present == 0:
        return None
    cells = examples(text, MAX_EXAMPLES)
    texts = normalized(cells)
    if are_codes(texts):
        return None
    style = PLAIN
    if are_whole_with_points(PLAIN, texts):
        style = replace(PLAIN, decimal=",", thousands=".")
    elif not pc.all(PLAIN.fits(texts)).as_py():
        parts = _parts_of(texts)
        if len(parts) == 0:
            return None
        style = _style_of(texts, parts)
        if convert:
            style = _other_units(style, normalized(text), parts)
    if present - _count(style.read(text)) > stray * present:
        return None
    return as_written(style, cells.to_pylist())


def _parts_of(texts: pa.Array) -> pa.Array:
    """Return prefix, number and unit of the cells that have such parts."""
    parts = pc.extract_regex(texts, pattern_for(texts, CELL)).drop_null()
    for name in ("suffix", "after"):
        units = parts.field(name)
        short = pc.less_equal(pc.utf8_length(units), MAX_UNIT)
        other = pc.match_substring_regex(units, SECOND_AMOUNT)
        parts = parts.filter(pc.and_not(short, other))
    return parts


def examples(text: pa.Array, most: int) -> pa.Array:
    """Return about `most` different values, from all over the column."""
    values = text.drop_null().unique()
    step = max(1, len(values) // most)
    return values.take(pa.array(range(0, len(values), step), pa.int64()))


def _share(mask: pa.Array) -> float:
    return float(pc.mean(mask).as_py() or 0.0)


def _count(numbers: pa.Array) -> int:
    return int(pc.sum(pc.is_finite(numbers)).as_py() or 0)


def are_codes(values: pa.Array) -> bool:
    """Whether digits identify something: postal codes, IP addresses, telephones."""
    if _share(pc.match_substring_regex(values, DOTTED)) > 0.5:
        return True
    bare = pc.replace_substring(values, " ", "")
    low, high = pc.min_max(pc.utf8_length(bare)).as_py().values()
    if low != high or low < CODE_WIDTH:
        return False
    if not pc.all(pc.match_substring_regex(bare, r"^\+?[0-9]+$")).as_py():
        return False
    spaced = pc.all(pc.match_substring(values, " ")).as_py()
    zeros = pc.any(pc.starts_with(bare, "0")).as_py()
    return bool(zeros or (spaced and low >= PHONE_WIDTH))


def _style_of(values: pa.Array, parts: pa.Array) -> NumberStyle:
    prefixes = Counter(parts.field("prefix").to_pylist())
    written = Counter(part.strip() for part in parts.field("suffix").to_pylist())
    for part in parts.field("after").to_pylist():
        written[part.strip()] += bool(part)
    suffixes = _merged_spellings(written)
    del prefixes[""], suffixes[""]
    prefix = max(prefixes, key=lambda part: prefixes[part], default="")
    suffix = max(suffixes, key=lambda part: suffixes[part], default="")
    if suffix.endswith(("e", "E")) and len(suffix) == 1:
        suffix = ""  # it begins an exponent
    if f"{suffix}s" in suffixes:  # 1 year, 2 years
        suffixes[f"{suffix}s"] += suffixes.pop(suffix)
        suffix += "s"
    known = suffix in UNITS or (len(suffix) > 1 and suffix.lower() in UNITS)
    if not known and suffixes[suffix] < MIN_UNIT_SHARE * len(parts):
        suffix = ""
    if suffix and has_magnitudes(values):
        suffix = ""  # 950 and 1.2K cannot be compared as they are written
    if prefix and _currency(suffix) not in ("", _currency(prefix)):
        rare = prefixes[prefix] < suffixes[suffix]
        prefix, suffix = ("", suffix) if rare else (prefix, "")
    trailing = pc.any(pc.match_substring_regex(values, TRAILING)).as_py()
    style = NumberStyle(
        prefix=prefix, suffix=suffix, negative="x-" if trailing else "-x"
    )
    present = {s for s in ",. '_" if pc.any(pc.match_substring(values, s)).as_py()}
    styles = [
        replace(style, decimal=decimal, thousands=thousands)
        for decimal, thousands in SIGNS
        if (thousands or decimal) in {*present, "."}
    ]
    if {",", "."} <= present and not may_be_thousands(values):
        commas, points = (_share(pc.match_substring(values, s)) for s in ",.")
        decimal = "," if commas > points else "."
        styles.append(replace(style, decimal=decimal, either=True))
    best = max(styles, key=lambda each: _count(each.read(values)))  # first of equals
    is_money = bool(_currency(best.prefix or best.suffix))
    if (is_money and is_money_with_points(best, values)) or are_whole_with_points(
        best, values
    ):
        return replace(best, decimal=",", thousands=".")
    return best


def _merged_spellings(written: Counter[str]) -> Counter[str]:
    """Count units, those that differ in case or a full stop by the most common one."""
    common: dict[str, str] = {}
    merged: Counter[str] = Counter()
    for unit, n in written.most_common():
        cased = len(unit) < 2 or not unit.rstrip(".").isalpha() or unit.lower() in CASED
        key = unit if cased else unit.lower().rstrip(".")
        merged[common.setdefault(key, unit)] += n
    return merged


def _currency(sign: str) -> str:
    """Return the code of a currency; empty for other units."""
    sign = sign.strip().lower()
    return CURRENCY_SIGNS.get(sign, sign if sign in CODES else "")


def _other_units(style: NumberStyle, text: pa.Array, parts: pa.Array) -> NumberStyle:
    """Return the style of the most common unit, which also reads the other units.

    `parts` are structs with the prefix and suffix of some of the cells.
    """
    own = style.prefix, style.suffix
    units = Counter(
        (prefix, suffix.strip())
        for prefix, suffix in zip(
            parts.field("prefix").to_pylist(),
            parts.field("suffix").to_pylist(),
            strict=True,
        )
    )
    units.pop(own, None)
    units.pop(("", ""), None)
    if not any(own) or len(units) >= MAX_UNITS:
        return style
    others = []
    middle = _median(style, text)
    for prefix, suffix in units:
        found = None if prefix or own[0] else conversion(suffix, own[1])
        if found is not None:
            others.append(OtherUnit("", suffix, *found))
            continue
        codes = [_currency(a or b) for a, b in (own, (prefix, suffix))]
        if not all(codes) or codes[0] == codes[1]:  # $5 and $5 million
            continue
        amounts = replace(style, prefix=prefix, suffix=suffix)
        median = _median(amounts, null_where(text, pc.is_valid(style.read(text))))
        if middle and median:
            others.append(OtherUnit(prefix, suffix, middle / median, known=False))
    return replace(style, others=tuple(others))


def converted(style: NumberStyle, to: NumberStyle) -> NumberStyle | None:
    """Return a style that reads numbers in the unit of another; None if unknown.

    Examples
    --------
    >>> grams = converted(NumberStyle(suffix=" g"), NumberStyle(suffix=" kg"))
    >>> grams.read(pa.array(["500 g", "2 kg"])).to_pylist()
    [0.5, 2.0]
    """
    if style.prefix or to.prefix or not all(unit.known for unit in style.others):
        return None
    units = [unit.strip() for unit in (style.suffix, *(u.suffix for u in style.others))]
    found = {unit: conversion(unit, to.suffix.strip()) for unit in units}
    others = [OtherUnit("", unit, *each) for unit, each in found.items() if each]
    if len(others) < len(units):
        return None
    return replace(style, suffix=to.suffix, others=tuple(others))


def _median(style: NumberStyle, text: pa.Array) -> float | None:
    """Return the median of the amounts in a style; None if there are too few."""
    numbers = style.read(text).drop_null()
    if pc.count_distinct(numbers).as_py() < MIN_AMOUNTS:
        return None
    return float(pc.quantile(numbers, 0.5)[0].as_py())
