"""Kernels: similarities of two rows, with the coefficients of their gradients.

Widths are length scales, ``exp(-d^2 / (2 length_scale^2))``, as in
`sklearn.gaussian_process`. Kernels add and multiply: ``Linear() + 0.5 * Gaussian()``.
"""

from halfmoon.kernels._base import Kernel
from halfmoon.kernels._definiteness import conditional_degree_of, least_eigenvalue
from halfmoon.kernels._dot_product import Linear, Polynomial
from halfmoon.kernels._growing import Logarithmic, Multiquadric, Polyharmonic, ThinPlate
from halfmoon.kernels._periodic import PeriodicSobolev
from halfmoon.kernels._radial import (
    Gaussian,
    Laplace,
    Matern,
    ProductLaplace,
    RationalQuadratic,
)
from halfmoon.kernels._wide_networks import NNGP, NTK

__all__ = [
    "NNGP",
    "NTK",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Logarithmic",
    "Matern",
    "Multiquadric",
    "PeriodicSobolev",
    "Polyharmonic",
    "Polynomial",
    "ProductLaplace",
    "RationalQuadratic",
    "ThinPlate",
    "conditional_degree_of",
    "least_eigenvalue",
]
