"""Estimators for weak labels: sets of candidates, intervals, structured outputs.

>>> import numpy as np
>>> X = np.linspace(0, 1, 6)[:, None]
>>> sets = [{"low"}, {"low", "high"}, {"low"}, {"high"}, {"low", "high"}, {"high"}]
>>> CandidateSetClassifier(random_state=0).fit(X, sets).disambiguated_.tolist()
['low', 'low', 'low', 'high', 'high', 'high']
"""

from halfmoon.weak._candidate_sets import CandidateSetClassifier
from halfmoon.weak._interval_regression import IntervalRegressor
from halfmoon.weak._structured import StructuredPredictor

__all__ = [
    "CandidateSetClassifier",
    "IntervalRegressor",
    "StructuredPredictor",
]
