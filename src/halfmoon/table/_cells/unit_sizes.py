"""Units and their sizes: kg and lb, °C and °F, and those with a prefix, as mV and kΩ.

Prefixes are those of the SI: mg/dL is 0.01 g/L. Case matters in them: mW is not MW.
"""

from __future__ import annotations

__all__ = ["UNITS", "conversion", "si_unit"]

LENGTHS = 'km m cm mm µm nm mi ft in yd " ″ ′ km² m² cm² m2 m3 m³ ha sqm sqft px pt'
WEIGHTS = "kg g mg µg mcg t lb lbs oz st l ml cl gal"
TIMES = (
    "ms s sec min mins h hr hrs hour hours day days week weeks month months year years "
    "yr yrs km/h kmh mph m/s hz khz mhz ghz"
)
OTHERS = "% ‰ ppm ppb ° °c °f kw kwh mw kb mb gb tb bar psi pa hpa kpa cal kcal kj"
CURRENCIES = "€ $ £ ¥ ₹ kr zł usd eur gbp chf"
UNITS = frozenset(f"{LENGTHS} {WEIGHTS} {TIMES} {OTHERS} {CURRENCIES}".split())

SIZES = (  # in one unit of each quantity
    {"km": 1e3, "m": 1.0, "dm": 0.1, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "nm": 1e-9}
    | {"mi": 1609.344, "miles": 1609.344, "yd": 0.9144, "ft": 0.3048, "feet": 0.3048}
    | {"in": 0.0254, "inches": 0.0254, '"': 0.0254},
    {"km²": 1e6, "ha": 1e4, "m²": 1.0, "m2": 1.0, "sqm": 1.0, "cm²": 1e-4}
    | {"sqft": 0.09290304, "sq ft": 0.09290304, "ft²": 0.09290304, "acres": 4046.856},
    {"t": 1e3, "kg": 1.0, "g": 1e-3, "mg": 1e-6, "µg": 1e-9, "mcg": 1e-9}
    | {"lb": 0.45359237, "lbs": 0.45359237, "oz": 0.028349523125, "st": 6.35029318},
    {"l": 1.0, "dl": 0.1, "cl": 1e-2, "ml": 1e-3, "m³": 1e3, "m3": 1e3},
    {"km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": 1.609344, "m/s": 3.6},
    {"bar": 1e5, "mbar": 100.0, "pa": 1.0, "hpa": 100.0, "kpa": 1e3, "psi": 6894.757},
    {"kj": 1.0, "j": 1e-3, "kcal": 4.184, "cal": 4.184e-3},
    {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    {"%": 1.0, "‰": 0.1, "ppm": 1e-4, "ppb": 1e-7},
)
ZEROS = {"°c": (1.0, 0.0), "°f": (5 / 9, -160 / 9)}  # to degrees Celsius

PREFIXES = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2}
PREFIXES |= {"d": 1e-1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SYMBOLS = """
V A W Ω F H Hz J N Pa g m s l mol M eV Bq Gy Sv bit bps B Wh Ah VA bar
cal U IU kat lm lx
"""
BASES = frozenset(SYMBOLS.split())
SAME = str.maketrans({"\u03bc": "µ", "\u2126": "Ω", "L": "l"})


def si_unit(unit: str) -> tuple[str, float] | None:
    """Return a unit without prefixes, and its size in it; None for other units.

    Examples
    --------
    >>> si_unit("mV"), si_unit("mg/dL"), si_unit("boxes")
    (('V', 0.001), ('g/l', 0.01), None)
    """
    parts = []
    for part in unit.translate(SAME).split("/"):
        if part in BASES:
            parts.append((part, 1.0))
        elif part[:1] in PREFIXES and part[1:] in BASES and part != "dB":
            parts.append((part[1:], PREFIXES[part[0]]))
        else:
            return None
    size = parts[0][1]
    for _, below in parts[1:]:
        size /= below
    return "/".join(base for base, _ in parts), size


def conversion(unit: str, to: str) -> tuple[float, float] | None:
    """Return the factor and offset from one unit to another; None if there are none.

    Examples
    --------
    >>> conversion("mV", "V"), conversion("lb", "oz"), conversion("kg", "m")
    ((0.001, 0.0), (16.0, 0.0), None)
    """
    own, other = si_unit(unit), si_unit(to)
    if own is not None and other is not None and own[0] == other[0]:
        return own[1] / other[1], 0.0
    unit, to = (each if len(each) < 2 else each.lower() for each in (unit, to))
    for sizes in SIZES:
        if unit in sizes and to in sizes:
            return sizes[unit] / sizes[to], 0.0
    if unit in ZEROS and to in ZEROS:
        (factor, offset), (own_size, zero) = ZEROS[unit], ZEROS[to]
        return factor / own_size, (offset - zero) / own_size
    return None
