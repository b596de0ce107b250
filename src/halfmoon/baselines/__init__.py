"""Baselines: the methods that the papers compare with, under the papers' names.

`LapRLSClassifier` and `RLSClassifier` are special cases of `halfmoon.problem.Problem`;
the others are not. All take missing labels as halfmoon's estimators do.
"""

from halfmoon.baselines._label_propagation import (
    HarmonicClassifier,
    HarmonicRegressor,
    LabelSpreadingClassifier,
)
from halfmoon.baselines._lap_rls import LapRLSClassifier, LapRLSRegressor, RLSClassifier
from halfmoon.baselines._principal_components import PrincipalComponentRegressor
from halfmoon.baselines._tsvm import TSVMClassifier

__all__ = [
    "HarmonicClassifier",
    "HarmonicRegressor",
    "LabelSpreadingClassifier",
    "LapRLSClassifier",
    "LapRLSRegressor",
    "PrincipalComponentRegressor",
    "RLSClassifier",
    "TSVMClassifier",
]
