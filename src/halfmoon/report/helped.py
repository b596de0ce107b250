"""What rows without labels did to the answer, and which models it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfmoon.report.gain import Gain

__all__ = ["Candidate", "Helped"]

CANDIDATES = 100  # the heaviest; the report adds them up by family


@dataclass(frozen=True)
class Candidate:
    """A way to learn, beside the supervised twin; see `HalfmoonClassifier`."""

    name: str
    unlabeled: bool
    difference: float
    low: float
    high: float
    weight: float


@dataclass(frozen=True)
class Helped:
    """Did the rows without labels help?

    Attributes
    ----------
    used_unlabeled : bool
        They have a part in the answer.
    gain : Gain
        What they gained, in the units of the headline.
    candidates : tuple of Candidate
        Those with most weight in the answer.
    """

    used_unlabeled: bool
    gain: Gain
    candidates: tuple[Candidate, ...] = ()

    @classmethod
    def from_comparison(
        cls, comparison: Mapping[str, Any], *, used_unlabeled: bool, gain: Gain
    ) -> Self:
        """Read off the `comparison_` of a HalfmoonClassifier or HalfmoonRegressor."""
        names = [str(name) for name in comparison["candidate"]]
        twin, average = names.index("supervised twin"), names.index("average of all")
        columns = ("difference", "low", "high", "weight")
        numbers = np.array([comparison[c] for c in columns], dtype=float).T  # (c, 4)
        heaviest = [
            i
            for i in np.argsort(-numbers[:, 3], kind="stable")
            if i not in (twin, average) and numbers[i, 3] > 0
        ]
        return cls(
            used_unlabeled=used_unlabeled,
            gain=gain,
            candidates=tuple(
                Candidate(
                    names[i],
                    bool(comparison["unlabeled"][i]),
                    *(float(number) for number in numbers[i]),
                )
                for i in heaviest[:CANDIDATES]
            ),
        )
