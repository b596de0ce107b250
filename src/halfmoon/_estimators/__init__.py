"""scikit-learn estimators: the levers under their public names."""

from halfmoon._estimators.conditional import ConditionalClassifier, ConditionalRegressor
from halfmoon._estimators.fredholm import FredholmClassifier, FredholmRegressor
from halfmoon._estimators.halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._estimators.laplacian import LaplacianClassifier, LaplacianRegressor

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
