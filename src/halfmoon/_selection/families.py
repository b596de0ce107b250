"""The families of candidates that are tried on a table.

Families come in the order of expected gain per second, because the budget may end the
search at any candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
import scipy.sparse as sp

from halfmoon._selection.candidate import Candidate, Entry
from halfmoon._selection.criteria import Criterion
from halfmoon._selection.relevance import relevance_candidates
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.semi_supervised_families import (
    composed_candidates,
    energy_candidates,
    fredholm_candidates,
    walk_candidates,
    walk_preparations,
)
from halfmoon._selection.supervised_families import (
    TABLE_COLUMNS,
    additive_candidates,
    constant_candidates,
    plain_candidates,
    plain_preparations,
    unpenalized_columns,
)
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["candidates"]

LEAST_ROWS = 3  # of a neighbor graph, at least
PROMISING_NATS = 3.0  # levers are composed if their cost is this close to the best
RELEVANCE_LABELS = 4, 300  # fewest and most labels for families by relevance


def candidates(
    shared: SearchData,
    criterion: Criterion,
    unpenalized: Unpenalized | None,
    *,
    auto: bool,
    classes: bool,
    tried: Sequence[Entry] = (),
) -> Iterator[Candidate]:
    """Yield all candidates for a table.

    `unpenalized` are the user's features, fitted; with `auto` the search chooses them.
    The caller adds entries to `tried`, whose promising levers are composed at the end.
    """
    X, rng = shared.X, shared.rng
    unpenalized = Constant().fit(X) if auto else unpenalized
    yield from plain_candidates(shared, unpenalized, free=auto)
    if auto:  # not first: a budget for a single candidate should not end here
        yield from constant_candidates(shared)
    low, high = RELEVANCE_LABELS
    table = not sp.issparse(X) and 1 < X.shape[1] <= TABLE_COLUMNS
    by_column = list(islice(plain_preparations(X, rng), 2)) if table else []
    if low <= shared.n_labeled <= high:
        scales = criterion.scales(shared.data.y)
        for prepare in by_column:
            yield from relevance_candidates(shared, unpenalized, prepare, scales)
    for prepare in by_column:
        yield from additive_candidates(shared, unpenalized, prepare)
    if X.shape[0] < LEAST_ROWS:
        return
    neighbors = (5, 10) if classes else (10,)
    walk = partial(walk_candidates, neighbors=neighbors)
    long_walk = partial(walk_candidates, neighbors=neighbors, long=True)
    prepared = list(walk_preparations(X, rng))
    for family in (walk, energy_candidates, long_walk):
        for prepare in prepared:
            yield from family(
                shared, unpenalized, prepare, without_constant=auto and classes
            )
    texts = [next(plain_preparations(X, rng))] if sp.issparse(X) else []
    for prepare in prepared + texts:
        yield from fredholm_candidates(shared, unpenalized, prepare)
    promising = _promising(tried, criterion, shared)
    for prepare in prepared:
        columns = unpenalized_columns(shared, prepare) if auto else None
        yield from composed_candidates(shared, unpenalized, columns, prepare, promising)


def _promising(
    tried: Sequence[Entry], criterion: Criterion, shared: SearchData
) -> set[str]:
    """Return the families whose cost is close to the best."""
    if not tried:
        return set()
    costs = criterion.costs(tried, shared.data.y, shared.data.w)
    near = np.flatnonzero(costs < costs.min() + PROMISING_NATS)
    return {tried[i].candidate.family for i in near.tolist()}
