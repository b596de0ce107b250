"""Baselines: what the papers compare with, under the names that they give it.

Some are points of the one problem (`LapRLSClassifier`, `RLSClassifier`) and thin; the
others are what it cannot express. All take missing labels as halfmoon's estimators do.
"""

from halfmoon.baselines.harmonic import HarmonicClassifier, HarmonicRegressor
from halfmoon.baselines.label_spreading import LabelSpreadingClassifier
from halfmoon.baselines.lap_rls import LapRLSClassifier, LapRLSRegressor
from halfmoon.baselines.principal_components import PrincipalComponentRegressor
from halfmoon.baselines.rls import RLSClassifier
from halfmoon.baselines.tsvm import TSVMClassifier

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
