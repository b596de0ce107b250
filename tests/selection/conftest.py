"""A small table with some labels, search data on it, and kernels of each kind."""

import numpy as np
import pytest

from halfmoon._selection.candidate import Candidate, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.row_preparation import NormalScores, Preparation
from halfmoon.bases import Nystrom
from halfmoon.bases._smoothed import FredholmKernel
from halfmoon.kernels import Gaussian, Linear, ProductLaplace
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import Problem
from halfmoon.problem._posed_kernel import PosedKernel
from halfmoon.smoothers import Diffusion, KernelWeights
from halfmoon.smoothers._diffusion import DiffusionKernel
from halfmoon.unpenalized import Constant
from selection.search_tables import bench_of

LABELED = np.arange(3, 21)


@pytest.fixture
def X(rng):
    return rng.lognormal(size=(40, 3))


@pytest.fixture
def new(rng):
    return rng.lognormal(size=(7, 3))


@pytest.fixture
def shared(X, rng):
    y = np.column_stack([np.sin(X[LABELED, 0]), X[LABELED, 1]]) - 1.0
    y += 0.1 * rng.normal(size=(18, 2))
    w = rng.uniform(0.2, 3.0, size=18)
    return bench_of(X, y, w, labeled=LABELED, others=np.arange(25, 38))


@pytest.fixture
def data(shared):
    return shared.data


@pytest.fixture
def prepare(X):
    return Preparation("normal scores", NormalScores().fit(X))


@pytest.fixture
def constant(X):
    return Constant().fit(X)


@pytest.fixture
def kernels(X, shared, prepare):
    """One kernel of each kind, of rows as they come, with a mean diagonal of 1."""
    Z = prepare(X)
    walk = Diffusion(5, 0.1, 2).fit(Z)
    averaged = FredholmKernel(Gaussian(1.5), KernelWeights(Gaussian(0.6)).fit(Z))
    problem = Problem(Nystrom(Gaussian(1.5), 12), "gradient", 0.1)
    y = np.where(np.arange(40) == 0, 0.0, np.nan)
    kinds = {
        "gaussian": Gaussian(1.2),
        "laplace": ProductLaplace(2.0),
        "linear": Linear(),
        "walk": DiffusionKernel(walk),
        "averaged": averaged,
        "energy": PosedKernel(problem.pose(Z, y, rng=0)),
    }
    return {
        name: shared.scaled(Prepared(prepare, kernel)) for name, kernel in kinds.items()
    }


USES_UNLABELED = {"walk", "averaged", "energy"}


@pytest.fixture
def candidates(kernels, constant):
    """A candidate of each kernel, with the constant unpenalized."""
    return {
        name: Candidate(name, name, kernel, constant, name in USES_UNLABELED)
        for name, kernel in kernels.items()
    }


@pytest.fixture
def entry_at(shared):
    """A candidate at an alpha, on the first scale of the targets or on the last."""

    def at(candidate, alpha, criterion=None, place=0, shared=shared):
        entries = fit_at_all_alphas(candidate, shared, criterion or NumberCriterion())
        return [e for e in entries if e.alpha == alpha][place]

    return at
