r"""One look at every partition: how many rows, which are labeled, and a sample.

Each row of partition i draws a key in [0, 1), from a generator seeded by (seed, i), and
the partition sends home its m rows of the lowest keys. With t the least of the m-th
keys of all partitions that have more than m rows, the rows

.. math:: \{ j : key_j < t \}

are a uniform sample of the whole table, whatever the sizes of the partitions, which
need not be known. It depends on the seed and on how the rows are cut, and on nothing
else. Labeled rows come home too, with their labels, as far as `memory_limit` allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.labels import is_missing, label_array
from halfmoon.memory import format_bytes, parse_bytes
from halfmoon.partitions.table import Reader, weighted
from halfmoon.rows import Array, Indices, largest_entry, refuse_non_finite, refuse_range

__all__ = ["Found", "Survey", "labels_in", "look", "looking", "survey"]

SAMPLE_ROWS = 20_000  # for length scales, landmarks, and searches over models
LEAST_ROWS = 256  # of a partition, so that partitions of unlike sizes give enough


@dataclass(frozen=True)
class Found:
    """What a partition sends home: rows that are labeled, or in its sample, or both."""

    rows_in_all: int
    rows_used: int  # those of weight 0 are left out
    largest: float  # entry in size
    places: Indices  # (b,) of the rows in the partition
    rows: Array  # (b, d)
    weights: Array | None  # (b,)
    keys: Array  # (b,)
    bound: float  # every row with a key below is among them
    labeled: NDArray[np.bool_]  # (b,)
    labels: NDArray[Any]  # (number of labeled, ...)


@dataclass(frozen=True)
class Survey:
    """What all partitions together sent home.

    Attributes
    ----------
    n : int
        Rows in all that have a weight above 0.
    n_all : int
        Rows in all.
    numbers : ndarray of shape (b,)
        Which rows of the table are at hand, in their order.
    rows : ndarray of shape (b, d)
    labels : ndarray of shape (b,) or (b, t), missing where a row has none
    weights : ndarray of shape (b,) or None
    """

    n: int
    n_all: int
    numbers: Indices
    rows: Array
    labels: NDArray[Any]
    weights: Array | None

    @property
    def complete(self) -> bool:
        """Every row is at hand."""
        return len(self.numbers) == self.n


def labels_in(y: Any, unlabeled: Any) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Which rows say something, shape (n,), and the labels as an array.

    A row of candidates (booleans) says nothing where all of them, or none, are left.
    """
    y = label_array(y)
    if y.ndim == 2 and y.dtype.kind == "b":
        return np.asarray(y.any(axis=1) & ~y.all(axis=1)), y
    missing = is_missing(y, unlabeled)
    return np.asarray(~missing.all(axis=tuple(range(1, y.ndim)))), y


def look(
    reader: Reader,
    seed: int,
    most: int,
    limit: int,
    unlabeled: Any,
    number: int,
    part: Any,
    given: Any = None,
    weights: Any = None,
) -> Found:
    """What partition `number` sends home.

    Parameters
    ----------
    reader : Reader
    seed, most : int
        Of the sample: its seed, and rows of it at most.
    limit : int
        Bytes that labeled rows may take.
    unlabeled : object or None
    number : int
    part, weights : rows of the partition and their weights
    given : labels of the partition, or a pair of (places, labels), or None
    """
    rows = reader.read(part, number)
    n = rows.shape[0]
    used = np.ones(n, dtype=bool)
    if weights is not None:
        used, weights = (
            weighted(number, rows, weights),
            np.asarray(weights, dtype=float),
        )
    refuse_non_finite(
        rows[used] if not used.all() else rows, name=f"Partition {number} of X"
    )
    labeled, labels = _labeled(number, n, given, unlabeled)
    labels = labels[used[labeled]]
    labeled &= used
    _refuse_many(int(labeled.sum()), rows.dtype.itemsize * rows.shape[1], limit)
    keys = np.random.default_rng([seed, number]).random(n)
    candidates = np.flatnonzero(used)
    bound = 1.0
    if len(candidates) > most:
        bound = float(np.partition(keys[candidates], most)[most])
        candidates = candidates[keys[candidates] < bound]
    places = np.union1d(candidates, np.flatnonzero(labeled))
    return Found(
        rows_in_all=n,
        rows_used=int(used.sum()),
        largest=largest_entry(rows),
        places=places,
        rows=rows[places],
        weights=None if weights is None else weights[places],
        keys=keys[places],
        bound=bound,
        labeled=labeled[places],
        labels=labels,
    )


