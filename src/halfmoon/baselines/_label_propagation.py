r"""Label propagation: harmonic functions and label spreading on a graph of all rows.

.. math::
    harmonic: g_i &= \sum_j W_{ij} g_j / \sum_j W_{ij} \quad (i \, unlabeled), \qquad
              g_u = -L_{uu}^{-1} L_{ul} \, y_l, \quad L = D - W                  (1) \\
    spreading: F &= (1 - a) (I - a S)^{-1} Y, \quad S = D^{-1/2} W D^{-1/2}      (2)

In (1) each unlabeled row is the mean of its neighbors: it minimizes the energy of a
graph, without a norm, over functions that are free at each row. In (2) labels are
passed along the graph and fade on the way.

Both solve systems with unit diagonal: dense ones by Cholesky, small sparse ones by LU.
Large sparse ones are solved by conjugate gradients, because the LU factors of a
neighbor graph in many columns are nearly full.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.output_groups import groups_of_outputs
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._estimators.parameters import RULES
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._partitions.estimator_methods import answers_by_partition
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import Rule, as_generator, is_positive, is_whole
from halfmoon._solvers.preconditioned_cg import conjugate_gradients
from halfmoon.baselines._base import Baseline, BaselineClassifier, BaselineRegressor
from halfmoon.baselines._row_graph import (
    AllPairs,
    Mask,
    NearestRows,
    RowGraph,
    resolved_scale,
)
from halfmoon.blocks import Stream, blas_for

__all__ = ["HarmonicClassifier", "HarmonicRegressor", "LabelSpreadingClassifier"]

PARAMETERS = {
    "n_neighbors": """
        int or None. k of the graph of nearest neighbors; None connects all pairs of
        rows.""",
    "length_scale": """
        float, "median" or None. e of the weights; None is self-tuned,
        :math:`exp(-d_{ij}^2 / (s_i s_j))` with s the distance to the k-th neighbor, or
        to the tenth in a graph of all pairs.""",
    "memory_limit": "int or str. Memory that the graph of all pairs may take.",
    "random_state": """
        None, int, RandomState or Generator. For the sample of rows whose median
        distance is taken.""",
}
ATTRIBUTES = {
    "unreached_": """
        ndarray of shape (n,), bool. Rows that are connected to no labeled row.""",
    "n_labeled_": "int. Number of labeled rows.",
    "graph_": "RowGraph. The graph; its weights are ``graph_.W``.",
}
CLASS_ATTRIBUTES = {
    "classes_": "ndarray of shape (n_classes,). The classes.",
    "transduction_": "ndarray of shape (n,). The class of each row of the table.",
    "label_distributions_": """
        ndarray of shape (n, n_classes). Share of each class at the rows of the
        table.""",
    **ATTRIBUTES,
}

MAX_LU_ROWS = 3_000
TOLERANCE = 1e-10  # of the residual of conjugate gradients


@dataclass(eq=False, repr=False)
class GraphEstimator(Baseline):
    """Base class: values at all rows from those at labeled rows, by a graph."""

    n_neighbors: int | None = 10
    length_scale: float | str | None = None
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    unlabeled: Any = None

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES | {
        "n_neighbors": Rule("None, or 1, 2, ...,", lambda v: v is None or is_whole(v))
    }

    def _propagate(
        self, graph: RowGraph, Y: Array, labeled: Mask, reached: Mask
    ) -> Array:
        """Values at all rows, (n, t); those of rows not reached are ignored.

        By default (1) as (I - S_uu) D_u^1/2 g_u = S_ul D_l^1/2 y_l, of unit diagonal.
        """
        S, root = graph.normalized(), graph.inverse_root_degree()
        l, u = np.flatnonzero(labeled), np.flatnonzero(reached & ~labeled)
        degree_l = np.sqrt(graph.degree[l])[:, None]
        S_u = S[u]
        A = identity_minus(S_u[:, u])
        F = Y.copy()
        F[u] = root[u][:, None] * graph_solve(A, S_u[:, l] @ (degree_l * Y[l]))
        return F

    def _fit_graph(self, X: Rows, Y: Array, labeled: Mask) -> Array:
        """Build the graph and propagate Y, (n, t), from where it is labeled.

        Unreached rows get the mean label. The mask is (n,), or (n, t).
        """
        rng = as_generator(self.random_state)
        scale = resolved_scale(self.length_scale, X, rng)
        with blas_for(X.shape[0] ** 2):
            if self.n_neighbors is None:
                graph: RowGraph = AllPairs(X, scale, self.memory_limit)
            else:
                graph = NearestRows(X, self.n_neighbors, scale)
            known = np.broadcast_to(labeled.reshape(len(Y), -1), Y.shape)
            F, all_reached = np.empty_like(Y), np.ones(len(Y), dtype=bool)
            for columns in groups_of_outputs(np.where(known, Y, np.nan)):
                targets, rows = Y[:, columns], known[:, columns[0]]
                reached = graph.reached(rows)
                values = self._propagate(graph, targets, rows, reached)
                values[~reached] = targets[rows].mean(axis=0)
                F[:, columns] = values
                all_reached &= reached
        self.graph_, self.unreached_ = graph, ~all_reached
        self.n_labeled_ = int(known.any(axis=1).sum())
        n_unreached = int(self.unreached_.sum())
        if n_unreached:
            warnings.warn(
                f"{n_unreached} of the {len(Y)} rows are connected to no labeled row, "
                f"and get the mean of all labels: see unreached_. Raise n_neighbors or "
                f"length_scale, or label a row in each part of the graph.",
                UserWarning,
                stacklevel=5,
            )
        return F

    def _step(self, X: Rows, F: Array) -> Array:
        """Weighted means of values F at the rows of the table, for any rows."""
        return Stream(self.memory_limit).map(
            lambda rows: self.graph_.step(rows) @ F, X, row_bytes=self.graph_.row_bytes
        )


class GraphClassifier(GraphEstimator, BaselineClassifier):
    """Base class of the classifiers: one column of values for each class."""

    def _fit_classes(self, X: Rows, codes: Indices) -> None:
        Y = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        F = np.maximum(self._fit_graph(X, Y, codes >= 0), 0.0)
        total = F.sum(axis=1, keepdims=True)
        prior = Y.sum(axis=0) / Y.sum()
        # The values of a row that is reached may underflow to 0.
        F = np.where(total > 0, F / np.where(total > 0, total, 1.0), prior)
        self.label_distributions_ = F
        self.transduction_ = self.classes_[F.argmax(axis=1)]

    @answers_by_partition
    def predict_proba(self, X: Any) -> Array:
        """Return the share of each class, shape (b, n_classes).

        A row of the table has its entry of ``label_distributions_``, a new row the
        weighted mean of its neighbors. Not calibrated. Each row sums to 1.
        """
        check_is_fitted(self)
        P = self._step(self._table(X, reset=False), self.label_distributions_)
        return np.asarray(P / P.sum(axis=1, keepdims=True))

    def _scores(self, X: Rows) -> Array:
        P = self._step(X, self.label_distributions_)
        return P[:, 1:] - P[:, :1] if P.shape[1] == 2 else P


@partial(with_parameter_docs, parameters=PARAMETERS, attributes=dict(CLASS_ATTRIBUTES))
@dataclass(eq=False, repr=False)
class HarmonicClassifier(GraphClassifier):
    r"""Harmonic function of the classes on a graph over all rows.

    .. math:: g_u = -L_{uu}^{-1} L_{ul} \, y_l, \quad L = D - W, \quad
              W_{ij} = exp(-d_{ij}^2 / (2 e^2))

    for an indicator y of each class; with two classes `decision_function` is the
    harmonic function of labels -1 and 1. Labeled rows keep their labels. Rows in a part
    of the graph without a label get the shares of the classes among the labels, with a
    warning. A new row gets the weighted mean of its neighbors. O(n k) memory with
    neighbors, O(n^2) memory and O(n^3) time for all pairs. X. Zhu, Z. Ghahramani,
    J. Lafferty, "Semi-supervised learning using Gaussian fields and harmonic
    functions", ICML, 2003.

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


