r"""Kernel ridge for many labels: exact fits in overlapping regions of the table.

A narrow kernel needs a center at every labeled row nearby, and none far away. So the
table is divided into overlapping regions (`_regions.py`), and in each region

.. math:: min \; \sum_{i \in region} w_i |y_i - (K c + F beta)_i|^2 + lam \, c'K c,
          \quad lam = W alpha

is solved on its own by `ridge_point`, with the same lam as for the whole table. The
unpenalized features are functions of any row; each region has its own beta. Where they
depend on each other in a region, its beta is the nearest to beta_0, the least squares
of all labels by these features alone. With regions of s rows: O(l s^2) time, O(l t)
memory for the fit and O(s^2) for each worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from halfmoon._rows import Array, Indices, Rows, as_dense_rows, as_table
from halfmoon._solvers.cholesky_ridge import PointFactor, factor_point, ridge_point
from halfmoon._solvers.ridge import scaled_variances
from halfmoon.bases import Exact
from halfmoon.kernels import Kernel
from halfmoon.problem._posed import Posed
from halfmoon.problem._regions import OfRows, Regions, map_by_region, over_groups

__all__ = ["LocalFit", "solve_locally"]

#: A function of a block of rows, their kernel with a region's rows, and their f.
_OfBlock: TypeAlias = Callable[[Rows, Array, Array], Array]

FACTOR_MATRICES = 4  # s-by-s, held by a factorization in addition to the kernel's


@dataclass(frozen=True)
class LocalFit:
    """A separate kernel ridge fit in each region of the table.

    `coordinates` are those in which the table is divided; None is the rows themselves.
    `held_out` are leave-one-out predictions; the weighted mean of all labels where the
    other labels of a region do not determine them. `tau` is the prior variance relative
    to the kernel, by restricted maximum likelihood over all regions; infinite if there
    are no more labels than unpenalized features.
    """

    posed: Posed  # in the dual
    alpha: float
    partition: Regions
    coordinates: Callable[[Rows], Array] | None
    duals: list[Array]  # c of each of m regions, (s, t)
    betas: Array  # (m, k, t)
    held_out: Array  # (l, t)
    tau: Array  # (t,)

    def predict(self, X: Rows) -> Array:
        """Return the values g(x), shape (b,) or (b, t)."""

        def values(region: int) -> _OfBlock:
            c, beta = self.duals[region], self.betas[region]
            return lambda rows, K, F: K @ c + F @ beta

        return self.shaped(self._by_region(X, values, self.posed.y.shape[1]))

    def std(self, X: Rows, noise: float | None = None) -> Array:
        """Return the posterior standard deviation of g(x); see `Fit.std`."""
        lam, tau = self._lam, self.tau
        if noise is not None:
            if not 0 <= noise < np.inf:
                raise ValueError(
                    f"noise is {noise}; a variance that is not negative is needed."
                )
            tau = np.full_like(tau, float(noise) / lam)

        def variance(region: int) -> _OfBlock:
            factor = self._factor(region)

            def of_block(rows: Rows, K: Array, F: Array) -> Array:
                unit = factor.variance(K, self._kernel.diag(rows), F)
                return scaled_variances(unit, tau)

            return of_block

        return self.shaped(np.sqrt(self._by_region(X, variance, len(tau))))

    def smoother_matrix(self, X: Rows) -> Array:
        """Return H(x), shape (b, l), with g(x) = H(x) y for any targets y."""
        posed, l = self.posed, len(self.posed.y)
        least_squares = _least_squares(posed)

        def matrix(region: int) -> _OfBlock:
            members, factor = self.partition.regions[region], self._factor(region)
            # Where columns of F depend on others, predictions depend on beta_0.
            dependent = factor.elimination.rank < posed.F.shape[1]

            def of_block(rows: Rows, K: Array, F: Array) -> Array:
                h, H = factor.smoother_matrix(K, F), np.zeros((len(K), l))
                H[:, members] = h
                if dependent:
                    H += (F - h @ posed.F[members]) @ least_squares
                return H

            return of_block

        return self._by_region(X, matrix, l)

    def with_targets(self, y: Array) -> LocalFit:
        """Return the fit to other targets, (l, t), without its leave-one-out; O(l s^2).

        The regions, the penalty and `tau` stay.
        """
        posed = self.posed.with_targets(y)
        beta_0, duals, betas = _least_squares(posed) @ y, [], []
        for members in self.partition.regions:
            F, w = posed.F[members], posed.w[members]
            K, left = self._kernel(posed.X_l[members]), y[members] - F @ beta_0
            point = ridge_point(K, F, left, w, self._lam)
            duals.append(point.c)
            betas.append(point.beta + beta_0)
        unknown = np.full_like(y, np.nan)
        return replace(
            self, posed=posed, duals=duals, betas=np.array(betas), held_out=unknown
        )

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Return the leave-one-out residuals, shape (l,) or (l, t)."""
        return self.shaped((self.posed.y - self.held_out)[some])

    @property
    def loo_score(self) -> float:
        """Mean squared leave-one-out residual."""
        w, residuals = self.posed.w[:, None], self.posed.y - self.held_out
        return float((w * residuals**2).sum() / (w.sum() * residuals.shape[1]))

    def shaped(self, values: Array) -> Array:
        """Return one column for each target, or a vector if y was a vector."""
        return values[:, 0] if self.posed.single else values

    @property
    def _kernel(self) -> Kernel:
        return _kernel_of(self.posed)

    @property
    def _lam(self) -> float:
        return self.posed.total_weight * self.alpha

    def _factor(self, region: int) -> PointFactor:
        members = self.partition.regions[region]
        K = self._kernel(self.posed.X_l[members])
        return factor_point(K, self.posed.F[members], self.posed.w[members], self._lam)

    def _by_region(
        self, X: Rows, function: Callable[[int], _OfBlock], columns: int
    ) -> Array:
        """Apply to each row the function of its region, shape (b, columns)."""
        X, posed, kernel = as_table(X), self.posed, self._kernel
        if X.shape[1] != posed.X.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns; the model was fitted on "
                f"{posed.X.shape[1]}. Pass the same columns in the same order."
            )

        def of_region(region: int) -> OfRows:
            Z = posed.X_l[self.partition.regions[region]]
            of_block = function(region)
            return lambda rows: of_block(rows, kernel(rows, Z), posed.features(rows))

        s, k = len(self.partition.regions[0]), posed.F.shape[1]
        held = (kernel.temporaries + 2) * s + X.shape[1] + k + 2 * columns
        return map_by_region(
            of_region,
            X,
            self._find(X),
            row_bytes=8 * held,
            region_bytes=_region_bytes(kernel, s),
            stream=posed.stream,
        )

    def _find(self, X: Rows) -> Indices:
        """Return the region of each row."""

        def find(rows: Rows) -> Array:
            return np.asarray(self.partition.find(_dense(self.coordinates, rows)))

        stream = replace(self.posed.stream, progress=None)
        row_bytes = 8 * 2 * (X.shape[1] + self.partition.directions.shape[1] + 2)
        return np.asarray(stream.map(find, X, row_bytes=row_bytes), dtype=np.intp)


