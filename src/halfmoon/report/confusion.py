"""Confusion matrix: a row for each class given, a column for each predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Confusion", "confusion"]

MOST_CLASSES = 12  # a larger matrix cannot be read on a phone
OTHERS = "other classes"


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of given and predicted classes.

    Attributes
    ----------
    classes : tuple of str
        The last one stands for `lumped` classes, unless that is 0.
    counts : ndarray of shape (c, c)
        `counts[i, j]` rows of class i were predicted to be of class j. What is lumped
        together may be wrong on the diagonal too: another of the lumped classes.
    lumped : int
    """

    classes: tuple[str, ...]
    counts: NDArray[np.int64]
    lumped: int


def confusion(
    given: Sequence[str], predicted: Sequence[str], most: int = MOST_CLASSES
) -> Confusion:
    """Count, the classes in their order; beyond `most` the rarest are lumped.

    Examples
    --------
    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).counts
    array([[1, 1],
           [0, 1]])
    """
    seen = Counter(given) + Counter(dict.fromkeys(predicted, 0))
    names = sorted(set(given) | set(predicted), key=_natural)
    lumped = 0
    if len(names) > most:
        kept = {name for name, _ in seen.most_common(most - 1)}
        # Names that were never given count as the rarest.
        kept |= set(
            [name for name in names if name not in kept][: most - 1 - len(kept)]
        )
        lumped = len(names) - len(kept)
        names = [name for name in names if name in kept]
    place = {name: i for i, name in enumerate(names)}
    size = len(names) + (lumped > 0)
    counts = np.zeros((size, size), dtype=np.int64)
    for one, other in zip(given, predicted, strict=True):
        counts[place.get(one, size - 1), place.get(other, size - 1)] += 1
    return Confusion((*names, *([OTHERS] if lumped else [])), counts, lumped)


def _natural(name: str) -> tuple[int, float, str]:
    """Numbers by their size and before words: 2 before 10."""
    try:
        number = float(name)
    except ValueError:
        return 1, 0.0, name
    return (1, 0.0, name) if np.isnan(number) else (0, number, name)
