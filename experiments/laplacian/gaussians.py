"""The setting of S1's figures 3, 4 and 5: two Gaussians in ten columns.

Unit variance, centers 3 apart, half of the rows each; one row in ten is labeled, as
many of either class; sigma = n^(-1/14) log n in all methods (d = 10); lambda = 1,
mu = 1/n, p = 50 landmarks drawn uniformly, no unpenalized constant. Errors are those
of the unlabeled rows, which a method has seen. Nothing is tuned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._estimators import LaplacianRegressor
from halfmoon._rows import Array
from halfmoon.baselines import HarmonicRegressor
from halfmoon.bases import WithDerivatives
from halfmoon.datasets import reveal, two_gaussians
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem

__all__ = [
    "BEST_ERROR",
    "DISTANCE",
    "D",
    "Draw",
    "draw",
    "errors",
    "exact",
    "graph",
    "kernelized",
    "least_square",
    "sigma",
]

D, DISTANCE, LANDMARKS = 10, 3.0, 50

#: Of the best border, x_1 = 1.5: the normal distribution function at -1.5.
BEST_ERROR = 0.0668072


class Draw(NamedTuple):
    """A table, its classes (-1 and 1) and the labels, NaN where there is none."""

    X: Array  # (n, d)
    y: Array  # (n,)
    known: Array  # (n,)


def draw(n: int, trial: int) -> Draw:
    rng = np.random.default_rng([3, n, trial])
    X, y = two_gaussians(n, D, DISTANCE, rng)
    return Draw(X, y, reveal(y, y, n // 20, rng))


def sigma(n: int) -> float:
    """The bandwidth that theory asks of a graph over n rows."""
    return float(n ** (-1 / (D + 4)) * np.log(n))


def kernelized(
    table: Draw, trial: int, *, covariance: str = "labeled", p: int = LANDMARKS
) -> Array:  # (n,)
    """S1's algorithm 1 with Tikhonov's filter, at all rows."""
    n = len(table.y)
    model = LaplacianRegressor(
        Gaussian(sigma(n)),
        alpha=1.0,
        mu=1.0 / n,
        n_components=min(n, p),
        landmarks="uniform",
        unpenalized=None,
        covariance=covariance,  # type: ignore[arg-type]
        random_state=trial,
    )
    return model.fit(table.X, table.known).predict(table.X)


def exact(table: Draw) -> Array:  # (n,)
    """The minimizer of S1's equation 5 itself, in all n (d + 1) functions."""
    n = len(table.y)
    problem = Problem(WithDerivatives(Gaussian(sigma(n))), "gradient", 1.0 / n, None)
    return problem.fit(table.X, table.known, alpha=1.0).predict(table.X)


def graph(table: Draw) -> Array:  # (n,)
    """The harmonic function of the graph of all pairs, by the same Gaussian."""
    model = HarmonicRegressor(n_neighbors=None, length_scale=sigma(len(table.y)))
    return model.fit(table.X, table.known).transduction_


def errors(table: Draw, values: Array) -> tuple[float, float, float]:
    """Over unlabeled rows: wrong signs, wrong sides of the median, mean square."""
    hidden = np.isnan(table.known)
    g, y = values[hidden], table.y[hidden]
    return (
        float((np.sign(g) != y).mean()),
        float((np.sign(g - np.median(g)) != y).mean()),
        float(((g - y) ** 2).mean()),
    )


def least_square() -> float:
    """The least mean square that any function of the row has: E[1 - g(X)^2].

    The regression function is tanh(3 (x_1 - 3/2) / 2), and x_1 - 3/2 is normal around
    3/2 for the one class, around -3/2 for the other, where 1 - g^2 is the same.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    g = np.tanh(DISTANCE * (nodes + DISTANCE / 2) / 2)
    return float(((1 - g**2) * weights).sum() / weights.sum())
