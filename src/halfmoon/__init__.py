"""halfmoon: learn from a table in which only a few rows are labeled.

One problem with three levers, each of which learns from unlabeled rows or from what the
user already knows: a smoothed basis, a reshaped penalty, unpenalized features.
"""

from halfmoon.problem import Fit, Problem

__version__ = "0.1.0.dev0"
__all__ = ["Fit", "Problem", "__version__"]
