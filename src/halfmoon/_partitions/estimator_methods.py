"""Methods of estimators that take Dask tables: `fit`, and decorators for the others.

``fit`` collects the labeled rows and a sample (`survey.py`) and continues as with any
table. Sums over all rows are computed in the partitions (`PartitionedRows`).
``predict`` and similar methods are applied to each partition lazily.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon._labels import no_labels_to_score
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._partitioned_rows import PartitionedRows, Reader
from halfmoon._partitions.survey import Survey, labels_in, survey_partitions
from halfmoon._rows import is_in_partitions, text_in_column
from halfmoon._sklearn_conventions import as_generator
from halfmoon.blocks import Stream, alone

__all__ = ["answers_by_partition", "fit_by_partition", "scores_by_partition"]

Method = TypeVar("Method", bound=Callable[..., Any])

logger = logging.getLogger("halfmoon")

#: Names of the outputs of methods that may return several.
OUTPUT_NAMES = {"predict": ["prediction", "std"], "predict_interval": ["low", "high"]}


def fit_by_partition(
    method: Callable[..., Any], model: Any, X: Any, y: Any = None, weights: Any = None
) -> None:
    """Call a ``fit`` method with the rows to learn from in a Dask table."""
    _refuse_kernel_matrix(model)
    rows, found = _surveyed(model, X, y, weights)
    if not found.complete:
        _refuse_row_numbers(model)
    given = () if weights is None else (found.weights,)
    labels = None if y is None else found.labels
    model._all_rows = None if found.complete else rows
    try:
        method(model, rows.reader.with_names(found.rows), labels, *given)
    finally:
        for each in (model, *getattr(model, "parts_", [])):
            each.__dict__.pop("_all_rows", None)
    if hasattr(model, "_labeled_places"):
        model._weighted_rows, model._n_rows = found.numbers, found.n_all


def answers_by_partition(method: Method) -> Method:
    """Make a method of rows, such as ``predict``, apply lazily to Dask tables."""

    @wraps(method)
    def lazy(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if not is_in_partitions(X):
            return method(self, X, *others, **named)
        from halfmoon._partitions.dask_rows import map_lazily, partitions_of

        check_is_fitted(self)
        reader = partitions_of(X).reader
        one_row = np.zeros((1, reader.n_columns), dtype=reader.dtype)
        call = partial(_outputs, method, others, named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a row that the user did not give
            values = call(self, reader.with_names(one_row))
        return map_lazily(
            partial(_read_and_call, reader, call),
            copy(self),
            X,
            _output_example(self, method.__name__, values),
        )

    return cast(Method, lazy)


def scores_by_partition(method: Method) -> Method:
    """Make a ``score(X, y, sample_weight)`` take Dask tables, by their labeled rows."""

    @wraps(method)
    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        if not is_in_partitions(X):
            return float(method(self, X, y, sample_weight))
        rows, found = _surveyed(self, X, y, sample_weight)
        labeled, labels = labels_in(found.labels, getattr(self, "unlabeled", None))
        if not labeled.any():
            raise no_labels_to_score(found.n)
        w = None if found.weights is None else found.weights[labeled]
        labeled_rows = rows.reader.with_names(found.rows[labeled])
        return float(method(self, labeled_rows, labels[labeled], w))

    return cast(Method, score)


def _surveyed(
    model: Any, X: Any, y: Any, weights: Any
) -> tuple[PartitionedRows, Survey]:
    """Return the partitions of a table, and the rows collected from them."""
    from halfmoon._partitions.dask_rows import engine_for, partitions_of

    client = Stream.inherited().client
    table = partitions_of(X)
    _refuse_text(model, X)
    unlabeled = getattr(model, "unlabeled", None)
    y_parts = _split(y, table, client, unlabeled, "y")
    w_parts = _split(weights, table, client, None, "sample_weight")
    # Spawned, so that later draws are the same as for rows in memory.
    generator = as_generator(getattr(model, "random_state", None)).spawn(1)[0]
    numbers = range(len(table.parts))
    start = time.monotonic()
    partitions = list(zip(numbers, table.parts, y_parts, w_parts, strict=True))
    found = survey_partitions(
        engine_for(client),
        partitions,
        table.reader,
        seed=int(generator.integers(2**63)),
        memory_limit=getattr(model, "memory_limit", MEMORY_LIMIT),
        unlabeled=unlabeled,
    )
    rows = PartitionedRows(
        partitions=[
            (number, part) if w is None else (number, part, w)
            for number, part, _, w in partitions
        ],
        reader=table.reader,
        engine=engine_for,
        n=found.n,
        example=found.rows[:1].astype(np.float64),
        reading=time.monotonic() - start,
    )
    if not found.complete:
        logger.info(
            "%s: collected %d of %d rows from %d partitions, the labeled ones and a "
            "sample; sums over all rows are computed in the partitions.",
            type(model).__name__,
            len(found.numbers),
            found.n,
            len(table.parts),
        )
    return rows, found


def _split(
    values: Any, table: Any, client: Any, unlabeled: Any, name: str
) -> list[Any]:
    """Return the labels or weights of each partition, from Dask or from memory."""
    from halfmoon._partitions.dask_rows import split_like

    if values is None:
        return [None] * len(table.parts)
    if is_in_partitions(values):
        return split_like(values, table, name)
    ends = np.cumsum(table.rows_in_parts(client))
    starts = [0, *ends[:-1]]
    if name == "sample_weight":
        given = np.asarray(values, dtype=np.float64)
        given = np.full(ends[-1], float(given)) if given.ndim == 0 else given
    else:
        labeled, given = labels_in(values, unlabeled)
    if len(given) != ends[-1]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name} has "
            f"shape {given.shape}, but X has {ends[-1]} rows."
        )
    if name == "sample_weight":
        return [given[a:b] for a, b in zip(starts, ends, strict=True)]
    known = np.flatnonzero(labeled)
    bounds = np.searchsorted(known, [0, *ends])
    return [
        (known[a:b] - start, given[known[a:b]])
        for a, b, start in zip(bounds[:-1], bounds[1:], starts, strict=True)
    ]


def _outputs(
    method: Callable[..., Any],
    others: tuple[Any, ...],
    named: dict[str, Any],
    model: Any,
    rows: Any,
) -> list[Any]:
    """Return the outputs of a method as a list of arrays."""
    found = method(model, rows, *others, **named)
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def _read_and_call(reader: Reader, call: Any, model: Any, part: Any) -> list[Any]:
    """Return the outputs for a partition, read with the columns of the table."""
    with alone():
        return cast(list[Any], call(model, reader.with_names(reader.read(part))))


def _output_example(model: Any, method: str, values: list[Any]) -> Any:
    from halfmoon._partitions.dask_rows import OutputExample

    names = OUTPUT_NAMES.get(method, [method])[: len(values)]
    columns: list[Any] | None = None
    if values[0].ndim > 1:
        width = values[0].shape[1]
        if method == "transform":
            columns = list(model.get_feature_names_out())
        elif len(getattr(model, "classes_", ())) == width:
            columns = list(model.classes_)
        else:
            columns = list(range(width))
    return OutputExample(values, names, columns)


def _refuse_kernel_matrix(model: Any) -> None:
    if getattr(model, "_is_precomputed", bool)():
        raise ValueError(
            "X is a kernel matrix in partitions; rows and a kernel, or the matrix in "
            "memory, are needed."
        )


def _refuse_row_numbers(model: Any) -> None:
    landmarks = getattr(model, "landmarks", "")
    if not isinstance(landmarks, str) and np.ndim(landmarks) == 1:
        raise ValueError(
            "landmarks are row numbers, but the rows are in partitions; the landmarks "
            "themselves, or the name of a method, are needed."
        )


def _refuse_text(model: Any, X: Any) -> None:
    """Raise the usual error if a column of a data frame is not numeric."""
    if not hasattr(X, "dtypes"):
        return
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "biuf":
            raise ValueError(text_in_column(model, name))
