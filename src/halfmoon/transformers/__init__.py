"""Transformers: the bases as features for any other method of scikit-learn."""

from halfmoon.transformers.eigenmaps import LaplacianEigenmaps
from halfmoon.transformers.fredholm import FredholmFeatures
from halfmoon.transformers.nystrom import NystromFeatures
from halfmoon.transformers.random_features import RandomFeatures

__all__ = [
    "FredholmFeatures",
    "LaplacianEigenmaps",
    "NystromFeatures",
    "RandomFeatures",
]
