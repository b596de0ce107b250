"""Displays: pictures of fitted models, in the manner of scikit-learn's own.

Each display is made by a class method from a model, keeps the numbers that it shows as
attributes, and can be drawn again on other axes by `plot`. Matplotlib is needed only
for drawing: ``pip install matplotlib``.
"""

from halfmoon.plotting.boundary import BoundaryDisplay
from halfmoon.plotting.comparison import ComparisonDisplay
from halfmoon.plotting.eigenfunctions import EigenfunctionDisplay
from halfmoon.plotting.hard_threshold import HardThresholdDisplay
from halfmoon.plotting.learning_curve import LearningCurveDisplay
from halfmoon.plotting.leave_one_out import LeaveOneOutDisplay

__all__ = [
    "BoundaryDisplay",
    "ComparisonDisplay",
    "EigenfunctionDisplay",
    "HardThresholdDisplay",
    "LearningCurveDisplay",
    "LeaveOneOutDisplay",
]
