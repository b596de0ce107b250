r"""What a report shows of columns: their importance and their distributions.

The importance of a column is how much worse a model predicts when it is shuffled.
Labeled rows get leave-one-out predictions, once with their own cells and several times
with the cells of one column taken from other rows at random. The importance of the
column is the loss of accuracy for classes, or the growth of the mean absolute error for
numbers. It is a mean over labels, so it has a standard error: an irrelevant column may
seem important by chance.

Nothing is fitted again. With :math:`H(x)` the weights of the labels at x, a fit without
the label of row i is at any x

.. math:: g_{-i}(x) = g(x) - H_i(x) (y_i - g_{-i}(x_i)) ,

so leave-one-out predictions are also known at rows with shuffled cells. At landmarks,
where there are thousands of labels of little weight each, a row's own label stays in
both predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._report.findings import ColumnDistribution, Histogram
from halfmoon._rows import Array, Indices
from halfmoon._selection.criteria import class_scores
from halfmoon._selection.relevance import by_correlation
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._columns.column_kinds import ColumnUse
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.first_pass import Scan

__all__ = ["Importance", "column_distributions", "column_importance"]

MAX_DRAWN_COLUMNS = 8
BINS = 12
KINDS = ("number", "category", "boolean")
ENDS = (0.005, 0.995)  # quantiles of the outermost edges; values beyond are clipped
LARGEST = 1e300  # the range of larger numbers would overflow

MAX_MEASURED_ROWS = 200  # labeled rows that are predicted
MIN_LABELED = 20
MAX_PAIRS = 2_000_000  # rows of the table times labeled rows
MAX_DONORS = 2_000  # rows that cells are taken from
MAX_MEASURED_COLUMNS = 60  # of more, only the most correlated are measured
CORRELATED = 30
REPEATS = 5
MAX_WEIGHTS = 4_000_000  # weights of labels at rows, computed at once
BUDGET_SECONDS = 6.0  # after which no column is measured again


class Importance(NamedTuple):
    """The importance of a column, and its standard error."""

    value: float
    error: float


def column_importance(
    model: TableModel, rows: pa.Table, seed: int = 0
) -> dict[str, Importance]:
    """Return the importance of the columns that a model learned from.

    `rows` are those that the model was fitted to. An importance is a loss of accuracy
    from 0 to 1, or the growth of the mean absolute error. For an irrelevant column it
    is about 0, by chance sometimes below. If no label can be tested, there are none.
    """
    rng = np.random.default_rng(seed)
    labeled = model.estimator_.labeled_
    most = max(MIN_LABELED, min(MAX_MEASURED_ROWS, MAX_PAIRS // max(1, rows.num_rows)))
    tested = _tested(model)
    if not len(tested):
        return {}
    sample = np.sort(rng.permutation(tested)[:most])
    X = model.transform(rows.take(pa.array(labeled[sample])))
    donors = np.sort(rng.permutation(rows.num_rows)[:MAX_DONORS])
    pool = model.transform(rows.take(pa.array(donors)))
    errors = _errors(model, sample)
    groups = {name: np.array(at) for name, at in model.encoder_.outputs.items() if at}
    if len(groups) > MAX_MEASURED_COLUMNS:
        groups = _most_correlated(groups, X, model, sample)
    start, (base,) = time.monotonic(), errors(X)
    lost: dict[str, list[Array]] = {name: [] for name in groups}
    # Several columns at once: local fits factor each region once for all of them.
    names, at_once = list(groups), max(1, MAX_WEIGHTS // (len(X) * len(labeled)))
    for repeat, first in product(range(REPEATS), range(0, len(names), at_once)):
        if repeat and time.monotonic() - start > BUDGET_SECONDS:
            break
        some = names[first : first + at_once]
        shuffled = np.tile(X, (len(some), 1, 1))  # (columns, rows, outputs)
        for place, name in enumerate(some):
            drawn, outputs = rng.integers(len(pool), size=len(X)), groups[name]
            shuffled[place][:, outputs] = pool[np.ix_(drawn, outputs)]
        for name, error in zip(some, errors(shuffled), strict=True):
            lost[name].append(error - base)
    return {name: _mean_and_error(values) for name, values in lost.items()}


def _mean_and_error(lost: list[Array]) -> Importance:
    """Return the mean over labels of what each repetition lost, (m,)."""
    by_label = np.mean(lost, axis=0)
    error = by_label.std(ddof=1) / np.sqrt(len(by_label)) if len(by_label) > 1 else 0.0
    return Importance(float(by_label.mean()), float(error))


def _tested(model: TableModel) -> Indices:
    """Return which labels can be predicted while they are hidden.

    Those that are the only one of their class cannot: the class is hidden with them.
    """
    if model.kind == "numbers":
        return np.arange(len(model.estimator_.labeled_))
    codes = np.asarray(model.estimator_._codes)
    return np.flatnonzero(np.bincount(codes)[codes] > 1)


def _errors(model: TableModel, sample: Indices) -> Callable[[NDArray[Any]], Array]:
    """Return a function for leave-one-out errors at rows in place of labeled ones.

    The rows replace the sample of m labeled rows, any number of times; the errors are
    of shape (times, m).
    """
    estimator = model.estimator_
    solution = estimator.solution_
    without_own_labels = solution.loo_predictor(sample)

    def errors(X: NDArray[Any]) -> Array:
        rows = X.reshape(-1, X.shape[-1])
        times = len(rows) // len(sample)
        values = without_own_labels(rows)
        if model.kind == "numbers":
            wrong = np.abs(values - np.tile(solution.y[sample], (times, 1)))
        else:
            codes = np.tile(estimator._codes[sample], times)
            wrong = class_scores(values).argmax(axis=1) != codes
        return wrong.reshape(times, len(sample)).astype(np.float64)

    return errors


def _most_correlated(
    groups: dict[str, Indices], X: NDArray[Any], model: TableModel, sample: Indices
) -> dict[str, Indices]:
    y = model.estimator_.solution_.y[sample]
    factors = by_correlation(X, X, y, np.ones(len(y)))
    strength = {name: factors[outputs].max() for name, outputs in groups.items()}
    strongest = sorted(strength, key=lambda name: -strength[name])[:CORRELATED]
    return {name: groups[name] for name in groups if name in strongest}


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
