"""Unpenalized features, however they are named, are the features themselves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from halfmoon._estimators import (
    ConditionalRegressor,
    FredholmRegressor,
    LaplacianRegressor,
)
from halfmoon._estimators.parameters import as_unpenalized
from halfmoon.bases import RandomFeatures
from halfmoon.kernels import NNGP, Gaussian, Laplace
from halfmoon.problem import Problem
from halfmoon.unpenalized import (
    Constant,
    Eigenfunctions,
    Features,
    GaussianDraws,
    HiddenLayer,
    Polynomials,
)
from reference import minimizer, table

E, ALPHA = 0.8, 0.02


def fitted_values(F, data):
    """Values at the rows by the dense twin, with any features F of the rows."""
    X, known = data.X, data.labeled
    q = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    K = np.exp(-q / (2 * E**2))
    theta, beta = minimizer(
        K[known], F[known], K, data.y[known, None], data.w[known], ALPHA
    )
    return (K @ theta + F @ beta)[:, 0]


def ones(X):
    return np.ones((len(X), 1))


WAYS = {
    "none": (None, lambda X: np.zeros((len(X), 0))),
    "constant": ("constant", ones),
    "intercept": ("intercept", ones),
    "degree 0": (0, ones),
    "linear": ("linear", lambda X: np.c_[ones(X), X]),
    "degree 1": (1, lambda X: np.c_[ones(X), X]),
    "degree as a NumPy number": (np.int64(1), lambda X: np.c_[ones(X), X]),
    "quadratic": ("quadratic", PolynomialFeatures(2).fit_transform),
    "degree 2": (2, PolynomialFeatures(2).fit_transform),
    "column": ([1], lambda X: np.c_[ones(X), X[:, 1]]),
    "columns": (np.array([1, 0]), lambda X: np.c_[ones(X), X]),
    "mask": ([False, True], lambda X: np.c_[ones(X), X[:, 1]]),
    "mask as an array": (np.array([True, False]), lambda X: np.c_[ones(X), X[:, 0]]),
    "function": (np.sin, lambda X: np.c_[ones(X), np.sin(X)]),
    "function of one": (lambda X: X[:, 0] ** 2, lambda X: np.c_[ones(X), X[:, 0] ** 2]),
    "transformer": (
        make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)),
        PolynomialFeatures(2).fit_transform,
    ),
    "object": (Features([0], constant=False), lambda X: X[:, :1]),
    "polynomials": (Polynomials(1), lambda X: np.c_[ones(X), X]),
}


@pytest.mark.parametrize("way", WAYS)
def test_any_way_to_say_which_features(way):
    unpenalized, features = WAYS[way]
    data = table()
    model = ConditionalRegressor(Gaussian(E), unpenalized, ALPHA)
    model.fit(data.X, data.y, data.w)
    expected = fitted_values(features(data.X), data)
    assert_allclose(model.predict(data.X), expected, atol=1e-8)
    assert model.coef_.shape == (features(data.X).shape[1],)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_by_their_names(library):
    frames = pytest.importorskip(library)
    data = table()
    frame = frames.DataFrame({"age": data.X[:, 0], "height": data.X[:, 1]})
    expected = fitted_values(np.c_[ones(data.X), data.X[:, 1]], data)
    model = ConditionalRegressor(Gaussian(E), ["height"], ALPHA)
    assert_allclose(
        model.fit(frame, data.y, data.w).predict(frame), expected, atol=1e-8
    )
    with pytest.raises(ValueError, match=r"\['weight'\], which X does not have"):
        ConditionalRegressor(unpenalized=["age", "weight"]).fit(frame, data.y)
    with pytest.raises(ValueError, match="X has no column names"):
        ConditionalRegressor(unpenalized=["age"]).fit(data.X, data.y)


def test_columns_of_a_sparse_table():
    data = table()
    model = ConditionalRegressor(Gaussian(E), [1], ALPHA)
    model.fit(sp.csr_array(data.X), data.y, data.w)
    expected = fitted_values(np.c_[ones(data.X), data.X[:, 1]], data)
    assert_allclose(model.predict(sp.csr_array(data.X)), expected, atol=1e-8)


@pytest.mark.parametrize("unpenalized", ["wavy", True, 3.5, {0: 1}])
def test_bad_values_are_refused(unpenalized):
    data = table()
    with pytest.raises(ValueError, match=r"unpenalized is .* a degree, a list of"):
        ConditionalRegressor(unpenalized=unpenalized).fit(data.X, data.y)


def test_eigenfunctions_of_the_estimators_own_kernel():
    data = table()
    X, n = data.X, 30
    for make, kernel in (
        (ConditionalRegressor(Gaussian(E), Eigenfunctions(4), ALPHA), Gaussian(E)),
        (LaplacianRegressor(Laplace(E), ALPHA, unpenalized=Eigenfunctions(4)),
         Laplace(E)),
        (FredholmRegressor(Gaussian(0.5), Laplace(E), alpha=ALPHA,
                           unpenalized=Eigenfunctions(4)), Laplace(E)),
    ):  # fmt: skip
        features = make.fit(X, data.y).solution_.posed.unpenalized
        s, U = np.linalg.eigh(kernel(X))
        assert_allclose(features.eigenvalues_, s[::-1][:4] / n, rtol=1e-8)
        values = features.transform(X)[:, 1:]
        cosines = np.abs((values * U[:, ::-1][:, :4]).sum(axis=0)) / np.sqrt(n)
        assert_allclose(cosines, 1, rtol=1e-7)
    # A kernel of their own is left to them.
    own = ConditionalRegressor(Gaussian(E), Eigenfunctions(4, Laplace(2.0)), ALPHA)
    assert own.fit(X, data.y).solution_.posed.unpenalized.kernel_ is not Gaussian
    s = np.linalg.eigvalsh(Laplace(2.0)(X))[::-1]
    own_values = own.solution_.posed.unpenalized.eigenvalues_
    assert_allclose(own_values, s[:4] / n, rtol=1e-8)


def test_draws_repeat_with_the_seed():
    data = table()
    model = ConditionalRegressor(Gaussian(E), GaussianDraws(3), ALPHA, random_state=4)
    first = model.fit(data.X, data.y, data.w).predict(data.new)
    assert_allclose(model.fit(data.X, data.y, data.w).predict(data.new), first)
    F = model.solution_.posed.unpenalized.transform(data.X)
    assert F.shape == (30, 4)
    assert_allclose(model.predict(data.X), fitted_values(F, data), atol=1e-7)


def test_random_features_that_are_not_penalized():
    data = table()
    features = Features(RandomFeatures(NNGP("erf"), 5))
    model = ConditionalRegressor(Gaussian(E), features, ALPHA, random_state=0)
    model.fit(data.X, data.y, data.w)
    F = model.solution_.posed.unpenalized.transform(data.X)
    assert F.shape == (30, 6)
    assert_allclose(model.predict(data.X), fitted_values(F, data), atol=1e-7)


def test_a_network_is_its_last_hidden_layer():
    data = table(weights=False)
    network = MLPRegressor(
        hidden_layer_sizes=(9, 4), solver="lbfgs", max_iter=50, random_state=0,
        activation="tanh", tol=1e-1,
    ).fit(data.X[data.labeled], data.y[data.labeled])  # fmt: skip
    hidden = data.X
    for weights, offset in zip(network.coefs_[:-1], network.intercepts_, strict=False):
        hidden = np.tanh(hidden @ weights + offset)
    F = np.c_[ones(data.X), hidden]
    for unpenalized in (network, HiddenLayer(network)):
        model = ConditionalRegressor(Gaussian(E), unpenalized, ALPHA)
        model.fit(data.X, data.y)
        assert_allclose(model.predict(data.X), fitted_values(F, data), atol=1e-6)
    pipeline = make_pipeline(StandardScaler(), network)
    (features,) = as_unpenalized(pipeline, None)
    assert isinstance(features, HiddenLayer)
    assert features.network is pipeline


def test_composition_with_the_other_levers():
    data = table()
    model = LaplacianRegressor(Gaussian(E), ALPHA, 0.1, unpenalized=[0])
    fit = Problem(
        model.fit(data.X, data.y, data.w).solution_.posed.basis,
        "gradient",
        0.1,
        Features([0]),
    ).fit(data.X, data.y, ALPHA, sample_weight=data.w)
    assert_allclose(model.predict(data.new), fit.predict(data.new), atol=1e-9)


def test_several_options_stay_separate():
    kernel = Gaussian(E)
    options = as_unpenalized([Constant(), "linear", Eigenfunctions([2, 5])], kernel)
    assert [type(each).__name__ for each in options] == [
        "Constant",
        "Polynomials",
        "Eigenfunctions",
        "Eigenfunctions",
    ]
    assert [each.k for each in options[2:]] == [2, 5]
    assert all(each.kernel is kernel for each in options[2:])
    assert as_unpenalized([0, 1], kernel)[0].transformer == [0, 1]  # two columns
    (none,) = as_unpenalized(None, kernel)
    assert none is None
