r"""How the numbers of a column are written, to read and to write more of them.

=========  ============================================================
cell       style
=========  ============================================================
5388.5     plain: a decimal point, nothing else
5,388.50   ``thousands=","``; also a point, apostrophe, underscore, any space
5388,5     ``decimal=","``
$55.59     ``prefix="$"``, a currency
26 kg      ``suffix=" kg"``, a unit, a percent sign, a currency
(5,388)    ``negative="(x)"``; also ``x-`` and a typographic minus sign
~12, <5    ``inexact=True``: read as 12 and 5 (`_cells/number_signs.py`)
5 lb       among cells in kg: one of ``others``, converted
4.87B      ``magnitudes=True``, and B is one of ``letters``
0.2        among cells in percent: ``shares=True``, read as 20
1.2E-05    ``exponent="E"``, if half of the cells have one
90.10 DR   ``balances=True``: -90.1; and 90.1 for 90.10 CR
12,34,567  ``indian=True``: groups of two digits above the thousands
59,-       ``no_cents=",-"``, after a whole number
9.1 H, ▼2  ``marks`` and ``minus`` (`_cells/number_marks.py`)
=========  ============================================================

A cell need not have everything that its style allows: 26 is a number among 26 kg and
1,026 kg. Percentages keep the value as written: 20.2 % is 20.2. With ``either=True``
some decimals have a point and some a comma, as in 12.5 and 12,5.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import floor, log10

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon._number_format import Unit
from halfmoon.table._cells.number_marks import with_arrows, without_marks
from halfmoon.table._cells.number_signs import (
    COMMAS,
    DASHES,
    POINTS,
    normalized,
    with_balances,
    with_exponents,
    without_signs,
)
from halfmoon.table._files.arrow_types import null_where

__all__ = ["PLAIN", "Letter", "NumberStyle", "OtherUnit", "as_written"]

AROUND = "()+-' "  # around the digits, without prefix and suffix
NEGATIVE = r"^[^0-9]*[(-]|-$"

SHORT_DIGITS = 3  # of a number before a letter
MAX_SHORT_DIGITS = 6  # decimals of one that is far below its letter
CASED = ("mw", "mv", "ma", "mj", "mpa", "kb", "mb", "gb", "tb", "pa")  # mW is not MW

#: Places between groups of an Indian number.
INDIAN = re.compile(r"(?<=[0-9])(?=(?:[0-9]{2})*[0-9]{3}(?:\.|$))")

SEPARATORS = {",": "commas", ".": "points", "'": "apostrophes", " ": "spaces"}
SEPARATORS |= {"_": "underscores"}
MINUS_WORDS = {"(x)": "brackets for negative numbers", "x-": "a trailing minus"}


def plain_sign(sign: str) -> str:
    """Return a separator, prefix or suffix as `normalized` writes it."""
    return str(normalized(pa.array([sign]))[0])


@dataclass(frozen=True)
class OtherUnit:
    """A unit beside that of the style: ``factor * x + offset`` is in the style's."""

    prefix: str
    suffix: str
    factor: float
    offset: float = 0.0
    known: bool = True  # otherwise the medians of the two were made equal


