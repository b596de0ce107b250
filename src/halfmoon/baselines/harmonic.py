r"""Harmonic function: each row without a label is the mean of its neighbors.

.. math:: g_i = \sum_j W_{ij} g_j / \sum_j W_{ij} \quad (i \, unlabeled), \qquad
          g_u = -L_{uu}^{-1} L_{ul} \, y_l, \quad L = D - W                         (1)

It is the penalty of a graph with no norm beside it, on functions that are free at each
row. Zhu, Ghahramani, Lafferty, "Semi-supervised learning using Gaussian fields and
harmonic functions", 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon.baselines.base import BaselineRegressor
from halfmoon.baselines.graph_labels import GraphClassifier, GraphLabels
from halfmoon.baselines.graph_systems import graph_solve, identity_minus
from halfmoon.baselines.row_graph import RowGraph
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.partitions.methods import answers_by_partition, fits_by_partition
from halfmoon.rows import Array

__all__ = ["HarmonicClassifier", "HarmonicRegressor"]


@dataclass(eq=False, repr=False)
class Harmonic(GraphLabels):
    """The method, without what y is."""

    n_neighbors: int | None = 10
    length_scale: float | str | None = None
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    unlabeled: Any = None

    def _spread(
        self,
        graph: RowGraph,
        Y: Array,
        labeled: NDArray[np.bool_],
        reached: NDArray[np.bool_],
    ) -> Array:
        """(1) as (I - S_uu) D_u^1/2 g_u = S_ul D_l^1/2 y_l, of unit diagonal."""
        S, root = graph.normalized(), graph.inverse_root_degree()
        l, u = np.flatnonzero(labeled), np.flatnonzero(reached & ~labeled)
        degree_l = np.sqrt(graph.degree[l])[:, None]
        S_u = S[u]
        A = identity_minus(S_u[:, u])
        F = Y.copy()
        F[u] = root[u][:, None] * graph_solve(A, S_u[:, l] @ (degree_l * Y[l]))
        return F


@dataclass(eq=False, repr=False)
class HarmonicClassifier(GraphClassifier, Harmonic):
    r"""Harmonic function of the classes on a graph over all rows.

    .. math:: g_u = -L_{uu}^{-1} L_{ul} \, y_l, \quad L = D - W, \quad
              W_{ij} = exp(-d_{ij}^2 / (2 e^2))

    for an indicator y of each class; with two classes `decision_function` is the
    harmonic function of labels -1 and 1. Labeled rows keep their labels. Rows in a part
    of the graph without a label get the shares of the classes among the labels, with a
    warning. A new row gets the weighted mean of its neighbors. O(n k) memory with
    neighbors, O(n^2) memory and O(n^3) time for all pairs.

    Parameters
    ----------
    n_neighbors : int or None
        k of the graph of nearest neighbors; None ties all pairs of rows.
    length_scale : float, "median" or None
        e; None is self-tuned, :math:`exp(-d_{ij}^2 / (s_i s_j))` with s the distance
        to the k-th neighbor, or the tenth of all pairs.
    memory_limit : int or str
        What the graph of all pairs may hold.
    random_state : None, int, RandomState or Generator
        For the sample of rows that the median is taken over.
    unlabeled : object
        A value of y that means "no label" besides missing ones, such as -1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n,)
        The class of each row of the table.
    label_distributions_ : ndarray of shape (n, n_classes)
        Shares of the classes.
    unreached_ : ndarray of shape (n,), bool
        Rows that are tied to no labeled one.
    n_labeled_ : int
    graph_ : RowGraph
        Its weights are ``graph_.W``.

    References
    ----------
    X. Zhu, Z. Ghahramani, J. Lafferty, "Semi-supervised learning using Gaussian fields
    and harmonic functions", ICML, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import HarmonicClassifier
    >>> from halfmoon.datasets import concentric_circles, reveal
    >>> X, y, circle = concentric_circles(200, n_circles=2, rng=0)
    >>> known = reveal(y, circle, rng=0)  # one label on each of two circles
    >>> model = HarmonicClassifier(n_neighbors=None, length_scale=0.2).fit(X, known)
    >>> float((model.transduction_ == y).mean())
    1.0
    """


@dataclass(eq=False, repr=False)
class HarmonicRegressor(BaselineRegressor, Harmonic):
    """Harmonic function of numbers on a graph over all rows.

    As `HarmonicClassifier`, for targets that are numbers, one or several for each row.

    Parameters
    ----------
    n_neighbors, length_scale, memory_limit, random_state, unlabeled
        See `HarmonicClassifier`.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,) or (n, t)
        Values at the rows of the table.
    unreached_, n_labeled_, graph_ : see `HarmonicClassifier`

    References
    ----------
    X. Zhu, Z. Ghahramani, J. Lafferty, "Semi-supervised learning using Gaussian fields
    and harmonic functions", ICML, 2003.

    Examples
    --------
    On a line of equal steps the harmonic function is straight between the labels:

    >>> import numpy as np
    >>> from halfmoon.baselines import HarmonicRegressor
    >>> X, y = np.arange(5.0)[:, None], [0.0, None, None, None, 8.0]
    >>> HarmonicRegressor(n_neighbors=1, length_scale=1.0).fit(X, y).transduction_
    array([0., 2., 4., 6., 8.])
    """

    @fits_by_partition
    def fit(self, X: Any, y: Any) -> Self:
        """Spread the targets that y has over all rows of X.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not.
        y : array-like of shape (n,) or (n, t)
            Targets; NaN, None or pd.NA where a row has none. Each output learns from
            the rows that have it.
        """
        X, targets, _ = self._read(X, y)
        Y = targets.reshape(X.shape[0], -1)
        F = self._fit_graph(X, Y, ~np.isnan(Y))
        self.transduction_ = F[:, 0] if targets.ndim == 1 else F
        return self

    @answers_by_partition
    def predict(self, X: Any) -> Array:
        """Values at rows of the table, or weighted means a step off, (b,) or (b, t)."""
        check_is_fitted(self)
        return self._step(self._table(X, reset=False), self.transduction_)
