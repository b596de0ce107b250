r"""Signs around the digits of a number: many for one meaning, and those of no value.

There are many spaces, minus signs and apostrophes. Other signs say that a number is not
exact:

=================  ======================================================
cell               read as
=================  ======================================================
<5, >= 100, ≤ 3    the limit: 5, 100, 3
~12, ±3, ca. 30    the number
65+, 12*, 8 (est)  the number
=================  ======================================================

If one limit occurs in both directions, as in <18 and >18, the cells are classes and
not numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["are_classes", "normalized", "without_signs"]

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