@partial(
    with_parameter_docs,
    parameters=PARAMETERS,
    attributes={
        "transduction_": "ndarray of shape (n,) or (n, t). Values at the table's rows.",
        **ATTRIBUTES,
    },
)
@dataclass(eq=False, repr=False)
class HarmonicRegressor(GraphEstimator, BaselineRegressor):
    """Harmonic function of numbers on a graph over all rows.

    As `HarmonicClassifier`, for targets that are numbers, one or several for each row.

    Examples
    --------
    On a line of equal steps the harmonic function is straight between the labels:

    >>> import numpy as np
    >>> from halfmoon.baselines import HarmonicRegressor
    >>> X, y = np.arange(5.0)[:, None], [0.0, None, None, None, 8.0]
    >>> HarmonicRegressor(n_neighbors=1, length_scale=1.0).fit(X, y).transduction_
    array([0., 2., 4., 6., 8.])
    """

    def _fit_targets(self, X: Rows, targets: Array, labeled: Indices) -> None:
        Y = targets.reshape(X.shape[0], -1)
        F = self._fit_graph(X, Y, ~np.isnan(Y))
        self.transduction_ = F[:, 0] if targets.ndim == 1 else F

    @answers_by_partition
    def predict(self, X: Any) -> Array:
        """Return values, shape (b,) or (b, t).

        A row of the table has its entry of ``transduction_``, a new row the weighted
        mean of its neighbors.
        """
        check_is_fitted(self)
        return self._step(self._table(X, reset=False), self.transduction_)


