r"""Labels that make leave-one-out look too good: in clumps, or in one part of a table.

**Clumps**, such as all visits of some patients and none of the others. Leave-one-out
predicts a labeled row from the other labels. If labels were given at random, the
nearest of them is as far from a labeled row as from a blank one, whatever the table
looks like. If whole groups of similar rows were labeled, labeled rows have another
label much nearer. Then they are easier to predict than blank rows, and the error that
they show is too small. The remedy is to hide whole clumps at once. Clumps are joined by
average linkage until hidden rows are as far from the other labels as blank rows are
from their nearest label, by the quartiles of these distances.

**One part** of a table whose rows are in order. People label the first rows. If the
table is sorted by the target, or the target changes over time, the other rows have
labels that no labeled row has. Labels leave out a part if most blank rows come before
the first or after the last labeled one. The l labeled rows would span a share r of the
table or less with probability

.. math:: l r^{l-1} - (l-1) r^l

if they were drawn at random. Labels change with the row number if their rank
correlation is large, or that of the row numbers with the classes (Kruskal and Wallis).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kruskal, mannwhitneyu, spearmanr
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from halfmoon._rows import Array, Indices
from halfmoon.table._labels.target_labels import Kind

__all__ = ["are_clumped", "label_clumps", "leave_out_a_part"]

MAX_COMPARED = 1_500  # rows of each kind
SIGNIFICANCE = 1e-4
NEARER = 0.75  # probability that a labeled row is nearer to a label than a blank one
MIN_CLUMPS = 5  # with fewer, too little is left when one of them is hidden
QUARTILES = (0.25, 0.5, 0.75)
STEP = 1.1  # between the distances up to which clumps are joined
LEFT_OUT = 0.5  # share of the blank rows
EXPLAINED = 0.25  # share of the variance of ranks that the row number explains


def label_clumps(
    X: NDArray[np.floating],  # (n, d)
    labeled: NDArray[np.bool_],  # (n,)
    seed: int,
) -> Indices | None:
    """Return the clump of each labeled row, numbered from 0, shape (l,).

    None if labels do not lie in clumps. Empty if they do, but are too many to hide
    whole clumps, or the clumps are too few.
    """
    rng = np.random.default_rng(seed)
    parts = (np.flatnonzero(labeled), np.flatnonzero(~labeled))
    some = np.concatenate([rng.permutation(part)[:MAX_COMPARED] for part in parts])
    some.sort()
    X, chosen = X[some], labeled[some]
    if not are_clumped(X, chosen):
        return None
    if len(parts[0]) > MAX_COMPARED:
        return np.empty(0, dtype=np.intp)
    Z = _standardized(X)
    from_blank = np.quantile(_to_nearest_label(Z, chosen)[1], QUARTILES)
    pairs = pdist(Z[chosen])
    tree, distances, up_to = linkage(pairs, "average"), squareform(pairs), from_blank[1]
    while True:
        clumps = (fcluster(tree, up_to, "distance") - 1).astype(np.intp)
        if clumps.max() < MIN_CLUMPS - 1:
            return clumps[:0]
        others = np.where(clumps[:, None] == clumps, np.inf, distances)
        if (np.quantile(others.min(axis=1), QUARTILES) >= from_blank).all():
            return clumps
        up_to *= STEP


def are_clumped(
    X: NDArray[np.floating],  # (n, d)
    labeled: NDArray[np.bool_],  # (n,)
) -> bool:
    """Return whether labeled rows are much nearer to other labels than blank ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> visits = np.repeat(rng.normal(size=(80, 3)), 5, axis=0)
    >>> X = visits + 0.1 * rng.normal(size=visits.shape)
    >>> are_clumped(X, np.arange(400) < 80), are_clumped(X, rng.random(400) < 0.2)
    (True, False)
    """
    if labeled.sum() < 2 or labeled.all():
        return False
    own, blank = _to_nearest_label(_standardized(X), labeled)
    found = mannwhitneyu(own, blank, alternative="less")
    nearer = 1.0 - found.statistic / (len(own) * len(blank))
    return bool(found.pvalue < SIGNIFICANCE and nearer > NEARER)


def _standardized(X: NDArray[np.floating]) -> Array:
    return np.asarray(StandardScaler().fit_transform(np.asarray(X, dtype=np.float64)))


def _to_nearest_label(Z: Array, labeled: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the distances of labeled rows to another label, and of blank rows."""
    near = NearestNeighbors(n_neighbors=1).fit(Z[labeled])
    return near.kneighbors()[0][:, 0], near.kneighbors(Z[~labeled])[0][:, 0]


def leave_out_a_part(
    labels: Sequence[Any],
    positions: NDArray[np.integer],  # (n,)
    kind: Kind,
) -> bool:
    """Return whether labels change with the row number and leave out most of the table.

    Labels are classes or numbers, None for a blank.

    Examples
    --------
    >>> labels = [*map(float, range(30)), *[None] * 70]
    >>> leave_out_a_part(labels, np.arange(100), "numbers")
    True
    >>> leave_out_a_part([*map(float, range(30)), None], np.arange(31), "numbers")
    False
    """
    labeled = np.array([label is not None for label in labels], dtype=bool)
    l = int(labeled.sum())
    if l < 2 or labeled.all():
        return False
    where = positions[labeled]
    within = (positions >= where.min()) & (positions <= where.max())
    r = float(within.mean())
    chance = l * r ** (l - 1) - (l - 1) * r**l
    if within[~labeled].mean() > 1 - LEFT_OUT or chance >= SIGNIFICANCE:
        return False
    return _change_with_position([x for x in labels if x is not None], where, kind)


def _change_with_position(
    labels: Sequence[Any], where: NDArray[np.integer], kind: Kind
) -> bool:
    n = len(labels)
    if kind == "numbers":
        found = spearmanr(where, np.asarray(labels, dtype=np.float64))
        explained = float(found.statistic) ** 2
    else:
        names = np.array([str(label) for label in labels])
        groups = [where[names == name] for name in np.unique(names)]
        if not 1 < len(groups) < n:
            return False
        found = kruskal(*groups)
        k = len(groups)
        explained = (float(found.statistic) - k + 1) / (n - k)
    return bool(explained >= EXPLAINED and found.pvalue < SIGNIFICANCE)
