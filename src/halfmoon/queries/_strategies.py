r"""Strategies that choose the rows to label next.

With g the fitted function, v its posterior variance and lam the noise, in the units of
`_pool_posterior.py`, labeling row u as t increases the minimum of the fitted objective
by a multiple of

.. math:: \frac{(t - g(u))^2}{v(u) + lam}                                           (1)

**MaxiMin** picks the row for which the minimum of (1) over all classes t is largest:
for any label, it changes the function most, in the norm of the penalty. After a pick, g
and v are those of a fit in which the row has the class of least change. (Karzand and
Nowak, "MaxiMin active learning in overparameterized model classes", 2020; for the
Dirichlet energy, Cabannes, Pillaud-Vivien, Bach, Rudi, 2021, section 5.)

**Variance reduction** picks the row whose label reduces the posterior variance of all
rows most, by

.. math:: \frac{\sum_j C(x_j, u)^2}{v(u) + lam}                                      (2)

which does not depend on t. For numbers any t is possible, so the minimum of (1) is 0
everywhere. With t one predictive deviation from g, the squared change of g at all rows
is (2), so MaxiMin for numbers picks by (2).

**Informative** rows reduce the variance of other rows where it matters, and have
uncertain labels themselves. They have the largest

.. math:: w(u) \frac{\sum_{j \ne u} w(x_j) C(x_j, u)^2}{v(u) + lam}                  (3)

where w is the uncertainty of the class, 1 - margin, and 1 for numbers. Row u itself
does not count: an outlying row says much about itself and little about others, and
nobody asks for the prediction of a row that is labeled.

**Duplicates.** The similarity of two rows is the squared correlation r^2 of the
function at them, or 1 if their values are nearly equal: a kernel of ranks tells such
rows apart. A row whose r^2 with a pick is above 0.9999 is a duplicate, whose label
would say the same. Duplicates come last, those of smallest r^2 first, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import is_classifier

from halfmoon._estimators.classification import probabilities_of_scores
from halfmoon._rows import TINY, Array, Indices
from halfmoon.queries._pool import Pool
from halfmoon.queries._pool_posterior import Posterior

__all__ = [
    "best_rows",
    "class_uncertainty",
    "informative",
    "margin",
    "maximin",
    "random",
    "similarity_of_rows",
    "spread_out",
    "squared_correlation",
    "variance_reduction",
]

CERTAIN = 1e-6  # least 1 - margin, so that certain rows can be told apart

SECTIONS = """\
    Parameters
    ----------
    estimator : estimator
        A fitted estimator, best of halfmoon; or a pipeline that ends with one, or a
        search for its parameters. Estimators of other libraries need `labeled`, and
        rows are compared by a Gaussian kernel.
    X : array-like, data frame or sparse matrix of shape (m, d)
        The fitted table, or a pool of unlabeled rows. A table with as many rows as the
        fitted one is assumed to be it.
    n : int
        Number of rows to pick.
    labeled : array-like or None
        Row numbers, or a mask, of rows of X that must not be picked; None is the
        labeled rows of the fitted table.
    random_state : int, Generator or None
        Draws the sample that is used if X is too large for the estimator's
        `memory_limit`, and the rows of `random`.

    Returns
    -------
    ndarray of shape (n,)
        Row numbers in X, the best first.

"""
DUPLICATE = 1e-4  # largest 1 - r^2 of rows that count as equal


def _strategy(
    choose: Callable[[Pool], Sequence[int] | Indices],
) -> Callable[..., Indices]:
    """Make a function of an estimator and a table from a choice of rows in a pool."""

    def strategy(
        estimator: Any,
        X: Any,
        n: int = 10,
        *,
        labeled: Any = None,
        random_state: Any = None,
    ) -> Indices:
        pool = Pool.of(estimator, X, n, labeled, random_state)
        return pool.in_table(choose(pool))

    # Python before 3.13 keeps the indentation of a docstring.
    head, mark, examples = cleandoc(choose.__doc__ or "").partition("Examples\n")
    strategy.__doc__ = f"{head.rstrip()}\n\n{cleandoc(SECTIONS)}\n\n{mark}{examples}"
    strategy.__name__ = strategy.__qualname__ = choose.__name__
    return strategy


@_strategy
def maximin(pool: Pool) -> list[int]:
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
    posterior = pool.posterior()
    if not is_classifier(pool.estimator):
        return _reduce_variance(pool, posterior)
    targets = _class_targets(posterior.values.shape[1])

    def score(_: Array) -> Array:
        change = cdist(posterior.values, targets, "sqeuclidean").min(axis=1)
        return _ratio(change, posterior.variance + posterior.noise)

    def condition(u: int) -> None:
        distances = ((targets - posterior.values[u]) ** 2).sum(axis=1)
        posterior.condition(u, targets[int(distances.argmin())])

    similarity = similarity_of_rows(pool, posterior)
    return best_rows(similarity, pool.free, pool.n, score, condition)


@_strategy
def variance_reduction(pool: Pool) -> list[int]:
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
    return _reduce_variance(pool, pool.posterior())


@_strategy
def informative(pool: Pool) -> list[int]:
    """Return rows whose labels say most about other rows; uncertain ones for classes.

    A label says much if it reduces the variance of many predictions, of classes above
    all where they are uncertain. The row itself does not count.

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
    posterior = pool.posterior()
    posterior.weights = w = class_uncertainty(pool, posterior)

    def score(_: Array) -> Array:
        v = posterior.variance
        others = posterior.squared_columns() - w * v**2
        return _ratio(w * others, v + posterior.noise)

    return _conditioned(pool, posterior, score)


