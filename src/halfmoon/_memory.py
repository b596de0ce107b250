"""Amounts of memory, as text and as numbers of bytes."""

from __future__ import annotations

import re
import sys
from functools import cache

__all__ = ["MEMORY_LIMIT", "format_bytes", "parse_bytes"]

MEMORY_LIMIT = "512MB"  # the default, in addition to the input


@cache
def parse_bytes(amount: int | float | str) -> int:
    """Return the bytes in 1000, "512MB" (decimal) or "1.5 GiB" (binary).

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
        number = amount
    if not 0 < number <= sys.float_info.max:
        raise ValueError(
            f"The amount of memory is {amount!r}; a positive, finite one is needed."
        )
    return int(number)


def format_bytes(amount: float) -> str:
    """Return an amount of memory as text.

    Examples
    --------
    >>> format_bytes(512_000_000), format_bytes(90), format_bytes(1.25e9)
    ('512 MB', '90 B', '1.25 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 999.5:  # 999.5 and above would be rounded to 1000
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} TB"
