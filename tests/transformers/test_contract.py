"""Contract of the transformers: scikit-learn's checks, and tables of any type."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from halfmoon._transformers import (
    FredholmFeatures,
    LaplacianEigenmaps,
    NystromFeatures,
    RandomFeatures,
)
from halfmoon.bases import Exact, Smoothed
from halfmoon.kernels import Gaussian, Matern
from halfmoon.smoothers import Neighbors
from optional_modules import optional

pd = optional("pandas")

TRANSFORMERS = [
    LaplacianEigenmaps(),
    LaplacianEigenmaps(3, energy="graph", n_landmarks=15),
    FredholmFeatures(n_components=10),
    FredholmFeatures(smoother=Neighbors(3), n_components=10),
    NystromFeatures(n_components=10),
    RandomFeatures(n_components=10),
]

#: One of each kind, with parameters that are not the defaults.
CASES = {
    "eigenmaps": LaplacianEigenmaps(3, Matern(2.5, 1.5), random_state=0),
    "eigenmaps, derivatives": LaplacianEigenmaps(
        3, Gaussian(1.0), basis="derivatives", random_state=0
    ),
    "eigenmaps, smoothed": LaplacianEigenmaps(
        2, basis=Smoothed(Exact(Gaussian(1.0)), Neighbors(4)), energy="graph"
    ),
    "fredholm": FredholmFeatures("matern", Gaussian(1.5), random_state=0),
    "nystrom": NystromFeatures("laplace", 7, random_state=0),
    "random": RandomFeatures("matern", 9, random_state=0),
}


@parametrize_with_checks(TRANSFORMERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(params=CASES)
def transformer(request):
    return clone(CASES[request.param])


@pytest.fixture
def X(rng):
    return rng.normal(size=(23, 3))


@pytest.fixture
def new(rng):
    return rng.normal(size=(11, 3))


def test_sparse_rows_are_the_same_rows(transformer, X, new):
    X[X < -0.5] = 0
    new[new < -0.5] = 0
    expected = transformer.fit(X).transform(new)
    for make in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        actual = clone(transformer).fit(make(X)).transform(make(new))
        assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)


def test_data_frames_in_and_out(transformer, X, new):
    expected = transformer.fit(X).transform(new)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    other = pd.DataFrame(new, columns=["a", "b", "c"], index=np.arange(11) + 100)
    transformer = clone(transformer).set_output(transform="pandas").fit(frame)
    out = transformer.transform(other)
    assert_allclose(out.to_numpy(), expected, rtol=1e-7, atol=1e-9)
    assert_array_equal(out.index, other.index)
    assert_array_equal(transformer.feature_names_in_, ["a", "b", "c"])
    prefix = type(transformer).__name__.lower()
    names = [f"{prefix}{j}" for j in range(expected.shape[1])]
    assert list(out.columns) == names == list(transformer.get_feature_names_out())


def test_polars(transformer, X, new):
    polars = pytest.importorskip("polars")
    expected = transformer.fit(X).transform(new)
    frame, other = (polars.DataFrame(T, schema=["a", "b", "c"]) for T in (X, new))
    transformer = clone(transformer).fit(frame)
    assert_allclose(transformer.transform(other), expected, rtol=1e-7, atol=1e-9)
    assert_array_equal(transformer.feature_names_in_, ["a", "b", "c"])


def test_blocks_of_rows_agree(transformer, X, new, monkeypatch):
    expected = transformer.fit(X).transform(new)
    for rows in (1, 4):  # single; ragged, as 23 and 11 rows are no multiple of 4
        monkeypatch.setattr(
            "halfmoon.blocks.Stream.rows_in_block", lambda self, row_bytes, r=rows: r
        )
        actual = clone(transformer).fit(X).transform(new)
        assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)
        monkeypatch.undo()


def test_float32_stays_float32(transformer, X, new):
    X, new = X.astype(np.float32), new.astype(np.float32)
    expected = clone(transformer).fit(X.astype(float)).transform(new.astype(float))
    actual = transformer.fit(X).transform(new)
    assert actual.dtype == np.float32
    assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_features_ignore_the_other_new_rows(transformer, X, new):
    whole = transformer.fit(X).transform(new)
    alone = np.vstack([transformer.transform(row[None]) for row in new])
    assert_allclose(alone, whole, rtol=1e-7, atol=1e-9)


def test_pickle(transformer, X, new):
    transformer.fit(X)
    copy = pickle.loads(pickle.dumps(transformer))
    assert_array_equal(copy.transform(new), transformer.transform(new))


@pytest.mark.parametrize("kind", ["int", "Generator", "RandomState"])
@pytest.mark.parametrize("name", ["fredholm", "nystrom", "random"])
def test_random_states(X, new, name, kind):
    def state(seed):
        return {
            "int": lambda: seed,
            "Generator": lambda: np.random.default_rng(seed),
            "RandomState": lambda: np.random.RandomState(seed),
        }[kind]()

    def features(seed):
        transformer = clone(CASES[name]).set_params(n_components=3)
        return transformer.set_params(random_state=state(seed)).fit(X).transform(new)

    assert_array_equal(features(1), features(1))
    others = [features(seed) for seed in (2, 3, 4)]
    assert any(not np.array_equal(features(1), other) for other in others)


def test_parameters_are_not_changed(transformer, X):
    before = {name: repr(p) for name, p in transformer.get_params().items()}
    objects = transformer.get_params(deep=False)
    transformer.fit(X)
    assert {name: repr(p) for name, p in transformer.get_params().items()} == before
    for name, value in transformer.get_params(deep=False).items():
        assert value is objects[name]
    for name in {"basis", "smoother"} & set(before):  # fitted on copies
        assert not hasattr(objects[name], "rows_")
        assert not hasattr(objects[name], "n_components_")


def test_grid_search_over_a_pipeline(X):
    y = np.sin(X[:, 0])
    pipeline = make_pipeline(NystromFeatures(random_state=0), Ridge(1e-3))
    grid = {
        "nystromfeatures__kernel": [Gaussian(0.01), Gaussian(2.0)],
        "nystromfeatures__n_components": [2, 15],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_["nystromfeatures__n_components"] == 15
    assert search.best_params_["nystromfeatures__kernel"].length_scale == 2.0
    assert search.best_score_ > 0.5


@pytest.mark.parametrize(
    ("transformer", "words"),
    [
        (NystromFeatures("thin_plate"), "only conditionally positive definite"),
        (NystromFeatures("precomputed"), "needs rows, not a kernel matrix"),
        (NystromFeatures("gauss"), "kernel is 'gauss'"),
        (NystromFeatures(landmarks="best"), "^landmarks is 'best'; one of 'rp"),
        (NystromFeatures(n_components=0), "^n_components is 0; None, or 1, 2"),
        (NystromFeatures(random_state="x"), "random_state is 'x'"),
        (FredholmFeatures(inner_kernel="thin_plate"), "only conditionally"),
        (FredholmFeatures(inner_kernel="x"), "^inner_kernel is 'x'; a kernel of"),
        (FredholmFeatures("precomputed"), "needs rows, not a kernel matrix"),
        (FredholmFeatures(smoother="neighbors"), "smoother is 'neighbors'"),
        (RandomFeatures("polynomial"), "No random features are known"),
        (RandomFeatures(n_components=2.5), "n_components is 2.5"),
        (LaplacianEigenmaps(0), "n_components is 0"),
        (LaplacianEigenmaps(n_landmarks=0), "n_landmarks is 0"),
        (LaplacianEigenmaps(mu=0), "a number above 0"),
        (LaplacianEigenmaps(mu="small"), "mu is 'small'"),
        (LaplacianEigenmaps(basis="fourier"), "basis is 'fourier'"),
        (LaplacianEigenmaps(energy=None), "energy is None"),
        (LaplacianEigenmaps(kernel="thin_plate"), "only conditionally"),
    ],
    ids=repr,
)
def test_bad_parameters(transformer, words, X):
    with pytest.raises(ValueError, match=words):
        transformer.fit(X)


@pytest.mark.parametrize(
    "transformer",
    [
        NystromFeatures(n_components=23, memory_limit="15kB"),  # 4 * 8 * 23^2 = 16,928
        FredholmFeatures(n_components=23, memory_limit="8kB"),  # 16 * 23^2 = 8,464
        LaplacianEigenmaps(basis="derivatives", memory_limit="250kB"),  # 32 * 92^2
    ],
    ids=lambda t: type(t).__name__,
)
def test_too_much_memory_is_refused_before_it_is_allocated(transformer, X):
    with pytest.raises(MemoryError, match="beyond memory_limit="):
        transformer.fit(X)
