r"""Patterns with classes of Unicode letters, in a shorter form for ASCII text.

Arrow compiles a pattern at each call. With all letters of Unicode that takes some
milliseconds, and with A to Z a hundredth of it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["pattern_for"]

IN_ASCII = {r"\p{L}": "A-Za-z", r"\p{M}": "", r"\p{Sc}": "$"}


def pattern_for(text: pa.Array, pattern: str) -> str:
    r"""Return a pattern that matches the same in this text.

    Its classes of Unicode stand in brackets.

    Examples
    --------
    >>> for cell in ("May", "März"):
    ...     print(pattern_for(pa.array([cell]), r"[\p{L}]+"))
    [A-Za-z]+
    [\p{L}]+
    """
    if pc.all(pc.string_is_ascii(text), min_count=0).as_py():
        for unicode_class, characters in IN_ASCII.items():
            pattern = pattern.replace(unicode_class, characters)
    return pattern
