r"""Dirichlet energy of a basis by gradients: the second lever.

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
"""

from __future__ import annotations

from typing import cast

from halfmoon._partitions.partitioned_rows import first_row
from halfmoon._rows import Array, Rows, as_rows, inner_products
from halfmoon.bases import Basis
from halfmoon.bases._base import GradientCoefficients, Sections
from halfmoon.blocks import Stream
from halfmoon.kernels._length_scales import squared_distances, squared_norms
from halfmoon.kernels._radial import Radial

__all__ = ["dirichlet", "dirichlet_and_covariance"]


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
    kernel, Z = sections.kernel, as_rows(sections.Z, name="landmarks")
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
            r, C = squared_norms(rows), inner_products(rows, Z)
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
