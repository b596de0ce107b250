r"""What more labels would buy: a forecast of the learning curve, with an interval.

Errors are measured with fewer labels than there are (`halfmoon.queries.sub_samples`),
and a power law with a prior (`halfmoon.queries.power_law`) is carried on beyond them.
Sub-samples are fitted with the choices that all labels have made, and give the shape of
the curve; its level is that of the leave-one-out error, in which the choices have their
part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.optimism import choice_factor
from halfmoon.queries.hidden_labels import HiddenLabels
from halfmoon.queries.sub_samples import MeasuredErrors, measured_errors
from halfmoon.random_state import as_generator
from halfmoon.rows import Array

__all__ = [
    "Forecast",
    "forecast_learning_curve",
    "forecast_of",
    "measured_points",
]

FEWEST = 10  # labels that can be tested
MOST = 1_000  # labels; of more, no sub-samples are fitted and the prior gives the shape
DRAWS = 4_000
PATH = 24  # counts that a drawn curve goes through
HALF = 0.5  # of an error, added to those that were counted: 0 of 20 is not 0
LEAST = 1e-3  # of the spread of numbers: smaller errors are taken for this


@dataclass(frozen=True, eq=False)
class Forecast:
    """What more labels would buy. Print it, or draw it by `LearningCurveDisplay`.

    Attributes
    ----------
    metric : str
        "error rate", the share of wrong classes, or "mean absolute error".
    n_labeled : int
        Labels that there are.
    error, error_low, error_high : float
        With these, and its interval.
    n_labels : ndarray of shape (m,)
        How many more were asked about.
    expected, low, high : ndarrays of shape (m,)
        The error with so many more, and its interval.
    gain, gain_low, gain_high : ndarrays of shape (m,)
        By how much it is lower than `error`, and the interval of that. Both errors are
        uncertain in the same way, so this one is narrower.
    level : float
        Share of cases that the intervals are meant to hold.
    counts, measured : ndarrays of shape (k,)
        Numbers of labels at which errors were measured, and these errors.
    path_counts, path, path_low, path_high : ndarrays of shape (24,)
        The whole curve with its interval, for a picture.
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
    """What more labels would buy, judging by the labels that there are.

    The rows to be labeled are taken to be drawn at random, like those that are labeled;
    rows chosen well may buy more.

    Parameters
    ----------
    estimator : estimator
        A classifier or a regressor: any of halfmoon's, a pipeline that ends with one,
        or one of another library. If it is fitted to X and y it is used as it is, and
        sub-samples of the labels cost no further fit; if not, a clone is fitted. Where
        there is no closed form (a hinge loss, other libraries), clones are fitted to
        eleven sub-samples.
    X : array-like, data frame or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels; missing where a row has none.
    n_labels : int or sequence of int
        How many more labels.
    level : float
        Share of cases that the intervals are to hold.
    random_state : int, Generator or None
        Draws the sub-samples.

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
    """`forecast_learning_curve` for labels that were looked at already."""
    _refuse_too_few(labels)
    points = measured_points(labels, rng)
    l = len(labels.places)
    path = np.geomspace(points.counts[0], l + more.max(), PATH)
    new = np.concatenate([[float(l)], l + more, path])
    draws = np.exp(points.posterior(new).draws(DRAWS))
    if labels.of_classes:
        draws = np.minimum(draws, 1.0)
    ends = [0.5, (1 - level) / 2, (1 + level) / 2]
    curve = np.quantile(draws, ends, axis=0)  # (3, new)
    asked, along = slice(1, 1 + len(more)), slice(1 + len(more), None)
    gains = np.quantile(draws[:, :1] - draws[:, asked], ends, axis=0)
    error, error_low, error_high = map(float, curve[:, 0])
    expected, low, high = curve[:, asked]
    gain, gain_low, gain_high = gains
    return Forecast(
        metric="error rate" if labels.of_classes else "mean absolute error",
        n_labeled=l,
        error=error,
        error_low=error_low,
        error_high=error_high,
        n_labels=more,
        expected=expected,
        low=low,
        high=high,
        gain=gain,
        gain_low=gain_low,
        gain_high=gain_high,
        level=level,
        counts=points.counts,
        measured=points.errors,
        path_counts=path,
        path=curve[0, along],
        path_low=curve[1, along],
        path_high=curve[2, along],
    )


def measured_points(labels: HiddenLabels, rng: np.random.Generator) -> MeasuredErrors:
    """Errors at several counts, none of them 0, at the level of leave-one-out."""
    l, errors = len(labels.places), labels.loo_errors()
    own = None
    if errors is not None and len(errors):
        if not labels.of_classes:  # as intervals do: the choices were made on these
            errors = errors * choice_factor(l)
        own = MeasuredErrors.of_rows(np.array([l - 1.0]), errors[:, None])
        own = _above_zero(own, labels)
        if l > MOST:
            return own
    points = measured_errors(
        *(l, labels.errors_of, labels.tested, rng), by_refits=not labels.in_closed_form
    )
    points = _above_zero(points, labels)
    if own is None or not labels.in_closed_form:
        return points
    factor = float(own.errors[0] / points.errors[-1])
    return MeasuredErrors(
        points.counts, factor * points.errors, factor**2 * points.covariance
    )


def _above_zero(points: MeasuredErrors, labels: HiddenLabels) -> MeasuredErrors:
    """Errors that have a logarithm."""
    if labels.of_classes:
        n = int(labels.tested.sum())
        raised = (n * points.errors + HALF) / (n + 1)
        # Half an error is also the least that is not known about their number.
        least = (HALF / (n + 1)) ** 2
    else:
        given = labels.given
        spread = float(np.abs(given - np.median(given)).mean())
        raised, least = np.maximum(points.errors, LEAST * spread), 0.0
    covariance = points.covariance + least
    return MeasuredErrors(points.counts, raised, covariance)


def _refuse_too_few(labels: HiddenLabels) -> None:
    tested = int(labels.tested.sum())
    if tested < FEWEST:
        if labels.of_classes:
            raise ValueError(
                f"Only {tested} of the {len(labels.tested)} labels can be tested, "
                f"those of classes with two labels or more; a forecast needs {FEWEST}. "
                f"Label a few more rows first."
            )
        raise ValueError(
            f"There are {tested} labels; a forecast needs {FEWEST} or more. Label a "
            f"few more rows first."
        )
    if not labels.of_classes and np.ptp(labels.given) == 0:
        raise ValueError(
            f"All {tested} labels are equal, so there is no error to lower. Give "
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
