"""Confusion matrix: a row for each given class, a column for each predicted class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Confusion", "MixUp", "confusion", "mix_ups", "natural"]

MAX_MATRIX_CLASSES = 12  # a larger matrix cannot be read on a phone
MAX_MIX_UPS = 10
OTHERS = "other classes"


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of given and predicted classes.

    `counts[i, j]` rows of class i were predicted as class j. The last class may stand
    for `lumped` classes. Rows both given and predicted as one of these are left out of
    the counts, since some of them are right and some are wrong.
    """

    classes: tuple[str, ...]
    counts: NDArray[np.int64]  # (c, c)
    lumped: int
    lumped_right: int = 0  # rows that are left out
    lumped_wrong: int = 0

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.counts.sum()) + self.lumped_right + self.lumped_wrong

    @property
    def wrong(self) -> int:
        """Number of rows predicted as another class than the given one."""
        return int(self.counts.sum() - np.trace(self.counts)) + self.lumped_wrong


class MixUp(NamedTuple):
    """How often one class was predicted as another."""

    given: str
    predicted: str
    times: int


def confusion(
    given: Sequence[str],
    predicted: Sequence[str],
    max_classes: int = MAX_MATRIX_CLASSES,
) -> Confusion:
    """Count given against predicted classes, in the order of `natural`.

    Beyond `max_classes`, the classes with the most mix-ups, then the most common ones,
    keep their rows; the others share the last row.

    Examples
    --------
    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).counts
    array([[1, 1],
           [0, 1]])
    """
    names = sorted({*given, *predicted}, key=natural)
    pairs = Counter(zip(given, predicted, strict=True))
    lumped = 0
    if len(names) > max_classes:
        labels, mixed = Counter(given), Counter[str]()
        for (one, other), n in pairs.items():
            if one != other:
                mixed.update({one: n, other: n})
        names.sort(key=lambda name: (-mixed[name], -labels[name]))
        lumped = len(names) - (max_classes - 1)
        names = [*sorted(names[:-lumped], key=natural), OTHERS]
    place = {name: i for i, name in enumerate(names[:-1] if lumped else names)}
    last = len(names) - 1
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    right = 0
    for (one, other), n in pairs.items():
        counts[place.get(one, last), place.get(other, last)] += n
        right += n * (one == other and one not in place)
    wrong = int(counts[last, last]) - right if lumped else 0
    counts[last, last] -= right + wrong
    return Confusion(tuple(names), counts, lumped, right, wrong)


def mix_ups(
    given: Sequence[str], predicted: Sequence[str], max_pairs: int = MAX_MIX_UPS
) -> list[MixUp]:
    """Return the pairs of classes that are mixed up, the most frequent first.

    Examples
    --------
    >>> mix_ups(["a", "a", "b"], ["b", "b", "b"])
    [MixUp(given='a', predicted='b', times=2)]
    """
    pairs = Counter(zip(given, predicted, strict=True))
    found = [MixUp(*pair, n) for pair, n in pairs.items() if pair[0] != pair[1]]
    found.sort(key=lambda x: (-x.times, natural(x.given), natural(x.predicted)))
    return found[:max_pairs]


def natural(name: str) -> tuple[int, float, str]:
    """Sort key: numbers by their size and before words, so that 2 precedes 10."""
    try:
        number = float(name)
    except ValueError:
        number = np.nan
    return (1, 0.0, name) if np.isnan(number) else (0, number, name)
