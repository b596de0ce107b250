"""The methods of estimators, for tables of Dask too.

``fit`` brings home what it needs (`survey`): the labeled rows and a sample. With these
it goes on as with any table; what is a sum over all rows is taken over the partitions,
by way of `PartitionedRows`. ``predict`` and its like are applied to each partition when
their results are asked for.
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

from halfmoon.blocks import Stream, alone
from halfmoon.labels import no_labels_to_score
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.partitions.survey import Survey, labels_in, looking, survey
from halfmoon.partitions.table import PartitionedRows, behind, is_in_partitions
from halfmoon.random_state import as_generator
from halfmoon.validation import text_in_column

__all__ = ["answers_by_partition", "fits_by_partition", "scores_by_partition"]

Method = TypeVar("Method", bound=Callable[..., Any])

logger = logging.getLogger("halfmoon")

SEVERAL = {"predict": ["prediction", "std"], "predict_interval": ["low", "high"]}


def fits_by_partition(method: Method) -> Method:
    """A ``fit(X, y, sample_weight)`` that takes tables of Dask as well."""

    @wraps(method)
    def fit(self: Any, X: Any, y: Any = None, *others: Any, **named: Any) -> Any:
        if not is_in_partitions(X):
            return method(self, X, y, *others, **named)
        weights = others[0] if others else named.get("sample_weight")
        _refuse_kernel_matrix(self)
        rows, found = _surveyed(self, X, y, weights)
        if not found.complete:
            _refuse_row_numbers(self)
        given = () if weights is None else (found.weights,)
        labels = None if y is None else found.labels
        with behind(self, None if found.complete else rows):
            result = method(self, _named(found.rows, rows), labels, *given)
        if hasattr(self, "_labeled_places"):
            self._weighted_rows, self._n_rows = found.numbers, found.n_all
        return result

    return cast(Method, fit)


def answers_by_partition(method: Method) -> Method:
    """A method of rows, such as ``predict``, that answers tables of Dask lazily."""

    @wraps(method)
    def answer(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if not is_in_partitions(X):
            return method(self, X, *others, **named)
        from halfmoon.partitions.dask_rows import lazily, opened

        check_is_fitted(self)
        one_row, reader = _one_row(X), opened(X).reader
        call = partial(_answers, method, others, named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a row that nobody asked for
            values = call(self, one_row)
        wide = values[0].ndim > 1
        return lazily(
            partial(_read_and_answer, reader, call),
            copy(self),
            X,
            _named_answer(self, method.__name__, values, wide),
        )

    return cast(Method, answer)


def scores_by_partition(method: Method) -> Method:
    """A ``score(X, y, sample_weight)`` that takes tables of Dask: labeled rows only."""

    @wraps(method)
    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        if not is_in_partitions(X):
            return float(method(self, X, y, sample_weight))
        rows, found = _surveyed(self, X, y, sample_weight)
        labeled, labels = labels_in(found.labels, getattr(self, "unlabeled", None))
        if not labeled.any():
            raise no_labels_to_score(found.n)
        w = None if found.weights is None else found.weights[labeled]
        return float(
            method(self, _named(found.rows[labeled], rows), labels[labeled], w)
        )

    return cast(Method, score)


def _surveyed(
    model: Any, X: Any, y: Any, weights: Any
) -> tuple[PartitionedRows, Survey]:
    """The partitions of a table, and what they sent home."""
    from halfmoon.partitions.dask_rows import engine_for, opened

    client = Stream.inherited().client
    table = opened(X)
    _refuse_text(model, X)
    unlabeled = getattr(model, "unlabeled", None)
    y_pieces = _cut(y, table, client, unlabeled, "y")
    w_pieces = _cut(weights, table, client, None, "sample_weight")
    # Spawned, so that what is drawn later is what rows in memory would draw.
    generator = as_generator(getattr(model, "random_state", None)).spawn(1)[0]
    numbers = range(len(table.parts))
    limit = getattr(model, "memory_limit", MEMORY_LIMIT)
    look = looking(
        table.reader,
        seed=int(generator.integers(2**63)),
        n_partitions=len(table.parts),
        memory_limit=limit,
        unlabeled=unlabeled,
    )
    start = time.monotonic()
    pieces = list(zip(numbers, table.parts, y_pieces, w_pieces, strict=True))
    found = survey(engine_for(client).map(look, pieces), memory_limit=limit)
    rows = PartitionedRows(
        partitions=[
            (number, part) if w is None else (number, part, w)
            for number, part, _, w in pieces
        ],
        reader=table.reader,
        engine=engine_for,
        n=found.n,
        example=found.rows[:1].astype(np.float64),
        reading=time.monotonic() - start,
    )
    if not found.complete:
        logger.info(
            "%s: %d of %d rows in %d partitions are at hand, the labeled ones and a "
            "sample; sums are taken over all rows where they are.",
            *(type(model).__name__, len(found.numbers), found.n, len(table.parts)),
        )
    return rows, found


def _cut(values: Any, table: Any, client: Any, unlabeled: Any, name: str) -> list[Any]:
    """Labels, or weights, of each partition: as they come, or found where at hand."""
    from halfmoon.partitions.dask_rows import pieces_like

    if values is None:
        return [None] * len(table.parts)
    if is_in_partitions(values):
        return pieces_like(values, table, name)
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
            f"shape {given.shape} beside {ends[-1]} rows in X."
        )
    if name == "sample_weight":
        return [given[a:b] for a, b in zip(starts, ends, strict=True)]
    known = np.flatnonzero(labeled)
    bounds = np.searchsorted(known, [0, *ends])
    return [
        (known[a:b] - start, given[known[a:b]])
        for a, b, start in zip(bounds[:-1], bounds[1:], starts, strict=True)
    ]


def _named(values: Any, rows: PartitionedRows) -> Any:
    """Rows at hand, as a data frame where the partitions are some."""
    if rows.reader.columns is None:
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=list(rows.reader.columns))


def _one_row(X: Any) -> Any:
    """A row of zeros with the columns and the types of X."""
    if not hasattr(X, "_meta") or not hasattr(X._meta, "columns"):
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        return np.zeros((1, int(X.shape[1])), dtype=dtype)
    import pandas as pd

    columns = list(X.columns)
    dtype = "float32" if set(map(str, X.dtypes)) == {"float32"} else "float64"
    return pd.DataFrame(np.zeros((1, len(columns)), dtype=dtype), columns=columns)


def _answers(
    method: Callable[..., Any],
    others: tuple[Any, ...],
    named: dict[str, Any],
    model: Any,
    rows: Any,
) -> list[Any]:
    """What a method says of rows, as a list of arrays."""
    found = method(model, rows, *others, **named)
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def _read_and_answer(reader: Any, call: Any, model: Any, part: Any) -> list[Any]:
    """The same in a partition, of the columns and the type that the table has."""
    rows = reader.read(part)
    if reader.columns is not None:
        import pandas as pd

        rows = pd.DataFrame(rows, columns=list(reader.columns))
    with alone():
        return cast(list[Any], call(model, rows))


def _named_answer(model: Any, method: str, values: list[Any], wide: bool) -> Any:
    from halfmoon.partitions.dask_rows import Answer

    names = SEVERAL.get(method, [method])[: len(values)]
    columns: list[Any] | None = list(range(values[0].shape[1])) if wide else None
    if wide and method == "transform":
        columns = list(model.get_feature_names_out())
    elif wide and len(getattr(model, "classes_", ())) == values[0].shape[1]:
        columns = list(model.classes_)
    return Answer(values, names, columns)


def _refuse_kernel_matrix(model: Any) -> None:
    if getattr(model, "_is_precomputed", bool)():
        raise ValueError(
            "X is a kernel matrix in partitions; rows and a kernel are needed, or the "
            "matrix in memory."
        )


def _refuse_row_numbers(model: Any) -> None:
    landmarks = getattr(model, "landmarks", "")
    if not isinstance(landmarks, str) and np.ndim(landmarks) == 1:
        raise ValueError(
            "landmarks are numbers of rows, and rows in partitions are not at hand. "
            "Give the landmarks themselves, or the name of a method."
        )


def _refuse_text(model: Any, X: Any) -> None:
    """Raise the usual error where a column of a data frame is no number."""
    if not hasattr(X, "dtypes"):
        return
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "biuf":
            raise ValueError(text_in_column(model, name))
