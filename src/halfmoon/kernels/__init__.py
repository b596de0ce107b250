"""Kernels: similarity of two rows, with the coefficients of its gradient.

Widths are length scales, ``exp(-d^2 / (2 length_scale^2))``, as in
`sklearn.gaussian_process`. Kernels add and multiply: ``Linear() + 0.5 * Gaussian()``.
"""

from halfmoon.kernels.base import Kernel
from halfmoon.kernels.composite import Product, Scaled, Sum
from halfmoon.kernels.definiteness import conditional_degree_of, least_eigenvalue
from halfmoon.kernels.dot_product import Linear, Polynomial
from halfmoon.kernels.given import FromFunction, Precomputed
from halfmoon.kernels.length_scales import median_distance
from halfmoon.kernels.names import as_kernel
from halfmoon.kernels.network import NNGP, NTK
from halfmoon.kernels.periodic import PeriodicSobolev
from halfmoon.kernels.prepared import Prepared
from halfmoon.kernels.product_laplace import ProductLaplace
from halfmoon.kernels.radial import Gaussian, Laplace, Matern, RationalQuadratic
from halfmoon.kernels.slow_growth import Logarithmic, Multiquadric
from halfmoon.kernels.splines import Polyharmonic, ThinPlate

__all__ = [
    "NNGP",
    "NTK",
    "FromFunction",
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
    "Precomputed",
    "Prepared",
    "Product",
    "ProductLaplace",
    "RationalQuadratic",
    "Scaled",
    "Sum",
    "ThinPlate",
    "as_kernel",
    "conditional_degree_of",
    "least_eigenvalue",
    "median_distance",
]
