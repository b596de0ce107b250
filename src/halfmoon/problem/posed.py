"""A problem posed on data: the pieces of equation (1), each computed once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from halfmoon.bases import Basis
from halfmoon.blocks import Stream
from halfmoon.graphs import graph_laplacian, neighbor_graph
from halfmoon.losses import Loss, Squared
from halfmoon.moments import dirichlet, graph_energy, label_moments
from halfmoon.rows import Array, Indices, Rows
from halfmoon.solvers import (
    Elimination,
    RidgePath,
    ridge_cholesky,
    ridge_dual,
    ridge_eigh,
    ridge_svd,
)
from halfmoon.unpenalized import Unpenalized
from halfmoon.whitening import Whitening, nothing_to_whiten, whitening

__all__ = ["KnownEnergy", "Posed"]

SQUARED = Squared()
GRAPH_NEIGHBORS = 10  # of a graph that the user did not describe


@dataclass(frozen=True, eq=False)
class KnownEnergy:
    """An energy that was taken over rows in partitions, as a form of theta, (p, p)."""

    matrix: Array


@dataclass(frozen=True)
class Posed:
    """A problem with its data; made by `Problem.pose`.

    Attributes
    ----------
    basis, unpenalized : Basis, Unpenalized or None
        Fitted.
    energy, mu : see Problem
        The energy is a `KnownEnergy` where its rows are not at hand.
    X : array or CSR of shape (n, d)
    chosen : ndarray of shape (l,)
        Which rows are labeled.
    y, w : ndarrays of shape (l, t) and (l,)
        Their targets and weights.
    single : bool
        The targets came as a vector.
    stream : Stream
    loss : Loss
    """

    basis: Basis
    energy: Any
    mu: float
    unpenalized: Unpenalized | None
    X: Rows
    chosen: Indices
    y: Array
    w: Array
    single: bool
    stream: Stream
    loss: Loss = SQUARED

    def __post_init__(self) -> None:
        needed, have = self.basis.conditional_degree, -1
        if self.unpenalized is not None:
            have = self.unpenalized.degree_
        if needed > have:
            raise ValueError(
                f"The kernel is only conditionally positive definite: it needs the "
                f"polynomials up to degree {needed} to be unpenalized. Use "
                f"unpenalized=Polynomials(degree={needed})."
            )
        if needed >= 0 and not self.dual:
            raise ValueError(
                "A conditionally positive definite kernel has no norm at landmarks and "
                "no energy of its own. Use it in the exact basis with energy=None."
            )
        if isinstance(self.mu, str) or not 0 <= self.mu < np.inf:
            raise ValueError(
                f"mu is {self.mu!r}; a number that is not negative is needed."
            )

    @property
    def dual(self) -> bool:
        """The fit needs only a kernel matrix at the labeled rows."""
        return self.energy is None and self.basis.has_gram

    @cached_property
    def overdetermined(self) -> bool:
        """More labeled rows than functions: their moments are all that is kept."""
        left = len(self.chosen) - self.elimination.rank
        return not self.dual and left > self.whitening.rank

    # ---- the same problem with something else ----------------------------------------

    def with_mu(self, mu: float) -> Posed:
        """The problem with another weight of the norm; the energy is not redone."""
        if self.energy is None:
            return replace(self, mu=mu)
        self.energy_matrix  # noqa: B018 - so that it is there to be shared
        return self._keeping(("energy_matrix", "X_l", "F"), mu=mu)

    def with_targets(self, y: Array, *, single: bool = False) -> Posed:
        """The problem with other targets of the same labeled rows, shape (l, t)."""
        of_basis = ("energy_matrix", "penalty", "whitening", "free", "gram_matrix")
        kept = (*of_basis, "X_l", "F", "elimination")
        return self._keeping(kept, y=y, single=single)

    def with_loss(self, loss: Loss) -> Posed:
        """The problem with another loss of the same targets."""
        pieces = self.__dict__.keys() - self.__getstate__().keys()
        return self._keeping(tuple(pieces), loss=loss)

    def with_unpenalized(self, unpenalized: Unpenalized | None) -> Posed:
        """The problem with other unpenalized features, fitted on the same rows."""
        kept = ("energy_matrix", "penalty", "whitening", "X_l")
        return self._keeping(kept, unpenalized=unpenalized)

    def with_basis(self, basis: Basis) -> Posed:
        """The problem in another basis, fitted on the same rows."""
        return self._keeping(("X_l", "F"), basis=basis)

    def with_gram(self, K: Array) -> Posed:
        """The same problem, with its kernel matrix at the labeled rows at hand."""
        copy = self._keeping(("X_l", "F", "elimination"))
        copy.__dict__["gram_matrix"] = K
        return copy

    def without(self, some: Indices) -> Posed:
        """The problem in which some of the labeled rows are unlabeled ones."""
        kept = np.delete(np.arange(len(self.chosen)), some)
        return self.with_labels(self.chosen[kept], self.y[kept], self.w[kept])

    def with_labels(self, chosen: Indices, y: Array, w: Array) -> Posed:
        """The problem on the same table with other labeled rows."""
        kept = ("energy_matrix", "penalty", "whitening")
        return self._keeping(kept, chosen=chosen, y=y, w=w)

    def of_rows(self, places: Indices, y: Array) -> Posed:
        """The problem of some of the labeled rows, with targets of their own, (m, t).

        What serves any of the labeled rows is computed for all of them, once.
        """
        if not self.dual:
            self.whitening  # noqa: B018 - so that it is there to be shared
        kept, chosen = ("energy_matrix", "penalty", "whitening"), self.chosen[places]
        copy = self._keeping(kept, chosen=chosen, y=y, w=self.w[places], single=False)
        if self.dual:
            copy.__dict__["gram_matrix"] = self.gram_matrix[np.ix_(places, places)]
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: the data, not what follows from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _keeping(self, pieces: tuple[str, ...], **changes: Any) -> Posed:
        """A changed copy, with those pieces that were computed and still hold."""
        copy = replace(self, **changes)
        known = {name: self.__dict__[name] for name in pieces if name in self.__dict__}
        copy.__dict__.update(known)
        return copy

    # ---- the loss --------------------------------------------------------------------

    @cached_property
    def X_l(self) -> Rows:
        """The labeled rows."""
        return self.X[self.chosen]

    @cached_property
    def root_w(self) -> Array:
        """Square roots of the weights, as a column, shape (l, 1)."""
        return np.sqrt(self.w)[:, None]

    @property
    def total_weight(self) -> float:
        """W, the sum of the weights."""
        return float(self.w.sum())

    def on_labeled(self, right: Array | None = None) -> Array:
        """phi, or phi times a matrix, at the labeled rows."""

        def values(rows: Rows) -> Array:
            Phi = self.basis.transform(rows)
            return Phi if right is None else Phi @ right

        return self.stream.map(values, self.X_l, row_bytes=self.basis.row_bytes)

    @cached_property
    def labeled_moments(self) -> tuple[Array, Array, Array]:
        """Phi'W Phi, Q1'W^(1/2) Phi, y'W Phi, Phi unkept: (p, p), (r, p), (t, p)."""
        Q1 = self.elimination.Q1
        G, columns = label_moments(
            self.basis.transform,
            self.X_l,
            self.root_w,
            np.hstack([Q1, self.root_w * self.y]),
            row_bytes=self.basis.row_bytes,
            stream=self.stream,
        )
        return G, columns[:, : Q1.shape[1]].T, columns[:, Q1.shape[1] :].T

    # ---- the penalty -----------------------------------------------------------------

    @cached_property
    def penalty(self) -> Array:
        """Q, shape (p, p)."""
        Q = self.basis.penalty()
        if self.energy is not None:
            Q *= self.mu
            Q += self.energy_matrix
        return Q

    @cached_property
    def energy_matrix(self) -> Array:
        """The energy as a quadratic form of theta, shape (p, p)."""
        if isinstance(self.energy, KnownEnergy):
            return self.energy.matrix
        if isinstance(self.energy, str) and self.energy == "gradient":
            return dirichlet(self.basis, self.X, stream=self.stream)
        if isinstance(self.energy, str) and self.energy == "graph":
            graph = graph_laplacian(neighbor_graph(self.X, GRAPH_NEIGHBORS))
            return graph_energy(self.basis, self.X, graph, stream=self.stream)
        if sp.issparse(self.energy):
            return graph_energy(self.basis, self.X, self.energy, stream=self.stream)
        raise ValueError(
            f"energy is {self.energy!r}; None, 'gradient', 'graph' or a sparse "
            f"graph Laplacian over the rows is needed."
        )

    @cached_property
    def whitening(self) -> Whitening:
        """Coordinates in which Q is the identity."""
        if self.energy is None and self.basis.identity_penalty:
            return nothing_to_whiten(self.basis.n_components_)
        return whitening(self.penalty)

    @cached_property
    def free(self) -> Array:
        """Directions of theta that Q does not see but the labeled rows do, (p, m).

        They are unpenalized, as the limit of a small penalty would have it: constants
        on each component of a graph, say, when mu = 0. What the unpenalized features
        hold already is theirs, and directions that neither sees are left at 0.
        """
        null = self.whitening.null
        if null.shape[1] == 0:
            return null
        Q1 = self._features_alone.Q1
        values = self.root_w * self.on_labeled(null)
        values -= Q1 @ (Q1.T @ values)
        # Any basis of the null space will do for `null`: turn it to what is seen.
        _, seen, Vt = sla.svd(values, full_matrices=False, check_finite=False)
        # A direction in which a kernel matrix is 0 to rounding has squared values of
        # the size of that rounding; one that the penalty is blind to, of any size.
        whole = self.stream.sum(
            lambda rows, w: (w[:, None] * self.basis.transform(rows) ** 2).sum(),
            self.X_l,
            self.w,
            row_bytes=self.basis.row_bytes,
        )
        return null @ Vt[seen**2 > np.sqrt(np.finfo(np.float64).eps) * whole].T

    # ---- the null space --------------------------------------------------------------

    def features(self, X: Rows) -> Array:
        """Unpenalized features of any rows, shape (b, k)."""
        if self.unpenalized is None:
            return np.zeros((X.shape[0], 0))
        return self.unpenalized.transform(X)

    @cached_property
    def F(self) -> Array:
        """Unpenalized features of the labeled rows, shape (l, k)."""
        return self.features(self.X_l)

    @cached_property
    def elimination(self) -> Elimination:
        """The unpenalized features, and the free directions, of the labeled rows."""
        if self.dual or self.free.shape[1] == 0:
            return self._features_alone
        names = self._names + [f"free {j}" for j in range(self.free.shape[1])]
        F = np.hstack([self.F, self.on_labeled(self.free)])
        return Elimination(self.root_w * F, names)

    @cached_property
    def _features_alone(self) -> Elimination:
        return Elimination(self.root_w * self.F, self._names)

    @property
    def _names(self) -> list[str]:
        return [] if self.unpenalized is None else list(self.unpenalized.names_)

    def with_free(self, theta: Array, beta: Array) -> tuple[Array, Array]:
        """theta and beta of (1), from a beta that ends with the free directions."""
        k = self.F.shape[1]
        return theta + self.free @ beta[k:], beta[:k]

    # ---- in the coordinates of the solvers -------------------------------------------

    @cached_property
    def gram_matrix(self) -> Array:
        """The kernel at the labeled rows, shape (l, l), where the fit is dual."""
        return self.basis.gram(self.chosen)(self.X_l)

    @cached_property
    def path(self) -> RidgePath:
        """The factorization that serves every alpha, by the shortest of three ways."""
        y, W = self.root_w * self.y, self.total_weight
        if self.dual:
            K = self.gram_matrix
            return ridge_dual(self.root_w * K * self.root_w.T, y, self.elimination, W)
        if self.overdetermined:
            return ridge_eigh(*self._whitened_moments, y, self.elimination, W)
        Phi = self.whitening.whiten(self.root_w * self.on_labeled())
        return ridge_svd(Phi, y, self.elimination, W)

    def solve(self, alpha: float) -> tuple[Array, Array]:
        """theta and beta of (1): a point of the path, or by itself where cheaper."""
        y, lam = self.root_w * self.y, self.total_weight * alpha
        point = None
        if self.overdetermined and "path" not in self.__dict__ and lam > 0:
            point = ridge_cholesky(*self._whitened_moments, y, self.elimination, lam)
        theta, beta = point or (self.path.theta(alpha), self.path.beta(alpha))
        if self.dual:
            return self.basis.lift(self.chosen, self.root_w * theta), beta
        return self.with_free(self.whitening.unwhiten(theta), beta)

    @cached_property
    def _whitened_moments(self) -> tuple[Array, Array, Array]:
        G, cross, b = self.labeled_moments
        whitening = self.whitening
        return whitening.congruence(G), whitening.whiten(b).T, whitening.whiten(cross)
