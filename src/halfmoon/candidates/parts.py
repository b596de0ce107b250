r"""Parts of a kernel: each gives its values between any rows and the labeled ones.

.. math:: k(x, z) = \sum_j a_j k_j(x, z)

A candidate is a sum of parts. A part is a kernel on prepared rows; or a walk over all
rows, labeled or not, :math:`a(x)'D a(z)`: how much of a walk from x ends where one from
z does (`smoothers.diffusion`); or the kernel :math:`phi(x)'Q^{-1}phi(z)` of a problem
with a smoothed basis or an energy. Parts are shared between candidates, and scaled so
that the mean of k(x, x) over the labeled rows is 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from halfmoon.candidates.labeled import Labeled
from halfmoon.graphs import NeighborIndex
from halfmoon.kernels import Kernel
from halfmoon.problem import Posed
from halfmoon.rows import Array, Rows
from halfmoon.smoothers import Diffusion, diffused_grams

__all__ = ["KernelPart", "Part", "ProblemPart", "WalkPart", "functions_of"]

SPREAD_ROWS = 256  # sent on walks at once, n numbers each


class Part(ABC):
    """Values of a kernel between any rows and the labeled ones."""

    name: str
    #: The part was learned from rows without labels too.
    unlabeled: bool = False

    @abstractmethod
    def _gram(self) -> Array:
        """Values between labeled rows, before they are scaled."""

    @abstractmethod
    def _function(self, C: Array) -> Callable[[Rows], Array]:
        """x -> k(x, X_l) C, before it is scaled."""

    @abstractmethod
    def _diagonal(self, X: Rows) -> Array:
        """k(x, x), before it is scaled."""

    @abstractmethod
    def on(self, data: Labeled) -> Part:
        """The same part for other labeled rows of the same table."""

    @cached_property
    def gram(self) -> Array:
        """Values between labeled rows, shape (l, l), with a mean diagonal of 1."""
        K = self._gram()
        self.scale = 1.0 / max(float(np.diagonal(K).mean()), np.finfo(float).tiny)
        K *= self.scale
        return K

    def forget(self) -> None:
        """Let go of the values between labeled rows, which can be computed again."""
        self.__dict__.pop("gram", None)

    def function(
        self,
        C: Array,  # (l, t)
    ) -> Callable[[Rows], Array]:
        """x -> k(x, X_l) C, for rows as the user has them."""
        return self._function(self.scale * C)

    def diagonal(self, X: Rows) -> Array:
        """k(x, x), shape (b,)."""
        return self.scale * self._diagonal(X)


@dataclass(eq=False)
class KernelPart(Part):
    """A kernel on prepared rows.

    Attributes
    ----------
    name : str
    prepare : callable
        From rows as the user has them to prepared ones.
    kernel : Kernel
        Its parameters resolved.
    Z_l : array or CSR of shape (l, d)
        The labeled rows, prepared.
    """

    name: str
    prepare: Callable[[Rows], Rows]
    kernel: Kernel
    Z_l: Rows

    def _gram(self) -> Array:
        return self.kernel(self.Z_l)

    def _function(self, C: Array) -> Callable[[Rows], Array]:
        return lambda X: self.kernel(self.prepare(X), self.Z_l) @ C

    def _diagonal(self, X: Rows) -> Array:
        return self.kernel.diag(self.prepare(X))

    def on(self, data: Labeled) -> KernelPart:
        """The same kernel."""
        return replace(self, Z_l=self.prepare(data.X_l))


@dataclass(eq=False)
class WalkPart(Part):
    """Walks on the neighbor graph of prepared rows, labeled or not.

    Attributes
    ----------
    name : str
    prepare : callable
        From rows as the user has them to prepared ones.
    walk : Diffusion
        Fitted on the prepared rows of the graph.
    Z_l : ndarray of shape (l, d)
        The labeled rows, prepared.
    values : ndarray of shape (l, l)
        a(x)'D a(z) at the labeled rows.
    """

    name: str
    prepare: Callable[[Rows], Rows]
    walk: Diffusion
    Z_l: Rows
    values: Array

    unlabeled = True

    def _gram(self) -> Array:
        return self.values.copy()

    def _function(self, C: Array) -> Callable[[Rows], Array]:
        return self._step_onto(self.spread(C))

    def spread(self, C: Array) -> Array:
        """D A' C, shape (n, t): values at the rows of the graph."""
        A = self.walk.weights(self.Z_l)
        return self.walk.spread(np.asarray(A.T @ C))

    def _step_onto(self, values: Array) -> Callable[[Rows], Array]:
        """x -> a(x)'values."""
        return lambda X: np.asarray(self.walk.weights(self.prepare(X)) @ values)

    def _diagonal(self, X: Rows) -> Array:
        A = self.walk.weights(self.prepare(X))  # (b, n)
        values = np.empty(A.shape[0])
        for start in range(0, A.shape[0], SPREAD_ROWS):  # n by b would be too much
            some = slice(start, start + SPREAD_ROWS)
            spread = self.walk.spread(A[some].T.toarray())
            values[some] = np.asarray(A[some].multiply(spread.T).sum(axis=1)).ravel()
        return values

    def on(self, data: Labeled) -> WalkPart:
        """The same walk."""
        Z_l = self.prepare(data.X_l)
        return replace(self, Z_l=Z_l, values=diffused_grams([self.walk], Z_l)[0])


