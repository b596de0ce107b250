"""A small table with some labels, and parts of kernels on it."""

import numpy as np
import pytest

from halfmoon.bases import Exact, Nystrom, Smoothed
from halfmoon.candidates import (
    KernelPart,
    Labeled,
    NormalScores,
    NullSpace,
    ProblemPart,
    WalkPart,
)
from halfmoon.candidates.preparation import Preparation
from halfmoon.kernels import Gaussian, Linear, ProductLaplace
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion, KernelWeights, diffused_grams
from halfmoon.unpenalized import Constant


@pytest.fixture
def X(rng):
    return rng.lognormal(size=(40, 3))


@pytest.fixture
def new(rng):
    return rng.lognormal(size=(7, 3))


@pytest.fixture
def data(X, rng):
    y = np.full((40, 2), np.nan)
    y[3:21] = np.column_stack([np.sin(X[3:21, 0]), X[3:21, 1]]) - 1.0
    y[3:21] += 0.1 * rng.normal(size=(18, 2))
    return Labeled.of(X, y, rng.uniform(0.2, 3.0, size=40))


@pytest.fixture
def prepare(X):
    return Preparation("normal scores", NormalScores().fit(X))


@pytest.fixture
def constant():
    return NullSpace("constant", Constant().transform)


@pytest.fixture
def parts(X, data, prepare):
    """One part of each kind."""
    Z, Z_l = prepare(X), prepare(data.X_l)
    walk = Diffusion(5, 0.1, 2).fit(Z)
    averaged = Problem(Smoothed(Exact(Gaussian(1.5)), KernelWeights(Gaussian(0.6))))
    energy = Problem(Nystrom(Gaussian(1.5), 12), "gradient", 0.1)

    def posed(problem):
        weights = data.weight_on_table
        return problem.pose(Z, data.on_table, sample_weight=weights, rng=0)

    return {
        "gaussian": KernelPart("gaussian", prepare, Gaussian(1.2), Z_l),
        "laplace": KernelPart("laplace", prepare, ProductLaplace(2.0), Z_l),
        "linear": KernelPart("linear", prepare, Linear(), Z_l),
        "walk": WalkPart("walk", prepare, walk, Z_l, diffused_grams([walk], Z_l)[0]),
        "averaged": ProblemPart("averaged", prepare, posed(averaged)),
        "energy": ProblemPart("energy", prepare, posed(energy)),
    }
