"""Whether labeled rows lie in clumps, such as all visits of one patient.

Leave-one-out predicts a labeled row from the other labels. If labels were given at
random, the nearest of them is as far from a labeled row as from a blank one, whatever
the table looks like. If whole groups of similar rows were labeled, labeled rows have
another label much nearer. Then they are easier to predict than blank rows, and the
error that they show is too small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.first_pass import Scan

__all__ = ["are_clumped", "labels_are_clumped"]

MAX_COMPARED = 1_500  # rows of each kind
SIGNIFICANCE = 1e-4
LARGE = 0.75  # probability that a labeled row is nearer to a label than a blank one


def labels_are_clumped(model: TableModel, scan: Scan, seed: int) -> bool:
    """Return whether the labeled rows of a table lie in clumps, by a sample of rows."""
    is_labeled = np.array([label is not None for label in scan.labels])
    rng = np.random.default_rng(seed)
    kinds = (np.flatnonzero(is_labeled), np.flatnonzero(~is_labeled))
    places = np.concatenate([rng.permutation(kind)[:MAX_COMPARED] for kind in kinds])
    return are_clumped(model.transform(scan.rows.take(places)), is_labeled[places])


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
    Z = StandardScaler().fit_transform(np.asarray(X, dtype=np.float64))
    near = NearestNeighbors(n_neighbors=1).fit(Z[labeled])
    own = near.kneighbors()[0][:, 0]  # without the row itself
    blank = near.kneighbors(Z[~labeled])[0][:, 0]
    found = mannwhitneyu(own, blank, alternative="less")
    nearer = 1.0 - found.statistic / (len(own) * len(blank))
    return bool(found.pvalue < SIGNIFICANCE and nearer > LARGE)
