"""Data that all candidates share: labels, prepared rows and kernel matrices.

Candidates are compared at *points*: the labeled rows, followed by some unlabeled ones.
The kernel matrix between points and labeled rows is computed once per kernel, however
many candidates are sums with that kernel, and dropped when memory is needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from halfmoon._graphs import NeighborIndex
from halfmoon._rows import EPS, TINY, Array, Indices, Rows
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem._posed import Posed
from halfmoon.unpenalized import Unpenalized

__all__ = ["SearchData", "only"]

MAX_CACHED_BYTES = 96_000_000  # of cached kernel matrices


@dataclass(eq=False)
class SearchData:
    """The data that candidates are compared on."""

    X: Rows  # (n, d), all rows, labeled or not
    labeled: Indices  # (l,)
    data: Posed  # the labeled rows with their targets and weights
    others: Indices  # (m - l,), unlabeled rows at which predictions are compared
    rng: np.random.Generator
    #: Whether there are more labels, to which the best candidates are refitted; their
    #: coefficients for these labels are then not kept.
    to_be_refitted: bool = False
    _rows: dict[Callable[[Rows], Rows], Rows] = field(default_factory=dict)
    _grams: OrderedDict[Kernel, Array] = field(default_factory=OrderedDict)

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return len(self.labeled)

    @cached_property
    def points(self) -> Rows:
        """The labeled rows followed by the others, shape (m, d)."""
        return self.X[np.concatenate([self.labeled, self.others])]

    def prepared(self, prepare: Callable[[Rows], Rows]) -> Rows:
        """Return the prepared points."""
        if prepare not in self._rows:
            self._rows[prepare] = prepare(self.points)
        return self._rows[prepare]

    def gram(self, kernel: Kernel) -> Array:
        """Return the kernel matrix between points and labeled rows, shape (m, l)."""
        (factor, term), *others = kernel.terms()
        total = factor * self._term(term)
        for factor, term in others:
            total += factor * self._term(term)
        return total

    def scaled(self, kernel: Kernel, *, centered: bool = False) -> Kernel:
        """Return the kernel scaled to a mean k(x, x) of 1 over the labeled rows.

        With `centered`, the mean of k(x, x) minus the mean of k is 1: long walks and
        additive kernels are nearly constant, and only the difference matters. If it is
        0 to rounding, as for labeled rows that are all equal, it does not count.
        """
        K = self._term(kernel)[: self.n_labeled]
        size = float(np.diagonal(K).mean())
        if centered and size - float(K.mean()) > EPS * len(K) * size:
            size -= float(K.mean())
        return kernel * (1.0 / max(size, TINY))

    def keep(self, kernel: Kernel, K: Array) -> None:
        """Cache a matrix; the oldest ones make room."""
        l = K.shape[1]
        K[:l] = (K[:l] + K[:l].T) / 2  # symmetric to the last bit
        self._grams[kernel] = K
        held = sum(each.nbytes for each in self._grams.values())
        while held > MAX_CACHED_BYTES and len(self._grams) > 1:
            held -= self._grams.popitem(last=False)[1].nbytes

    def features(self, unpenalized: Unpenalized | None) -> Array:
        """Return the unpenalized features of the points, shape (m, k)."""
        if unpenalized is None:
            return np.zeros((self.points.shape[0], 0))
        return unpenalized.transform(self.points)

    def neighbors(self, prepare: Callable[[Rows], Rows], k: int) -> Indices:
        """Return the k nearest points of each point, shape (m, k)."""
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


def only(data: Posed, some: Indices) -> Posed:
    """Return some of the labeled rows."""
    X = data.X[some]
    return replace(
        data,
        basis=Exact(Gaussian(1.0)).fit(X),
        X=X,
        labeled=np.arange(len(some)),
        y=data.y[some],
        w=data.w[some],
    )
