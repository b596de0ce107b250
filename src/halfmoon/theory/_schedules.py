r"""Penalties and landmarks as functions of the number of rows.

Cabannes, Pillaud-Vivien, Bach, Rudi, "Overcoming the curse of dimensionality with
Laplacian regularization", 2021, theorem 1: with a fixed share of labels, and

.. math:: lambda = lambda_0 n^{-1/4}, \quad mu = mu_0 n^{-1/4}, \quad
          p = p_0 n^s \log n, \quad s = \max(1/2, 1 / (4 a))

the squared error of the estimate falls as :math:`n^{-1/2} + \sigma_l^2 l^{-1/2}` for l
labels and any number of columns. a in (0, 1] says how well landmarks approximate the
derivatives of the kernel. The theorem determines the powers but not the factors: choose
the factors at one n, by leave-one-out, and keep them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Schedule", "laplacian_schedule"]


class Schedule(NamedTuple):
    """Parameters of `LaplacianRegressor` or `LaplacianClassifier`."""

    alpha: float
    mu: float
    n_components: int


def laplacian_schedule(
    n_samples: int,
    alpha: float = 1.0,
    mu: float = 1.0,
    n_components: float = 1.0,
    approximation: float = 0.5,
) -> Schedule:
    """Return penalties and the number of landmarks for a table, by theorem 1.

    Parameters
    ----------
    n_samples : int
        n, the number of all rows.
    alpha, mu, n_components : float
        The factors lambda_0, mu_0 and p_0.
    approximation : float
        a, above 0 and at most 1; all values from 1/2 on give the same.

    Returns
    -------
    Schedule
        ``alpha``, ``mu`` and ``n_components``, which is at most n.

    Examples
    --------
    >>> laplacian_schedule(10_000)
    Schedule(alpha=0.1, mu=0.1, n_components=922)
    """
    if int(n_samples) != n_samples or n_samples < 1:
        raise ValueError(f"n_samples is {n_samples!r}; 1, 2, 3, ... rows are needed.")
    factors = {"alpha": alpha, "mu": mu, "n_components": n_components}
    for name, value in factors.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is {value!r}; a positive number is needed.")
    if not 0 < approximation <= 1:
        raise ValueError(
            f"approximation is {approximation!r}; a number above 0 and at most 1 is "
            f"needed."
        )
    n = int(n_samples)
    power = max(0.5, 1 / (4 * approximation))
    p = math.ceil(n_components * n**power * math.log(n)) if n > 1 else 1
    return Schedule(alpha * n**-0.25, mu * n**-0.25, max(1, min(n, p)))
