"""Cross-validation and scoring on the labeled rows of a table."""

from halfmoon.model_selection._folds import LabeledKFold
from halfmoon.model_selection._scorers import (
    labeled_accuracy,
    labeled_balanced_accuracy,
    labeled_log_loss,
    labeled_mean_squared_error,
    labeled_r2,
    labeled_scorer,
)

__all__ = [
    "LabeledKFold",
    "labeled_accuracy",
    "labeled_balanced_accuracy",
    "labeled_log_loss",
    "labeled_mean_squared_error",
    "labeled_r2",
    "labeled_scorer",
]
