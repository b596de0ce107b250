r"""Labels of one part of a table whose rows are in order.

People label the first rows of a table. If the rows are in random order, these are like
the others. If the table is sorted by the target, or the target changes over time, the
other rows have labels that no labeled row has, and leave-one-out cannot know that.

Labels leave out a part of the table if most blank rows come before the first or after
the last labeled one. The l labeled rows would span a share r of the table or less with
probability

.. math:: l r^{l-1} - (l-1) r^l

if they were drawn at random. Labels change with the row number if their rank
correlation is large, or that of the row numbers with the classes (Kruskal and Wallis).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kruskal, spearmanr

from halfmoon.table._labels.target_labels import Kind

__all__ = ["leave_out_a_part"]

SIGNIFICANCE = 1e-4
MOST = 0.5  # share of the blank rows
LARGE = 0.25  # share of the variance of ranks that the row number explains


def leave_out_a_part(
    labels: Sequence[Any],
    positions: NDArray[np.integer],  # (n,)
    kind: Kind,
) -> bool:
    """Return whether labels change with the row number and leave out most of the table.

    Labels are classes or numbers, None for a blank.

    Examples
    --------
    >>> labels = [*map(float, range(30)), *[None] * 70]
    >>> leave_out_a_part(labels, np.arange(100), "numbers")
    True
    >>> leave_out_a_part([*map(float, range(30)), None], np.arange(31), "numbers")
    False
    """
    labeled = np.array([label is not None for label in labels], dtype=bool)
    l = int(labeled.sum())
    if l < 2 or labeled.all():
        return False
    where = positions[labeled]
    within = (positions >= where.min()) & (positions <= where.max())
    r = float(within.mean())
    chance = l * r ** (l - 1) - (l - 1) * r**l
    if within[~labeled].mean() > 1 - MOST or chance >= SIGNIFICANCE:
        return False
    return _change_with_position([x for x in labels if x is not None], where, kind)


def _change_with_position(
    labels: Sequence[Any], where: NDArray[np.integer], kind: Kind
) -> bool:
    n = len(labels)
    if kind == "numbers":
        found = spearmanr(where, np.asarray(labels, dtype=np.float64))
        explained = float(found.statistic) ** 2
    else:
        names = np.array([str(label) for label in labels])
        groups = [where[names == name] for name in np.unique(names)]
        if not 1 < len(groups) < n:
            return False
        found = kruskal(*groups)
        k = len(groups)
        explained = (float(found.statistic) - k + 1) / (n - k)
    return bool(explained >= LARGE and found.pvalue < SIGNIFICANCE)