@_strategy
def margin(pool: Pool) -> list[int]:
    r"""Return rows that are uncertain and differ from each other.

    A row is uncertain if its two most likely classes have nearly the same probability;
    for numbers, if its posterior deviation is large. This is multiplied by
    :math:`1 - \max_j r(x, x_j)^2` over the earlier picks :math:`x_j`, where r is the
    correlation of the function at two rows.
    """
    posterior = pool.posterior()
    uncertainty = class_uncertainty(pool, posterior)
    if not is_classifier(pool.estimator):
        uncertainty = np.sqrt(posterior.variance)
    similarity = similarity_of_rows(pool, posterior)
    return spread_out(similarity, uncertainty, pool.free, pool.n)


@_strategy
def random(pool: Pool) -> Indices:
    """Return random rows, to compare the other strategies with."""
    return pool.rng.choice(np.flatnonzero(pool.free), pool.n, replace=False)


def _reduce_variance(pool: Pool, posterior: Posterior) -> list[int]:
    """Return the picks by (2)."""

    def score(_: Array) -> Array:
        total = posterior.variance + posterior.noise
        return _ratio(posterior.squared_columns(), total)

    return _conditioned(pool, posterior, score)


def _conditioned(
    pool: Pool, posterior: Posterior, score: Callable[[Array], Array]
) -> list[int]:
    """Return the picks by a score that does not depend on labels."""
    similarity = similarity_of_rows(pool, posterior)
    return best_rows(similarity, pool.free, pool.n, score, posterior.condition)


def _ratio(a: Array, b: Array) -> Array:
    """Return a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)


def _class_targets(columns: int) -> Array:
    """Return the targets that a label may have, shape (classes, columns)."""
    return np.array([[-1.0], [1.0]]) if columns == 1 else np.eye(columns)


def class_uncertainty(pool: Pool, posterior: Posterior) -> Array:  # (m,)
    """Return w of (3): 1 - margin of the two most likely classes; 1 for numbers."""
    if not is_classifier(pool.estimator):
        return np.ones(len(posterior.variance))
    if hasattr(pool.estimator, "temperature_"):  # reuse the computed values
        p = probabilities_of_scores(pool.estimator, posterior.values)
    else:
        p = pool.probabilities()
    ordered = np.sort(p, axis=1)
    return np.maximum(1.0 - (ordered[:, -1] - ordered[:, -2]), CERTAIN)


def squared_correlation(posterior: Posterior) -> Callable[[int], Array]:
    """Return a function from a row to its r^2 with every row, before any pick."""
    covariance, variance = posterior.covariance, posterior.variance

    def column(u: int) -> Array:
        product = variance * variance[u]
        out = np.zeros_like(product)
        return np.divide(covariance.column(u) ** 2, product, out=out, where=product > 0)

    return column


def similarity_of_rows(pool: Pool, posterior: Posterior) -> Callable[[int], Array]:
    """Return a function from a row to its similarity with every row, 1 for copies."""
    correlation, copies = squared_correlation(posterior), pool.copies()
    return lambda u: np.where(copies(u), 1.0, correlation(u))


def best_rows(
    similarity: Callable[[int], Array],
    free: NDArray[np.bool_],  # (m,)
    n: int,
    score: Callable[[Array], Array],
    condition: Callable[[int], None] | None = None,
    *,
    groups: NDArray[np.generic] | None = None,  # (m,)
    with_copies: bool = True,
) -> list[int]:
    """Return the n free rows with the largest scores, picked one by one.

    `similarity` maps a row to its r^2 with every row. `score` maps the novelty of each
    row, 1 minus its largest r^2 with a pick, to the scores; `condition` updates them
    for a pick. Rows of `groups` without a pick come first. Without copies, fewer rows
    are returned where only duplicates are left.
    """
    free, novelty = free.copy(), np.ones(len(free))
    missing = np.ones(len(free), dtype=bool)  # the row's group has no pick yet
    picks: list[int] = []
    while len(picks) < n and free.any():
        newest = novelty[free].max()
        some = free & (novelty > DUPLICATE)
        if newest <= DUPLICATE:
            if not with_copies:
                break
            some = free & (novelty >= newest / 2)
        if (some & missing).any():
            some = some & missing
        places = np.flatnonzero(some)
        u = int(places[np.argmax(score(novelty)[places])])
        picks.append(u)
        free[u] = False
        if groups is not None:
            missing &= groups != groups[u]
        if len(picks) < n:
            novelty = np.minimum(novelty, np.maximum(1.0 - similarity(u), 0.0))
            if condition is not None:
                condition(u)
    return picks


def spread_out(
    similarity: Callable[[int], Array],
    uncertainty: Array,  # (m,)
    free: NDArray[np.bool_],  # (m,)
    n: int,
    *,
    groups: NDArray[np.generic] | None = None,
    with_copies: bool = True,
) -> list[int]:
    r"""Return the n most uncertain rows that differ from each other.

    The next row has the largest :math:`uncertainty(x) (1 - \max_j r(x, x_j)^2)` over
    the earlier picks :math:`x_j`. With one :math:`x_j` the factor is the share of the
    variance that remains at x once the value at :math:`x_j` is known. The other
    arguments are those of `best_rows`.
    """

    def score(novelty: Array) -> Array:
        return np.maximum(uncertainty, TINY) * novelty

    return best_rows(similarity, free, n, score, groups=groups, with_copies=with_copies)
