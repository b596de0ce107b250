"""Numbers as text: shares, counts, durations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = [
    "NO_UNIT",
    "PERCENT",
    "Unit",
    "count",
    "duration",
    "fixed",
    "format_aligned",
    "natural",
    "number",
    "percent",
    "percent_range",
    "row_numbers",
    "two_decimals",
]

PERCENT = "\u00a0%"  # on one line with its number
MAX_ROWS = 8  # row numbers in one sentence

NEARLY_ALL, NARROW = 0.995, 0.05  # shares of an interval's upper end and width


class Unit(NamedTuple):
    """What is written before and after a number of the target."""

    before: str = ""
    after: str = ""

    def of(self, text: str) -> str:
        """Return a number, given as text, in this unit.

        Examples
        --------
        >>> Unit("$", "").of("1,234"), Unit("", " kg").of("7")
        ('$1,234', '7 kg')
        """
        return f"{self.before}{text}{self.after}"


NO_UNIT = Unit()


def percent(share: float) -> str:
    r"""Format a share, as in 94 %; "100 %" and "0 %" are exact.

    Examples
    --------
    >>> " ".join(map(percent, (0.936, 0.9999, 0.004, 1.0))).replace("\u00a0", "")
    '94% 99.99% 0.4% 100%'
    """
    if np.isnan(share):
        return "unknown"
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return text + PERCENT
    return ("less than 0.01" if share < 0.5 else "more than 99.99") + PERCENT


def percent_range(low: float, high: float) -> str:
    r"""Format an interval of a share, as in "80–98 %".

    An upper end near 1 is shown as 100 %, unless the interval is narrow: it promises
    nothing.

    Examples
    --------
    >>> percent_range(0.8, 0.997).replace("\u00a0", "")
    '80–100%'
    >>> percent_range(0.985, 0.997).replace("\u00a0", "")
    '98–99.7%'
    """
    if high > NEARLY_ALL and high - low > NARROW:
        high = 1.0
    return f"{percent(low).removesuffix(PERCENT)}–{percent(high)}"


def number(value: float) -> str:
    """Format a number with three significant digits.

    Examples
    --------
    >>> number(1234.5), number(0.01234), number(3.0), number(-1.5e-9)
    ('1,234', '0.0123', '3', '−1.5e-09')
    >>> number(6.11e9), number(-2e13), number(999.9e9)
    ('6.11 billion', '−20 trillion', '1 trillion')
    """
    if not np.isfinite(value):
        return "unknown" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0:
        return "0"
    rounded = abs(float(f"{value:.3g}"))
    if 1000 <= abs(value) < 1e9:
        text = f"{value:,.0f}"
    elif 1e9 <= rounded < 1e15:
        size, word = (1e9, "billion") if rounded < 1e12 else (1e12, "trillion")
        text = f"{value / size:.3g} {word}"
    else:
        text = f"{value:.3g}"
    return text.replace("-", "−", 1) if value < 0 else text


def fixed(value: float, digits: int) -> str:
    """Format a number with this many decimals, with a minus sign, and never as -0.

    Examples
    --------
    >>> fixed(-1234.56, 1), fixed(-0.001, 2)
    ('−1,234.6', '0.00')
    """
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def two_decimals(value: float) -> str:
    """Format a number with two decimals, for scores such as R².

    Examples
    --------
    >>> two_decimals(0.456), two_decimals(-0.001), two_decimals(-1.0)
    ('0.46', '0.00', '−1.00')
    """
    return "unknown" if np.isnan(value) else fixed(value, 2)


def format_aligned(*values: float) -> list[str]:
    """Format numbers with equal decimals, enough to show that none of them is 0.

    Examples
    --------
    >>> format_aligned(104.2, -298.9, 91.6), format_aligned(0.119, 0.23, 0.0013)
    (['104', '−299', '92'], ['0.119', '0.230', '0.001'])
    """
    known = [abs(value) for value in values if np.isfinite(value) and value != 0]
    if not known or not 1e-4 <= max(known) < 1e9:
        return [number(value) for value in values]
    digits = max(0, 1 - int(np.floor(np.log10(max(known)))))
    digits += sum(min(known) < 0.5 * 10.0 ** -(digits + more) for more in range(3))
    texts = [f"{value:,.{digits}f}".replace("-", "−") for value in values]
    return [
        text if np.isfinite(value) else number(value)
        for text, value in zip(texts, values, strict=True)
    ]


def count(n: int, one: str, many: str | None = None) -> str:
    """Format a count, as in "1 row" and "2,000 rows"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Join names with commas and "and".

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def duration(seconds: float) -> str:
    """Format seconds, as in "42 seconds" and "3 minutes 20 seconds"."""
    if seconds < 10:
        return f"{seconds:.1f} seconds"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} seconds"
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    parts = [(hours, "hour"), (minutes, "minute"), (rest if not hours else 0, "second")]
    return " ".join(count(n, unit) for n, unit in parts if n)


def natural(name: str) -> tuple[float, list[tuple[str, int]], str]:
    """Sort key of names: numbers by their size, also within words, and a before B.

    Examples
    --------
    >>> sorted(["plot 10", "10", "Plot 2", "2.5", "plot 1"], key=natural)
    ['2.5', '10', 'plot 1', 'Plot 2', 'plot 10']
    """
    try:
        number = float(name)
    except ValueError:
        number = np.nan
    parts = re.findall("([^0-9]*)([0-9]{0,18})", name.casefold())
    words = [(text, int(digits or 0)) for text, digits in parts]
    return np.inf if np.isnan(number) else number, words, name


def row_numbers(numbers: Sequence[int], in_all: int = 0) -> str:
    """List row numbers, as in "row 5" and "rows 5, 9 and 12 more".

    `in_all` counts all rows, if there are more than the given numbers.

    Examples
    --------
    >>> row_numbers([5]), row_numbers([5, 9, 7]), row_numbers([5, 9], 3)
    ('row 5', 'rows 5, 9, 7', 'rows 5, 9 and 1 more')
    """
    listed = ", ".join(f"{number:,}" for number in numbers[:MAX_ROWS])
    n = max(in_all, len(numbers))
    rest = n - min(MAX_ROWS, len(numbers))
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"row{'s' * (n != 1)} {listed}{more}"