@partial(
    with_parameter_docs,
    parameters=PARAMETERS
    | {"spread": "float. a, between 0 and 1: the larger, the farther a label goes."},
    attributes=dict(CLASS_ATTRIBUTES),
)
@dataclass(eq=False, repr=False)
class LabelSpreadingClassifier(GraphClassifier):
    r"""Local and global consistency on a graph over all rows.

    .. math:: F = (1 - a) (I - a S)^{-1} Y, \quad S = D^{-1/2} W D^{-1/2}

    with Y the indicators of the classes, 0 for an unlabeled row; a row takes the class
    of the largest entry of F. Labeled rows may get another class than their label. New
    rows, parts of the graph without a label, and the cost are as in
    `HarmonicClassifier`. D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schölkopf,
    "Learning with local and global consistency", NIPS, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import LabelSpreadingClassifier
    >>> from halfmoon.datasets import concentric_circles, reveal
    >>> X, y, circle = concentric_circles(200, n_circles=2, rng=0)
    >>> known = reveal(y, circle, rng=0)  # one label on each of two circles
    >>> model = LabelSpreadingClassifier(n_neighbors=5).fit(X, known)
    >>> float((model.transduction_ == y).mean())
    1.0
    """

    spread: float = 0.99

    _parameter_rules: ClassVar[dict[str, Rule]] = GraphEstimator._parameter_rules | {
        "spread": Rule(
            "a number strictly between 0 and 1", lambda v: is_positive(v) and v < 1
        )
    }

    def _propagate(
        self, graph: RowGraph, Y: Array, labeled: Mask, reached: Mask
    ) -> Array:
        a = self.spread
        return (1.0 - a) * graph_solve(identity_minus(a * graph.normalized()), Y)


def identity_minus(S: Any) -> Any:
    """I - S, sparse where S is."""
    n = S.shape[0]
    return (sp.eye_array(n, format="csr") if sp.issparse(S) else np.eye(n)) - S


def graph_solve(A: Any, B: Array) -> Array:
    """A^-1 B for a positive definite A of unit diagonal, dense or CSR."""
    if A.shape[0] == 0:
        return B
    if not sp.issparse(A):
        try:
            return np.asarray(sla.cho_solve(sla.cho_factor(A), B))
        except sla.LinAlgError:  # connected to the labels by little more than rounding
            return np.asarray(sla.lstsq(A, B)[0])
    if A.shape[0] > MAX_LU_ROWS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = conjugate_gradients(
                lambda V: A @ V, B, tolerance=TOLERANCE, max_iterations=A.shape[0]
            )
        if found.converged:
            return found.value
    # A is diagonally dominant, so the pivots may stay on the diagonal.
    factor = splu(
        A.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factor.solve(B))
