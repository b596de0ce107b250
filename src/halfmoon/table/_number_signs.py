r"""Signs around the digits of a number: many for one meaning, and those of no value.

There are many spaces, minus signs and apostrophes. Other signs say that a number is not
exact:

=================  ======================================================
cell               read as
=================  ======================================================
<5, >= 100, ≤ 3    the limit: 5, 100, 3
~12, ±3, ca. 30    the number
65+, 12*, 8 (est)  the number
1.2K, 3M, 2 GB     1.2e3, 3e6, 2e9, if a column has several such letters
=================  ======================================================

If one limit occurs in both directions, as in <18 and >18, the cells are classes and
not numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "are_classes",
    "has_magnitudes",
    "normalized",
    "with_exponents",
    "without_signs",
]

SPACES = "[\u00a0\u2000-\u200a\u202f\u205f\u3000\t]"
MINUSES = "[\u2212\u2012\u2013\ufe63\uff0d]"
APOSTROPHES = "[\u2018\u2019\u02bc\u00b4`]"
ABOUT = (
    r"[~≈∼±]|(?:ca|approx|est|env|aprox)(?:\. ?| )|(?:circa|approximately|about|around"
    r"|roughly|environ|etwa|rund|ungefähr|cerca de) "
)
BELOW = r"<=|=<|<|≤|⩽|(?:less than|under|below|up to|unter|bis|moins de|menos de) "
ABOVE = r">=|=>|>|≥|⩾|(?:more than|over|above|at least|über|plus de|más de) "
NUMBER = r"(?:[^\p{L}<>=~≈0-9]*|[A-Z]{3} ?)[0-9].*"  # with a currency before it
BEFORE = rf"^(?i:{ABOUT}|{BELOW}|{ABOVE}) ?({NUMBER})$"
AFTER = r"(?i)^(.*[0-9][^+*†‡()]*?) ?(?:[+*†‡]+|\((?:est\.?|e|p|r|approx\.?|ca\.?)\))$"
DIRECTIONS = (rf"(?i)^(?:{BELOW})", rf"(?i)^(?:{ABOVE})|\+$")

MAGNITUDES = {  # powers of 10
    r"k|tsd\.?|thousand|ki?b": 3,
    r"m|mn|mln|mio\.?|million|mi?b": 6,
    r"b|bn|mrd\.?|billion|gi?b": 9,
    r"ti?b": 12,
}


def normalized(text: pa.Array) -> pa.Array:
    """Return text with one kind of space, of minus and of apostrophe."""
    if pc.all(pc.string_is_ascii(text), min_count=0).as_py():
        return text
    for kind, plain in ((SPACES, " "), (MINUSES, "-"), (APOSTROPHES, "'")):
        text = pc.replace_substring_regex(text, kind, plain)
    return text


def without_signs(text: pa.Array) -> pa.Array:
    """Return cells without signs that they are not exact.

    Examples
    --------
    >>> without_signs(pa.array(["<5", "ca. 30 kg", "65+", "7", "about us"])).to_pylist()
    ['5', '30 kg', '65', '7', 'about us']
    """
    text = normalized(text)
    for pattern in (BEFORE, AFTER):
        text = pc.replace_substring_regex(text, pattern, r"\1")
    return text


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
    """Whether cells have several powers of ten, as in 1.2K and 3M, or 950 and 1.2K.

    Examples
    --------
    >>> (
    ...     has_magnitudes(pa.array(["950", "1.2K"])),
    ...     has_magnitudes(pa.array(["5 m", "7"])),
    ... )
    (True, False)
    """
    found = [power for pattern, power in MAGNITUDES.items() if _any(text, pattern)]
    return len(found) > 1 or (_any(text, "k") and _any(text, ""))


def _any(text: pa.Array, letters: str) -> bool:
    pattern = rf"(?i)[0-9] ?(?:{letters})$"
    return bool(pc.any(pc.match_substring_regex(text, pattern), min_count=0).as_py())


def with_exponents(text: pa.Array) -> pa.Array:
    """Return cells with exponents instead of letters, such as 1.2e3 for 1.2K."""
    for letters, power in MAGNITUDES.items():
        pattern = rf"(?i)([0-9]) ?(?:{letters})$"
        text = pc.replace_substring_regex(text, pattern, rf"\1e{power}")
    return text
