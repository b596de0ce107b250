"""Model selection and averaging behind `HalfmoonClassifier` and `HalfmoonRegressor`.

Candidates (`families.py`), each a problem of `halfmoon.problem`, are fitted on shared
data (`search_data.py`), judged by a criterion (`criteria.py`), averaged
(`average_weights.py`), compared with the supervised twin, and refitted to all labels
(`refit.py`).
"""

from halfmoon._selection.average import Average
from halfmoon._selection.average_members import Member
from halfmoon._selection.average_weights import posterior_weights, stacked_weights
from halfmoon._selection.candidate import ALPHAS, WIDTHS, Candidate, Entry
from halfmoon._selection.criteria import (
    RANGE_MARGIN,
    ClassCriterion,
    Criterion,
    NumberCriterion,
    class_scores,
    squared_losses,
)
from halfmoon._selection.cross_fit import cross_fit_predictions
from halfmoon._selection.families import candidates
from halfmoon._selection.local_average import average_of_local_fits
from halfmoon._selection.refit import Refit
from halfmoon._selection.relevance import by_correlation
from halfmoon._selection.row_preparation import NormalScores, Preparation, Standardized
from halfmoon._selection.search import SearchOutcome, try_candidates
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.target_transforms import IDENTITY, Logarithm, TargetTransform
from halfmoon._selection.twin_comparison import SUMMARIES, compare_members

__all__ = [
    "ALPHAS",
    "IDENTITY",
    "RANGE_MARGIN",
    "SUMMARIES",
    "WIDTHS",
    "Average",
    "Candidate",
    "ClassCriterion",
    "Criterion",
    "Entry",
    "Logarithm",
    "Member",
    "NormalScores",
    "NumberCriterion",
    "Preparation",
    "Refit",
    "SearchData",
    "SearchOutcome",
    "Standardized",
    "TargetTransform",
    "average_of_local_fits",
    "by_correlation",
    "candidates",
    "class_scores",
    "compare_members",
    "cross_fit_predictions",
    "posterior_weights",
    "squared_losses",
    "stacked_weights",
    "try_candidates",
]
