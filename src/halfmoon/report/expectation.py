"""What to expect of the filled rows: labels and confidences must both agree to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.report.findings import FilledClasses, Findings, LeftOutClasses
from halfmoon.report.scores import Score, accuracy

__all__ = ["Expectation", "expected_accuracy"]


@dataclass(frozen=True)
class Expectation:
    """The accuracy that labels suggest, beside the confidences of the filled rows.

    Attributes
    ----------
    score : Score
        By leave-one-out; its value is NaN where it cannot be measured.
    confidence : float
        Mean of the filled rows; NaN if none is filled.
    """

    score: Score
    confidence: float

    @property
    def measured(self) -> bool:
        """At least one label can be tested."""
        return bool(np.isfinite(self.score.value))

    @property
    def too_hopeful(self) -> bool:
        """The filled rows are less sure than the labels suggest: they differ."""
        return self.measured and self.confidence < self.score.low

    @property
    def too_sure(self) -> bool:
        """The filled rows are surer than the labels support."""
        return self.measured and self.confidence > self.score.high

    @property
    def value(self) -> float:
        """The figure to lead with: the lower one where the two disagree."""
        return self.confidence if self.too_hopeful else self.score.value


def expected_accuracy(findings: Findings) -> Expectation:
    """Of a table of classes."""
    left_out, filled = findings.left_out, findings.filled
    if not isinstance(left_out, LeftOutClasses):
        raise TypeError("Numbers have no accuracy.")
    score = accuracy(left_out.given, left_out.predicted, findings.predicted)
    if isinstance(filled, FilledClasses) and findings.predicted > 0:
        return Expectation(score, filled.mean_confidence)
    return Expectation(score, float("nan"))
