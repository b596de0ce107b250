r"""How the numbers of a column are written, to read and to write more of them.

=========  ============================================================
cell       style
=========  ============================================================
5388.5     plain: a decimal point, nothing else
5,388.50   ``thousands=","``; also a point, an apostrophe, any space
5388,5     ``decimal=","``
$55.59     ``prefix="$"``, a currency
26 kg      ``suffix=" kg"``, a unit, a percent sign, a currency
(5,388)    ``negative="(x)"``; also ``x-`` and a typographic minus sign
~12, <5    ``inexact=True``: read as 12 and 5 (`_cells/number_signs.py`)
5 lb       among cells in kg: one of ``others``, converted
=========  ============================================================

A cell need not have everything that its style allows: 26 is a number among 26 kg and
1,026 kg. Percentages keep the value as written: 20.2 % is 20.2. With ``either=True``
some decimals have a point and some a comma, as in 12.5 and 12,5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._rows import Array
from halfmoon.table._cells.number_signs import normalized, with_exponents, without_signs
from halfmoon.table._files.arrow_types import null_where

__all__ = ["PLAIN", "NumberStyle", "OtherUnit", "fixed_decimals"]

AROUND = "()+-' "  # around the digits, without prefix and suffix
NEGATIVE = r"^[^0-9]*[(-]|-$"

MAX_UNITS = 2.0**40  # a number times 10^digits is then exact to 2^-13
NEAR_HALF = 1e-3  # as close to a half, Python decides how to round
MAX_DIGITS = 12
POWERS = 10 ** np.arange(1, 14, dtype=np.int64)
ZERO, POINT, MINUS = b"0.-"

CASED = ("mw", "kb", "mb", "gb", "tb", "pa")  # mW is not MW

SEPARATORS = {",": "commas", ".": "points", "'": "apostrophes", " ": "spaces"}
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

    @property
    def is_plain(self) -> bool:
        """Whether numbers have a decimal point and nothing else."""
        signs = self.thousands or self.prefix or self.suffix or self.decimal == ","
        return not (signs or self.either or self.inexact or self.magnitudes)

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
        if self.others:
            return self._converted(text)
        if self.is_plain:
            try:
                return pc.cast(text, pa.float64())
            except pa.ArrowInvalid:  # some cell is in another style
                pass
        text = without_signs(text) if self.inexact else normalized(text)
        if self.magnitudes:
            text = with_exponents(text)
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

        Examples
        --------
        >>> NumberStyle(thousands=",", prefix="$").write([1053.26, -7, None], 1)
        ['$1,053.3', '-$7.0', None]
        """
        signs = str.maketrans({",": self.thousands, ".": self.decimal})
        written: list[str | None] = []
        for value in values:
            if value is None or value != value:
                written.append(None)
                continue
            size = f"{abs(value):,.{digits}f}"
            below = value < 0 and any(digit in size for digit in "123456789")
            size = f"{self.prefix}{size.translate(signs)}{self.suffix}"
            written.append(self.negative.replace("x", size, 1) if below else size)
        return written

    def written(self, values: Array, digits: int) -> pa.Array:
        """Write numbers as an array of Arrow with `digits` decimals, null for NaN.

        Examples
        --------
        >>> import numpy as np
        >>> PLAIN.written(np.array([1053.26, -0.01, np.nan]), 1).to_pylist()
        ['1053.3', '0.0', None]
        """
        plain = self.is_plain and self.negative == "-x"
        texts = fixed_decimals(values, digits) if plain else None
        if texts is None:
            texts = pa.array(self.write(values.tolist(), digits), pa.string())
        return texts

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
            "signs such as <, ~ or [1], which were ignored" if self.inexact else "",
        ]
        *most, last = [part for part in parts if part] or [""]
        if not last:
            return ""
        words = f"written with {', '.join(most)}{' and ' if most else ''}{last}"
        own = (self.prefix or self.suffix).strip()
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


def fixed_decimals(values: Array, digits: int) -> pa.Array | None:
    """Return numbers as text with `digits` decimals, rounded as Python rounds them.

    Zero has no sign. None if a number is too large or not finite, or `digits` too many.

    Examples
    --------
    >>> fixed_decimals(np.array([1053.26, -0.25, -0.01]), 1).to_pylist()
    ['1053.3', '-0.2', '0.0']
    """
    scaled = np.abs(values) * 10.0**digits if digits <= MAX_DIGITS else np.array(np.inf)
    if not (scaled < MAX_UNITS).all():  # NaN too
        return None
    units = np.rint(scaled).astype(np.int64)
    for i in np.flatnonzero(np.abs(scaled % 1.0 - 0.5) < NEAR_HALF):
        units[i] = int(f"{abs(values[i]):.{digits}f}".replace(".", ""))
    negative = (values < 0) & (units > 0)
    n_digits = np.searchsorted(POWERS, units, side="right") + 1
    lengths = np.maximum(n_digits, digits + 1) + (digits > 0) + negative
    characters = _characters(units, digits, int(lengths.max(initial=0)))
    width = characters.shape[1]
    characters[negative, width - lengths[negative]] = MINUS
    used = np.arange(width) >= (width - lengths)[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(characters[used])]
    return pa.Array.from_buffers(pa.string(), len(units), buffers)


def _characters(units: NDArray[np.int64], digits: int, width: int) -> NDArray[np.uint8]:
    """Return all digits and the point, right-aligned, shape (n, width)."""
    characters = np.empty((len(units), width), dtype=np.uint8)
    left = units if units.max(initial=0) >= 2**32 else units.astype(np.uint32)
    point = width - 1 - digits if digits else -1
    for column in range(width - 1, -1, -1):
        if column == point:
            characters[:, column] = POINT
            continue
        rest = left // 10
        characters[:, column] = ZERO + (left - 10 * rest)
        left = rest
    return characters
