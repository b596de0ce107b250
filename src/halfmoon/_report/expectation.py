"""The accuracy to expect of filled rows, from the labels and from the confidences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._report.findings import FilledClasses, Findings, LooClasses
from halfmoon._report.quality_scores import Score, accuracy

__all__ = ["Expectation", "expected_accuracy"]


@dataclass(frozen=True)
class Expectation:
    """Leave-one-out accuracy and mean confidence; the headline must respect both."""

    score: Score  # its value is NaN if it cannot be measured
    confidence: float  # mean of the filled rows; NaN if none is filled

    @property
    def measured(self) -> bool:
        """Whether at least one label can be tested."""
        return bool(np.isfinite(self.score.value))

    @property
    def too_hopeful(self) -> bool:
        """Whether the confidence is below the interval: the filled rows differ."""
        return self.measured and self.confidence < self.score.low

    @property
    def too_sure(self) -> bool:
        """Whether the confidence is above the interval."""
        return self.measured and self.confidence > self.score.high

    @property
    def value(self) -> float:
        """The figure for the headline: the lower one if the two disagree."""
        return self.confidence if self.too_hopeful else self.score.value


def expected_accuracy(findings: Findings) -> Expectation:
    """Return the accuracy to expect of a table of classes."""
    loo, filled = findings.loo, findings.filled
    if not isinstance(loo, LooClasses):
        raise TypeError("Numbers have no accuracy.")
    score = accuracy(loo.given, loo.predicted, findings.predicted, loo.independent)
    if isinstance(filled, FilledClasses) and findings.predicted > 0:
        return Expectation(score, filled.mean_confidence)
    return Expectation(score, float("nan"))
