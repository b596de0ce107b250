"""What all candidates share: the labels, prepared rows and kernel matrices.

Candidates are compared at *points*: the labeled rows, then some of the others. A kernel
matrix between points and labeled rows is computed once, however many candidates are
sums of that kernel, and forgotten when memory is needed for others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from halfmoon.graphs import NeighborIndex
from halfmoon.kernels import Kernel, Prepared
from halfmoon.problem import Posed
from halfmoon.rows import Array, Indices, Rows
from halfmoon.unpenalized import Unpenalized

__all__ = ["Workbench"]

KEPT_BYTES = 96_000_000  # of kernel matrices


@dataclass(eq=False)
class Workbench:
    """The rows that candidates are compared on.

    Attributes
    ----------
    X : array or CSR of shape (n, d)
        All rows, labeled or not.
    labeled : ndarray of shape (l,)
        Which are labeled.
    data : Posed
        The labeled rows alone, with their targets and weights.
    others : ndarray of shape (m - l,)
        Unlabeled rows at which answers are looked at.
    rng : Generator
    """

    X: Rows
    labeled: Indices
    data: Posed
    others: Indices
    rng: np.random.Generator
    _rows: dict[Callable[[Rows], Rows], Rows] = field(default_factory=dict)
    _grams: OrderedDict[Kernel, Array] = field(default_factory=OrderedDict)

    @property
    def n_labeled(self) -> int:
        """Number of labels."""
        return len(self.labeled)

    @cached_property
    def points(self) -> Rows:
        """The labeled rows, then the others, shape (m, d)."""
        return self.X[np.concatenate([self.labeled, self.others])]

    def prepared(self, prepare: Callable[[Rows], Rows]) -> Rows:
        """The points, prepared."""
        if prepare not in self._rows:
            self._rows[prepare] = prepare(self.points)
        return self._rows[prepare]

    def gram(self, kernel: Kernel) -> Array:
        """Values of a kernel between the points and the labeled rows, shape (m, l)."""
        total: Array | None = None
        for factor, term in kernel.terms():
            K = self._term(term)
            if total is None:
                total = factor * K
            else:
                total += factor * K
        assert total is not None
        return total

    def scaled(self, kernel: Kernel, *, centered: bool = False) -> Kernel:
        """The kernel with a mean value k(x, x) of 1 over the labeled rows.

        If `centered`, of the kernel less its mean value: long walks forget where they
        began but for a small rest, and the rest is what counts.
        """
        K = self._term(kernel)[: self.n_labeled]
        size = np.diagonal(K).mean() - centered * K.mean()
        return kernel * (1.0 / max(float(size), np.finfo(float).tiny))

    def keep(self, kernel: Kernel, K: Array) -> None:
        """Keep a matrix, the oldest ones making room."""
        l = K.shape[1]
        K[:l] = (K[:l] + K[:l].T) / 2  # symmetric to the last bit
        self._grams[kernel] = K
        while sum(each.nbytes for each in self._grams.values()) > KEPT_BYTES:
            if len(self._grams) == 1:
                break
            self._grams.popitem(last=False)

    def features(self, unpenalized: Unpenalized | None) -> Array:
        """Unpenalized features of the points, shape (m, k)."""
        if unpenalized is None:
            return np.zeros((self.points.shape[0], 0))
        return unpenalized.transform(self.points)

    def neighbors(self, prepare: Callable[[Rows], Rows], k: int) -> Indices:
        """The k points nearest to each point, shape (m, k)."""
        return NeighborIndex(self.prepared(prepare), k).others()[1]

    def _term(self, term: Kernel) -> Array:
        if term in self._grams:
            self._grams.move_to_end(term)
            return self._grams[term]
        if isinstance(term, Prepared):
            Z = self.prepared(term.prepare)
            K = term.kernel(Z, Z[: self.n_labeled])
        else:
            K = term(self.points, self.points[: self.n_labeled])
        self.keep(term, K)
        return K
