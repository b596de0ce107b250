"""How good predictions are on rows whose label is known, and what is new in rows.

Rows that the model learned from are no test of it. A row counts as learned from if it
equals a learned row in every column that is used. Such rows count only if there are no
others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import t

from halfmoon._notes import Note
from halfmoon._number_format import count, format_aligned, percent, two_decimals
from halfmoon._report.quality_scores import LEVEL, wilson_interval
from halfmoon._rows import Array
from halfmoon.table._cells.cell_values import as_column, read_numbers
from halfmoon.table._cells.number_style import PLAIN
from halfmoon.table._columns.column_encoders import CategoryEncoder
from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._labels.given_labels import label_text
from halfmoon.table._labels.label_checks import spelling_key
from halfmoon.table._labels.target_labels import MAX_NOTE_VALUES, quoted
from halfmoon.table._models.predictions import Prediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.running_counts import value_keys

__all__ = ["ScoredRows", "Sums", "Unseen", "finite", "score_record"]


@dataclass
class Sums:
    """Sums over predictions whose label is known."""

    n: int = 0  # labels
    right: int = 0  # classes predicted correctly
    given: Counter[str] = field(default_factory=Counter)  # labels of each class
    confidence: float = 0.0  # sum of confidences
    inside: int = 0  # numbers between low and high
    error: float = 0.0  # sum of absolute errors
    squared_error: float = 0.0  # sum of squared errors
    mean: float = 0.0  # of the given numbers
    spread: float = 0.0  # sum of squared deviations from the mean

    def add_classes(self, given: Any, predicted: Any, confidence: Array) -> None:
        """Add classes, as text, and their predictions."""
        right = sum(a == b for a, b in zip(given, predicted, strict=True))
        total = float(confidence.sum())
        self.merge(Sums(len(given), right, Counter(given), total))

    def add_numbers(self, y: Array, predicted: Array, low: Array, high: Array) -> None:
        """Add numbers and their predictions."""
        if not len(y):
            return
        errors, mean = np.abs(y - predicted), float(y.mean())
        self.merge(
            Sums(
                len(y),
                inside=int(((low <= y) & (y <= high)).sum()),
                error=float(errors.sum()),
                squared_error=float((errors**2).sum()),
                mean=mean,
                spread=float(((y - mean) ** 2).sum()),
            )
        )

    def merge(self, other: Sums) -> None:
        """Add other sums; the variances as in Chan, Golub and LeVeque."""
        n, difference = self.n + other.n, other.mean - self.mean
        if not n:
            return
        self.spread += other.spread + difference**2 * self.n * other.n / n
        self.mean += difference * other.n / n
        self.given.update(other.given)
        for name in ("n", "right", "confidence", "inside", "error", "squared_error"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def accuracy(self) -> tuple[float, float, float]:
        """Share of correct classes, and its 95 % interval."""
        return (self.right / self.n, *wilson_interval(self.right, self.n))

    @property
    def mean_absolute_error(self) -> tuple[float, float, float]:
        """Mean absolute error, and its 95 % interval."""
        mean = self.error / self.n
        if self.n < 2:
            return mean, 0.0, float("inf")
        variance = max(0.0, self.squared_error - self.n * mean**2) / (self.n - 1)
        half = float(t.ppf((1 + LEVEL) / 2, self.n - 1) * np.sqrt(variance / self.n))
        return mean, max(0.0, mean - half), mean + half

    @property
    def r2(self) -> float:
        """Share of the variance that is explained; NaN if there is no variance."""
        return 1 - self.squared_error / self.spread if self.spread > 0 else np.nan


@dataclass
class ScoredRows:
    """Predictions of a model compared with known labels."""

    model: TableModel
    new: Sums = field(default_factory=Sums)  # over rows not learned from
    learned: Sums = field(default_factory=Sums)  # over the other rows

    @property
    def sums(self) -> Sums:
        """Sums over the new rows, or over the learned ones if there are no others."""
        return self.new if self.is_test else self.learned

    @property
    def is_test(self) -> bool:
        """Whether the model did not learn from these rows."""
        return self.new.n > 0

    def add(self, labels: pa.Array, prediction: Prediction, rows: Any) -> None:
        """Compare the labels of a batch of rows with their predictions."""
        keys = value_keys(rows, self.model.columns_)
        seen = np.isin(keys, self.model.learned_keys_)
        add: Callable[..., None]
        columns: list[Any]
        if prediction.confidence is not None:
            add, known = Sums.add_classes, np.ones(len(labels), dtype=bool)
            classes = labels.to_pylist(), prediction.values
            columns = [*map(self._compared, classes), prediction.confidence]
        else:
            style = (self.model.style_ if is_text(labels.type) else None) or PLAIN
            y, _ = read_numbers(labels, style)
            add, known = Sums.add_numbers, np.isfinite(y)
            columns = [y, prediction.values, prediction.low, prediction.high]
        for sums, chosen in ((self.new, ~seen), (self.learned, seen)):
            add(sums, *(np.asarray(column)[chosen & known] for column in columns))

    def _compared(self, labels: list[Any]) -> Any:
        """Return classes as text; if labels were merged, all spellings as one."""
        texts = [label_text(label) for label in labels]
        if self.model.record_.get("settings", {}).get("merge_labels", False):
            texts = [spelling_key(text) for text in texts]
        return np.array(texts, dtype=object)

    def sentences(self) -> list[str]:
        """Describe the comparison for a person; empty if no label is known."""
        sums = self.sums
        if not sums.n:
            return []
        rows = f"On {count(sums.n, 'row')} with a known label"
        if self.is_test and self.learned.n:
            rows += " that the model did not learn from"
        text = self._on_classes(rows) if sums.given else self._on_numbers(rows)
        if not self.is_test:
            text += (
                " The model learned from these rows, so this is not a test: expect "
                "less on other rows."
            )
        elif self.learned.n:
            text += (
                f" {count(self.learned.n, 'more row')} with a known label "
                f"{'was' if self.learned.n == 1 else 'were'} learned from and "
                f"{'does' if self.learned.n == 1 else 'do'} not count."
            )
        return [text]

    def record(self) -> dict[str, Any] | None:
        """Return the comparison for JSON; None if no label is known."""
        sums = self.sums
        if not sums.n:
            return None
        record: dict[str, Any] = {
            "rows": sums.n,
            "rows_learned_from": self.learned.n,
            "is_test": self.is_test,
        }
        if sums.given:
            (_, most), *_ = sums.given.most_common(1)
            return record | {
                "accuracy": score_record(*sums.accuracy) | {"naive": most / sums.n},
                "mean_confidence": sums.confidence / sums.n,
            }
        inside = (sums.inside / sums.n, *wilson_interval(sums.inside, sums.n))
        return record | {
            "mean_absolute_error": score_record(*sums.mean_absolute_error),
            "r2": finite(sums.r2),
            "inside": score_record(*inside) | {"level": self.model.level},
        }

    def _on_classes(self, rows: str) -> str:
        sums = self.sums
        share, low, high = map(percent, sums.accuracy)
        (guess, most), *_ = sums.given.most_common(1)
        low = low.removesuffix("%").rstrip()
        return (
            f"{rows}, {sums.right:,} of {sums.n:,} predictions were right: {share} "
            f"(95 % interval {low}–{high}). Always guessing the most common class, "
            f"{quoted(guess)}, would be right for {percent(most / sums.n)}."
        )

    def _on_numbers(self, rows: str) -> str:
        sums = self.sums
        error, low, high = sums.mean_absolute_error
        style = self.model.style_
        shown, low_shown, high_shown = format_aligned(error, low, high)
        shown = shown if style is None else style.unit.of(shown)
        interval = (
            f" (95 % interval {low_shown} to {high_shown})" if np.isfinite(high) else ""
        )
        r2 = f"; R² is {two_decimals(sums.r2)}" if np.isfinite(sums.r2) else ""
        return (
            f"{rows}, predictions were off by {shown} on average{interval}{r2}. "
            f"{percent(sums.inside / sums.n)} of the labels are between low and high; "
            f"{percent(self.model.level)} are expected."
        )


def score_record(value: float, low: float, high: float) -> dict[str, float | None]:
    """Return a score and its interval for JSON."""
    return {"value": finite(value), "low": finite(low), "high": finite(high)}


def finite(value: float) -> float | None:
    """Return a number for JSON, None if it is not finite."""
    return float(value) if np.isfinite(value) else None


MANY_MISSING = 0.1  # share of the rows


@dataclass
class Unseen:
    """Counts cells as a model has not seen them: new categories, or no value."""

    model: TableModel
    # Cells with each new value, by column.
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    #: Cells without a value in columns that had one in each row, by column.
    missing: Counter[str] = field(default_factory=Counter)
    rows: int = 0  # seen so far

    def __post_init__(self) -> None:
        self._encoders = {
            encoder.name: encoder
            for encoder in self.model.encoder_.encoders
            if isinstance(encoder, CategoryEncoder)
        }

    def see(self, rows: Any) -> None:
        """Consider a batch of rows with all columns."""
        self.rows += rows.num_rows
        for use in self.model.columns_.used:
            encoder = self._encoders.get(use.name)
            if use.missing and encoder is None:
                continue
            values, _ = use.read(as_column(rows.column(use.name)))
            if not use.missing:
                self.missing[use.name] += int(pd.isna(values).sum())
            if encoder is None or all(map(encoder.has_seen, values.cat.categories)):
                continue
            for value, n in values.value_counts().items():
                if n and not encoder.has_seen(value):
                    self.counts.setdefault(use.name, Counter())[str(value)] += int(n)

    def notes(self) -> Iterator[Note]:
        """Note the new values, and columns that lack values."""
        for name, cells in self.missing.items():
            if cells > MANY_MISSING * self.rows:
                yield Note(
                    f"{name!r} has no value that can be read in {cells:,} of "
                    f"{count(self.rows, 'row')}, but had one in each row that the "
                    f"model learned from. Their predictions may be wrong, also with a "
                    f"high confidence.",
                    "Fill this column, or write it as in the table that was learned "
                    "from.",
                    important=True,
                )
        for name, found in self.counts.items():
            examples = ", ".join(
                quoted(value) for value, _ in found.most_common(MAX_NOTE_VALUES)
            )
            cells = found.total()
            yield Note(
                f"{count(cells, 'cell')} in {name!r} {'has' if cells == 1 else 'have'} "
                f"a value that the model has not seen, such as {examples}.",
                "Predictions of these rows are based on the other columns.",
            )
