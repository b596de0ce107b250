r"""Moments of a basis over the rows, as sums over row blocks: energies, label moments.

**The Dirichlet energy by gradients** is the second lever.

.. math:: L_{ab} = 1/n \sum_i <grad phi_a(x_i), grad phi_b(x_i)>

Cabannes et al., "Overcoming the curse of dimensionality with Laplacian regularization",
2021, equation 8, form it as Z'Z from all n d gradient rows, in O(n p^2 d). With
:math:`grad phi_a(x) = A(x, a) x + B(x, a) z_a` and C = X Z', G = Z Z', r the squared
norms of the rows, it is

.. math:: n L = A'(r A) + A'(C * B) + (C * B)'A + G * (B'B)                      (4)

in O(n p^2 + n p d) time. A radial kernel has B = -A. Then, with D the squared distances
of the rows to the landmarks, and D_ZZ those between landmarks,

.. math:: n L = ((D * A)'A + A'(D * A) - D_{ZZ} * (A'A)) / 2                      (4r)

which depends on distances only, so an offset costs no digits. For the Gaussian, A is a
multiple of K, and the same two products give the covariance as well.

**The energy on a graph** has differences along edges in place of gradients.

.. math:: E_{ab} = 1/n^2 \, phi_a(X)' L_g \, phi_b(X)
          = 1/(2 n^2) \sum_{ij} W_{ij} (phi_a(x_i) - phi_a(x_j)) (phi_b(x_i) - ...)

with L_g the sparse Laplacian of a neighbor graph. With the exact basis, and with a
multiple of its norm added, this is the penalty of LapRLS: Belkin, Niyogi, Sindhwani,
"Manifold regularization", 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from halfmoon._costs import EnergyCost, seconds_a_call
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon._partitioned_rows import PartitionedRows, first_row
from halfmoon._rows import Array, Rows, as_float_rows, as_rows, inner_products
from halfmoon.bases import Basis
from halfmoon.bases._base import GradientCoefficients, Sections
from halfmoon.blocks import Stream, alone
from halfmoon.kernels._length_scales import squared_distances, squared_norms
from halfmoon.kernels._radial import Radial
from halfmoon.kernels._transformed_rows import from_origin

__all__ = [
    "dirichlet",
    "dirichlet_and_covariance",
    "energy_forecast",
    "energy_matrix",
    "graph_energy",
    "label_moments",
]

ROUNDING = 1e-6  # of the entries of a Laplacian, relative to the largest
MIN_OPERATIONS = 1e10  # less work ends before anyone has read a forecast
PROBE_BYTES = 48_000_000  # as in a row block; what fits in the cache is faster


def energy_matrix(energy: Any, basis: Basis, X: Any, stream: Stream) -> Array:
    """Return an energy of a `Problem` as a quadratic form of theta, shape (p, p).

    Rows may be in partitions for the energy of gradients only.
    """
    if isinstance(energy, str) and energy == "gradient":
        return dirichlet(basis, X, stream=stream)
    if isinstance(energy, str) and energy == "graph":
        energy = graph_laplacian(neighbor_graph(X))
    if not sp.issparse(energy):
        raise ValueError(
            f"energy is {energy!r}; 'gradient', 'graph' or a sparse graph Laplacian "
            f"over the rows is needed."
        )
    return graph_energy(basis, X, energy, stream=stream)


def dirichlet(
    basis: Basis,
    X: Rows,  # (n, d)
    *,
    stream: Stream | None = None,
) -> Array:  # (p, p)
    """Return the Dirichlet energy of the basis over rows, labeled or not.

    O(n p^2 + n p d) time for kernel sections and random features, whose gradients have
    coefficients A and B; O(n p^2 d) for other bases.
    """
    return _energies(basis, X, stream or Stream.inherited(), with_covariance=False)[0]


def dirichlet_and_covariance(
    basis: Basis,
    X: Rows,  # (n, d)
    *,
    stream: Stream | None = None,
) -> tuple[Array, Array]:  # (p, p) each
    """Return the Dirichlet energy L and the covariance Sigma, in one pass."""
    L, Sigma = _energies(basis, X, stream or Stream.inherited(), with_covariance=True)
    return L, Sigma


def _energies(
    basis: Basis, X: Rows, stream: Stream, with_covariance: bool
) -> tuple[Array, ...]:
    sections = basis.sections
    if sections is not None and sections.kernel.radial:
        sums = _radial(sections, X, stream, with_covariance)
    else:
        probe = basis.gradient_coefficients(first_row(X))
        sums = (
            _by_gradients(basis, X, stream, with_covariance)
            if probe is None
            else _by_coefficients(basis, probe.Z, X, stream, with_covariance)
        )
    return tuple(total / X.shape[0] for total in sums)


def _radial(
    sections: Sections, X: Rows, stream: Stream, with_covariance: bool
) -> tuple[Array, ...]:
    """Return the sum (4r), and Phi'Phi if wanted."""
    kernel, Z = sections.kernel, as_float_rows(sections.Z, name="landmarks")
    ratio = kernel.slope_ratio

    def products(rows: Rows) -> tuple[Array, ...]:
        D = squared_distances(as_rows(rows), Z)
        if ratio is not None:  # A = ratio * K, and the ratio is applied at the end
            A = K = cast(Radial, kernel).value(D.copy())
        else:
            K, A = kernel.value_and_slope(D)
        AA = A.T @ A
        D *= A
        # If A is K, their products are neither held nor moved twice.
        both = with_covariance and A is not K
        return (D.T @ A, AA, K.T @ K) if both else (D.T @ A, AA)

    arrays = 2 if ratio is not None else 1 + kernel.gradient_temporaries  # with D
    DAA, AA, *KK = stream.sum(products, X, row_bytes=8 * arrays * Z.shape[0])
    L = DAA + DAA.T
    L -= squared_distances(Z, Z) * AA
    L *= 0.5 * (1.0 if ratio is None else ratio**2)
    return (L, *(KK or [AA])) if with_covariance else (L,)


