"""Bases: the functions in whose span a fit is sought, and their norm."""

from halfmoon.bases.base import Basis, GradientCoefficients, Sections
from halfmoon.bases.derivatives import WithDerivatives
from halfmoon.bases.exact import Exact
from halfmoon.bases.fredholm_kernel import FredholmKernel
from halfmoon.bases.nystrom import Nystrom
from halfmoon.bases.random_features import RandomFeatures
from halfmoon.bases.random_units import RandomUnits
from halfmoon.bases.smoothed import Smoothed

__all__ = [
    "Basis",
    "Exact",
    "FredholmKernel",
    "GradientCoefficients",
    "Nystrom",
    "RandomFeatures",
    "RandomUnits",
    "Sections",
    "Smoothed",
    "WithDerivatives",
]
