r"""Strategies that choose the rows to label next.

With g the fitted function, v its posterior variance and lam the noise, in the units of
`_pool_covariance.py`, labeling row u as t increases the minimum of the fitted objective
by a multiple of

.. math:: \frac{(t - g(u))^2}{v(u) + lam}                                           (1)

**MaxiMin** picks the row for which the minimum of (1) over all classes t is largest:
for any label, it changes the function most, in the norm of the penalty. After a pick, g
and v are those of a fit in which the row has the class of least change. (Karzand and
Nowak, "MaxiMin active learning in overparameterized model classes", 2020; for the
Dirichlet energy, Cabannes, Pillaud-Vivien, Bach, Rudi, 2021, section 5.) The change can
also be measured over all rows of the table, by the square

.. math:: \frac{(t - g(u))^2}{(v(u) + lam)^2} \sum_j C(x_j, u)^2                    (2)

**Variance reduction** picks the row whose label reduces the posterior variance of all
rows most, by :math:`\sum_j C(x_j, u)^2 / (v(u) + lam)`, which does not depend on t. For
numbers any t is possible, so the minimum of (1) is 0 everywhere. With t one predictive
deviation from g, (2) is the reduction of variance, so that is MaxiMin for numbers.

**Informative** rows of classes have the largest product

.. math:: (1 - margin(u))^3 \, \frac{\sum_j C(x_j, u)^2}{v(u) + lam}                 (3)

of the uncertainty of their class and the reduction of variance by their label.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier

from halfmoon._estimators.loo_probabilities import probabilities_of_scores
from halfmoon._random_state import as_generator
from halfmoon._rows import Array, Indices
from halfmoon.queries._greedy import best_rows, spread_out, squared_correlation
from halfmoon.queries._pool import Pool
from halfmoon.queries._pool_covariance import Posterior

__all__ = ["informative", "margin", "maximin", "random", "variance_reduction"]

UNCERTAINTY_POWER = 3.0  # of 1 - margin in (3), chosen on tables
TINY = float(np.finfo(np.float64).tiny)

Strategy = TypeVar("Strategy", bound=Callable[..., Indices])

DOCS = """\
Parameters
----------
estimator : estimator
    A fitted estimator of halfmoon, or a pipeline that ends with one.
X : array-like, data frame or sparse matrix of shape (m, d)
    The fitted table, or a pool of unlabeled rows. A table with as many rows as the
    fitted one is assumed to be it.
n : int
    Number of rows to pick.{norm}
labeled : array-like or None
    Row numbers, or a mask, of rows of X that must not be picked; None is the labeled
    rows of the fitted table.
random_state : int, Generator or None
    Draws the sample that is used if X is too large for the estimator's `memory_limit`,
    and the rows of `random`.

Returns
-------
ndarray of shape (n,)
    Row numbers in X, the best first.

"""
NORM = """
norm : "penalty" or "data"
    Measure a change by the penalty, (1), or over the rows, (2)."""


def _with_docs(strategy: Strategy) -> Strategy:
    """Insert the sections that all strategies share into a docstring."""
    norm = NORM if "norm" in (strategy.__kwdefaults__ or {}) else ""
    sections = textwrap.indent(DOCS.format(norm=norm), "    ")
    head, mark, examples = (strategy.__doc__ or "").partition("    Examples\n")
    strategy.__doc__ = f"{head.rstrip()}\n\n{sections}{mark}{examples}"
    return strategy


@_with_docs
def maximin(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    norm: str = "penalty",
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Return the rows that change the function most, even with the expected label.

    For a regressor the picks are those of `variance_reduction`.

    Examples
    --------
    The row between the classes says most about where one ends:

    >>> from halfmoon import ConditionalClassifier
    >>> X = np.linspace(0, 1, 11)[:, None]
    >>> y = np.array(["left"] + [None] * 9 + ["right"], dtype=object)
    >>> model = ConditionalClassifier(alpha=1e-6).fit(X, y)
    >>> maximin(model, X, 1)
    array([5])
    """
    if norm not in ("penalty", "data"):
        raise ValueError(f"norm is {norm!r}; 'penalty' or 'data' is needed.")
    pool = Pool.of(estimator, X, n, labeled, random_state)
    posterior = pool.posterior()
    if not is_classifier(pool.estimator):
        return _reduce_variance(pool, posterior)
    targets = _class_targets(posterior.values.shape[1])
    by_rows = norm == "data"
    if by_rows:
        posterior.squared_columns()  # computed before the first pick

    def score(_: Array) -> Array:
        total = posterior.variance + posterior.noise
        change = _squared_distances(posterior.values, targets).min(axis=1)
        if by_rows:
            change, total = change * posterior.squared_columns(), total**2
        return _ratio(change, total)

    def condition(u: int) -> None:
        distances = _squared_distances(posterior.values[u : u + 1], targets)[0]
        posterior.condition(u, targets[int(distances.argmin())])

    similarity = squared_correlation(posterior)
    return pool.in_table(best_rows(similarity, pool.free, pool.n, score, condition))