@dataclass(frozen=True)
class Letter:
    """A letter or word for a power of ten, such as B in 4.87B."""

    power: int
    sign: str  # with the space before it; empty for none
    digits: int  # largest number of decimals


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written."""

    decimal: str = "."  # a point or a comma
    thousands: str = ""  # separates groups of three digits
    prefix: str = ""  # with the space after it
    suffix: str = ""  # with the space before it
    negative: str = "-x"  # a number below 0, with x for its size
    digits: int = 0  # largest number of decimals
    either: bool = False  # decimals with a point and with a comma; no thousands
    inexact: bool = False  # some cells have a sign such as ~ or <
    magnitudes: bool = False  # some cells have a letter such as K or M
    others: tuple[OtherUnit, ...] = ()  # units that are converted
    shares: bool = False  # numbers without the percent sign are shares of 1
    balances: bool = False  # amounts are marked as debit or credit
    exponent: str = ""  # before the power of ten, if numbers are written with one
    letters: tuple[Letter, ...] = ()  # to write numbers with; the largest power first
    indian: bool = False  # groups above the thousands have two digits
    no_cents: str = ""  # after a whole number, before the suffix
    marks: tuple[str, ...] = ()  # beside some of the numbers, which say nothing here
    minus: str = ""  # arrows before or after a number that mean minus
    in_bytes: bool = False  # B is a byte, not a billion

    @property
    def is_plain(self) -> bool:
        """Whether numbers have a decimal point and nothing else."""
        signs = self.thousands or self.prefix or self.suffix or self.decimal == ","
        marks = self.either or self.inexact or self.magnitudes or self.balances
        return not (signs or marks or self.marks or self.minus)

    @property
    def unit(self) -> Unit:
        """The unit of a difference between two numbers."""
        is_share = self.suffix.strip() == "%"
        return Unit(self.prefix, " percentage points" if is_share else self.suffix)

    def fits(self, text: pa.Array) -> pa.Array:
        """Return where text, as `normalized` returns it, is in this style."""
        return pc.match_substring_regex(text, self._pattern())

    def read(self, text: pa.Array) -> pa.Array:
        """Read text as float64, null where it is not a number.

        The text has no spaces around it, and is null for no value.

        Examples
        --------
        >>> style = NumberStyle(thousands=",", prefix="$")
        >>> style.read(pa.array(["$1,053.20", "(7)", "12", "$5 kg"])).to_pylist()
        [1053.2, -7.0, 12.0, None]
        """
        if self.balances:
            return replace(self, balances=False).read(with_balances(text))
        if self.minus:
            return replace(self, minus="").read(with_arrows(text, self.minus))
        if self.marks:
            return replace(self, marks=()).read(without_marks(text, self.marks))
        if self.shares:
            percent = pc.match_substring(text, self.suffix.strip())
            numbers = replace(self, shares=False).read(text)
            return pc.if_else(percent, numbers, pc.multiply(numbers, 100.0))
        if self.others:
            return self._converted(text)
        if self.is_plain:
            try:
                return pc.cast(text, pa.float64())
            except pa.ArrowInvalid:  # some cell is in another style
                pass
        text = without_signs(text) if self.inexact else normalized(text)
        if self.magnitudes:
            text = with_exponents(text, self.in_bytes)
        if self.either:
            text = pc.replace_substring(text, ",", ".")
        text = null_where(text, pc.invert(self.fits(text)))
        below = pc.match_substring_regex(text, NEGATIVE)
        for part in (self._prefix(), self._suffix()):
            if part:
                text = pc.replace_substring_regex(text, part, "")
        text = pc.ascii_trim(text, AROUND)
        if self.thousands:
            text = pc.replace_substring(text, plain_sign(self.thousands), "")
        if self.decimal == "," and not self.either:
            text = pc.replace_substring(text, ",", ".")
        numbers = pc.cast(text, pa.float64())
        return pc.if_else(below, pc.negate(numbers), numbers)

    def _converted(self, text: pa.Array) -> pa.Array:
        """Read cells of all units, in that of the style."""
        numbers = replace(self, others=()).read(text)
        for unit in self.others:
            style = replace(self, prefix=unit.prefix, suffix=unit.suffix, others=())
            other = style.read(null_where(text, pc.is_valid(numbers)))
            other = pc.add(pc.multiply(other, unit.factor), unit.offset)
            numbers = pc.coalesce(numbers, other)
        return numbers

    def write(self, values: Iterable[float | None], digits: int) -> list[str | None]:
        """Write numbers as text with `digits` decimals; None for None and NaN.

        Numbers with an exponent have the decimals of the style.

        Examples
        --------
        >>> NumberStyle(thousands=",", prefix="$").write([1053.26, -7, None], 1)
        ['$1,053.3', '-$7.0', None]
        >>> NumberStyle(thousands=",", indian=True).write([1234567.2], 1)
        ['12,34,567.2']
        """
        zero = f"{0.0:.{digits}f}"
        form = f"{',' if self.thousands else ''}.{digits}f"
        if self.exponent:
            form = f".{self.digits}{self.exponent}"
        texts = [None if x is None or x != x else f"{x:{form}}" for x in values]
        if self.is_plain and self.negative == "-x" and not self.no_cents:
            return [zero if text == f"-{zero}" else text for text in texts]
        signs = str.maketrans({",": self.thousands, ".": self.decimal})
        ending = (self.no_cents if digits == 0 else "") + self.suffix

        def dressed(text: str) -> str:
            digits = text.removeprefix("-")
            size = INDIAN.sub(",", digits.replace(",", "")) if self.indian else digits
            size = f"{self.prefix}{size.translate(signs)}{ending}"
            below = text != digits and digits != zero
            return self.negative.replace("x", size, 1) if below else size

        return [None if text is None else dressed(text) for text in texts]

    def abbreviate(self, values: Iterable[float | None]) -> list[str | None]:
        """Write numbers with the letters of the style, with three digits or more.

        Examples
        --------
        >>> letters = (Letter(9, "B", 2), Letter(6, "M", 0))
        >>> style = NumberStyle(prefix="$", magnitudes=True, letters=letters)
        >>> style.abbreviate([4_871e6, 630e6, -2.5e6, None])
        ['$4.87B', '$630M', '-$2.50M', None]
        """
        return [None if x is None or x != x else self._short(x) for x in values]

    def _short(self, value: float) -> str | None:
        size = abs(value)
        letter = next(
            (each for each in self.letters if size >= 10.0**each.power),
            self.letters[-1],
        )
        mantissa = value / 10.0**letter.power
        leading = floor(log10(abs(mantissa))) if mantissa else 0
        digits = max(letter.digits, min(SHORT_DIGITS - 1 - leading, MAX_SHORT_DIGITS))
        style = replace(self, suffix=letter.sign + self.suffix)
        return style.write([mantissa], digits if mantissa else letter.digits)[0]

    def describe(self) -> str:
        """Describe the style for a person; empty if it is plain.

        Examples
        --------
        >>> NumberStyle(thousands=",", prefix="$").describe()
        'written with $ and commas'
        >>> NumberStyle(",", ".", suffix=" kg", digits=2).describe()
        'written with points between thousands, decimal commas and kg'
        """
        parts = [self.prefix.strip()]
        if self.thousands:
            sign = SEPARATORS[plain_sign(self.thousands)]
            parts.append(sign if sign == "commas" else f"{sign} between thousands")
        commas = "decimal commas" if self.decimal == "," and self.digits else ""
        parts += [
            "decimal points and decimal commas" if self.either else commas,
            self.suffix.strip(),
            MINUS_WORDS.get(self.negative, ""),
            "letters or powers for thousands or millions" if self.magnitudes else "",
            "signs as in <5, ~5, 5[1] or 5th, which were ignored"
            if self.inexact
            else "",
            "marks of debit and credit, read as minus and plus"
            if self.balances
            else "",
            "arrows, read as plus and minus" if self.minus else "",
            f"marks such as {' and '.join(self.marks[:2])}, which were ignored"
            if self.marks
            else "",
        ]
        *most, last = [part for part in parts if part] or [""]
        if not last:
            return ""
        words = f"written with {', '.join(most)}{' and ' if most else ''}{last}"
        own = (self.prefix or self.suffix).strip()
        if self.shares:
            words += f"; shares such as 0.2 converted to {own}"
        for other in self.others:
            unit = (other.prefix or other.suffix).strip()
            words += f"; {unit} converted to {own}"
            if not other.known:
                words += f" (times {other.factor:.3g}, so that the medians agree)"
        return words

    def _prefix(self) -> str:
        return re.escape(plain_sign(self.prefix).strip())

    def _suffix(self) -> str:
        unit = plain_sign(self.suffix).strip()
        if len(unit) < 2 or not unit.isalpha() or unit.lower() in CASED:
            return re.escape(unit)
        # 1 year, 2 years, 3 Years, 4 yrs.
        return rf"(?i:{re.escape(unit.removesuffix('s'))})s?\.?"

    def _pattern(self) -> str:
        point = r"\." if self.either else re.escape(self.decimal)
        number = rf"(?:[0-9]+{point}?[0-9]*|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        if self.thousands:
            sign = re.escape(plain_sign(self.thousands))
            # In Indian numbers only the last group has three digits: 12,34,567.
            more = rf"(?:{sign}[0-9]{{2,3}})*" if sign == "," else ""
            more = more or rf"(?:{sign}[0-9]{{3}})*"
            grouped = rf"[1-9][0-9]{{0,2}}{more}{sign}[0-9]{{3}}(?:{point}[0-9]*)?"
            number = rf"(?:{grouped}|{number})"
        before = f"(?:{self._prefix()} ?)?" if self.prefix else ""
        after = f"(?: ?{self._suffix()})?" if self.suffix else ""
        minus = "-?" if self.negative == "x-" else ""
        signed = rf"'?(?:[+-] ?{before}|{before}[+-]?){number}{after}{minus}"
        return rf"^(?:{signed}|{before}\( ?{before}{number}{after} ?\){after})$"


PLAIN = NumberStyle()

GROUPED = re.compile(r"[0-9],[0-9]{2},[0-9]{3}(?![0-9])")
NO_CENTS = re.compile(rf"[0-9]([.,/] ?(?:{DASHES}))(?![0-9])")
MIN_NO_CENTS = 0.5  # share of the cells that are written without cents
EXPONENT = re.compile(r"[0-9]([eE])([+-]?[0-9]+)(?![0-9])")
MIN_EXPONENTS = 0.5  # share of the cells that have one
MAX_SHIFT = 15  # decimals by an exponent


def as_written(style: NumberStyle, cells: list[str]) -> NumberStyle:
    """Return the style with the spaces, minus signs and decimals of the cells."""
    prefix, suffix, thousands = style.prefix, style.suffix, style.thousands
    negative = style.negative
    if any(cell.endswith(")") for cell in cells):
        negative = "(x)"
    elif negative == "-x" and any(cell.startswith("\u2212") for cell in cells):
        negative = "\u2212x"
    if prefix:
        prefix += _most_common(rf"{re.escape(prefix)}(\s?)", cells)
    if suffix:
        after = rf"(?:[0-9]|{DASHES})(\s?){re.escape(suffix)}"
        suffix = _most_common(after, cells) + suffix
    if thousands in (" ", "'"):
        kind = r"\s" if thousands == " " else "['\u2019]"
        thousands = _most_common(rf"[0-9]({kind})[0-9]{{3}}", cells) or thousands
    no_cents = [each[1] for cell in cells if (each := NO_CENTS.search(cell))]
    exponents = [each for cell in cells if (each := EXPONENT.search(cell))]
    exponent = exponents[0][1] if len(exponents) > MIN_EXPONENTS * len(cells) else ""
    return replace(
        style,
        thousands=thousands,
        prefix=prefix,
        suffix=suffix,
        negative=negative,
        digits=max(
            (_decimals(_in_ascii(cell), style, exponent) for cell in cells), default=0
        ),
        exponent=exponent,
        indian=thousands == "," and any(map(GROUPED.search, cells)),
        no_cents=max(no_cents, key=no_cents.count)
        if len(no_cents) > MIN_NO_CENTS * len(cells)
        else "",
    )


def _in_ascii(cell: str) -> str:
    """Return a cell with the usual digits, points and commas."""
    if cell.isascii():
        return cell
    signs = (str(unicodedata.decimal(sign, sign)) for sign in cell)
    return re.sub(COMMAS, ",", re.sub(POINTS, ".", "".join(signs)))


def _decimals(cell: str, style: NumberStyle, exponent: str) -> int:
    """Return the decimals of a number, without the `exponent` of others if it has one.

    1.2e-05 is 0.000012, with six decimals.
    """
    sign = "[.,]" if style.either else re.escape(style.decimal)
    found, power = re.search(rf"{sign}([0-9]+)", cell), EXPONENT.search(cell)
    shift = int(power[2]) if power and not exponent else 0
    return max((len(found[1]) if found else 0) - max(shift, -MAX_SHIFT), 0)


def _most_common(pattern: str, cells: list[str]) -> str:
    """Return the most common match of the group of a pattern, or an empty string."""
    found = (re.search(pattern, cell) for cell in cells)
    counts = Counter(each[1] for each in found if each)
    return max(counts, key=counts.__getitem__, default="")
