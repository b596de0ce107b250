r"""A survey of all partitions: their sizes, the labeled rows and a uniform sample.

Each row of partition i draws a key in [0, 1) from a generator seeded by (seed, i), and
the partition returns its m rows with the smallest keys. With t the least of the m-th
keys of all partitions that have more than m rows, the rows

.. math:: \{ j : key_j < t \}

are a uniform sample of the whole table, for partitions of any sizes, which need not be
known. The sample depends only on the seed and on the partitions. Labeled rows are
returned too, with their labels, up to `memory_limit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._labels import is_missing, label_array
from halfmoon._memory import format_bytes, parse_bytes
from halfmoon._partitioned_rows import Engine, Partition, Reader, weighted
from halfmoon._rows import (
    Array,
    Indices,
    largest_entry,
    refuse_non_finite,
    refuse_range,
)

__all__ = ["Survey", "combine", "labels_in", "survey_one", "survey_partitions"]

SAMPLE_ROWS = 20_000  # for length scales, landmarks and model searches
MIN_PARTITION_ROWS = 256  # so that partitions of different sizes return enough


@dataclass(frozen=True)
class PartitionSurvey:
    """The rows of one partition that are labeled or in its sample."""

    n_rows: int
    n_used: int  # rows with a weight above 0
    largest: float  # absolute entry
    numbers: Indices  # (b,) of the rows in the partition
    rows: Array  # (b, d)
    weights: Array | None  # (b,)
    keys: Array  # (b,)
    bound: float  # all rows with a smaller key are included
    labeled: NDArray[np.bool_]  # (b,)
    labels: NDArray[Any]  # (number of labeled, ...)


@dataclass(frozen=True)
class Survey:
    """The rows collected from all partitions."""

    n: int  # rows of the table with a weight above 0
    n_all: int  # rows of the table
    numbers: Indices  # (b,) of the collected rows in the table, increasing
    rows: Array  # (b, d)
    labels: NDArray[Any]  # (b,) or (b, t), missing for unlabeled rows
    weights: Array | None  # (b,)

    @property
    def complete(self) -> bool:
        """Whether all rows were collected."""
        return len(self.numbers) == self.n


def labels_in(y: Any, unlabeled: Any) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows are labeled, shape (n,), and the labels as an array.

    A row of candidate labels (booleans) is unlabeled if all or none of them are true.
    """
    y = label_array(y)
    if y.ndim == 2 and y.dtype.kind == "b":
        return np.asarray(y.any(axis=1) & ~y.all(axis=1)), y
    missing = is_missing(y, unlabeled)
    return np.asarray(~missing.all(axis=tuple(range(1, y.ndim)))), y


