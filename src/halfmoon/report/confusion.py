"""Confusion matrix: a row for each class given, a column for each predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Confusion", "MixUp", "confusion", "mix_ups", "natural"]

MOST_CLASSES = 12  # a larger matrix cannot be read on a phone
MOST_MIX_UPS = 10
OTHERS = "other classes"


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of given and predicted classes.

    Attributes
    ----------
    classes : tuple of str
        The last one stands for `lumped` classes, unless that is 0.
    counts : ndarray of shape (c, c)
        `counts[i, j]` rows of class i were predicted to be of class j. Rows that were
        given and predicted one of the lumped classes are not in it: some are right and
        some are wrong.
    lumped : int
    lumped_right, lumped_wrong : int
        Those rows.
    """

    classes: tuple[str, ...]
    counts: NDArray[np.int64]
    lumped: int
    lumped_right: int = 0
    lumped_wrong: int = 0

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.counts.sum()) + self.lumped_right + self.lumped_wrong

    @property
    def wrong(self) -> int:
        """Rows that were predicted to be of another class than given."""
        return int(self.counts.sum() - np.trace(self.counts)) + self.lumped_wrong


@dataclass(frozen=True)
class MixUp:
    """Rows of one class that were taken for another."""

    given: str
    predicted: str
    times: int


def confusion(
    given: Sequence[str], predicted: Sequence[str], most: int = MOST_CLASSES
) -> Confusion:
    """Count, the classes in their order.

    Beyond `most` classes, those that are mixed up most have a row of their own, then
    the commonest; the others share the last one.

    Examples
    --------
    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).counts
    array([[1, 1],
           [0, 1]])
    """
    names = sorted(set(given) | set(predicted), key=natural)
    lumped = 0
    if len(names) > most:
        seen, mixed = Counter(given), Counter[str]()
        for one, other in zip(given, predicted, strict=True):
            if one != other:
                mixed.update((one, other))
        kept = sorted(names, key=lambda name: (-mixed[name], -seen[name]))[: most - 1]
        lumped = len(names) - len(kept)
        names = sorted(kept, key=natural)
    place = {name: i for i, name in enumerate(names)}
    size, last = len(names) + (lumped > 0), len(names)
    counts = np.zeros((size, size), dtype=np.int64)
    right = wrong = 0
    for one, other in zip(given, predicted, strict=True):
        i, j = place.get(one, last), place.get(other, last)
        if i == j == last:
            right, wrong = right + (one == other), wrong + (one != other)
        else:
            counts[i, j] += 1
    classes = (*names, *([OTHERS] if lumped else []))
    return Confusion(classes, counts, lumped, right, wrong)


def mix_ups(
    given: Sequence[str], predicted: Sequence[str], most: int = MOST_MIX_UPS
) -> list[MixUp]:
    """The pairs of classes that are mixed up most often, the commonest first.

    Examples
    --------
    >>> mix_ups(["a", "a", "b"], ["b", "b", "b"])
    [MixUp(given='a', predicted='b', times=2)]
    """
    pairs = Counter(
        (one, other)
        for one, other in zip(given, predicted, strict=True)
        if one != other
    )
    order = sorted(pairs, key=lambda pair: (-pairs[pair], *map(natural, pair)))
    return [MixUp(*pair, pairs[pair]) for pair in order[:most]]


def natural(name: str) -> tuple[int, float, str]:
    """Key to sort names by: numbers by their size and before words, 2 before 10."""
    try:
        number = float(name)
    except ValueError:
        return 1, 0.0, name
    return (1, 0.0, name) if np.isnan(number) else (0, number, name)
