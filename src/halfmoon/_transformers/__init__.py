"""Transformers: the bases as features for any estimator of scikit-learn."""

from halfmoon._transformers.eigenmaps import LaplacianEigenmaps
from halfmoon._transformers.fredholm_features import FredholmFeatures
from halfmoon._transformers.nystrom_features import NystromFeatures
from halfmoon._transformers.random_features import RandomFeatures

__all__ = [
    "FredholmFeatures",
    "LaplacianEigenmaps",
    "NystromFeatures",
    "RandomFeatures",
]