def survey_partitions(
    engine: Engine,
    partitions: Sequence[Partition],
    reader: Reader,
    *,
    seed: int,
    memory_limit: int | str,
    unlabeled: Any,
) -> Survey:
    """Survey partitions, each with its number, rows, labels and weights."""
    max_sample = max(MIN_PARTITION_ROWS, -(-2 * SAMPLE_ROWS // len(partitions)))
    limit = parse_bytes(memory_limit)
    work = partial(survey_one, reader, seed, max_sample, limit, unlabeled)
    return combine(engine.map(work, partitions), limit)


def survey_one(
    reader: Reader,
    seed: int,
    max_sample: int,
    limit: int,  # bytes for labeled rows
    unlabeled: Any,
    number: int,  # of the partition
    part: Any,
    given: Any = None,  # its labels, or a pair of (row numbers, labels)
    weights: Any = None,
) -> PartitionSurvey:
    """Survey a partition, with at most `max_sample` rows in its sample."""
    rows = reader.read(part, number)
    n = rows.shape[0]
    used = np.ones(n, dtype=bool)
    if weights is not None:
        used = weighted(number, rows, weights)
        weights = np.asarray(weights, dtype=float)
    checked = rows if used.all() else rows[used]
    refuse_non_finite(checked, name=f"Partition {number} of X")
    labeled, labels = _labeled(number, n, given, unlabeled)
    labels = labels[used[labeled]]
    labeled &= used
    _refuse_many(int(labeled.sum()), rows.dtype.itemsize * rows.shape[1], limit)
    keys = np.random.default_rng([seed, number]).random(n)
    candidates = np.flatnonzero(used)
    bound = 1.0
    if len(candidates) > max_sample:
        bound = float(np.partition(keys[candidates], max_sample)[max_sample])
        candidates = candidates[keys[candidates] < bound]
    chosen = np.union1d(candidates, np.flatnonzero(labeled))
    return PartitionSurvey(
        n_rows=n,
        n_used=int(used.sum()),
        largest=largest_entry(rows),
        numbers=chosen,
        rows=rows[chosen],
        weights=None if weights is None else weights[chosen],
        keys=keys[chosen],
        bound=bound,
        labeled=labeled[chosen],
        labels=labels,
    )


def combine(surveys: Iterator[PartitionSurvey], limit: int) -> Survey:
    """Combine the surveys of the partitions, in their order."""
    n_labeled, found = 0, []
    for each in surveys:
        n_labeled += int(each.labeled.sum())
        _refuse_many(n_labeled, each.rows.itemsize * each.rows.shape[1], limit)
        found.append(each)
    if not any(each.n_rows for each in found):
        raise ValueError("X has no rows in any partition; at least one is needed.")
    if not any(each.n_used for each in found):
        raise ValueError("sample_weight is zero in every row; some must be positive.")
    refuse_range(max(each.largest for each in found))
    keys = np.concatenate([each.keys for each in found])
    bound = min(each.bound for each in found)
    below = np.sort(keys[keys < bound])
    if len(below) > SAMPLE_ROWS:
        bound = float(below[SAMPLE_ROWS])
    starts = np.cumsum([0] + [each.n_rows for each in found])
    selected = [each.labeled | (each.keys < bound) for each in found]

    def joined(parts: Iterator[Any]) -> Any:
        return np.concatenate(
            [part[mask] for part, mask in zip(parts, selected, strict=True)]
        )

    numbers = joined(
        each.numbers + start for each, start in zip(found, starts[:-1], strict=True)
    )
    labeled = joined(each.labeled for each in found)
    weights = None
    if found[0].weights is not None:
        weights = joined(each.weights for each in found)
    return Survey(
        n=sum(each.n_used for each in found),
        n_all=int(starts[-1]),
        numbers=numbers,
        rows=joined(each.rows for each in found),
        labels=_with_missing(
            labeled, [each.labels for each in found if len(each.labels)]
        ),
        weights=weights,
    )


def _labeled(
    number: int, n: int, given: Any, unlabeled: Any
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows of a partition are labeled, and their labels."""
    if given is None:
        return np.zeros(n, dtype=bool), np.empty(0)
    if isinstance(given, tuple):  # y was in memory
        numbers, labels = given
        labeled = np.zeros(n, dtype=bool)
        labeled[numbers] = True
        return labeled, labels
    labeled, labels = labels_in(given, unlabeled)
    if len(labeled) != n:
        raise ValueError(
            f"y has {len(labeled)} rows, but partition {number} of X has {n} rows; one "
            f"label, or a missing value, is needed for each row. Partition y like X."
        )
    return labeled, labels[labeled]


def _with_missing(
    labeled: NDArray[np.bool_], known: list[NDArray[Any]]
) -> NDArray[Any]:
    """Return the labels of all collected rows, missing for unlabeled ones."""
    if not known:
        return np.full(len(labeled), np.nan)
    kinds = {
        "number" if part.dtype.kind in "iuf" else part.dtype.kind for part in known
    }
    if len(kinds) > 1:
        known = [part.astype(object) for part in known]
    labels = np.concatenate(known)
    if labeled.all():
        return labels
    shape = (len(labeled), *labels.shape[1:])
    if labels.dtype.kind == "f":
        out = np.full(shape, np.nan)
    elif labels.dtype.kind == "b" and labels.ndim == 2:
        out = np.ones(shape, dtype=bool)  # all candidates are possible
    else:
        out, labels = np.full(shape, None, dtype=object), labels.astype(object)
    out[labeled] = labels
    return out


def _refuse_many(l: int, row_bytes: int, limit: int) -> None:
    need = l * row_bytes
    if need > limit:
        raise MemoryError(
            f"{l:,} labeled rows or more need {format_bytes(need)}, more than "
            f"memory_limit={format_bytes(limit)}: labeled rows are held in memory. "
            f"Raise memory_limit, or remove the labels of some rows."
        )