def _by_coefficients(
    basis: Basis, Z: Rows, X: Rows, stream: Stream, with_covariance: bool
) -> tuple[Array, ...]:
    """Return the sum (4), and Phi'Phi if wanted."""
    Z = as_rows(Z, name="landmarks")

    def products(rows: Rows) -> tuple[Array, ...]:
        rows = as_rows(rows)
        A, B, _ = cast(GradientCoefficients, basis.gradient_coefficients(rows))
        out = [B.T @ B]
        if A is not None:
            U = from_origin(rows, basis.origin)
            r, C = squared_norms(U), inner_products(U, Z)
            C *= B
            AC = A.T @ C
            out += [A.T @ (r[:, None] * A) + AC + AC.T]
        if with_covariance:
            Phi = basis.transform(rows)
            out += [Phi.T @ Phi]
        return tuple(out)

    arrays = 2 if basis.sections is None else basis.sections.kernel.gradient_temporaries
    row_bytes = 8 * (4 + arrays) * basis.n_components_
    BB, *rest = stream.sum(products, X, row_bytes=row_bytes)
    L = inner_products(Z, Z)
    L *= BB
    covariance = rest.pop() if with_covariance else None
    for part in rest:
        L += part
    return (L,) if covariance is None else (L, covariance)


def _by_gradients(
    basis: Basis, X: Rows, stream: Stream, with_covariance: bool
) -> tuple[Array, ...]:
    """Return the sum by its definition, for any differentiable basis."""
    basis.gradient(first_row(X))  # computes once what it stores for all rows

    def products(rows: Rows) -> tuple[Array, ...]:
        G = basis.gradient(rows)  # (b, p, d)
        stacked = G.transpose(0, 2, 1).reshape(-1, G.shape[1])  # (b d, p)
        out = [stacked.T @ stacked]
        if with_covariance:
            Phi = basis.transform(rows)
            out += [Phi.T @ Phi]
        return tuple(out)

    # Values, A and B take three times the memory of values; then the gradients.
    row_bytes = 3 * basis.row_bytes + 24 * basis.n_components_ * X.shape[1]
    return cast(tuple[Array, ...], stream.sum(products, X, row_bytes=row_bytes))


