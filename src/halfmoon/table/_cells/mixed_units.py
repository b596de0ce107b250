"""Units that can be converted into each other, and several currencies in one column.

Amounts in kg and lb are converted. The rate between two currencies is not known: the
amounts of the rarer one are multiplied so that both have the same median. That keeps
their order, and is right if the currency says nothing about the size.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.number_style import NumberStyle, OtherUnit
from halfmoon.table._files.arrow_types import null_where

__all__ = ["CODES", "currency", "other_units"]

MIN_AMOUNTS = 5  # different amounts in a currency, to compare medians
MAX_UNITS = 4  # in one column

SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "fr.": "chf"}
CODES = (
    *("usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "aud", "cad", "nzd"),
    *("sek", "nok", "dkk", "pln", "czk", "huf", "rub", "brl", "zar"),
)

SIZES = (  # in one unit of each quantity
    {"km": 1e3, "m": 1.0, "dm": 0.1, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "nm": 1e-9}
    | {"mi": 1609.344, "miles": 1609.344, "yd": 0.9144, "ft": 0.3048, "feet": 0.3048}
    | {"in": 0.0254, "inches": 0.0254, '"': 0.0254},
    {"km²": 1e6, "ha": 1e4, "m²": 1.0, "m2": 1.0, "sqm": 1.0, "cm²": 1e-4}
    | {"sqft": 0.09290304, "sq ft": 0.09290304, "ft²": 0.09290304, "acres": 4046.856},
    {"t": 1e3, "kg": 1.0, "g": 1e-3, "mg": 1e-6, "µg": 1e-9, "lb": 0.45359237}
    | {"lbs": 0.45359237, "oz": 0.028349523125, "st": 6.35029318},
    {"l": 1.0, "dl": 0.1, "cl": 1e-2, "ml": 1e-3, "m³": 1e3, "m3": 1e3},
    {"km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": 1.609344, "m/s": 3.6},
    {"bar": 1e5, "mbar": 100.0, "pa": 1.0, "hpa": 100.0, "kpa": 1e3, "psi": 6894.757},
    {"kj": 1.0, "j": 1e-3, "kcal": 4.184, "cal": 4.184e-3},
    {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    {"%": 1.0, "‰": 0.1},
)
ZEROS = {"°c": (1.0, 0.0), "°f": (5 / 9, -160 / 9)}  # to degrees Celsius


def currency(sign: str) -> str:
    """Return the code of a currency; empty for other units."""
    sign = sign.strip().lower()
    return SIGNS.get(sign, sign if sign in CODES else "")


def _conversion(unit: str, to: str) -> tuple[float, float] | None:
    """Return the factor and offset from one unit to another; None if there are none.

    Examples
    --------
    >>> _conversion("cm", "m"), _conversion("kg", "m")
    ((0.01, 0.0), None)
    """
    unit, to = (each if len(each) < 2 else each.lower() for each in (unit, to))
    for sizes in SIZES:
        if unit in sizes and to in sizes:
            return sizes[unit] / sizes[to], 0.0
    if unit in ZEROS and to in ZEROS:
        (factor, offset), (own, zero) = ZEROS[unit], ZEROS[to]
        return factor / own, (offset - zero) / own
    return None


def other_units(style: NumberStyle, text: pa.Array, parts: pa.Array) -> NumberStyle:
    """Return a style that also reads the other units of its column.

    Parameters
    ----------
    style : NumberStyle
        With the most common unit.
    text : pyarrow.Array
        Cells.
    parts : pyarrow.Array
        Of structs: the prefix and suffix of some of the cells.
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
        found = None if prefix or own[0] else _conversion(suffix, own[1])
        if found is not None:
            others.append(OtherUnit("", suffix, *found))
            continue
        codes = [currency(a or b) for a, b in (own, (prefix, suffix))]
        if not all(codes):
            continue
        amounts = replace(style, prefix=prefix, suffix=suffix)
        median = _median(amounts, null_where(text, pc.is_valid(style.read(text))))
        if middle and median:
            others.append(OtherUnit(prefix, suffix, middle / median, known=False))
    return replace(style, others=tuple(others))


def _median(style: NumberStyle, text: pa.Array) -> float | None:
    """Return the median of the amounts in a style; None if there are too few."""
    numbers = style.read(text).drop_null()
    if pc.count_distinct(numbers).as_py() < MIN_AMOUNTS:
        return None
    return float(pc.quantile(numbers, 0.5)[0].as_py())
