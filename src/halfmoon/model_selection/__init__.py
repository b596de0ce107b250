"""Model selection where few rows are labeled: folds of labels, scores of labels."""

from halfmoon.model_selection.folds import LabeledKFold
from halfmoon.model_selection.scorers import (
    LabeledScorer,
    labeled_accuracy,
    labeled_balanced_accuracy,
    labeled_log_loss,
    labeled_mean_squared_error,
    labeled_r2,
    labeled_scorer,
)

__all__ = [
    "LabeledKFold",
    "LabeledScorer",
    "labeled_accuracy",
    "labeled_balanced_accuracy",
    "labeled_log_loss",
    "labeled_mean_squared_error",
    "labeled_r2",
    "labeled_scorer",
]
