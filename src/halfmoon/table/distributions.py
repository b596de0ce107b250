"""How columns are distributed over the labeled rows, and over the unlabeled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from halfmoon.report.findings import ColumnDistribution
from halfmoon.report.histogram import Histogram
from halfmoon.rows import Array
from halfmoon.table.columns import ColumnUse
from halfmoon.table.reading import as_column
from halfmoon.table.scan import Scan

__all__ = ["column_distributions"]

MOST = 8  # columns
BINS = 12
ENDS = (0.005, 0.995)  # quantiles between which bins lie; beyond are the outermost


def column_distributions(
    uses: Sequence[ColumnUse], scan: Scan, importance: Mapping[str, float]
) -> tuple[ColumnDistribution, ...]:
    """Of the most important columns of numbers, categories and truth values.

    Parameters
    ----------
    uses : sequence of ColumnUse
    scan : Scan
        The rows that were learned from.
    importance : mapping of str to float
    """
    labeled = np.array([label is not None for label in scan.labels])
    if labeled.all() or not labeled.any():
        return ()
    by_name = {use.name: use for use in uses if use.role != "left out"}
    order = sorted(importance, key=lambda name: -importance[name])
    kinds = ("number", "category", "boolean")
    chosen = [n for n in order if n in by_name and by_name[n].kind in kinds][:MOST]
    return tuple(_distribution(by_name[name], scan, labeled) for name in chosen)


def _distribution(
    use: ColumnUse, scan: Scan, labeled: NDArray[np.bool_]
) -> ColumnDistribution:
    values, _ = use.read(as_column(scan.rows.column(use.name)))
    if use.kind == "number":
        numbers = np.asarray(values, dtype=np.float64)
        edges = _edges(numbers[np.isfinite(numbers)])
        parts = [Histogram.of(numbers[those], edges) for those in (labeled, ~labeled)]
        return ColumnDistribution(use.name, *parts)
    series = pd.Series(values)
    if use.kind == "boolean":
        series = series.map({0.0: "no", 1.0: "yes"})
    return ColumnDistribution(
        use.name, *(_shares(series[those]) for those in (labeled, ~labeled))
    )


def _edges(numbers: Array) -> Array:
    low, high = np.quantile(numbers, ENDS)
    if not high > low:
        low, high = float(numbers.min()), float(numbers.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)


def _shares(values: Any) -> dict[str, float]:
    text = values.astype(object).where(values.notna(), "(missing)").map(str)
    counts = text.value_counts()
    return {str(value): float(n / len(values)) for value, n in counts.items()}
