"""The memory limit and the workers of an estimator reach every pass over rows."""

import numpy as np
import pytest
from sklearn.neural_network import MLPRegressor

from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianEigenmaps,
    LaplacianRegressor,
    NystromFeatures,
    blocks,
)
from halfmoon.baselines import HarmonicRegressor
from halfmoon.kernels import Gaussian
from halfmoon.smoothers import Diffusion, Neighbors
from halfmoon.unpenalized import Eigenfunctions, GaussianDraws, HiddenLayer

LIMIT = "123MB"
X_NET = np.random.default_rng(0).normal(size=(40, 2))
NETWORK = MLPRegressor(
    hidden_layer_sizes=(5,), solver="lbfgs", max_iter=200, tol=1e-2, random_state=0
).fit(X_NET, X_NET[:, 0])
K = Gaussian(1.0)

MODELS = {
    "exact": ConditionalRegressor(K, alpha=0.01),
    "rpcholesky": ConditionalRegressor(K, alpha=0.01, n_components=20),
    "leverage": LaplacianRegressor(
        K, alpha=0.01, n_components=20, landmarks="leverage"
    ),
    "fredholm": FredholmRegressor(K, K, alpha=0.01),
    "fredholm, landmarks": FredholmRegressor(K, K, alpha=0.01, n_components=20),
    "fredholm, random": FredholmRegressor(
        K, K, alpha=0.01, n_components=20, basis="random_features"
    ),
    "diffusion": FredholmRegressor(
        inner_kernel=K, smoother=Diffusion(5, 0.1), alpha=0.01
    ),
    "neighbors": FredholmRegressor(
        inner_kernel=K, smoother=Neighbors(5, 2), alpha=0.01
    ),
    "eigenfunctions": ConditionalRegressor(K, Eigenfunctions(3), alpha=0.01),
    "eigenfunctions at landmarks": ConditionalRegressor(
        K, Eigenfunctions(3, n_components=20), alpha=0.01
    ),
    "draws": ConditionalRegressor(K, GaussianDraws(3), alpha=0.01),
    "network": ConditionalRegressor(K, HiddenLayer(NETWORK), alpha=0.01),
    "choice by folds": ConditionalRegressor(K, Eigenfunctions([2, 4])),
    "classes": ConditionalClassifier(K, alpha=0.01),
    "halfmoon": HalfmoonRegressor(budget=0.2),
    "halfmoon, classes": HalfmoonClassifier(budget=0.2),
}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    return X, np.where(np.arange(150) < 60, (X[:, 0] > 0) + 0.0, np.nan)


@pytest.fixture
def streams(monkeypatch):
    """The limits of every stream that was used."""
    seen = set()
    whole = blocks.Stream.rows_in_block

    def recorded(self, row_bytes):
        seen.add((self.memory_limit, self.n_jobs))
        return min(40, whole(self, row_bytes))  # several blocks

    monkeypatch.setattr(blocks.Stream, "rows_in_block", recorded)
    return seen


def no_threads(*_, **__):
    raise AssertionError("a pool of threads was started")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_limit_and_the_workers_reach_every_pass(model, table, streams, monkeypatch):
    monkeypatch.setattr(blocks, "ThreadPoolExecutor", no_threads)
    X, y = table
    model.set_params(memory_limit=LIMIT, n_jobs=1, random_state=0).fit(X, y)
    model.predict(X)
    model.leave_one_out()
    model.smoother_matrix(X[:50])
    if hasattr(model, "predict_interval"):
        model.predict(X, return_std=True)
        model.predict_interval(X)
        assert model.noise_variance_ >= 0
    assert streams == {(LIMIT, 1)}


@pytest.mark.parametrize(
    "model",
    [NystromFeatures(K, 20), LaplacianEigenmaps(3, K)],
    ids=["nystrom", "eigenmaps"],
)
def test_transformers_hand_down_their_limit(model, table, streams):
    model.set_params(memory_limit=LIMIT, random_state=0).fit(table[0])
    model.transform(table[0])
    assert streams == {(LIMIT, None)}


def test_a_baseline_too(table, streams):
    HarmonicRegressor(memory_limit=LIMIT).fit(*table).predict(table[0])
    assert streams == {(LIMIT, None)}
