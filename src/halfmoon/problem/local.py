r"""Kernel ridge for many labels: exact fits in overlapping regions of the table.

A narrow kernel needs a center at every labeled row nearby, and none far away. So the
table is divided into overlapping regions (`partition.py`), and in each region

.. math:: min \; \sum_{i \in region} w_i |y_i - (K c + F beta)_i|^2 + lam \, c'K c,
          \quad lam = W alpha

is solved on its own by `ridge_point`, with the same lam as for the whole table. The
unpenalized features are functions of any row; each region has its own beta. A region
where some of them cannot be told apart stays as near as it can to the least squares
beta_0 of all labels. With H(x) the smoother of the region, h its row at x and f = f(x),

.. math:: g(x) = h'y, \quad var \, g(x) = tau (k(x,x) - 2 k'h + h'K h)
          + s2 \sum_i h_i^2 / w_i

as in `kriging.py`. With regions of s rows: O(l s^2) time, O(l t) memory for the fit and
O(s^2) for each worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.problem.partition import Partition
from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices, Rows, as_dense_rows, as_rows, as_table
from halfmoon.solvers import RidgePoint, ridge_point, scaled_variances

__all__ = ["LocalFit", "solve_locally"]

EPS = float(np.finfo(np.float64).eps)
GROUP_ROWS = 16_384  # of one region, for one worker

#: A function of a block of rows, of their kernel with a region's rows, and of f.
_OfBlock: TypeAlias = Callable[[Rows, Array, Array], Array]


@dataclass(frozen=True)
class LocalFit:
    """A function that is a kernel ridge fit of its own in each region of the table.

    Attributes
    ----------
    posed : Posed
        The problem and its data, in the dual.
    alpha : float
    partition : Partition
        The regions.
    coordinates : callable or None
        From rows to the dense coordinates in which the table is divided; None is the
        rows themselves.
    duals : list of m ndarrays of shape (s, t)
        c of each region.
    betas : ndarray of shape (m, k, t)
        beta of each region.
    held_out : ndarray of shape (l, t)
        Predictions for the labeled rows without their own labels; the weighted mean of
        all labels where a region knows nothing without them.
    tau : ndarray of shape (t,)
        Prior variance compared with the kernel, by restricted maximum likelihood over
        all regions. Infinite where no row is left to tell.
    """

    posed: Posed
    alpha: float
    partition: Partition
    coordinates: Callable[[Rows], Array] | None
    duals: list[Array]
    betas: Array
    held_out: Array
    tau: Array

    def predict(self, X: Rows) -> Array:
        """Values g(x), shape (b,) or (b, t)."""

        def values(region: int) -> _OfBlock:
            c, beta = self.duals[region], self.betas[region]
            return lambda rows, K, F: K @ c + F @ beta

        return self.shaped(self._by_region(X, values, self.posed.y.shape[1]))

    def std(self, X: Rows, noise: float | None = None) -> Array:
        """Posterior standard deviation of g(x), shape (b,) or (b, t); see `Fit.std`.

        Parameters
        ----------
        X : array or CSR of shape (b, d)
        noise : float or None
            Variance s2 of the noise; None is by restricted maximum likelihood.
        """
        lam, tau = self._lam, self.tau
        if noise is not None:
            if not 0 <= noise < np.inf:
                raise ValueError(
                    f"noise is {noise}; a variance that is not negative is needed."
                )
            tau = np.full_like(tau, float(noise) / lam)

        def variance(region: int) -> _OfBlock:
            members = self.partition.regions[region]
            K_r, smoother = self._smoother(region)
            w = self.posed.w[members]

            def of_block(rows: Rows, K: Array, F: Array) -> Array:
                h = K @ smoother.c + F @ smoother.beta
                k_xx, kh = self._kernel.diag(rows), np.einsum("ij,ij->i", K, h)
                hKh = np.einsum("ij,ij->i", h @ K_r, h)
                by_prior = k_xx - 2 * kh + hKh
                size = np.abs(k_xx) + 2 * np.abs(kh) + np.abs(hKh)
                # The terms cancel at the labeled rows: what is left is rounding.
                by_prior[by_prior <= EPS * len(w) * size] = 0.0
                by_noise = (h**2) @ (1.0 / w)
                total = scaled_variances(by_noise, lam * tau)
                return total + scaled_variances(by_prior, tau)

            return of_block

        return self.shaped(np.sqrt(self._by_region(X, variance, len(tau))))

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with g(x) = H(x) y for any targets y of these rows."""
        posed, l = self.posed, len(self.posed.y)
        least_squares = _least_squares(posed, np.eye(l))

        def matrix(region: int) -> _OfBlock:
            members = self.partition.regions[region]
            _, smoother = self._smoother(region)
            # Columns of F depend on others here: beta_0 has a part in predictions.
            dependent = smoother.degrees > len(members) - posed.F.shape[1]

            def of_block(rows: Rows, K: Array, F: Array) -> Array:
                h, H = K @ smoother.c + F @ smoother.beta, np.zeros((len(K), l))
                H[:, members] = h
                if dependent:
                    H += (F - h @ posed.F[members]) @ least_squares
                return H

            return of_block

        return self._by_region(X, matrix, l)

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals of `held_out`, shape (l,) or (l, t)."""
        return self.shaped((self.posed.y - self.held_out)[some])

    @property
    def loo_score(self) -> float:
        """Mean squared leave-one-out residual."""
        w, residuals = self.posed.w[:, None], self.posed.y - self.held_out
        return float((w * residuals**2).sum() / (w.sum() * residuals.shape[1]))

    def shaped(self, values: Array) -> Array:
        """One column for each target, or a vector where the targets came as one."""
        return values[:, 0] if self.posed.single else values

    @property
    def _kernel(self) -> Kernel:
        return _kernel_of(self.posed)

    @property
    def _lam(self) -> float:
        return self.posed.total_weight * self.alpha

    def _smoother(self, region: int) -> tuple[Array, RidgePoint]:
        """K of a region, and its fit to the columns of the identity."""
        members = self.partition.regions[region]
        K, F = self._kernel(self.posed.X_l[members]), self.posed.F[members]
        eye, w = np.eye(len(members)), self.posed.w[members]
        return K, ridge_point(K, F, eye, w, self._lam)

    def _by_region(
        self, X: Rows, function: Callable[[int], _OfBlock], columns: int
    ) -> Array:
        """A function of each row by the region it belongs to, shape (b, columns)."""
        X, posed = as_table(X), self.posed
        quiet = replace(posed.stream, progress=None)
        regions = _find(self.partition, X, self.coordinates, quiet)
        order = np.argsort(regions, kind="stable")
        found, first = np.unique(regions[order], return_index=True)
        groups = [
            (int(region), rows)
            for region, inside in zip(found, np.split(order, first[1:]), strict=True)
            for rows in np.array_split(inside, -(-len(inside) // GROUP_ROWS))
        ]
        s, k = len(self.partition.regions[0]), posed.F.shape[1]
        held = self._kernel.temporaries * s + 2 * s + X.shape[1] + k + 2 * columns

        def of_group(number: Array) -> Array:
            region, inside = groups[int(number[0])]
            Z = posed.X_l[self.partition.regions[region]]
            at = function(region)

            def of_block(some: Indices) -> Array:
                rows = as_rows(X[some])
                return at(rows, self._kernel(rows, Z), posed.features(rows))

            return quiet.map(of_block, inside, row_bytes=8 * held)

        values = np.empty((X.shape[0], columns))
        sizes = [len(rows) for _, rows in groups]
        one_by_one = _one_by_one(posed.stream, sizes)
        numbers = np.arange(len(groups))
        values[order] = one_by_one.map(of_group, numbers, row_bytes=1)
        return values


def solve_locally(
    posed: Posed,
    alpha: float,
    *,
    size: int,
    rng: np.random.Generator | int | None,
    coordinates: Callable[[Rows], Array] | None = None,
) -> LocalFit:
    """Divide the table into overlapping regions, and solve the problem in each.

    Parameters
    ----------
    posed : Posed
        In the exact basis, without an energy; any kernel, any unpenalized features.
    alpha : float
        Penalty weight compared with the averaged loss, as for the whole table.
    size : int
        Labeled rows of a region, at most.
    rng : Generator, int or None
        Draws the directions in which the table is divided.
    coordinates : callable or None
        From rows as the user has them to dense coordinates of shape (b, q), in which
        the table is divided; None is the rows themselves.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> from halfmoon.problem import Problem
    >>> X = np.linspace(0, 9, 300)[:, None]
    >>> posed = Problem(Exact(Gaussian(0.5))).pose(X, np.sin(X[:, 0]))
    >>> fit = solve_locally(posed, 1e-6, size=100, rng=0)
    >>> len(fit.partition.regions), bool(abs(fit.predict([[2.0]]) - np.sin(2)) < 1e-3)
    (4, True)
    """
    kernel = _kernel_of(posed)
    if not 0 < alpha < np.inf:
        raise ValueError(f"alpha is {alpha}; a positive number is needed.")
    Z_l = _dense(coordinates, posed.X_l)
    partition = Partition.of(Z_l, size, np.random.default_rng(rng))
    regions = partition.find(Z_l)
    lam, mean = posed.total_weight * alpha, np.average(posed.y, axis=0, weights=posed.w)
    m, (s, k, t) = len(partition.regions), _sizes(posed, partition)
    duals, betas = np.empty((m, s, t)), np.empty((m, k, t))
    held_out = np.empty_like(posed.y)
    beta_0 = _least_squares(posed, posed.y)

    def solve_region(number: Array) -> tuple[Array, Array]:
        region = int(number[0])
        members = partition.regions[region]
        rows, F, y = posed.X_l[members], posed.F[members], posed.y[members]
        point = ridge_point(kernel(rows), F, y - F @ beta_0, posed.w[members], lam)
        c, beta = point.c, point.beta + beta_0
        duals[region], betas[region] = c, beta
        known = np.isfinite(point.residuals)
        values = np.where(known, y - point.residuals, mean)
        # A row at the boundary may belong to a region that has not learned from it.
        inside = np.flatnonzero(regions == region)
        place = np.minimum(np.searchsorted(members, inside), s - 1)
        learned = members[place] == inside
        held_out[inside[learned]] = values[place[learned]]
        others = inside[~learned]
        if len(others):
            K = kernel(posed.X_l[others], rows)
            held_out[others] = K @ c + posed.F[others] @ beta
        return point.energy, np.array(point.degrees)

    stream = _one_by_one(posed.stream, [s] * m)
    energy, degrees = stream.sum(solve_region, np.arange(m), row_bytes=1)
    tau = energy / degrees if degrees else np.full(t, np.inf)
    return LocalFit(
        *(posed, float(alpha), partition, coordinates),
        *(list(duals), betas, held_out, tau),
    )


def _kernel_of(posed: Posed) -> Kernel:
    if not isinstance(posed.basis, Exact) or not posed.dual:
        raise ValueError(
            f"The basis is {posed.basis!r} and the energy {posed.energy!r}; local fits "
            f"need a kernel in the exact basis and no energy. Use basis=Exact(kernel) "
            f"and energy=None."
        )
    return posed.basis.kernel_


def _sizes(posed: Posed, partition: Partition) -> tuple[int, int, int]:
    """Labeled rows of a region, unpenalized features and targets."""
    return len(partition.regions[0]), posed.F.shape[1], posed.y.shape[1]


def _least_squares(
    posed: Posed,
    y: Array,  # (l, t)
) -> Array:  # (k, t)
    """beta_0: y by the unpenalized features alone, from all labels."""
    elimination = posed.elimination
    return elimination.solve(elimination.Q1.T @ (posed.root_w * y))


def _dense(coordinates: Callable[[Rows], Array] | None, rows: Rows) -> Array:
    return as_dense_rows(rows if coordinates is None else coordinates(rows))


def _find(
    partition: Partition,
    X: Rows,
    coordinates: Callable[[Rows], Array] | None,
    stream: Stream,
) -> Indices:
    """The region of each row, by blocks."""

    def find(rows: Rows) -> Array:
        return np.asarray(partition.find(_dense(coordinates, rows)))

    row_bytes = 8 * (2 * X.shape[1] + 2 * partition.directions.shape[1] + 4)
    return np.asarray(stream.map(find, X, row_bytes=row_bytes), dtype=np.intp)


def _one_by_one(stream: Stream, sizes: list[int]) -> Stream:
    """The stream over numbers of groups of rows: one group a block.

    Its progress counts the rows of the groups.
    """
    progress, done = stream.progress, np.cumsum(sizes)
    if progress is None:
        return replace(stream, block_rows=1)
    told = progress

    def in_rows(groups: int, _: int) -> None:
        told(int(done[groups - 1]), int(done[-1]))

    return replace(stream, block_rows=1, progress=in_rows)
