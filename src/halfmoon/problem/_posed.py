"""A problem posed on data: the parts of equation (1), each computed once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg as sla

from halfmoon._labels import no_labels, rows_with_targets
from halfmoon._moments import energy_matrix
from halfmoon._partitioned_rows import PartitionedRows
from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon._solvers.cholesky_ridge import PathPoint, path_point
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import RidgePath, ridge_dual, ridge_eigh, ridge_svd
from halfmoon._whitening import (
    Whitening,
    identity_whitening,
    refuse_asymmetric,
    whitening,
)
from halfmoon.bases import Basis
from halfmoon.blocks import Stream
from halfmoon.losses import LOSSES, Loss
from halfmoon.problem._moment_ridge import Moments, whitened_moments
from halfmoon.problem._offset import without_offset
from halfmoon.problem._partitioned_energy import KnownEnergy, energy_of_partitions
from halfmoon.unpenalized import Unpenalized

if TYPE_CHECKING:
    from halfmoon.problem._problem import Problem

__all__ = ["DUAL_MATRICES", "Posed"]

DUAL_MATRICES = 4  # of l by l, held at once in the dual: Gram matrix, factors, copy
MAX_SAMPLE_ROWS = 2_000


@dataclass(frozen=True)
class Posed:
    """A problem with its data."""

    basis: Basis  # fitted
    energy: Any  # see `Problem`; `KnownEnergy` if its rows are in partitions
    mu: float
    unpenalized: Unpenalized | None  # fitted
    X: Rows  # (n, d)
    labeled: Indices  # (l,), row numbers
    y: Array  # (l, t)
    w: Array  # (l,)
    single: bool  # whether y was a vector
    stream: Stream
    loss: Loss = LOSSES["squared"]

    @classmethod
    def of(
        cls,
        problem: Problem,
        X: Rows,  # (n, d)
        y: Array,  # (n,) or (n, t), NaN in unlabeled rows
        w: Array,  # (n,), 0 also in unlabeled rows
        rng: np.random.Generator,
        stream: Stream,
        all_rows: PartitionedRows | None = None,
    ) -> Posed:
        """Fit the basis and the features of a problem to rows that were checked.

        `all_rows` is the whole table, if X is a sample of rows in partitions. The
        energy of gradients is then computed at once, over all rows.
        """
        X, single, y = as_table(X), y.ndim == 1, y.reshape(len(y), -1)
        labeled = rows_with_targets(y)
        labeled = labeled[w[labeled] > 0]
        if labeled.size == 0:
            raise no_labels(X.shape[0], "one label with a weight above 0")
        unpenalized = problem.unpenalized
        with stream.handed_down():
            basis = unfitted_copy(problem.basis).fit(X, rng)
            if unpenalized is not None:
                unpenalized = unfitted_copy(unpenalized).fit(X, rng)
            if not basis.any_origin:
                basis = without_offset(basis, unpenalized, X, rng)
        energy, n = problem.energy, X.shape[0]
        if all_rows is not None and (energy is None or isinstance(energy, str)):
            energy, n = energy_of_partitions(energy, basis, all_rows, stream, n)
        mu = 1.0 / n if problem.mu is None else problem.mu
        y, w, loss = y[labeled], w[labeled], problem.loss
        loss = LOSSES[loss] if isinstance(loss, str) else loss
        return cls(
            basis, energy, mu, unpenalized, X, labeled, y, w, single, stream, loss
        )

    def __post_init__(self) -> None:
        needed, have = self.basis.conditional_degree, -1
        if self.unpenalized is not None:
            have = self.unpenalized.degree_
        if needed > have:
            raise ValueError(
                f"The kernel is only conditionally positive definite, so polynomials "
                f"up to degree {needed} must be unpenalized. Use "
                f"unpenalized=Polynomials(degree={needed})."
            )
        if needed >= 0 and not self.dual:
            raise ValueError(
                "A conditionally positive definite kernel has no norm at landmarks and "
                "no energy of its own. Use it in the exact basis with energy=None."
            )
        if isinstance(self.mu, str) or not 0 <= self.mu < np.inf:
            raise ValueError(
                f"mu is {self.mu!r}; a finite number, 0 or more, is needed."
            )

    @property
    def dual(self) -> bool:
        """Whether the fit needs only the kernel matrix of the labeled rows."""
        return self.energy is None and self.basis.has_gram

    @cached_property
    def overdetermined(self) -> bool:
        """Whether labeled rows outnumber functions, so that only moments are kept."""
        left = len(self.labeled) - self.elimination.rank
        return not self.dual and left > self.whitening.rank

    @property
    def loo_sample(self) -> Indices | slice:
        """The labeled rows over which the mean leave-one-out error is taken.

        All of them, or a random 2,000 if the fit kept only moments of the labeled rows:
        then residuals need another pass, and 2,000 are enough to compare alphas.
        """
        if not self.overdetermined or len(self.labeled) <= MAX_SAMPLE_ROWS:
            return slice(None)
        rng = np.random.default_rng(0)  # the same rows in every search
        return rng.choice(len(self.labeled), MAX_SAMPLE_ROWS, replace=False)

    # ---- the same problem with one part replaced -------------------------------------

    def with_mu(self, mu: float) -> Posed:
        """Return the problem with another weight of the norm and the same energy."""
        if self.energy is None:
            return replace(self, mu=mu)
        self.energy_matrix  # noqa: B018 - computed here, to be shared
        return self._keeping(("energy_matrix", "X_l", "F"), mu=mu)

    def with_targets(self, y: Array, *, single: bool = False) -> Posed:
        """Return the problem with other targets of the labeled rows, shape (l, t)."""
        of_basis = ("energy_matrix", "penalty", "whitening", "free", "gram_matrix")
        parts = (*of_basis, "X_l", "F", "elimination")
        copy = self._keeping(parts, y=y, single=single)
        if self.is_factored and self.path.rows is not None:
            copy.__dict__["path"] = self.path.with_targets(self.root_w * y)
        for alpha, point in self._points.items():
            copy._points[alpha] = point and point.with_targets(self.root_w * y)
        return copy

    def with_loss(self, loss: Loss) -> Posed:
        """Return the problem with another loss."""
        parts = self.__dict__.keys() - self.__getstate__().keys()
        return self._keeping(tuple(parts), loss=loss)

    def with_unpenalized(self, unpenalized: Unpenalized | None) -> Posed:
        """Return the problem with other unpenalized features, fitted on its rows."""
        basis = self.basis
        if not basis.any_origin:
            basis = without_offset(basis, unpenalized, self.X)
        same = ("energy_matrix", "penalty", "whitening") if basis is self.basis else ()
        return self._keeping((*same, "X_l"), unpenalized=unpenalized, basis=basis)

    def with_basis(self, basis: Basis) -> Posed:
        """Return the problem in another basis, fitted on its rows."""
        return self._keeping(("X_l", "F"), basis=basis)

    def with_gram(self, K: Array) -> Posed:
        """Return the same problem, given the kernel matrix of its labeled rows."""
        copy = self._keeping(("X_l", "F", "elimination"))
        copy.__dict__["gram_matrix"] = K
        return copy

    def without(self, some: Indices) -> Posed:
        """Return the problem with some of the labeled rows unlabeled."""
        rest = np.delete(np.arange(len(self.labeled)), some)
        return self.with_labels(self.labeled[rest], self.y[rest], self.w[rest])

    def with_labels(self, labeled: Indices, y: Array, w: Array) -> Posed:
        """Return the problem on the same table with other labeled rows."""
        parts = ("energy_matrix", "penalty", "whitening")
        return self._keeping(parts, labeled=labeled, y=y, w=w)

    def of_rows(self, places: Indices, y: Array) -> Posed:
        """Return the problem of some of the labeled rows, with other targets, (m, t).

        The kernel matrix or the whitening is computed once, for all labeled rows.
        """
        if not self.dual:
            self.whitening  # noqa: B018 - computed here, to be shared
        parts, labeled = ("energy_matrix", "penalty", "whitening"), self.labeled[places]
        copy = self._keeping(
            parts, labeled=labeled, y=y, w=self.w[places], single=False
        )
        if self.dual:
            copy.__dict__["gram_matrix"] = self.gram_matrix.take(places, 0).take(
                places, 1
            )
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Return the data, without the cached parts that follow from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _keeping(self, parts: tuple[str, ...], **changes: Any) -> Posed:
        """Return a changed copy with these cached parts, which still hold."""
        copy = replace(self, **changes)
        known = {name: self.__dict__[name] for name in parts if name in self.__dict__}
        copy.__dict__.update(known)
        return copy

    # ---- the loss --------------------------------------------------------------------

    @cached_property
    def X_l(self) -> Rows:
        """The labeled rows."""
        return self.X[self.labeled]

    @cached_property
    def root_w(self) -> Array:
        """Square roots of the weights, as a column, shape (l, 1)."""
        return np.sqrt(self.w)[:, None]

    @property
    def total_weight(self) -> float:
        """W, the sum of the weights."""
        return float(self.w.sum())

    @property
    def spread(self) -> Array:
        """The standard deviation of each target, with the weights, shape (t,)."""
        center = np.average(self.y, axis=0, weights=self.w)
        return np.sqrt(np.average((self.y - center) ** 2, axis=0, weights=self.w))

    def on_labeled(self, right: Array | None = None) -> Array:
        """Return phi, or phi times a matrix, at the labeled rows."""

        def values(rows: Rows) -> Array:
            Phi = self.basis.transform(rows)
            return Phi if right is None else Phi @ right

        return self.stream.map(values, self.X_l, row_bytes=self.basis.row_bytes)

    # ---- the penalty -----------------------------------------------------------------

    @cached_property
    def penalty(self) -> Array:
        """Q, shape (p, p)."""
        Q = self.basis.penalty()
        refuse_asymmetric(Q, name="The kernel matrix of the basis")
        if self.energy is not None:
            Q *= self.mu
            Q += self.energy_matrix
        return Q

    @cached_property
    def energy_matrix(self) -> Array:
        """The energy as a quadratic form of theta, shape (p, p)."""
        if isinstance(self.energy, KnownEnergy):
            return self.energy.matrix
        return energy_matrix(self.energy, self.basis, self.X, self.stream)

    @cached_property
    def whitening(self) -> Whitening:
        """Coordinates in which Q is the identity."""
        if self.energy is None and self.basis.identity_penalty:
            return identity_whitening(self.basis.n_components_)
        return whitening(self.penalty)

    @cached_property
    def free(self) -> Array:
        """Directions of theta that Q does not see but the labeled rows do, (p, m).

        They are unpenalized, which is the limit of a small penalty. With mu = 0, for
        example, constants on each component of a graph. Directions that the unpenalized
        features span already are left out, and those that no labeled row sees stay 0.
        """
        null = self.whitening.null
        if null.shape[1] == 0:
            return null
        Q1 = self._features_alone.Q1
        values = self.root_w * self.on_labeled(null)
        values -= Q1 @ (Q1.T @ values)
        # `null` is any basis of the null space: rotate it to what the rows see.
        _, seen, Vt = sla.svd(values, full_matrices=False, check_finite=False)
        # If a kernel matrix is 0 to rounding in a direction, its squared values are of
        # the size of that rounding. If only the penalty is 0, they are larger.
        whole = self.stream.sum(
            lambda rows, w: (w[:, None] * self.basis.transform(rows) ** 2).sum(),
            self.X_l,
            self.w,
            row_bytes=self.basis.row_bytes,
        )
        return null @ Vt[seen**2 > np.sqrt(np.finfo(np.float64).eps) * whole].T

    # ---- the null space --------------------------------------------------------------

    def features(self, X: Rows) -> Array:
        """Return the unpenalized features of any rows, shape (b, k)."""
        if self.unpenalized is None:
            return np.zeros((X.shape[0], 0))
        return self.unpenalized.transform(X)

    @cached_property
    def F(self) -> Array:
        """Unpenalized features of the labeled rows, shape (l, k)."""
        l, k = len(self.labeled), len(self._names)
        what = f"{k:,} unpenalized features of {l:,} labeled rows need"
        self.stream.require(8 * l * k, what, "Use fewer features.")
        return self.features(self.X_l)

    @cached_property
    def elimination(self) -> Elimination:
        """The unpenalized features and the free directions, at the labeled rows."""
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
        """Return theta and beta of (1), from a beta with the free directions last."""
        k = self.F.shape[1]
        return theta + self.free @ beta[k:], beta[:k]

    # ---- in the coordinates of the solvers -------------------------------------------

    @cached_property
    def gram_matrix(self) -> Array:
        """The kernel matrix of the labeled rows, shape (l, l), for a dual fit."""
        K = self.basis.gram(self.labeled)(self.X_l)
        refuse_asymmetric(K, name="The kernel matrix of the labeled rows")
        return K

    @property
    def is_factored(self) -> bool:
        """Whether `path` was computed already."""
        return "path" in self.__dict__

    @cached_property
    def path(self) -> RidgePath:
        """The factorization for every alpha, by the cheapest of three ways."""
        y, W = self.root_w * self.y, self.total_weight
        if self.dual:
            return ridge_dual(self._weighted_gram(), y, self.elimination, W)
        if self.overdetermined:
            return ridge_eigh(*self.moments, y, self.elimination, W)
        Phi = self.whitening.whiten(self.root_w * self.on_labeled())
        return ridge_svd(Phi, y, self.elimination, W)

    def path_at(self, alpha: float) -> RidgePath | PathPoint:
        """Return the path, or the first point of it that was needed.

        A single point of a dual fit is several times cheaper, by Cholesky.
        """
        first = not self.is_factored and not self._points
        if first and self.dual and 0 <= alpha < np.inf:
            y, W = self.root_w * self.y, self.total_weight
            self._points[alpha] = path_point(
                self._weighted_gram(), y, self.elimination, W, alpha
            )
        return self._points.get(alpha) or self.path

    @cached_property
    def _points(self) -> dict[float, PathPoint | None]:
        """The first alpha that was needed; None if the path must answer."""
        return {}

    def _weighted_gram(self) -> Array:
        K = self.root_w * self.gram_matrix
        K *= self.root_w.T
        return K

    @cached_property
    def moments(self) -> Moments:
        """The labeled rows as sums, where they are `overdetermined`."""
        return whitened_moments(self)
