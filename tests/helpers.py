"""Tables that contract tests run through, and twins that several tests share.

A new basis or smoother is tested by adding one row here.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from halfmoon.bases import (
    Basis,
    Exact,
    Nystrom,
    RandomFeatures,
    RandomUnits,
    Smoothed,
    WithDerivatives,
)
from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Logarithmic,
    Matern,
    Multiquadric,
    Polyharmonic,
    Polynomial,
    RationalQuadratic,
    ThinPlate,
)
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors, Smoother

STEP = 1e-5  # h^2 and eps / h are then both about 1e-10

#: Block sizes for tables of 11 rows: single, ragged, exact, over.
BLOCK_ROWS = [1, 4, 11, 50]


class BasisCase(NamedTuple):
    name: str
    build: Callable[[], Basis]
    smooth: bool = True  # has a gradient
    invariant: bool = True  # phi(x)'phi(z) does not change if all rows move alike


#: Landmarks that are not rows of any table.
LANDMARKS = np.array([[0.5, -0.25, 1.0], [-1.0, 0.75, 0.0], [0.0, 0.0, -1.5]])

SMOOTHERS: dict[str, Callable[[], Smoother]] = {
    "plain": lambda: KernelWeights(Gaussian(0.9), normalize=False),
    "normalized": lambda: KernelWeights(Gaussian(0.9)),
    "neighbors": lambda: Neighbors(4),
    "neighbors, 3 steps": lambda: Neighbors(4, steps=3, kernel=Gaussian(1.1)),
    "diffusion": lambda: Diffusion(4, restart=0.2, repeats=2),
}

_INNER: dict[str, Callable[[], Basis]] = {
    "exact": lambda: Exact(Gaussian(1.2)),
    "landmarks": lambda: Nystrom(Matern(2.5, 1.4), 5, "uniform"),
    "features": lambda: RandomFeatures(Gaussian(1.2), 8),
    "derivatives": lambda: WithDerivatives(Gaussian(1.2)),
}

BASES = [
    BasisCase("exact", lambda: Exact(Gaussian(1.0))),
    BasisCase("exact, median", lambda: Exact(Matern(1.5))),
    BasisCase("exact, kink", lambda: Exact(Laplace(1.3))),
    BasisCase("exact, singular", lambda: Exact(Polynomial(2)), invariant=False),
    BasisCase("exact, no gradient", lambda: Exact(NNGP("tanh")), False, False),
    BasisCase("uniform", lambda: Nystrom(Gaussian(1.3), 6, "uniform")),
    BasisCase("rpcholesky", lambda: Nystrom(RationalQuadratic(1.0, 1.3), 6)),
    BasisCase("indices", lambda: Nystrom(Gaussian(), landmarks=[0, 3, 5])),
    BasisCase(
        "given rows",
        lambda: Nystrom(Gaussian(1.3), landmarks=LANDMARKS),
        invariant=False,
    ),
    BasisCase("derivatives", lambda: WithDerivatives(Gaussian(1.3))),
    BasisCase("Gaussian features", lambda: RandomFeatures(Gaussian(), 9)),
    BasisCase("Laplace features", lambda: RandomFeatures(Laplace(2.0), 10)),
    BasisCase("Matern features", lambda: RandomFeatures(Matern(1.5, 1.5), 10)),
    *(
        BasisCase(
            f"{activation} features",
            lambda activation=activation: RandomFeatures(NNGP(activation), 7),
            invariant=False,
        )
        for activation in ("relu", "erf", "tanh")
    ),
    *(
        BasisCase(
            f"{activation} units",
            lambda activation=activation: RandomUnits(activation, 7),
            invariant=False,
        )
        for activation in ("cos", "relu", "tanh")
    ),
    *(
        BasisCase(
            f"{inner}, {smoother}",
            lambda inner=inner, smoother=smoother: Smoothed(
                _INNER[inner](), SMOOTHERS[smoother]()
            ),
            smooth=smoother in ("plain", "normalized"),
        )
        for inner in _INNER
        for smoother in SMOOTHERS
    ),
]

#: Kernels with gradients, one of each family and some of their combinations.
DIFFERENTIABLE: list[Kernel] = [
    Gaussian(1.3),
    Laplace(1.3),
    Matern(0.5, 1.3),
    Matern(1.5, 1.3),
    Matern(2.5, 1.3),
    RationalQuadratic(0.7, 1.3),
    Linear(),
    Polynomial(3, 0.5, 1.0),
    NNGP("erf"),
    NNGP("relu"),
    NNGP("relu", depth=2),
    NTK(),
    ThinPlate(),
    Polyharmonic(1),
    Polyharmonic(3),
    Polyharmonic(2.5),
    ThinPlate(4),
    Multiquadric(1.3),
    Logarithmic(1.3),
    Logarithmic(1.3, power=1.5),
    2.0 * Gaussian(0.8),
    Gaussian(1.0) + Matern(1.5, 2.0),
    Gaussian(1.0) * Laplace(2.0),
    Gaussian(1.0) + Polynomial(2),
    NNGP("erf") * Gaussian(2.0),
]


def central_differences(
    function: Callable[[np.ndarray], np.ndarray],
    X: np.ndarray,  # (n, d)
) -> np.ndarray:
    """Derivatives along each column of X, in a last axis."""
    moved = [(function(X + e), function(X - e)) for e in STEP * np.eye(X.shape[1])]
    return np.stack([(up - down) / (2 * STEP) for up, down in moved], axis=-1)


def squared_distances(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """|x - z|^2 from the differences themselves."""
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1)


def peak_bytes(function: Callable[[], object]) -> int:
    """The most that `function` holds at once beside what is there before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


class InTurn:
    """An engine that runs one partition after the other; others must agree with it."""

    threads = 1

    def map(self, function, partitions):
        for partition in partitions:
            yield function(*partition)
