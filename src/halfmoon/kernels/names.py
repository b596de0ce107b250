"""Kernels by name, as an estimator's parameter may give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from halfmoon.kernels.base import Kernel
from halfmoon.kernels.dot_product import Linear, Polynomial
from halfmoon.kernels.given import FromFunction, Precomputed
from halfmoon.kernels.network import NNGP, NTK
from halfmoon.kernels.product_laplace import ProductLaplace
from halfmoon.kernels.radial import (
    Gaussian,
    Laplace,
    Matern,
    Radial,
    RationalQuadratic,
)
from halfmoon.kernels.slow_growth import Logarithmic, Multiquadric
from halfmoon.kernels.splines import Polyharmonic, ThinPlate

__all__ = ["KERNELS", "as_kernel"]

KERNELS: dict[str, Callable[..., Kernel]] = {
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


def as_kernel(kernel: Any, length_scale: str = "median") -> Kernel:
    """A kernel from an object, a name or a function of two tables.

    Parameters
    ----------
    kernel : Kernel, str or callable
        Names are the keys of `KERNELS`; each stands for the kernel with its default
        parameters.
    length_scale : str
        The rule for the length scale of a kernel that comes by name.

    Examples
    --------
    >>> as_kernel("matern")
    Matern()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        named = KERNELS[kernel]
        radial = isinstance(named, type) and issubclass(named, Radial)
        return named(length_scale=length_scale) if radial else named()
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(kernel)
    names = ", ".join(repr(name) for name in KERNELS)
    raise ValueError(
        f"kernel is {kernel!r}; a kernel of halfmoon.kernels, such as Gaussian(), a "
        f"function of two tables, or one of {names} is needed."
    )
