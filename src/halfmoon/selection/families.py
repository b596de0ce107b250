"""What is tried: the families of candidates for a table, in the order of their gain.

The order is that of what a family is expected to gain for the time it takes: the budget
may end the search at any candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import scipy.sparse as sp

from halfmoon.selection.candidate import Candidate, Entry
from halfmoon.selection.composed import composed_candidates
from halfmoon.selection.criteria import Criterion
from halfmoon.selection.relevance import relevance_candidates
from halfmoon.selection.semi_supervised import (
    energy_candidates,
    fredholm_candidates,
    long_walk_candidates,
    walk_candidates,
    walk_preparations,
)
from halfmoon.selection.supervised import (
    TABLE_COLUMNS,
    constant_candidates,
    plain_candidates,
    plain_preparations,
    unpenalized_columns,
)
from halfmoon.selection.workbench import Workbench
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["candidates"]

LEAST_ROWS = 3  # of a neighbor graph
PROMISING_NATS = 3.0  # from the best, within which levers are composed
RELEVANCE_LABELS = 4, 300  # from which, and up to which, columns are weighed


def candidates(
    bench: Workbench,
    criterion: Criterion,
    own: Unpenalized | None,
    *,
    auto: bool,
    classes: bool,
    tried: Sequence[Entry] = (),
) -> Iterator[Candidate]:
    """All candidates for a table.

    Parameters
    ----------
    bench : Workbench
    criterion : Criterion
    own : Unpenalized or None
        The user's unpenalized features, fitted.
    auto : bool
        There are none: the constant, columns or nothing may be unpenalized.
    classes : bool
        The targets are classes.
    tried : sequence of Entry
        Grows as candidates are tried: levers that were promising are composed.
    """
    X, rng = bench.X, bench.rng
    own = Constant().fit(X) if auto else own
    yield from plain_candidates(bench, own, free=auto)
    if auto:  # not first: a budget for one candidate is for more than a constant
        yield from constant_candidates(bench)
    low, high = RELEVANCE_LABELS
    table = not sp.issparse(X) and 1 < X.shape[1] <= TABLE_COLUMNS
    if table and low <= bench.n_labeled <= high:
        prepare = next(plain_preparations(X, rng))
        yield from relevance_candidates(
            bench, own, prepare, criterion.scales(bench.data.y)
        )
    if X.shape[0] < LEAST_ROWS:
        return
    neighbors = (5, 10) if classes else (10,)
    free = auto and classes
    prepared = list(walk_preparations(X, rng))
    for prepare in prepared:
        yield from walk_candidates(
            bench, own, prepare, neighbors, without_constant=free
        )
    for prepare in prepared:
        yield from energy_candidates(bench, own, prepare, without_constant=free)
    for prepare in prepared:
        yield from long_walk_candidates(
            bench, own, prepare, neighbors, without_constant=free
        )
    texts = [next(plain_preparations(X, rng))] if sp.issparse(X) else []
    for prepare in prepared + texts:
        yield from fredholm_candidates(bench, own, prepare)
    promising = _promising(tried, criterion, bench)
    for prepare in prepared:
        columns = unpenalized_columns(bench, prepare) if auto else None
        yield from composed_candidates(bench, own, columns, prepare, promising)


def _promising(
    tried: Sequence[Entry], criterion: Criterion, bench: Workbench
) -> set[str]:
    """Families that are within some nats of the best."""
    if not tried:
        return set()
    charges = criterion.charges(tried, bench.data.y, bench.data.w)
    near = charges < charges.min() + PROMISING_NATS
    return {
        each.candidate.family
        for each, is_near in zip(tried, near, strict=True)
        if is_near
    }
