"""The range that predicted numbers stay in.

If no label is below 0, predictions and their intervals are not either: prices, counts
and areas have no negative values. Of 6,113 columns of numbers in public tables, 2.3 %
of those with five labels of at least 0, drawn at random, had negative numbers among 1 %
or more of the other rows, and 0.3 % of all other rows were negative. So five labels
are enough, also if some are 0.

Labels do not show an upper end as clearly: of columns whose 20 labels are between 0 and
100 and reach 95, a quarter go beyond 100. So percentages end at 100 only if they are
written with a percent sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfmoon.table._cells.number_style import NumberStyle

__all__ = ["label_range"]

ENOUGH_LABELS = 5


def label_range(y: Sequence[float], style: NumberStyle | None) -> tuple[float, float]:
    """Return the smallest and the largest number that is predicted; may be infinite.

    Examples
    --------
    >>> label_range([3, 0, 8, 2, 5], None)
    (0.0, inf)
    >>> label_range([3, 0, 8, 2, -5], None)
    (-inf, inf)
    """
    is_money = style is not None and bool(style.prefix or style.thousands)
    is_percent = style is not None and style.suffix.strip() == "%"
    known = len(y) >= ENOUGH_LABELS or is_money or is_percent
    if not known or min(y) < 0:
        return -np.inf, np.inf
    return 0.0, 100.0 if is_percent and max(y) <= 100 else np.inf
