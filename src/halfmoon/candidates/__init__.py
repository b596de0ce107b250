"""Candidates: kernel fits of many kinds, tried on a table and averaged.

What `HalfmoonClassifier` and `HalfmoonRegressor` search through.
"""

from halfmoon.candidates.average import Average
from halfmoon.candidates.blend import (
    Blend,
    Entry,
    posterior_weights,
    stacked_weights,
)
from halfmoon.candidates.candidate import ALPHAS, Candidate, NullSpace, OwnFeatures
from halfmoon.candidates.cross_fit import cross_fitted
from halfmoon.candidates.finish import Finish
from halfmoon.candidates.judges import ForClasses, ForNumbers, Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.landmarks import PreparedFit, at_landmarks
from halfmoon.candidates.losses import log_losses, scores_by_class, squared_losses
from halfmoon.candidates.many import InCells
from halfmoon.candidates.members import with_members
from halfmoon.candidates.menu import (
    lever_candidates,
    plain_candidates,
    walk_candidates,
    weighed_candidates,
)
from halfmoon.candidates.parts import KernelPart, Part, ProblemPart, WalkPart
from halfmoon.candidates.preparation import NormalScores, Standardized
from halfmoon.candidates.search import Verdict, try_candidates
from halfmoon.candidates.target import AS_THEY_ARE, Logarithm, Target

__all__ = [
    "ALPHAS",
    "AS_THEY_ARE",
    "Average",
    "Blend",
    "Candidate",
    "Entry",
    "Finish",
    "ForClasses",
    "ForNumbers",
    "InCells",
    "Judge",
    "KernelPart",
    "Labeled",
    "Logarithm",
    "NormalScores",
    "NullSpace",
    "OwnFeatures",
    "Part",
    "PreparedFit",
    "ProblemPart",
    "Standardized",
    "Target",
    "Verdict",
    "WalkPart",
    "at_landmarks",
    "cross_fitted",
    "lever_candidates",
    "log_losses",
    "plain_candidates",
    "posterior_weights",
    "scores_by_class",
    "squared_losses",
    "stacked_weights",
    "try_candidates",
    "walk_candidates",
    "weighed_candidates",
    "with_members",
]
