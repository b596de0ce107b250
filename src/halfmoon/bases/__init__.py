"""Bases: the functions that a fit is a linear combination of, and their norm."""

from halfmoon.bases._base import Basis
from halfmoon.bases._derivatives import WithDerivatives
from halfmoon.bases._exact import Exact
from halfmoon.bases._fredholm_kernel import FredholmKernel
from halfmoon.bases._nystrom import Nystrom
from halfmoon.bases._random_features import RandomFeatures, RandomUnits
from halfmoon.bases._smoothed import Smoothed

__all__ = [
    "Basis",
    "Exact",
    "FredholmKernel",
    "Nystrom",
    "RandomFeatures",
    "RandomUnits",
    "Smoothed",
    "WithDerivatives",
]