def survey(results: Iterator[Found], *, memory_limit: int | str) -> Survey:
    """Put together what the partitions sent home, in their order."""
    limit, taken, found = parse_bytes(memory_limit), 0, []
    for each in results:
        taken += int(each.labeled.sum())
        _refuse_many(taken, each.rows.itemsize * each.rows.shape[1], limit)
        found.append(each)
    if not any(each.rows_in_all for each in found):
        raise ValueError("X has no rows in any partition; at least one is needed.")
    if not any(each.rows_used for each in found):
        raise ValueError("sample_weight is zero in every row; some must be positive.")
    refuse_range(max(each.largest for each in found), name="X")
    keys = np.concatenate([each.keys for each in found])
    bound = min(each.bound for each in found)
    below = np.sort(keys[keys < bound])
    if len(below) > SAMPLE_ROWS:
        bound = float(below[SAMPLE_ROWS])
    starts = np.cumsum([0] + [each.rows_in_all for each in found])
    kept = [each.labeled | (each.keys < bound) for each in found]

    def joined(parts: Iterator[Any]) -> Any:
        return np.concatenate(
            [part[some] for part, some in zip(parts, kept, strict=True)]
        )

    numbers = joined(
        each.places + start for each, start in zip(found, starts[:-1], strict=True)
    )
    labeled = joined(each.labeled for each in found)
    weights = None
    if found[0].weights is not None:
        weights = joined(each.weights for each in found)
    return Survey(
        n=sum(each.rows_used for each in found),
        n_all=int(starts[-1]),
        numbers=numbers,
        rows=joined(each.rows for each in found),
        labels=_with_missing(
            labeled, [each.labels for each in found if len(each.labels)]
        ),
        weights=weights,
    )


def looking(
    reader: Reader,
    *,
    seed: int,
    n_partitions: int,
    memory_limit: int | str,
    unlabeled: Any,
) -> Any:
    """`look`, as a function of a partition."""
    most = max(LEAST_ROWS, -(-2 * SAMPLE_ROWS // n_partitions))
    return partial(look, reader, seed, most, parse_bytes(memory_limit), unlabeled)


def _labeled(
    number: int, n: int, given: Any, unlabeled: Any
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Which rows of a partition are labeled, and their labels."""
    if given is None:
        return np.zeros(n, dtype=bool), np.empty(0)
    if isinstance(given, tuple):  # found already, where y was at hand
        places, labels = given
        labeled = np.zeros(n, dtype=bool)
        labeled[places] = True
        return labeled, labels
    labeled, labels = labels_in(given, unlabeled)
    if len(labeled) != n:
        raise ValueError(
            f"y has {len(labeled)} rows beside {n} rows in partition {number} of X; "
            f"one label, or a missing value, is needed for each row. Cut y as X is cut."
        )
    return labeled, labels[labeled]


def _with_missing(
    labeled: NDArray[np.bool_], known: list[NDArray[Any]]
) -> NDArray[Any]:
    """Labels of all rows at hand, missing where they have none."""
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
        out = np.ones(shape, dtype=bool)  # every candidate is left
    else:
        out, labels = np.full(shape, None, dtype=object), labels.astype(object)
    out[labeled] = labels
    return out


def _refuse_many(l: int, row_bytes: int, limit: int) -> None:
    need = l * row_bytes
    if need > limit:
        raise MemoryError(
            f"{l:,} labeled rows or more take {format_bytes(need)}, beyond "
            f"memory_limit={format_bytes(limit)}: labeled rows are brought together. "
            f"Raise memory_limit, or leave the labels of some rows out."
        )