@_with_docs
def variance_reduction(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Return the rows whose labels reduce the variance of all predictions most.

    For classes and numbers alike; the values of the labels do not matter.

    Examples
    --------
    >>> from halfmoon import ConditionalRegressor
    >>> X = np.linspace(0, 1, 11)[:, None]
    >>> y = np.full(11, np.nan)
    >>> y[[0, 1, 2]] = 0.0, 0.3, 0.5
    >>> variance_reduction(ConditionalRegressor(alpha=1e-3).fit(X, y), X, 1)
    array([8])
    """
    pool = Pool.of(estimator, X, n, labeled, random_state)
    return _reduce_variance(pool, pool.posterior())


@_with_docs
def informative(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Return uncertain rows whose labels say most about all other rows, by (3).

    For a regressor the picks are those of `variance_reduction`.

    Examples
    --------
    The class border is in the middle, and so is the first row to label:

    >>> from halfmoon import ConditionalClassifier
    >>> X = np.linspace(0, 1, 11)[:, None]
    >>> y = np.array(["left"] + [None] * 9 + ["right"], dtype=object)
    >>> model = ConditionalClassifier(alpha=1e-2).fit(X, y)
    >>> informative(model, X, 1)
    array([5])
    """
    pool = Pool.of(estimator, X, n, labeled, random_state)
    posterior = pool.posterior()
    if not is_classifier(pool.estimator):
        return _reduce_variance(pool, posterior)
    weights = _uncertainty(pool, posterior) ** UNCERTAINTY_POWER
    return _reduce_variance(pool, posterior, np.maximum(weights, TINY))


@_with_docs
def margin(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Return rows that are uncertain and differ from each other.

    A row is uncertain if its two most likely classes have nearly the same probability;
    for numbers, if its posterior deviation is large. See
    `halfmoon.queries._greedy.spread_out` for how rows differ.
    """
    pool = Pool.of(estimator, X, n, labeled, random_state)
    posterior = pool.posterior()
    uncertainty = _uncertainty(pool, posterior)
    similarity = squared_correlation(posterior)
    return pool.in_table(spread_out(similarity, uncertainty, pool.free, pool.n))


@_with_docs
def random(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Return random rows, to compare the other strategies with."""
    rng = as_generator(random_state)
    pool = Pool.of(estimator, X, n, labeled, rng)
    return pool.in_table(rng.choice(np.flatnonzero(pool.free), pool.n, replace=False))


def _reduce_variance(
    pool: Pool,
    posterior: Posterior,
    weights: Array | float = 1.0,  # (m,)
) -> Indices:
    """Return the picks by weights times the reduction of variance."""

    def score(_: Array) -> Array:
        total = posterior.variance + posterior.noise
        return _ratio(weights * posterior.squared_columns(), total)

    similarity = squared_correlation(posterior)
    picks = best_rows(similarity, pool.free, pool.n, score, posterior.condition)
    return pool.in_table(picks)


def _ratio(a: Array, b: Array) -> Array:
    """Return a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)


def _class_targets(columns: int) -> Array:
    """Return the targets that a label may have, shape (classes, columns)."""
    return np.array([[-1.0], [1.0]]) if columns == 1 else np.eye(columns)


def _squared_distances(values: Array, targets: Array) -> Array:  # (m, classes)
    differences = values[:, None, :] - targets[None, :, :]
    return np.asarray((differences**2).sum(axis=2))


def _uncertainty(pool: Pool, posterior: Posterior) -> Array:  # (m,)
    """Return 1 - margin between the two most likely classes, or the deviation."""
    if not is_classifier(pool.estimator):
        return np.sqrt(posterior.variance)
    if hasattr(pool.estimator, "temperature_"):  # reuse the computed values
        p = probabilities_of_scores(pool.estimator, posterior.values)
    else:
        p = np.asarray(pool.estimator.predict_proba(pool.X))
    ordered = np.sort(p, axis=1)
    return np.asarray(1.0 - (ordered[:, -1] - ordered[:, -2]))
