"""Label spreading: labels walk on the graph, and fade on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.baselines.graph_labels import GraphClassifier
from halfmoon.baselines.graph_systems import graph_solve, identity_minus
from halfmoon.baselines.row_graph import RowGraph
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.rows import Array

__all__ = ["LabelSpreadingClassifier"]


@dataclass(eq=False, repr=False)
class LabelSpreadingClassifier(GraphClassifier):
    r"""Local and global consistency on a graph over all rows.

    .. math:: F = (1 - a) (I - a S)^{-1} Y, \quad S = D^{-1/2} W D^{-1/2}

    with Y the indicators of the classes, 0 for a row without a label; a row takes the
    class of the largest entry of F. Labels may be overruled, by their neighbors. In a
    part of the graph without a label, and for new rows, as `HarmonicClassifier`, and so
    is the cost.

    Parameters
    ----------
    spread : float
        a, between 0 and 1: the larger, the farther a label goes.
    n_neighbors, length_scale, memory_limit, random_state, unlabeled
        See `HarmonicClassifier`.

    Attributes
    ----------
    classes_, transduction_, unreached_, n_labeled_, graph_ : see `HarmonicClassifier`
    label_distributions_ : ndarray of shape (n, n_classes)
        F, its rows divided by their sums.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schölkopf, "Learning with local and
    global consistency", NIPS, 2004.

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
        a = self.spread
        if not 0 < a < 1:
            raise ValueError(
                f"spread is {a!r}; a number strictly between 0 and 1 is needed."
            )
        A = identity_minus(a * graph.normalized())
        return (1.0 - a) * graph_solve(A, Y)
