"""Features from the user: a transformer, a function, columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from halfmoon.bases import Exact, Nystrom, RandomFeatures
from halfmoon.kernels import NNGP, Gaussian
from halfmoon.problem import Problem
from halfmoon.unpenalized import Features
from optional_modules import optional

pd = optional("pandas")


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3)) * [1.0, 2.0, 3.0] + [0.0, 5.0, -2.0]


@pytest.mark.parametrize("transformer", [StandardScaler(), PCA(2)], ids=repr)
def test_a_copy_of_the_transformer_is_fitted(X, rng, transformer):
    before = dict(vars(transformer))
    features = Features(transformer).fit(X)
    new = rng.normal(size=(5, 3))
    expected = type(transformer)(**transformer.get_params()).fit(X).transform(new)
    assert_allclose(features.transform(new)[:, 0], np.ones(5))
    assert_allclose(features.transform(new)[:, 1:], expected, rtol=1e-13)
    assert features.degree_ == 0
    assert vars(transformer) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(transformer)


def test_a_transformer_without_fit_is_used_as_it_is(X):
    class Doubling:
        def transform(self, X):
            return 2 * X

    features = Features(Doubling(), constant=False).fit(X)
    assert_array_equal(features.transform(X), 2 * X)
    assert features.names_ == ["f0", "f1", "f2"]
    assert features.degree_ == -1


@pytest.mark.parametrize(
    ("function", "k"), [(np.sin, 3), (lambda X: X[:, 0] ** 2, 1)], ids=["sin", "flat"]
)
def test_a_function_of_the_rows(X, function, k):
    features = Features(function, constant=False).fit(X)
    assert_array_equal(features.transform(X), function(X).reshape(11, k))
    assert features.names_ == [f"f{column}" for column in range(k)]


@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_columns_by_their_numbers(X, make):
    features = Features(make([2, 0])).fit(X)
    expected = np.column_stack([np.ones(11), X[:, 2], X[:, 0]])
    assert_array_equal(features.transform(X), expected)
    assert_array_equal(features.transform(X[:4]), expected[:4])
    assert features.names_ == ["1", "x2", "x0"]


@pytest.mark.parametrize("source", [[2, 0], StandardScaler(with_mean=False), abs])
def test_csr_rows(X, source):
    expected = Features(source).fit(X).transform(X)
    sparse = sp.csr_array(X)
    actual = Features(source).fit(sparse).transform(sparse)
    assert type(actual) is np.ndarray
    assert_allclose(actual, expected, rtol=1e-13)


def test_sparse_features_become_dense():
    X = np.array([[0], [2], [0]])
    features = Features(OneHotEncoder()).fit(X)
    assert_array_equal(features.transform(X), [[1, 1, 0], [1, 0, 1], [1, 1, 0]])
    assert features.transform(X).dtype == np.float64


def test_names_come_from_the_transformer(X):
    assert Features(PCA(2)).fit(X).names_ == ["1", "pca0", "pca1"]
    assert Features(StandardScaler(), constant=False).fit(X).names_ == [
        "x0",
        "x1",
        "x2",
    ]


def test_data_frames_are_fitted_and_transformed_alike(X):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    expected = Features(StandardScaler()).fit(X).transform(X)
    assert_array_equal(Features(StandardScaler()).fit(frame).transform(frame), expected)


def test_a_refit_forgets(X, rng):
    features = Features(StandardScaler())
    features.fit(rng.normal(size=(4, 2)))
    expected = Features(StandardScaler()).fit(X)
    assert_array_equal(features.fit(X).transform(X), expected.transform(X))
    assert features.names_ == expected.names_


def test_what_is_not_finite_is_refused(X):
    def reciprocal(X):
        return np.divide(1.0, X, out=np.full(X.shape, np.inf), where=X != 0)

    features = Features(reciprocal).fit(X)
    X[4, 1] = 0
    with pytest.raises(ValueError, match=r"NaN or infinity; finite.*Fix the transf"):
        features.transform(X)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="unpenalized features contain NaN"):
        Features([0, 1]).fit(X).transform(X)


@pytest.mark.parametrize("source", ["x0", 3, None])
def test_other_sources_are_refused(X, source):
    message = f"Unpenalized features are {source!r}; a transformer"
    with pytest.raises(ValueError, match=message):
        Features(source).fit(X)


def test_transformers_of_text_are_not_for_rows(X):
    with pytest.raises((AttributeError, TypeError, ValueError)):
        Features(CountVectorizer()).fit(X)


def test_a_mask_over_the_columns(rng):
    X = rng.standard_normal((6, 3))
    features = Features(np.array([True, False, True]), constant=False).fit(X)
    assert_allclose(features.transform(X), X[:, [0, 2]], rtol=0)
    assert features.names_ == ["x0", "x2"]
    with pytest.raises(ValueError, match="one truth value for each of the 3 columns"):
        Features([True, False]).fit(X)


def test_a_basis_is_fitted_with_the_same_source_of_random_numbers(X, rng):
    basis, new = RandomFeatures(Gaussian(1.0), 6), rng.normal(size=(5, 3))
    features = Features(basis).fit(X, rng=3)
    expected = RandomFeatures(Gaussian(1.0), 6).fit(X, rng=3).transform(new)
    assert_array_equal(features.transform(new)[:, 1:], expected)
    assert_array_equal(features.transform(new)[:, 0], np.ones(5))
    assert features.names_ == ["1", "f0", "f1", "f2", "f3", "f4", "f5"]
    assert not hasattr(basis, "directions_")
    other = Features(basis).fit(X, rng=4).transform(new)[:, 1:]
    assert np.abs(other - expected).max() > 0.01


def test_any_basis_will_do(X, rng):
    features = Features(Nystrom(Gaussian(1.0), 4), constant=False).fit(X, rng=0)
    chosen = features.transformer_.sections_.rows_
    assert_array_equal(features.transform(X), Gaussian(1.0)(X, chosen))


def test_penalized_and_unpenalized_random_features(rng):
    """Theorem G.1: with m penalized ones, m large, it is conditional kernel ridge."""
    X, new = rng.normal(size=(30, 2)), rng.normal(size=(8, 2))
    y, kernel = np.sin(2 * X[:, 0]) + X[:, 1], Gaussian(1.0)
    free = Features(RandomFeatures(kernel, 4), constant=False)

    def distance(m):
        problem = Problem(RandomFeatures(kernel, m), unpenalized=free)
        fit = problem.fit(X, y, 0.1, rng=0)
        same = Features(fit.posed.unpenalized.transform, constant=False)
        limit = Problem(Exact(kernel), unpenalized=same).fit(X, y, 0.1)
        return np.sqrt(np.mean((fit.predict(new) - limit.predict(new)) ** 2))

    # It falls as 1 / sqrt(m), by a factor of 10 here but for chance.
    assert distance(2_000) < 0.05
    assert distance(2_000) < distance(20) / 3


def test_dead_units_are_dropped_by_name(rng):
    X = rng.uniform(0.5, 1.0, (30, 2))
    y = X[:, 0] - X[:, 1]
    problem = Problem(
        Exact(Gaussian(1.0)),
        unpenalized=Features(RandomFeatures(NNGP("relu", bias=0.1), 12)),
    )
    with pytest.warns(UserWarning, match=r"f\d+.* depend\(s\) on the others"):
        fit = problem.fit(X, y, 0.1, rng=0)
    F = fit.posed.F
    dead = ~F.any(axis=0)
    assert dead.any()
    assert_array_equal(fit.beta[dead], 0)
    features = fit.posed.unpenalized.transform
    alive = Problem(
        Exact(Gaussian(1.0)),
        unpenalized=Features(lambda rows: features(rows)[:, ~dead], constant=False),
    )
    with pytest.warns(UserWarning, match="depend"):  # units alive at every row
        expected = alive.fit(X, y, 0.1)
    assert_allclose(fit.predict(X), expected.predict(X), atol=1e-9)
