"""Kernels as users give them: by name, as a function of two tables, or as a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Array, Rows
from halfmoon._whitening import refuse_asymmetric
from halfmoon.kernels._base import Kernel
from halfmoon.kernels._dot_product import Linear, Polynomial
from halfmoon.kernels._growing import Logarithmic, Multiquadric, Polyharmonic, ThinPlate
from halfmoon.kernels._radial import (
    Gaussian,
    Laplace,
    Matern,
    ProductLaplace,
    RationalQuadratic,
)
from halfmoon.kernels._wide_networks import NNGP, NTK

__all__ = [
    "KERNELS",
    "FromFunction",
    "Precomputed",
    "as_kernel",
    "check_kernel_matrix",
    "with_row_numbers",
]


@dataclass(eq=False, repr=False)
class FromFunction(Kernel):
    """A kernel given by a function of two tables, with values of shape (n, p).

    For X = Z its values must be symmetric and positive semi-definite.

    Examples
    --------
    >>> FromFunction(lambda X, Z: X @ Z.T)([[2.0]], [[3.0], [4.0]])
    array([[6., 8.]])
    """

    function: Callable[[Rows, Rows], Any]

    def _value(self, X: Rows, Z: Rows) -> Array:
        K = self.function(X, Z)
        K = np.asarray(K.toarray() if sp.issparse(K) else K)
        if K.dtype.kind not in "fiub" and K.size > 1:
            raise ValueError(
                f"The kernel function returned values of dtype {K.dtype}; real numbers "
                f"are needed."
            )
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"The kernel function returned shape {K.shape} for {X.shape[0]} and "
                f"{Z.shape[0]} rows; shape {(X.shape[0], Z.shape[0])} is needed. The "
                f"function gets both tables and must return all values at once."
            )
        K = np.array(K, dtype=np.float64)  # a copy
        if not np.isfinite(K).all():
            raise ValueError(
                "The kernel function returned NaN or infinity; finite numbers are "
                "needed. Check the function, or rescale the columns of X."
            )
        return K

    def _diag(self, X: Rows) -> Array:
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        return np.array([self._value(row, row)[0, 0] for row in rows])


@dataclass(eq=False, repr=False)
class Precomputed(Kernel):
    """A kernel whose values are the entries of the table.

    A row holds its values with all n fitted rows. The last column is its own number
    among these, or -1 for a new row: see `with_row_numbers`.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> fitted = with_row_numbers(K)
    >>> Precomputed()(with_row_numbers(np.array([[5.0, 7.0]]), new=True), fitted[[1]])
    array([[7.]])
    """

    def _value(self, X: Rows, Z: Rows) -> Array:
        return np.ascontiguousarray(X[:, _numbers(Z)])

    def _diag(self, X: Rows) -> Array:
        return X[np.arange(X.shape[0]), _numbers(X)].copy()


def check_kernel_matrix(K: Array) -> None:
    """Raise a ValueError unless the matrix of the fitted rows is symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"X has shape {K.shape}; a precomputed kernel needs a square matrix, the "
            f"values between all rows."
        )
    refuse_asymmetric(K, name="The precomputed kernel")


def with_row_numbers(K: Array, *, new: bool = False) -> Array:
    """Append the numbers of the rows to a kernel matrix as its last column."""
    numbers = np.full(len(K), -1.0) if new else np.arange(len(K), dtype=np.float64)
    return np.column_stack([K, numbers])


def _numbers(Z: Array) -> Any:
    numbers = Z[:, -1].astype(np.intp)
    if (numbers < 0).any():
        raise ValueError(
            "A precomputed kernel has no values between two new rows, which are needed "
            "here (for example for a standard deviation). Give the kernel as an object "
            "or a function."
        )
    return numbers


KERNELS: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "laplacian": Laplace,
    "product_laplace": ProductLaplace,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "nngp": NNGP,
    "ntk": NTK,
    "thin_plate": ThinPlate,
    "polyharmonic": Polyharmonic,
    "multiquadric": Multiquadric,
    "logarithmic": Logarithmic,
    "precomputed": Precomputed,
}


def as_kernel(kernel: Any, *, parameter: str = "kernel") -> Kernel:
    """Return a kernel, given as an object, a name or a function of two tables.

    Errors name the `parameter` that the kernel comes from.

    Examples
    --------
    >>> as_kernel("matern")
    Matern()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(kernel)
    names = ", ".join(repr(name) for name in KERNELS)
    raise ValueError(
        f"{parameter} is {kernel!r}; a kernel of halfmoon.kernels, such as Gaussian(), "
        f"a function of two tables, or one of {names} is needed."
    )
