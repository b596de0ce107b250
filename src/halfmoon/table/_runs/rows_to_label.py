r"""Rows to label next: unsure, and different from each other.

Rows are chosen from a sample of those that the model learned from, by a rule of
`halfmoon.queries`: by default unsure rows that say most about the others. Rows with the
same sentence are chosen once, as long as there are others: a person would label them
alike.

The rule ``margin`` considers all unlabeled rows instead. The least sure rows are often
alike, so they are chosen one by one. The next is the one with the largest

.. math:: doubt(x) \cdot (1 - \max_j k(x, x_j)^2), \quad
          k(x, x_j) = \exp(-|x - x_j|^2 / (2 m^2))

over the rows :math:`x_j` chosen before it, where m is the median distance between
unsure rows. With one :math:`x_j` the factor is the share of the variance of a Gaussian
process that remains at x once the label of :math:`x_j` is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from halfmoon._rows import Array
from halfmoon.kernels._length_scales import median_of_positive
from halfmoon.queries import informative, maximin, random, variance_reduction
from halfmoon.queries._strategies import spread_out
from halfmoon.table._cells.cell_values import as_column, row_texts
from halfmoon.table._files import Table
from halfmoon.table._files.arrow_types import column_text
from halfmoon.table._models.predictions import Unsure
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._models.weak_table_model import WeakTableModel
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._runs.learn_from_table import learn
from halfmoon.table._runs.row_reasons import rows_by_number
from halfmoon.table._runs.running_counts import UnsureRows, cell_keys
from halfmoon.table._runs.second_pass import Job, new_columns

__all__ = ["asked_rows", "rows_to_label", "whole_rows"]

DISTANCE_ROWS = 300  # for the median distance
SENTENCE_LENGTH = 12  # mean characters of a cell; most cells also hold a space
POOL_ROWS = 2_000  # unlabeled rows to choose from, by the covariance of rows
SPARE = 3  # times as many picks as rows
DEFAULT_RULE = "informative"
RULES = {
    "informative": informative,
    "margin": None,
    "variance": variance_reduction,
    "maximin": maximin,
    "random": random,
}


def asked_rows(
    table: Table,
    settings: Settings,
    count: int,
    *,
    rule: str = DEFAULT_RULE,
    typed: Mapping[int, str] | None = None,
    stages: Stages,
) -> tuple[TableModel, list[Unsure]]:
    """Learn from a table, and choose up to `count` rows to label, the best first.

    `rule` is one of `RULES`. `typed` are labels that are not in the table itself, by
    the number of their row, from 0.
    """
    model, found = learn(table, settings, stages, typed=typed)
    progress = stages.stage("Choosing rows")
    if rule == "margin":
        job = Job.after(found, model)
        for batch in table.batches(progress=progress):
            new_columns(table, [job], batch)
        return model, next_rows(model, job.tally.unsure, count)
    chosen = chosen_rows(model, found, count, rule=rule, seed=settings.seed)
    return model, whole_rows(table, chosen)


def rows_to_label(
    model: TableModel, found: Scan, unsure: UnsureRows, count: int, seed: int
) -> list[Unsure]:
    """Choose up to `count` rows after a run, by the default rule where it applies."""
    if isinstance(model, WeakTableModel):
        return next_rows(model, unsure, count)
    return chosen_rows(model, found, count, seed=seed)


def chosen_rows(
    model: TableModel,
    found: Scan,
    count: int,
    *,
    rule: str = DEFAULT_RULE,
    seed: int = 0,
) -> list[Unsure]:
    """Choose up to `count` rows of the learning sample by a rule of `halfmoon.queries`.

    The rows have the columns that were learned from; see `whole_rows`.
    """
    is_labeled = np.array([label is not None for label in found.labels])
    pool = _pool(is_labeled, seed)
    is_labeled = is_labeled[pool]
    n_free = int((~is_labeled).sum())
    if not n_free:
        return []
    X = model.transform(found.rows.take(pa.array(pool)))
    # Some more, because rows with the same sentences are chosen once.
    most = min(SPARE * count, n_free)
    choose: Any = RULES[rule]
    picks = choose(model.estimator_, X, most, labeled=is_labeled, random_state=seed)
    places = pool[picks]
    rows = found.rows.take(pa.array(places))
    keys = _sentence_keys(rows, model)
    if keys is not None:
        first = np.sort(np.unique(keys, return_index=True)[1])
        order = np.append(first, np.setdiff1d(np.arange(len(places)), first))
        places = places[order]
    places = places[:count]
    rows = found.rows.take(pa.array(places))
    prediction = model.predict(rows)
    cells, numbers = row_texts(rows), found.numbers[places].tolist()
    return [Unsure(n, cells[i], prediction.at(i)) for i, n in enumerate(numbers)]


def whole_rows(table: Table, chosen: Sequence[Unsure]) -> list[Unsure]:
    """Return the chosen rows with the cells of all columns."""
    by_number = rows_by_number(table, [row.number for row in chosen])
    return [row._replace(cells=row_texts(by_number[row.number])[0]) for row in chosen]


def _pool(is_labeled: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """Return the rows to choose from, and labeled ones: at most POOL_ROWS of each."""
    rng = np.random.default_rng([seed, 5])
    parts = [
        rng.permutation(np.flatnonzero(kind))[:POOL_ROWS]
        for kind in (is_labeled, ~is_labeled)
    ]
    return np.sort(np.concatenate(parts))


def next_rows(model: TableModel, unsure: UnsureRows, count: int) -> list[Unsure]:
    """Choose up to `count` of the unsure rows to label, the best first.

    Distances are those of the matrix of the model. Copies of a chosen row are not
    chosen.
    """
    if not len(unsure):
        return []
    rows = unsure.table()
    X, sentences = model.transform(rows), _sentence_keys(rows, model)
    return [unsure.row(i) for i in far_apart(X, unsure.doubt, count, sentences)]


def _sentence_keys(rows: pa.Table, model: TableModel) -> NDArray[np.uint64] | None:
    """Return a key for the sentences of each row; None if there are no sentences."""
    names = []
    for use in model.columns_.used:
        if use.kind not in ("text", "category"):
            continue
        cells = [cell for cell in column_text(as_column(rows[use.name])) if cell]
        spaced = sum(" " in cell for cell in cells)
        long = sum(map(len, cells)) > SENTENCE_LENGTH * len(cells)
        if spaced > len(cells) / 2 and long:
            names.append(use.name)
    return cell_keys(rows, names) if names else None


def far_apart(
    X: NDArray[np.floating],  # (m, d)
    doubt: Array,  # (m,)
    count: int,
    groups: NDArray[Any] | None = None,  # (m,)
) -> list[int]:
    """Choose rows that are unsure and far from each other, in order of choice.

    A second row of one of the `groups` is chosen after a row of each group.

    Examples
    --------
    >>> X = np.array([[0.0], [0.001], [1.0], [2.0]])
    >>> far_apart(X, np.array([0.5, 0.49, 0.4, 0.3]), 3)
    [0, 3, 2]
    """
    X = np.asarray(X, dtype=np.float64)
    sample = X[:: max(1, len(X) // DISTANCE_ROWS)][:DISTANCE_ROWS]
    scale = median_of_positive(pdist(sample))

    def squared_kernel(u: int) -> Array:
        squares = ((X - X[u]) ** 2).sum(axis=1)
        return np.exp(-squares / scale**2) if scale else np.ones(len(X))

    every = np.ones(len(X), dtype=bool)
    return spread_out(
        squared_kernel, doubt, every, count, groups=groups, with_copies=False
    )