def solve_locally(
    posed: Posed,
    alpha: float,
    *,
    size: int,
    rng: np.random.Generator | int | None,
    coordinates: Callable[[Rows], Array] | None = None,
) -> LocalFit:
    """Divide the table into overlapping regions and solve the problem in each.

    Parameters
    ----------
    posed : Posed
        In the exact basis, without an energy; any kernel, any unpenalized features.
    alpha : float
        Penalty weight relative to the averaged loss, as for the whole table.
    size : int
        Largest number of labeled rows in a region.
    rng : Generator, int or None
        Draws the directions in which the table is divided.
    coordinates : callable or None
        From rows to dense coordinates of shape (b, q), in which the table is divided;
        None is the rows themselves.

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
    partition = Regions.of(Z_l, size, np.random.default_rng(rng))
    regions = partition.find(Z_l)
    lam, mean = posed.total_weight * alpha, np.average(posed.y, axis=0, weights=posed.w)
    m, s = len(partition.regions), len(partition.regions[0])
    k, t = posed.F.shape[1], posed.y.shape[1]
    duals, betas = np.empty((m, s, t)), np.empty((m, k, t))
    held_out = np.empty_like(posed.y)
    beta_0 = _least_squares(posed) @ posed.y

    def solve_region(number: Array) -> tuple[Array, Array]:
        region = int(number[0])
        members = partition.regions[region]
        rows, F, y = posed.X_l[members], posed.F[members], posed.y[members]
        point = ridge_point(kernel(rows), F, y - F @ beta_0, posed.w[members], lam)
        c, beta = point.c, point.beta + beta_0
        duals[region], betas[region] = c, beta
        known = np.isfinite(point.residuals)
        values = np.where(known, y - point.residuals, mean)
        # A row at a boundary may belong to a region that was not fitted to it.
        inside = np.flatnonzero(regions == region)
        place = np.minimum(np.searchsorted(members, inside), s - 1)
        fitted = members[place] == inside
        held_out[inside[fitted]] = values[place[fitted]]
        new = inside[~fitted]
        if len(new):
            K = kernel(posed.X_l[new], rows)
            held_out[new] = K @ c + posed.F[new] @ beta
        return point.energy, np.array(point.degrees)

    stream = over_groups(posed.stream, [s] * m, _region_bytes(kernel, s))
    energy, degrees = stream.sum(solve_region, np.arange(m), row_bytes=1)
    tau = energy / degrees if degrees else np.full(t, np.inf)
    return LocalFit(
        posed,
        float(alpha),
        partition,
        coordinates,
        duals=list(duals),
        betas=betas,
        held_out=held_out,
        tau=tau,
    )


def _kernel_of(posed: Posed) -> Kernel:
    if not isinstance(posed.basis, Exact) or not posed.dual:
        raise ValueError(
            f"The basis is {posed.basis!r} and the energy {posed.energy!r}. Local fits "
            f"need a kernel in the exact basis and no energy. Use basis=Exact(kernel) "
            f"and energy=None."
        )
    return posed.basis.kernel_


def _region_bytes(kernel: Kernel, s: int) -> int:
    return 8 * (kernel.temporaries + FACTOR_MATRICES) * s**2


def _least_squares(posed: Posed) -> Array:  # (k, l)
    """Return the matrix from y to beta_0, least squares on F alone with all labels."""
    elimination = posed.elimination
    return elimination.solve(elimination.Q1.T * posed.root_w.T)


def _dense(coordinates: Callable[[Rows], Array] | None, rows: Rows) -> Array:
    return as_dense_rows(rows if coordinates is None else coordinates(rows))
