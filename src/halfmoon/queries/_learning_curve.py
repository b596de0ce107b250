r"""Forecast of the learning curve: the expected error with more labels.

Errors are measured with subsets of the labels, and extrapolated by a power law with a
prior (`_power_law.py`). The subsets are fitted with the choices made from all labels,
so they give only the shape of the curve. Its level is the leave-one-out error, which
includes the choices; if it counts few errors, the level is between both. Errors of
labels that share each other vary more than independent ones (`SHARED`), which moves the
whole curve up or down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.intervals import SHARED, choice_factor
from halfmoon._rows import Array
from halfmoon._sklearn_conventions import as_generator
from halfmoon.queries._hidden_labels import HiddenLabels
from halfmoon.queries._power_law import MeasuredErrors, measured_errors

__all__ = [
    "Forecast",
    "forecast_learning_curve",
    "forecast_of",
    "measured_points",
]

MIN_TESTED = 10  # labels that can be tested
MAX_MEASURED = 1_000  # labels; with more, the prior alone gives the shape
N_DRAWS = 4_000
PATH_POINTS = 24
ADDED_ERRORS = 0.5  # to the counted errors: 0 of 20 does not mean 0
SHARED_ERRORS = 2  # of a fit with and without choices, by which their ratio nears 1
MIN_ERROR = 1e-3  # relative to the spread of numbers


@dataclass(frozen=True, eq=False)
class Forecast:
    """The expected error with more labels. Drawn by `LearningCurveDisplay`.

    Attributes
    ----------
    metric : str
        "error rate", the share of wrong classes, or "mean absolute error".
    n_labeled : int
        Number of labels now.
    error, error_low, error_high : float
        The error now, and its interval.
    n_labels : ndarray of shape (m,)
        Numbers of additional labels.
    expected, low, high : ndarrays of shape (m,)
        The expected error with so many more labels, and its interval.
    gain, gain_low, gain_high : ndarrays of shape (m,)
        The expected decrease from `error`, and its interval. The two errors are
        correlated, so this interval is narrower.
    level : float
        Nominal coverage of the intervals.
    counts, measured : ndarrays of shape (k,)
        Numbers of labels at which errors were measured, and these errors.
    path_counts, path, path_low, path_high : ndarrays of shape (24,)
        The whole curve with its interval, for a plot.
    """

    metric: str
    n_labeled: int
    error: float
    error_low: float
    error_high: float
    n_labels: NDArray[np.intp]
    expected: Array
    low: Array
    high: Array
    gain: Array
    gain_low: Array
    gain_high: Array
    level: float
    counts: Array
    measured: Array
    path_counts: Array
    path: Array
    path_low: Array
    path_high: Array

    def __str__(self) -> str:
        form = "{:.1%}" if self.metric == "error rate" else "{:.3g}"
        lines = [f"{self.n_labeled:,} labels: {self.metric} {form.format(self.error)}"]
        rows = zip(self.n_labels, self.expected, self.low, self.high, strict=True)
        for n, *each in rows:
            expected, low, high = map(form.format, each)
            lines.append(f"{n:,} more: {expected} ({low} to {high})")
        return "\n".join(lines)

    __repr__ = __str__


def forecast_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    n_labels: Any = (50, 100, 200),
    *,
    level: float = 0.9,
    random_state: Any = 0,
) -> Forecast:
    """Forecast the error with more labels, from the labels so far.

    The forecast assumes that the new rows are drawn at random, like the labeled ones;
    well-chosen rows may help more.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor of halfmoon, a pipeline that ends with one, or one of
        another library. If it is fitted to X and y, it is used without another fit;
        else a clone is fitted. If there is no closed form (a hinge loss, other
        libraries), clones are fitted to eleven subsets of the labels.
    X : array-like, data frame or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels; missing in unlabeled rows.
    n_labels : int or sequence of int
        Numbers of additional labels.
    level : float
        Nominal coverage of the intervals, between 0 and 1.
    random_state : int, Generator or None
        Draws the subsets of labels.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from halfmoon import ConditionalClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> known = np.where(np.arange(178) % 4 == 0, y, np.nan)  # 45 labels
    >>> model = ConditionalClassifier().fit(X, known)
    >>> found = forecast_learning_curve(model, X, known, [50, 100])
    >>> bool((found.gain > 0).all()), found.metric
    (True, 'error rate')
    """
    more = _counts(n_labels)
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}; a share between 0 and 1 is needed.")
    labels = HiddenLabels.of(estimator, X, y)
    return forecast_of(labels, more, level, as_generator(random_state))


def forecast_of(
    labels: HiddenLabels,
    more: NDArray[np.intp],  # (m,)
    level: float,
    rng: np.random.Generator,
) -> Forecast:
    """Return the forecast for labels that are checked already."""
    _check_enough(labels)
    points = measured_points(labels, rng)
    l = len(labels.places)
    path = np.geomspace(points.counts[0], l + more.max(), PATH_POINTS)
    new = np.concatenate([[float(l)], l + more, path])
    found = points.posterior(new)
    shared = SHARED["classes" if labels.of_classes else "numbers"] - 1.0
    shared *= float(points.covariance[-1, -1]) / float(points.errors[-1]) ** 2
    found = replace(found, covariances=found.covariances + shared)
    draws = np.exp(found.draws(N_DRAWS))
    if labels.in_closed_form:  # few errors at small counts would decide the level
        draws *= points.errors[-1] / np.median(draws[:, 0])
    if labels.of_classes:
        draws = np.minimum(draws, 1.0)
    ends = [0.5, (1 - level) / 2, (1 + level) / 2]
    curve = np.quantile(draws, ends, axis=0)  # (3, new)
    asked, along = slice(1, 1 + len(more)), slice(1 + len(more), None)
    gains = np.quantile(draws[:, :1] - draws[:, asked], ends, axis=0)
    metric = "error rate" if labels.of_classes else "mean absolute error"
    values: Any = (
        *(metric, l, *map(float, curve[:, 0]), more, *curve[:, asked], *gains),
        *(level, points.counts, points.errors, path, *curve[:, along]),
    )
    return Forecast(*values)


def measured_points(labels: HiddenLabels, rng: np.random.Generator) -> MeasuredErrors:
    """Return errors at several counts, above 0, scaled to the leave-one-out error."""
    l, errors = len(labels.places), labels.loo_errors()
    loo = None
    if errors is not None and len(errors):
        if not labels.of_classes:  # the choices were made on these labels
            errors = errors * choice_factor(l)
        loo = MeasuredErrors.of_rows(np.array([l - 1.0]), errors[:, None])
        loo = _above_zero(loo, labels)
        if l > MAX_MEASURED:
            return loo
    points = measured_errors(
        l, labels.errors_of, labels.tested, rng, by_refits=not labels.in_closed_form
    )
    points = _above_zero(points, labels)
    if loo is None or not labels.in_closed_form:
        return points
    c = _level(float(loo.errors[0]), points, labels)
    return MeasuredErrors(points.counts, c * points.errors, c**2 * points.covariance)


def _level(loo: float, points: MeasuredErrors, labels: HiddenLabels) -> float:
    """Return the factor between errors with and without the choices of the fit.

    It compares the errors at all labels but one. Of classes these are counts, and few
    of them have a ratio of 2 or 5 by chance: it is taken as if each had `SHARED_ERRORS`
    more. An error rate stays at most 1.
    """
    fixed = float(points.errors[-1])
    if not labels.of_classes:
        return loo / fixed
    more = SHARED_ERRORS / labels.tested.sum()
    return float(min((loo + more) / (fixed + more), 1.0 / points.errors.max()))


def _above_zero(points: MeasuredErrors, labels: HiddenLabels) -> MeasuredErrors:
    """Raise errors above 0, so that they have a logarithm."""
    if labels.of_classes:
        n = int(labels.tested.sum())
        raised = (n * points.errors + ADDED_ERRORS) / (n + 1)
        least = (ADDED_ERRORS / (n + 1)) ** 2  # lower bound of the variance
    else:
        given = labels.given
        spread = float(np.abs(given - np.median(given)).mean())
        raised, least = np.maximum(points.errors, MIN_ERROR * spread), 0.0
    # Half of it at each count alone: counts without errors do not show a flat curve.
    added = least * (1.0 + np.eye(len(raised))) / 2
    return MeasuredErrors(points.counts, raised, points.covariance + added)


def _check_enough(labels: HiddenLabels) -> None:
    tested = int(labels.tested.sum())
    if tested < MIN_TESTED:
        if labels.of_classes:
            raise ValueError(
                f"Only {tested} of the {len(labels.tested)} labels can be tested, "
                f"those of classes with at least two labels; a forecast needs "
                f"{MIN_TESTED}. Label a few more rows first."
            )
        raise ValueError(
            f"There are {tested} labels; a forecast needs {MIN_TESTED} or more. Label "
            f"a few more rows first."
        )
    if not labels.of_classes and np.ptp(labels.given) == 0:
        raise ValueError(
            f"All {tested} labels are equal, so there is no error to forecast. Give "
            f"labels that differ."
        )


def _counts(n_labels: Any) -> NDArray[np.intp]:
    more = np.atleast_1d(np.asarray(n_labels))
    if more.ndim != 1 or not len(more) or more.dtype.kind not in "iu" or more.min() < 1:
        raise ValueError(
            f"n_labels is {n_labels!r}; numbers of labels, 1 or more, are needed, such "
            f"as [50, 100, 200]."
        )
    return more.astype(np.intp)
