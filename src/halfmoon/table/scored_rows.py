"""How good predictions are on rows whose label is known, row by row added up.

Rows that the model learned from are no test of it. They are told by their cells: a row
that is equal to one that was learned from, in every column that is used, does not
count, unless there are no others.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon.report.scores import LEVEL, wilson_interval
from halfmoon.report.wording import alike, count, number, percent
from halfmoon.rows import Array
from halfmoon.table.given_labels import label_text
from halfmoon.table.label_checks import spelling_key
from halfmoon.table.model import TableModel
from halfmoon.table.number_style import PLAIN
from halfmoon.table.predictions import Prediction
from halfmoon.table.reading import is_text, read_numbers
from halfmoon.table.row_keys import value_keys

__all__ = ["ScoredRows", "Sums"]


@dataclass
class Sums:
    """Sums over predictions whose label is known.

    Attributes
    ----------
    n : int
        Labels.
    right, inside : int
        Classes that were right; numbers between low and high.
    given : Counter
        How often each class was given.
    confidence : float
        Sum of confidences.
    error, squared_error : float
        Sums of the sizes of the errors, and of their squares.
    mean, spread : float
        Of the given numbers, and the sum of their squared deviations from it.
    """

    n: int = 0
    right: int = 0
    given: Counter[str] = field(default_factory=Counter)
    confidence: float = 0.0
    inside: int = 0
    error: float = 0.0
    squared_error: float = 0.0
    mean: float = 0.0
    spread: float = 0.0

    def add_classes(
        self, given: list[str], predicted: list[str], confidence: Array
    ) -> None:
        """Count classes beside the predicted ones."""
        self.n += len(given)
        self.right += sum(a == b for a, b in zip(given, predicted, strict=True))
        self.given.update(given)
        self.confidence += float(confidence.sum())

    def add_numbers(self, y: Array, predicted: Array, low: Array, high: Array) -> None:
        """Count numbers beside the predicted ones."""
        if not len(y):
            return
        size = np.abs(y - predicted)
        self.error += float(size.sum())
        self.squared_error += float((size**2).sum())
        self.inside += int(((low <= y) & (y <= high)).sum())
        # Chan, Golub and LeVeque: two sums of squares about their means, as one.
        n, mean, off = self.n + len(y), float(y.mean()), float(y.mean()) - self.mean
        self.spread += float(((y - mean) ** 2).sum()) + off**2 * self.n * len(y) / n
        self.mean += off * len(y) / n
        self.n = n

    def merge(self, other: Sums) -> None:
        """Add what another one has added up."""
        n, off = self.n + other.n, other.mean - self.mean
        if not n:
            return
        self.spread += other.spread + off**2 * self.n * other.n / n
        self.mean += off * other.n / n
        self.given.update(other.given)
        for name in ("n", "right", "confidence", "inside", "error", "squared_error"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def accuracy(self) -> tuple[float, float, float]:
        """Share that was right, low and high of its 95 % interval."""
        return (self.right / self.n, *wilson_interval(self.right, self.n))

    @property
    def mean_absolute_error(self) -> tuple[float, float, float]:
        """Mean size of the errors, low and high of its 95 % interval."""
        from scipy.stats import t

        mean = self.error / self.n
        if self.n < 2:
            return mean, 0.0, float("inf")
        variance = max(0.0, self.squared_error - self.n * mean**2) / (self.n - 1)
        half = float(t.ppf((1 + LEVEL) / 2, self.n - 1) * np.sqrt(variance / self.n))
        return mean, max(0.0, mean - half), mean + half

    @property
    def r2(self) -> float:
        """Share of the variance that is explained; NaN if there is none."""
        return 1 - self.squared_error / self.spread if self.spread > 0 else np.nan


@dataclass
class ScoredRows:
    """Predictions of rows with a known label.

    Parameters
    ----------
    model : TableModel

    Attributes
    ----------
    new, learned : Sums
        Of rows that the model did not learn from, and of the others.
    """

    model: TableModel
    new: Sums = field(default_factory=Sums)
    learned: Sums = field(default_factory=Sums)

    @property
    def sums(self) -> Sums:
        """Those of rows that are a test, if there are any."""
        return self.new if self.new.n else self.learned

    @property
    def is_test(self) -> bool:
        """Whether the model has not learned from these rows."""
        return self.new.n > 0

    def add(self, labels: pa.Array, prediction: Prediction, rows: Any) -> None:
        """Compare labels with predictions of the same rows.

        Parameters
        ----------
        labels : pyarrow.Array
        prediction : Prediction
        rows : RecordBatch
            The cells of the rows.
        """
        keys = value_keys(rows, self.model.table_)
        seen = np.isin(keys, self.model.learned_keys_)
        for sums, chosen in ((self.new, ~seen), (self.learned, seen)):
            self._add(sums, labels, prediction, np.flatnonzero(chosen))

    def _add(
        self, sums: Sums, labels: pa.Array, prediction: Prediction, where: Any
    ) -> None:
        some = labels.take(pa.array(where))
        values = [prediction.values[i] for i in where]
        if prediction.confidence is not None:
            confidence = np.asarray(prediction.confidence)[where]
            given = self._names(some.to_pylist())
            sums.add_classes(given, self._names(values), confidence)
            return
        style = (self.model.style_ if is_text(some.type) else None) or PLAIN
        y, _ = read_numbers(some, style)
        known = np.isfinite(y)
        ends = (np.asarray(prediction.low), np.asarray(prediction.high))
        low, high = (end[where][known] for end in ends)
        sums.add_numbers(y[known], np.asarray(values, float)[known], low, high)

    def _names(self, labels: list[Any]) -> list[str]:
        """Classes as they are compared: as text, all spellings of one as one."""
        texts = [label_text(label) for label in labels]
        merged = self.model.record_.get("settings", {}).get("merge_labels", False)
        return [spelling_key(text) for text in texts] if merged else texts

    def sentences(self) -> list[str]:
        """The comparison for a person to read; nothing if no label is known."""
        sums = self.sums
        if not sums.n:
            return []
        rows = f"On {count(sums.n, 'row')} with a known label"
        if self.is_test and self.learned.n:
            rows += " that the model did not learn from"
        said = [self._on_classes(rows) if sums.given else self._on_numbers(rows)]
        if not self.is_test:
            said[0] += (
                " The model learned from these rows, so this is not a test: expect "
                "less on other rows."
            )
        elif self.learned.n:
            said[0] += (
                f" {count(self.learned.n, 'more row')} with a known label "
                f"{'was' if self.learned.n == 1 else 'were'} learned from and did not "
                f"count."
            )
        return said

    def record(self) -> dict[str, Any] | None:
        """The same for a program; None if no label is known."""
        sums = self.sums
        if not sums.n:
            return None
        told: dict[str, Any] = {
            "rows": sums.n,
            "rows_learned_from": self.learned.n,
            "is_test": self.is_test,
        }
        if sums.given:
            (_, most), *_ = sums.given.most_common(1)
            return told | {
                "accuracy": _score(*sums.accuracy) | {"naive": most / sums.n},
                "mean_confidence": sums.confidence / sums.n,
            }
        inside = (sums.inside / sums.n, *wilson_interval(sums.inside, sums.n))
        return told | {
            "mean_absolute_error": _score(*sums.mean_absolute_error),
            "r2": sums.r2 if np.isfinite(sums.r2) else None,
            "inside": _score(*inside) | {"level": self.model.level},
        }

    def _on_classes(self, rows: str) -> str:
        sums = self.sums
        share, low, high = map(percent, sums.accuracy)
        (guess, most), *_ = sums.given.most_common(1)
        low = low.removesuffix("%").rstrip()
        return (
            f"{rows}, {sums.right:,} of {sums.n:,} predictions were right: {share} "
            f"(95 % interval {low}–{high}). Always guessing the most common class, "
            f"{guess!r}, would be right for {percent(most / sums.n)}."
        )

    def _on_numbers(self, rows: str) -> str:
        sums = self.sums
        error, low, high = sums.mean_absolute_error
        shown, low_shown, high_shown = alike(error, low, high)
        interval = (
            f" (95 % interval {low_shown} to {high_shown})" if np.isfinite(high) else ""
        )
        r2 = f"; R² is {number(sums.r2)}" if np.isfinite(sums.r2) else ""
        return (
            f"{rows}, predictions were off by {shown} on average{interval}{r2}. "
            f"{percent(sums.inside / sums.n)} of the labels are between low and high; "
            f"{percent(self.model.level)} are expected."
        )


def _score(value: float, low: float, high: float) -> dict[str, float | None]:
    values = {"value": value, "low": low, "high": high}
    return {name: x if np.isfinite(x) else None for name, x in values.items()}