def graph_energy(
    basis: Basis,
    X: Rows,  # (n, d)
    laplacian: sp.csr_array,  # (n, n)
    *,
    stream: Stream | None = None,
) -> Array:  # (p, p)
    """Return the energy of the basis on a graph over the rows, in one pass.

    A row block also needs the basis at its neighbors. These values are recomputed, so
    no n-by-p matrix is stored: O(n p^2 + n k p d) time for k neighbors.
    """
    n = X.shape[0]
    laplacian = sp.csr_array(laplacian)
    if laplacian.shape != (n, n):
        raise ValueError(
            f"The graph Laplacian has shape {laplacian.shape} and the table {n} rows; "
            f"a square matrix with one row for each row of the table is needed."
        )
    if not np.isfinite(laplacian.data).all():
        raise ValueError(
            "The graph Laplacian contains NaN or infinity; finite numbers are needed. "
            "Check the weights of the edges."
        )
    largest = np.abs(laplacian.data).max(initial=0.0)
    off = np.abs((laplacian - laplacian.T).data).max(initial=0.0)
    least = laplacian.diagonal().min()
    if off > ROUNDING * largest or least < -ROUNDING * largest:
        negative = f"negative on the diagonal ({least:.3g})"
        raise ValueError(
            f"The graph Laplacian is {'not symmetric' if least >= 0 else negative}; a "
            f"symmetric one, D - W with weights W that are not negative, is needed. "
            f"For a directed graph use (W + W.T) / 2."
        )

    def products(block: sp.csr_array, rows: Array) -> Array:
        near = np.union1d(block.indices, rows)
        Phi = basis.transform(X[near])  # (m, p)
        Phi_rows = Phi[np.searchsorted(near, rows)]
        return Phi_rows.T @ (block[:, near] @ Phi)

    neighbors = 1 + laplacian.nnz // n
    total: Array = (stream or Stream.inherited()).sum(
        products,
        laplacian,
        np.arange(n),
        row_bytes=(neighbors + 2) * max(basis.row_bytes, 16 * basis.n_components_),
    )
    return (total + total.T) / (2.0 * n**2)


def label_moments(
    features: Callable[[Rows], Array],
    X_l: Rows,  # (l, d)
    root_weights: Array,  # (l, 1)
    columns: Array,  # (l, q)
    *,
    row_bytes: int,
    stream: Stream | None = None,
) -> tuple[Array, Array]:  # (p, p), (p, q)
    """Return Phi'W Phi and Phi'W^(1/2) C, by row blocks; Phi is not stored."""

    def products(rows: Rows, root_w: Array, C: Array) -> tuple[Array, Array]:
        Phi = features(rows)
        if (root_w != 1.0).any():
            Phi = root_w * Phi  # not in place: it may be the table itself
        return Phi.T @ Phi, Phi.T @ C

    G, b = (stream or Stream.inherited()).sum(
        products, X_l, root_weights, columns, row_bytes=row_bytes
    )
    return G, b


def energy_forecast(
    basis: Basis, rows: PartitionedRows, client: Any = None
) -> str | None:
    """Say what the energy of a basis over rows in partitions costs; None if little.

    The probe is the same work on a few rows, here, with one thread. The forecast
    assumes workers of the same speed, and that reading all rows takes as long as it did
    the first time.
    """
    (n, d), p = rows.shape, basis.n_components_
    cost = EnergyCost(n, d, p, len(rows.partitions))
    if cost.operations < MIN_OPERATIONS:
        return None
    some = min(n, max(1, PROBE_BYTES // (16 * p)))
    probe, stream = np.repeat(rows.example, some, axis=0), Stream(n_jobs=1)
    with alone():
        seconds = seconds_a_call(lambda: dirichlet(basis, probe, stream=stream))
    rate = cost._replace(n=some).operations / seconds
    workers = rows.engine(client).threads
    return cost.in_words(cost.seconds(rate, workers, rows.reading))