def functions_of(by_part: dict[Part, Array]) -> list[Callable[[Rows], Array]]:
    """The functions x -> k(x, X_l) C of parts, to be added up.

    Walks on one graph begin with one step onto it: it is taken once for all of them.
    """
    functions = []
    on_graph: dict[NeighborIndex, list[tuple[WalkPart, Array]]] = {}
    for part, C in by_part.items():
        if isinstance(part, WalkPart):
            on_graph.setdefault(part.walk.index_, []).append((part, C))
        else:
            functions.append(part.function(C))
    for walks in on_graph.values():
        values = np.sum([part.spread(part.scale * C) for part, C in walks], axis=0)
        functions.append(walks[0][0]._step_onto(values))
    return functions


@dataclass(eq=False)
class ProblemPart(Part):
    """The kernel of a problem: a smoothed basis, an energy in the penalty, or both.

    Attributes
    ----------
    name : str
    prepare : callable
        From rows as the user has them to prepared ones.
    posed : Posed
        The problem, posed on prepared rows.
    """

    name: str
    prepare: Callable[[Rows], Rows]
    posed: Posed

    unlabeled = True

    def _gram(self) -> Array:
        posed = self.posed
        if posed.dual:
            return posed.basis.gram(posed.chosen)(posed.X_l)
        return np.asarray(self._whitened @ self._whitened.T)

    def _function(self, C: Array) -> Callable[[Rows], Array]:
        posed = self.posed
        if posed.dual:
            theta = posed.basis.lift(posed.chosen, C)
        else:
            theta = posed.whitening.unwhiten(self._whitened.T @ C)
        values = posed.basis.function(theta)
        return lambda X: values(self.prepare(X))

    def _diagonal(self, X: Rows) -> Array:
        posed, Z = self.posed, self.prepare(X)
        if posed.dual:
            return posed.basis.prior_variance(Z)
        whitened = posed.whitening.whiten(posed.basis.transform(Z))
        missing = posed.basis.missing_variance(Z) / posed.mu
        return np.asarray(np.einsum("bp,bp->b", whitened, whitened) + missing)

    @cached_property
    def _whitened(self) -> Array:
        """phi of the labeled rows, in coordinates where Q is the identity, (l, p)."""
        return self.posed.whitening.whiten(self.posed.on_labeled())

    def on(self, data: Labeled) -> ProblemPart:
        """The same problem."""
        return replace(self, posed=self.posed.with_labels(data.chosen, data.y, data.w))
