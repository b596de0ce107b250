"""The distributions of columns over labeled and over unlabeled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from halfmoon._report.findings import ColumnDistribution
from halfmoon._report.histogram import Histogram
from halfmoon._rows import Array
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._columns.column_kinds import ColumnUse
from halfmoon.table._runs.first_pass import Scan

__all__ = ["column_distributions"]

MAX_DRAWN_COLUMNS = 8
BINS = 12
KINDS = ("number", "category", "boolean")
ENDS = (0.005, 0.995)  # quantiles of the outermost edges; values beyond are clipped
LARGEST = 1e300  # the range of larger numbers would overflow


def column_distributions(
    uses: Sequence[ColumnUse], scan: Scan, importance: Mapping[str, float]
) -> tuple[ColumnDistribution, ...]:
    """Return the distributions of the most important columns, except text and dates.

    The rows are those that were learned from.
    """
    labeled = np.array([label is not None for label in scan.labels])
    if labeled.all() or not labeled.any():
        return ()
    used = [use for use in uses if use.role in ("feature", "known")]
    drawn = [use for use in used if use.kind in KINDS]
    drawn.sort(key=lambda use: -importance.get(use.name, 0.0))
    return tuple(_distribution(use, scan, labeled) for use in drawn[:MAX_DRAWN_COLUMNS])


def _distribution(
    use: ColumnUse, scan: Scan, labeled: NDArray[np.bool_]
) -> ColumnDistribution:
    values, _ = use.read(as_column(scan.rows.column(use.name)))
    if use.kind == "number":
        numbers = np.clip(np.asarray(values, dtype=np.float64), -LARGEST, LARGEST)
        edges = _edges(numbers[np.isfinite(numbers)])
        parts = [Histogram.of(numbers[mask], edges) for mask in (labeled, ~labeled)]
        return ColumnDistribution(use.name, *parts)
    series = pd.Series(values)
    if use.kind == "boolean":
        series = series.map({0.0: "no", 1.0: "yes"})
    shares = [_shares(series[mask]) for mask in (labeled, ~labeled)]
    return ColumnDistribution(use.name, *shares)


def _edges(numbers: Array) -> Array:
    low, high = np.quantile(numbers, ENDS)
    if high - low < BINS and (numbers == np.round(numbers)).all():
        return np.arange(np.floor(low), np.ceil(high) + 2) - 0.5  # one for each number
    if not high > low:
        low, high = float(numbers.min()), float(numbers.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)


def _shares(values: Any) -> dict[str, float]:
    text = values.astype(object).where(values.notna(), "(missing)").map(str)
    return {str(x): float(p) for x, p in text.value_counts(normalize=True).items()}
