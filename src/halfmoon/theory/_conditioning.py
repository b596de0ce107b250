r"""The cost of conditioning: unpenalized features are estimated from the labels.

With g the truth, Pi its projection on the span of the features and K_P the residual
kernel (`residual.py`):

- *Conditional kernel ridge* is least squares on f, then kernel ridge with K_P on the
  residuals, where P is the distribution of the labeled rows (theorem 3.2).
- The *conditional learner* knows Pi g, and learns the rest by kernel ridge with K_P,
  where P is the distribution of the rows.
- The *cost of conditioning* is the mean squared distance between the two (definition
  4.1). It is about 1.1 dim F / N times the variance of the noise, if dim F is much
  smaller than N and the truth is in the span of f. Its part outside counts as noise.

Takhanov, Assylbekov, "Conditional KRR", 2026, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from halfmoon._labels import as_targets
from halfmoon._rows import Array, Rows, as_table
from halfmoon._solvers import Elimination, ridge_dual
from halfmoon.kernels import Kernel
from halfmoon.theory._residual import fitted, residual_kernel
from halfmoon.unpenalized import Unpenalized

__all__ = ["conditional_learner", "cost_of_conditioning"]


def conditional_learner(
    kernel: Kernel,
    features: Unpenalized,
    X: Rows,  # (N, d)
    y: Any,  # (N,) or (N, t)
    alpha: float,
    *,
    truth: Callable[[Rows], Array],
    population: Rows,  # (m, d)
) -> Callable[[Rows], Array]:
    """Return the F-conditional learner, a function of rows, which knows Pi g.

    It is kernel ridge with the residual kernel on y - Pi g, with Pi g added back. The
    parameters are those of `cost_of_conditioning`.
    """
    K_P = residual_kernel(kernel, features, population)
    X, single = as_table(X), np.ndim(y) == 1
    targets = _labeled(y, X.shape[0])
    known = K_P.project(lambda rows: _columns(truth(rows)))
    h = _ridge(K_P, None, X, targets - known(X), alpha)

    def learner(rows: Rows) -> Array:
        values = known(rows) + h(rows)
        return values[:, 0] if single else values

    return learner


def cost_of_conditioning(
    kernel: Kernel,
    features: Unpenalized,
    X: Rows,  # (N, d)
    y: Any,  # (N,) or (N, t)
    alpha: float,
    *,
    truth: Callable[[Rows], Array],
    population: Rows,  # (m, d)
    rows: Rows | None = None,  # (b, d)
) -> float:
    """Return the mean squared distance between conditional ridge and learner.

    Definition 4.1: the cost of estimating the unpenalized part from the labels instead
    of knowing it. It is a random number, because X and y are random.

    Parameters
    ----------
    kernel, features : see `residual_kernel`
    X, y : rows and targets
        All labeled.
    alpha : float
        Penalty weight, relative to the averaged loss.
    truth : callable
        The regression function g.
    population : array or CSR of shape (m, d)
        Rows that represent the distribution P: many draws, or a grid.
    rows : array or CSR of shape (b, d) or None
        Rows at which the two are compared; None is the population.

    Examples
    --------
    >>> from halfmoon.kernels import PeriodicSobolev
    >>> from halfmoon.unpenalized import Constant
    >>> rng = np.random.default_rng(0)
    >>> X, grid = rng.uniform(0, 6.28, (50, 1)), np.linspace(0, 6.28, 100)[:, None]
    >>> y = np.cos(X[:, 0]) + 0.1 * rng.standard_normal(50)
    >>> cost = cost_of_conditioning(
    ...     PeriodicSobolev(1.0),
    ...     Constant(),
    ...     X,
    ...     y,
    ...     0.01,
    ...     truth=lambda rows: np.cos(rows[:, 0]),
    ...     population=grid,
    ... )
    >>> cost < 0.01
    True
    """
    population = as_table(population)
    kernel = kernel.resolve(population)
    features = fitted(features, population)
    X = as_table(X)
    learner = conditional_learner(
        kernel, features, X, y, alpha, truth=truth, population=population
    )
    ridge = _ridge(kernel, features, X, _labeled(y, X.shape[0]), alpha)
    rows = population if rows is None else as_table(rows)
    return float(np.mean((ridge(rows) - _columns(learner(rows))) ** 2))


def _ridge(
    kernel: Kernel, features: Unpenalized | None, X: Rows, y: Array, alpha: float
) -> Callable[[Rows], Array]:
    """Return the kernel ridge fit, with unpenalized features if there are any."""
    if features is None:
        F, names = np.zeros((X.shape[0], 0)), []
    else:
        F, names = features.transform(X), features.names_
    path = ridge_dual(kernel(X), y, Elimination(F, names), float(X.shape[0]))
    c, beta = path.theta(alpha), path.beta(alpha)

    def values(rows: Rows) -> Array:
        g = kernel(rows, X) @ c
        return g if features is None else g + features.transform(rows) @ beta

    return values


def _labeled(y: Any, n: int) -> Array:
    y = as_targets(y, n)
    if np.isnan(y).any():
        raise ValueError(
            f"{int(np.isnan(y).any(axis=1).sum())} of the {n} rows have no label; all "
            f"rows must be labeled here. Remove the unlabeled ones."
        )
    return y


def _columns(values: Any) -> Array:
    values = np.asarray(values, dtype=np.float64)
    return values.reshape(len(values), -1)
