"""Selection: kernel fits of many kinds, tried on a table and averaged.

What `HalfmoonClassifier` and `HalfmoonRegressor` do: candidates (`families.py`) are
tried on a workbench, judged by a criterion, weighed, compared with the supervised twin,
and refitted to all labels. A candidate is a problem of `halfmoon.problem`.
"""

from halfmoon.selection.average import Average, Member
from halfmoon.selection.candidate import ALPHAS, Candidate, Entry
from halfmoon.selection.comparison import SUMMARIES, compared_members
from halfmoon.selection.criteria import (
    Criterion,
    ForClasses,
    ForNumbers,
    class_scores,
    squared_losses,
)
from halfmoon.selection.cross_fit import cross_fitted
from halfmoon.selection.families import candidates
from halfmoon.selection.many_labels import average_of_local_fits
from halfmoon.selection.preparation import NormalScores, Preparation, Standardized
from halfmoon.selection.refit import Refit
from halfmoon.selection.relevance import by_correlation
from halfmoon.selection.search import Outcome, try_candidates
from halfmoon.selection.target_transforms import AS_GIVEN, Logarithm, Target
from halfmoon.selection.weights import posterior_weights, stacked_weights
from halfmoon.selection.workbench import Workbench

__all__ = [
    "ALPHAS",
    "AS_GIVEN",
    "SUMMARIES",
    "Average",
    "Candidate",
    "Criterion",
    "Entry",
    "ForClasses",
    "ForNumbers",
    "Logarithm",
    "Member",
    "NormalScores",
    "Outcome",
    "Preparation",
    "Refit",
    "Standardized",
    "Target",
    "Workbench",
    "average_of_local_fits",
    "by_correlation",
    "candidates",
    "class_scores",
    "compared_members",
    "cross_fitted",
    "posterior_weights",
    "squared_losses",
    "stacked_weights",
    "try_candidates",
]
