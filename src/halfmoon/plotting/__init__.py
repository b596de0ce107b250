"""Displays: plots of fitted models, like the displays of scikit-learn.

A class method makes a display from a model. The display keeps the numbers that it shows
as attributes, and `plot` draws it again on other axes. Only drawing needs Matplotlib:
``pip install matplotlib``.
"""

from halfmoon.plotting._boundary_display import BoundaryDisplay
from halfmoon.plotting._comparison_display import ComparisonDisplay
from halfmoon.plotting._curve_displays import (
    HardThresholdDisplay,
    LearningCurveDisplay,
    LeaveOneOutDisplay,
)
from halfmoon.plotting._eigenfunction_display import EigenfunctionDisplay

__all__ = [
    "BoundaryDisplay",
    "ComparisonDisplay",
    "EigenfunctionDisplay",
    "HardThresholdDisplay",
    "LearningCurveDisplay",
    "LeaveOneOutDisplay",
]
