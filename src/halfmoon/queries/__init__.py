"""What to label next, which labels look wrong, and what more of them would buy.

=========================  ===========================================================
`informative`              unsure rows whose labels say most of all other rows
`maximin`                  rows that change the function most, whatever their label
`variance_reduction`       rows whose labels make all predictions surest
`margin`                   rows that are unsure, and different from each other
`random`                   rows at random
`suspicious_labels`        given labels by how wrong they look
`forecast_learning_curve`  the error with more labels, and its interval
=========================  ===========================================================

The first five take a fitted estimator and a table, ``maximin(estimator, X, n=10)``, and
return numbers of rows of X, the best first. Within a batch every pick conditions the
next by a rank-one update, so that near-copies are not picked twice.
"""

from halfmoon.queries.forecast import Forecast, forecast_learning_curve
from halfmoon.queries.strategies import (
    informative,
    margin,
    maximin,
    random,
    variance_reduction,
)
from halfmoon.queries.suspicious import suspicious_labels

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
