r"""Which rows to label next: MaxiMin, variance reduction, margin, random.

With g the fitted function, v its posterior variance and lam the noise, in the units of
`halfmoon.queries.covariance`, labeling row u as t raises the least value of the fitted
objective by a multiple of

.. math:: \frac{(t - g(u))^2}{v(u) + lam}                                           (1)

**MaxiMin** picks the row for which the least of this over all classes t is largest:
whatever its label, it will change the function most, in the norm of the penalty. After
a pick, g and v are those of a fit in which it has the class of least change. (Karzand
and Nowak, "MaxiMin active learning in overparameterized model classes", 2020; for the
Dirichlet energy, Cabannes, Pillaud-Vivien, Bach, Rudi, 2021, section 5.) The change may
also be measured over all rows of the table, by the square

.. math:: \frac{(t - g(u))^2}{(v(u) + lam)^2} \sum_j C(x_j, u)^2                    (2)

**Variance reduction** picks the row whose label lowers the posterior variance of all
rows most, by :math:`\sum_j C(x_j, u)^2 / (v(u) + lam)`, which does not depend on t. For
numbers any t is possible and the least of (1) is 0 everywhere; with t one predictive
deviation from g, (2) is the reduction of variance, so that is MaxiMin for numbers.

**Informative** rows of classes have the largest product

.. math:: (1 - margin(u))^3 \, \frac{\sum_j C(x_j, u)^2}{v(u) + lam}                 (3)

of how unsure their class is and of how much their label says of all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from halfmoon.estimators.left_out_classes import chances_of_scores
from halfmoon.queries.covariance import Posterior
from halfmoon.queries.greedy import best_rows, spread_out, squared_correlation
from halfmoon.queries.pool import Pool
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Indices

__all__ = ["informative", "margin", "maximin", "random", "variance_reduction"]

DOUBT = 3.0  # power of the doubt beside the reduction of variance, chosen on tables


def maximin(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    norm: str = "penalty",
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Rows that change the function most even if their label is the expected one.

    Parameters
    ----------
    estimator : estimator
        Fitted: any of halfmoon's, or a pipeline that ends with one. Of a regressor the
        picks are those of `variance_reduction`; see the module's docstring.
    X : array-like, data frame or sparse matrix of shape (m, d)
        The table that was fitted, or a pool of unlabeled rows. A table with as many
        rows as the fitted one is taken for it.
    n : int
        Rows wanted.
    norm : "penalty" or "data"
        How a change is measured: by the penalty, (1), or over the rows, (2).
    labeled : array-like or None
        Row numbers, or a mask, of rows of X that are not to be picked; None is the
        labeled rows of the fitted table.
    random_state : int, Generator or None
        Used only where X is too large for the estimator's `memory_limit`, and a random
        part of it is looked at.

    Returns
    -------
    ndarray of shape (n,)
        Numbers of rows of X, the best first.

    Examples
    --------
    The row between the classes tells most of where one ends:

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
        return pool.of_table(_variance_reduction(pool, posterior))
    targets = _class_targets(posterior.values.shape[1])
    by_rows = norm == "data"
    if by_rows:
        posterior.squared_columns()

    def score(_: Array) -> Array:
        total = posterior.variance + posterior.noise
        change = _squared_distances(posterior.values, targets).min(axis=1)
        out = np.zeros_like(total)
        if by_rows:
            change, total = change * posterior.squared_columns(), total**2
        return np.divide(change, total, out=out, where=total > 0)

    def condition(u: int) -> None:
        distances = _squared_distances(posterior.values[u : u + 1], targets)[0]
        posterior.condition(u, targets[int(distances.argmin())])

    alike = squared_correlation(posterior)
    return pool.of_table(best_rows(alike, pool.free, pool.n, score, condition))


def variance_reduction(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Rows whose labels make the predictions of all rows of X surest.

    Parameters
    ----------
    estimator, X, n, labeled, random_state : see `maximin`
        For classes and numbers alike; the labels have no part in it.

    Returns
    -------
    ndarray of shape (n,)
        Numbers of rows of X, the best first.

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
    return pool.of_table(_variance_reduction(pool, pool.posterior()))


def _variance_reduction(
    pool: Pool,
    posterior: Posterior,
    doubt: Array | float = 1.0,  # (m,)
) -> list[int]:
    def score(_: Array) -> Array:
        total = posterior.variance + posterior.noise
        squares = doubt * posterior.squared_columns()
        return np.divide(squares, total, out=np.zeros_like(total), where=total > 0)

    alike = squared_correlation(posterior)
    return best_rows(alike, pool.free, pool.n, score, posterior.condition)


def informative(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Rows that are unsure, and whose labels say most of all other rows, by (3).

    Parameters
    ----------
    estimator, X, n, labeled, random_state : see `maximin`
        Of a regressor the picks are those of `variance_reduction`.

    Returns
    -------
    ndarray of shape (n,)
        Numbers of rows of X, the best first.

    Examples
    --------
    The border is in the middle, and so is the first row to label:

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
        return pool.of_table(_variance_reduction(pool, posterior))
    doubt = 1.0 - _margins(_probabilities(pool, posterior.values))
    least = np.finfo(np.float64).tiny
    doubt = np.maximum(doubt**DOUBT, least)
    return pool.of_table(_variance_reduction(pool, posterior, doubt))


def margin(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Rows that are unsure, and that differ from each other.

    Unsure are rows whose two likeliest classes have nearly the same probability, or,
    for numbers, rows of large posterior deviation; see
    `halfmoon.queries.greedy.spread_out` for how rows differ.

    Parameters
    ----------
    estimator, X, n, labeled, random_state : see `maximin`

    Returns
    -------
    ndarray of shape (n,)
        Numbers of rows of X, the best first.
    """
    pool = Pool.of(estimator, X, n, labeled, random_state)
    posterior = pool.posterior()
    if is_classifier(pool.estimator):
        doubt = 1.0 - _margins(_probabilities(pool, posterior.values))
    else:
        doubt = np.sqrt(posterior.variance)
    alike = squared_correlation(posterior)
    return pool.of_table(spread_out(alike, doubt, pool.free, pool.n))


def random(
    estimator: Any,
    X: Any,
    n: int = 10,
    *,
    labeled: Any = None,
    random_state: Any = None,
) -> Indices:
    """Rows drawn at random, all alike: what the others are compared with.

    Parameters
    ----------
    estimator, X, n, labeled : see `maximin`
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n,)
        Numbers of rows of X.
    """
    rng = as_generator(random_state)
    pool = Pool.of(estimator, X, n, labeled, rng)
    return pool.of_table(rng.choice(np.flatnonzero(pool.free), pool.n, replace=False))


def _class_targets(columns: int) -> Array:
    """The targets that a label may have, shape (classes, columns)."""
    return np.array([[-1.0], [1.0]]) if columns == 1 else np.eye(columns)


def _squared_distances(values: Array, targets: Array) -> Array:  # (m, classes)
    differences = values[:, None, :] - targets[None, :, :]
    return np.asarray((differences**2).sum(axis=2))


def _margins(probabilities: Array) -> Array:  # (m,)
    """How much likelier the likeliest class is than the next."""
    ordered = np.sort(probabilities, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _probabilities(pool: Pool, values: Array) -> Array:  # (m, classes)
    """Of the classes, from values that are computed already if there are any."""
    if not hasattr(pool.estimator, "temperature_"):
        return np.asarray(pool.estimator.predict_proba(pool.X))
    return chances_of_scores(pool.estimator, values)
