"""scikit-learn estimators: the levers under their public names."""

from halfmoon.estimators.conditional import ConditionalClassifier, ConditionalRegressor
from halfmoon.estimators.fredholm import FredholmClassifier, FredholmRegressor
from halfmoon.estimators.halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon.estimators.laplacian import LaplacianClassifier, LaplacianRegressor

__all__ = [
    "ConditionalClassifier",
    "ConditionalRegressor",
    "FredholmClassifier",
    "FredholmRegressor",
    "HalfmoonClassifier",
    "HalfmoonRegressor",
    "LaplacianClassifier",
    "LaplacianRegressor",
]
