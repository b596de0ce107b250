"""Amounts of memory: read from text, written as text, and held as a budget."""

from __future__ import annotations

import math
import re

__all__ = ["MEMORY_LIMIT", "format_bytes", "parse_bytes"]

MEMORY_LIMIT = "512MB"  # what a computation may hold beside its input, unless told


def parse_bytes(amount: int | float | str) -> int:
    """Bytes in an amount such as 1000, "512MB" (decimal) or "1.5 GiB" (binary).

    Examples
    --------
    >>> parse_bytes("512MB"), parse_bytes("1 KiB"), parse_bytes(7)
    (512000000, 1024, 7)
    """
    if isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(I?)B?\s*", amount.upper())
        if match is None or match[1].count(".") > 1 or match[1] == ".":
            raise ValueError(
                f"{amount!r} is not an amount of memory; write it as '512MB', "
                f"'2GiB' or a number of bytes."
            )
        power = "_KMGT".index(match[2] or "_")
        number = float(match[1]) * (1024 if match[3] else 1000) ** power
    else:
        number = float(amount)
    if not 0 < number < math.inf:
        raise ValueError(
            f"An amount of memory must be positive and finite; got {amount!r}."
        )
    return int(number)


def format_bytes(amount: float) -> str:
    """An amount of memory for a person to read.

    Examples
    --------
    >>> format_bytes(512_000_000), format_bytes(90), format_bytes(1.25e9)
    ('512 MB', '90 B', '1.25 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 999.5:  # what would be rounded to 1000 is 1 of the next unit
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} TB"
