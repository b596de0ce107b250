r"""Kernel ridge in cells: exact in each, whatever the number of labels.

Narrow kernels need a center at every labeled row near by, and none far off. So the
table is cut into cells (`partition.py`), and with A = K + lam diag(1 / w) in each cell,
lam = W alpha as for the whole table,

.. math:: G = A^{-1} - a a' / 1'a, \quad a = A^{-1} 1, \quad c = G y, \quad
          beta = a'y / 1'a

fit y by k(x)'c + beta, and the left-out residual of row i is c_i / G_ii, for which the
diagonal of A^-1 is the column sums of squares of the inverse Cholesky factor. With
cells of s rows, O(l s^2) time and O(s^2) memory beside the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dtrtri

from halfmoon.blocks import Stream
from halfmoon.candidates.candidate import weighted_path
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.partition import Partition
from halfmoon.kernels import Kernel
from halfmoon.rows import Array, Indices, Rows

__all__ = ["CellFit", "Cellwise", "solve_cell"]

BLOCK_ENTRIES = 2**19  # of a kernel matrix between new rows and those of a cell
GROUP_ROWS = 16_384  # of a cell, for one worker


#: Of prepared rows and of their kernel with the rows of a cell.
_AtRows: TypeAlias = Callable[[Array, Array], Array]


class CellFit(NamedTuple):
    """Kernel ridge in one cell."""

    c: Array  # (s, t)
    beta: Array  # (t,)
    residuals: Array  # (s, t), left out; infinite where nothing is known
    energy: Array  # (t,), y'G y


def solve_cell(
    K: Array,  # (s, s)
    y: Array,  # (s, t)
    w: Array,  # (s,)
    lam: float,
) -> CellFit:
    """Kernel ridge with a constant, and its left-out residuals. O(s^3)."""
    A = K.copy()
    A[np.diag_indices(len(A))] += lam / w
    try:
        chol = sla.cholesky(A, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return _by_path(K, y, w, lam)
    right = np.hstack([np.ones((len(A), 1)), y])
    solved = sla.cho_solve((chol, True), right, check_finite=False)
    a, b = solved[:, 0], solved[:, 1:]
    beta = b.sum(axis=0) / a.sum()
    c = b - np.outer(a, beta)
    inverse, _ = dtrtri(chol, lower=1, overwrite_c=1)
    whole = np.einsum("ij,ij->j", np.tril(inverse), np.tril(inverse))
    G_ii = whole - a * a / a.sum()
    known = G_ii > 10 * len(A) * np.finfo(float).eps * whole
    residuals = np.full_like(c, np.inf)
    residuals[known] = c[known] / G_ii[known, None]
    return CellFit(c, beta, residuals, (c * y).sum(axis=0))


def _by_path(K: Array, y: Array, w: Array, lam: float) -> CellFit:
    """The same by an eigendecomposition, which no singular matrix stops."""
    path, alpha = weighted_path(K, np.ones((len(K), 1)), y, w), lam / w.sum()
    root = np.sqrt(w)[:, None]
    c = root * path.theta(alpha)
    residuals = path.leave_one_out([alpha])[0] / root
    return CellFit(c, path.beta(alpha)[0], residuals, (c * y).sum(axis=0))


@dataclass(eq=False)
class Cellwise:
    """Kernel ridge in each cell of a table.

    Attributes
    ----------
    name : str
    prepare : callable
        From rows as the user has them to those that the kernel and the cells see.
    kernel : Kernel
        Its parameters resolved.
    alpha : float
    data : Labeled
    partition : Partition
    duals : list of ndarrays of shape (s, t)
        c of each cell.
    betas : ndarray of shape (m, t)
    left_out : ndarray of shape (l, t)
        Values at the labeled rows without their own labels.
    prior : ndarray of shape (t,)
        tau, the variance of the function beside the kernel.
    """

    name: str
    prepare: Callable[[Rows], Rows]
    kernel: Kernel
    alpha: float
    data: Labeled
    partition: Partition
    duals: list[Array]
    betas: Array
    left_out: Array
    prior: Array

    @classmethod
    def fit(
        cls,
        name: str,
        prepare: Callable[[Rows], Rows],
        kernel: Kernel,
        *,
        alpha: float,
        data: Labeled,
        size: int,
        rng: np.random.Generator,
    ) -> Cellwise:
        """Cut the table into cells of at most so many labeled rows, and fit each."""
        Z = np.asarray(prepare(data.X_l))
        partition = Partition.of(Z, size, rng)
        cells = partition.find(Z)
        lam = data.total_weight * alpha
        fits, left_out = [], np.empty_like(data.y)
        total = (data.w[:, None] * data.y).sum(axis=0)
        mean = total / data.total_weight
        for cell, members in enumerate(partition.members):
            y = data.y[members]
            fit = solve_cell(kernel(Z[members]), y, data.w[members], lam)
            fits.append(fit)
            # A row at the cut may be in a cell that has not learned from it.
            inside = np.flatnonzero(cells == cell)
            values = y - np.where(np.isfinite(fit.residuals), fit.residuals, y - mean)
            place = np.searchsorted(members, inside)
            learned = members[np.minimum(place, len(members) - 1)] == inside
            left_out[inside[learned]] = values[place[learned]]
            others = inside[~learned]
            if len(others):
                K = kernel(Z[others], Z[members])
                left_out[others] = K @ fit.c + fit.beta
        degrees = sum(len(members) - 1 for members in partition.members)
        prior = np.sum([fit.energy for fit in fits], axis=0) / max(1, degrees)
        duals = [fit.c for fit in fits]
        betas = np.array([fit.beta for fit in fits])
        return cls(
            *(name, prepare, kernel, alpha, data, partition),
            *(duals, betas, left_out, prior),
        )

    def predict(self, X: Rows, stream: Stream) -> Array:
        """Values at any rows, shape (b, t)."""

        def values(cell: int) -> _AtRows:
            return lambda Z, K: K @ self.duals[cell] + self.betas[cell]

        return self._by_cell(X, stream, values)

    def variance(self, X: Rows, stream: Stream) -> Array:
        """Posterior variance of the function at any rows, shape (b, t)."""
        return self._by_cell(X, stream, self._variance_in)

    def smoother_matrix(self, X: Rows, stream: Stream) -> Array:
        """H(x), shape (b, l), with values H(x) y."""

        def row(cell: int) -> _AtRows:
            chol, a, members = *self._factor(cell), self.partition.members[cell]

            def of(Z: Array, K: Array) -> Array:
                # k'G + a' / 1'a
                H = np.zeros((len(K), len(self.data.y)))
                solved = sla.cho_solve((chol, True), K.T, check_finite=False).T
                rest = 1.0 - K @ a
                H[:, members] = solved + np.outer(rest, a / a.sum())
                return H

            return of

        return self._by_cell(X, stream, row, self.data.y.shape[0])

    def _variance_in(self, cell: int) -> _AtRows:
        chol, a = self._factor(cell)

        def of(Z: Array, K: Array) -> Array:
            # k(x, x) - k'A^-1 k + (1 - 1'A^-1 k)^2 / 1'A^-1 1
            half = sla.solve_triangular(chol, K.T, lower=True, check_finite=False)
            taken = np.einsum("ij,ij->j", half, half)
            unit = np.maximum(self.kernel.diag(Z) - taken, 0.0)
            unit += (1.0 - K @ a) ** 2 / a.sum()
            return np.asarray(np.outer(unit, self.prior))

        return of

    def _factor(self, cell: int) -> tuple[Array, Array]:
        """The Cholesky factor of A, and a."""
        members = self.partition.members[cell]
        A = self.kernel(self._rows_of(members))
        lam = self.data.total_weight * self.alpha
        A[np.diag_indices(len(A))] += lam / self.data.w[members]
        chol = sla.cholesky(A, lower=True, overwrite_a=True, check_finite=False)
        return chol, sla.cho_solve((chol, True), np.ones(len(A)), check_finite=False)

    def _rows_of(self, members: Indices) -> Array:
        return np.asarray(self.prepare(self.data.X_l[members]))

    def _by_cell(
        self,
        X: Rows,
        stream: Stream,
        function: Callable[[int], _AtRows],
        columns: int | None = None,
    ) -> Array:
        """A function of x and of k(x, z), z in its cell, at all rows."""
        t = self.data.y.shape[1] if columns is None else columns
        row_bytes = 8 * (4 * X.shape[1] + len(self.partition.thresholds) + 1)

        def find(rows: Rows) -> Any:
            return self.partition.find(np.asarray(self.prepare(rows)))

        cells: Indices = np.asarray(stream.map(find, X, row_bytes=row_bytes))
        order = np.argsort(cells, kind="stable")
        found, first = np.unique(cells[order], return_index=True)
        groups = [
            (cell, rows)
            for cell, inside in zip(found, np.split(order, first[1:]), strict=True)
            for rows in np.array_split(inside, -(-len(inside) // GROUP_ROWS))
        ]

        def of_group(number: Array) -> Array:
            cell, rows = groups[int(number[0])]
            members = self.partition.members[cell]
            Z, at = self._rows_of(members), function(int(cell))
            step = max(1, BLOCK_ENTRIES // max(len(members), t))
            out = np.empty((len(rows), t))
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                new = np.asarray(self.prepare(X[some]), dtype=np.float64)
                out[start : start + step] = at(new, self.kernel(new, Z))
            return out

        by_group = replace(stream, block_rows=1, progress=None)
        values = np.empty((X.shape[0], t))
        numbers = np.arange(len(groups), dtype=np.float64)
        values[order] = by_group.map(of_group, numbers, row_bytes=1)
        return values
