"""Kernels by name, for the parameters of estimators."""

from __future__ import annotations

from typing import Any

from halfmoon.kernels._base import Kernel
from halfmoon.kernels._dot_product import Linear, Polynomial
from halfmoon.kernels._length_scales import WithLengthScale
from halfmoon.kernels._product_laplace import ProductLaplace
from halfmoon.kernels._radial import Gaussian, Laplace, Matern, RationalQuadratic
from halfmoon.kernels._slow_growth import Logarithmic, Multiquadric
from halfmoon.kernels._splines import Polyharmonic, ThinPlate
from halfmoon.kernels._user_kernels import FromFunction, Precomputed
from halfmoon.kernels._wide_networks import NNGP, NTK

__all__ = ["KERNELS", "as_kernel"]

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


def as_kernel(kernel: Any, length_scale: str = "median") -> Kernel:
    """Return a kernel, given as an object, a name or a function of two tables.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A name is a key of `KERNELS` and means the kernel with default parameters.
    length_scale : str
        The rule for the length scale of a kernel that is given by name.

    Examples
    --------
    >>> as_kernel("matern")
    Matern()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        named = KERNELS[kernel]
        scaled = issubclass(named, WithLengthScale)
        return named(length_scale=length_scale) if scaled else named()
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(kernel)
    names = ", ".join(repr(name) for name in KERNELS)
    raise ValueError(
        f"kernel is {kernel!r}; a kernel of halfmoon.kernels, such as Gaussian(), a "
        f"function of two tables, or one of {names} is needed."
    )
