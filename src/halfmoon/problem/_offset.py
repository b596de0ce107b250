r"""Rows far from 0: measure them from their middle, where that leaves the fit as it is.

A fit with a linear or polynomial kernel loses about twice the digits by which the rows
are farther from 0 than from each other. Where the unpenalized features make fits
independent of the origin (`kernels._transformed_rows`), no digit needs to be lost. A
smoothed basis averages functions of the rows; constants stay constants if weights sum
to 1.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, cast

import numpy as np

from halfmoon._rows import EPS, Array, Rows
from halfmoon.bases import Basis, Exact, Nystrom, Smoothed, WithDerivatives
from halfmoon.kernels import NNGP, NTK, Kernel
from halfmoon.kernels._length_scales import large_offset
from halfmoon.kernels._radial import PositiveRadial
from halfmoon.kernels._transformed_rows import Shifted
from halfmoon.smoothers import KernelWeights, Neighbors, Smoother
from halfmoon.unpenalized import Unpenalized

__all__ = ["constant_of_shift", "is_shifted", "without_offset"]

FEW_TIMES = 10.0  # the distance between rows: up to this offset, two digits are lost
MANY_TIMES = 1e4  # from this offset on, eight digits are lost


def without_offset(
    basis: Basis,
    unpenalized: Unpenalized | None,
    X: Rows,  # (n, d)
    rng: np.random.Generator | int | None = None,
) -> Basis:
    """Return the fitted basis, or another one for the same fits of rows far from 0.

    With fewer landmarks than columns, that is another approximation, as good. A warning
    says where digits will be lost.
    """
    degree = -1 if unpenalized is None else unpenalized.degree_
    kernel = _kernel_of(basis)
    if kernel is None:
        return basis
    if isinstance(basis, Smoothed) and not _sums_to_one(basis.smoother_):
        degree = -1
        outer = getattr(basis.smoother_, "kernel_", None)
        if outer is not None and 0 <= outer.origin_degree < np.inf:
            _warn(outer, X, polynomials_help=False)
    given = kernel.kernel if isinstance(kernel, Shifted) else kernel
    if 0 <= given.origin_degree <= degree:
        offset = large_offset(X, FEW_TIMES)
        if offset is None or given is not kernel:
            return basis
        return _with_kernel(basis, Shifted(given, offset), X, rng)
    if 0 <= given.origin_degree < np.inf or isinstance(given, (NNGP, NTK)):
        _warn(given, X, polynomials_help=not isinstance(basis, Smoothed))
    return basis if given is kernel else _with_kernel(basis, given)


def is_shifted(basis: Basis) -> bool:
    """Whether a fitted basis measures rows from their middle."""
    return isinstance(_kernel_of(basis), Shifted)


def constant_of_shift(basis: Basis, theta: Array) -> Array:  # (t,)
    """Return what phi(x)'theta lacks of the sum with linear kernels of all of x.

    That is -<o, v> for the slope v, and the value of these kernels alone at x = 0.
    Other kernels that can be shifted have no such constant, or more than a constant.
    """
    kernel = _kernel_of(basis)
    if not isinstance(kernel, Shifted) or kernel.origin_degree > 0:
        return np.zeros(theta.shape[1])
    terms = [c * k for c, k in kernel.kernel.terms() if k.linear]
    inner = basis.basis_ if isinstance(basis, Smoothed) else basis
    alone = _with_kernel(inner, Shifted(reduce(add, terms), kernel.origin))
    return alone.function(theta)(np.zeros((1, len(kernel.origin))))[0]


def _kernel_of(basis: Basis) -> Kernel | None:
    """Return the kernel of a fitted basis, if it is made of one."""
    if isinstance(basis, Smoothed):
        return _kernel_of(basis.basis_)
    if isinstance(basis, Nystrom):
        return basis.sections_.kernel_
    return basis.kernel_ if isinstance(basis, (Exact, WithDerivatives)) else None


def _with_kernel(
    basis: Basis,
    kernel: Kernel,
    X: Rows = None,  # to choose landmarks from; None keeps them
    rng: np.random.Generator | int | None = None,
) -> Basis:
    """Return the fitted basis with another kernel."""
    if isinstance(basis, Smoothed):
        return basis.with_inner(_with_kernel(basis.basis_, kernel, X, rng))
    changed = replace(cast(Any, basis), kernel=kernel)
    if not isinstance(basis, Nystrom):
        return changed.fit(cast(Any, basis).rows_, rng)
    Z = basis.sections_.rows_
    return (
        changed.fit(X, rng) if X is not None else replace(changed, landmarks=Z).fit(Z)
    )


def _sums_to_one(smoother: Smoother) -> bool:
    """Whether the average of a constant is the constant."""
    if isinstance(smoother, KernelWeights):
        return smoother.normalize and isinstance(smoother.kernel_, PositiveRadial)
    return isinstance(smoother, Neighbors)


def _warn(kernel: Kernel, X: Rows, *, polynomials_help: bool) -> None:
    if large_offset(X, MANY_TIMES) is None:
        return
    if large_offset(X, 1.0 / EPS) is not None:  # equal rows have no digits to lose
        return
    remedy = ""
    if polynomials_help and kernel.origin_degree < np.inf:
        remedy = f", or use unpenalized=Polynomials(degree={kernel.origin_degree})"
    warnings.warn(
        f"The rows of X are more than {MANY_TIMES:,.0f} times farther from 0 than from "
        f"each other, so a fit with {kernel!r} loses most of its digits. Subtract the "
        f"mean of each column, for example with sklearn.preprocessing.StandardScaler"
        f"{remedy}.",
        stacklevel=4,
    )
