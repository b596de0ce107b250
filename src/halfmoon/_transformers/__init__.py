"""Transformers: the bases as features for any estimator of scikit-learn."""

from halfmoon._transformers.eigenmaps import LaplacianEigenmaps
from halfmoon._transformers.kernel_features import (
    FredholmFeatures,
    NystromFeatures,
    RandomFeatures,
)

__all__ = [
    "FredholmFeatures",
    "LaplacianEigenmaps",
    "NystromFeatures",
    "RandomFeatures",
]
