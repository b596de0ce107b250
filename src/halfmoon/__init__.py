"""halfmoon: learn from a table in which only a few rows are labeled.

One problem with three levers, each of which learns from unlabeled rows or from what the
user already knows: a smoothed basis, a reshaped penalty, unpenalized features.
"""

from halfmoon.estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon.problem import Fit, Problem
from halfmoon.transformers import (
    FredholmFeatures,
    LaplacianEigenmaps,
    NystromFeatures,
    RandomFeatures,
)

__version__ = "0.1.0.dev0"
__all__ = [
    "ConditionalClassifier",
    "ConditionalRegressor",
    "Fit",
    "FredholmClassifier",
    "FredholmFeatures",
    "FredholmRegressor",
    "HalfmoonClassifier",
    "HalfmoonRegressor",
    "LaplacianClassifier",
    "LaplacianEigenmaps",
    "LaplacianRegressor",
    "NystromFeatures",
    "Problem",
    "RandomFeatures",
    "__version__",
]
