"""How the numbers of a column are written, so that more can be written like them.

Spaces, minus signs, decimals, exponents and letters for powers of ten, found from cells
whose decimal sign, unit and currency are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import replace

from halfmoon.table._cells.number_signs import (
    COMMAS,
    DASHES,
    MAGNITUDES,
    MONEY,
    POINTS,
)
from halfmoon.table._cells.number_style import Letter, NumberStyle

__all__ = ["as_written", "letters_of"]

INDIAN = re.compile(r"[0-9],[0-9]{2},[0-9]{3}(?![0-9])")
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
        indian=thousands == "," and any(map(INDIAN.search, cells)),
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


def letters_of(cells: list[str], decimal: str) -> tuple[Letter, ...]:
    """Return the letters for powers of ten in cells, the largest power first."""
    letters = []
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
    return tuple(reversed(letters))


def _most_common(pattern: str, cells: list[str]) -> str:
    """Return the most common match of the group of a pattern, or an empty string."""
    found = (re.search(pattern, cell) for cell in cells)
    counts = Counter(each[1] for each in found if each)
    return max(counts, key=counts.__getitem__, default="")
