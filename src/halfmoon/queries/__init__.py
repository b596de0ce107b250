"""Which rows to label next, which labels look wrong, and how much more labels help.

=========================  ===========================================================
`informative`              uncertain rows whose labels say most about all other rows
`maximin`                  rows that change the function most, with any label
`variance_reduction`       rows whose labels reduce the variance of all predictions
`margin`                   uncertain rows that differ from each other
`random`                   random rows
`suspicious_labels`        the given labels, sorted by how wrong they look
`forecast_learning_curve`  the expected error with more labels, and its interval
=========================  ===========================================================

The first five take a fitted estimator and a table, ``maximin(estimator, X, n=10)``, and
return row numbers in X, the best first. Each pick updates the posterior for the next,
so that near-duplicates are not picked twice.
"""

from halfmoon.queries._learning_curve import Forecast, forecast_learning_curve
from halfmoon.queries._strategies import (
    informative,
    margin,
    maximin,
    random,
    variance_reduction,
)
from halfmoon.queries._suspicious_labels import suspicious_labels

__all__ = [
    "Forecast",
    "forecast_learning_curve",
    "informative",
    "margin",
    "maximin",
    "random",
    "suspicious_labels",
    "variance_reduction",
]
