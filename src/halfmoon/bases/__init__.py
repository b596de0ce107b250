"""Bases: the functions that a fit is a linear combination of, and their norm."""

from halfmoon.bases._base import Basis
from halfmoon.bases._random_features import RandomFeatures, RandomUnits
from halfmoon.bases._sections import Exact, Nystrom, WithDerivatives
from halfmoon.bases._smoothed import FredholmKernel, Smoothed

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
