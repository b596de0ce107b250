"""Features of prepared rows against preparing them by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian, ThinPlate
from halfmoon.unpenalized import (
    Constant,
    Features,
    GaussianDraws,
    HiddenLayer,
    Polynomials,
)
from halfmoon.unpenalized._base import PreparedFeatures


@pytest.fixture
def X(rng):
    return rng.normal(size=(25, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, -2.0]


@pytest.mark.parametrize(
    "features",
    [Constant(), Polynomials(2), Features(np.sin), Features([1], constant=False)],
    ids=repr,
)
def test_values_are_those_of_prepared_rows(X, rng, features):
    t, new = StandardScaler().fit(X).transform, rng.normal(size=(4, 3))
    prepared = PreparedFeatures(t, features).fit(X)
    by_hand = clone(features).fit(t(X))
    assert_array_equal(prepared.transform(new), by_hand.transform(t(new)))
    assert prepared.names_ == by_hand.names_


def test_random_numbers_are_handed_on(X):
    prepared = PreparedFeatures(np.tanh, GaussianDraws(2)).fit(X, rng=3)
    by_hand = GaussianDraws(2).fit(np.tanh(X), rng=3)
    expected = by_hand.transform(np.tanh(X))
    assert_array_equal(prepared.transform(X), expected)


def test_only_the_constant_is_still_a_polynomial(X):
    for features, degree in (
        (Polynomials(2), 0),
        (Constant(), 0),
        (Features([0], constant=False), -1),
    ):
        assert PreparedFeatures(np.tanh, features).fit(X).degree_ == degree
    y = np.where(np.arange(25) < 12, X[:, 0], np.nan)
    bent = PreparedFeatures(np.tanh, Polynomials(1))
    with pytest.raises(ValueError, match="polynomials up to degree 1"):
        ConditionalRegressor(ThinPlate(), bent, alpha=1e-3).fit(X, y)


def test_the_features_given_are_not_fitted(X):
    features = Polynomials(1)
    before = dict(vars(features))
    prepared = PreparedFeatures(np.tanh, features).fit(X)
    assert vars(features) == before
    before = prepared.transform(X)
    clone(prepared).fit(100.0 * X)
    PreparedFeatures(np.tanh, features).fit(100.0 * X)
    assert_array_equal(prepared.transform(X), before)


def test_a_copy_shares_the_transformation(X):
    scaler = StandardScaler().fit(X)
    prepared = PreparedFeatures(scaler.transform, Polynomials(1))
    copy = clone(prepared)
    copy.set_params(features__degree=2)
    assert prepared.features.degree == 1
    assert copy.prepare.__self__ is scaler
    assert copy.fit(X).transform(X).shape == (25, 10)


def test_what_learned_from_labels_says_so():
    network = MLPRegressor((4,))
    for trained in (True, False):
        layer = HiddenLayer(network, trained_on_labels=trained)
        assert PreparedFeatures(np.tanh, layer).from_labels == trained
    assert not PreparedFeatures(np.tanh, Constant()).from_labels


def test_a_fit_is_that_with_columns_made_by_hand(X, rng):
    y = np.where(np.arange(25) < 15, X[:, 0] + np.sin(X[:, 1]), np.nan)
    scaler, new = StandardScaler().fit(X), rng.normal(size=(4, 3))
    prepared = PreparedFeatures(scaler.transform, Polynomials(1))
    model = ConditionalRegressor(Gaussian(5.0), prepared, alpha=1e-2).fit(X, y)
    by_hand = Features(scaler.transform)
    twin = ConditionalRegressor(Gaussian(5.0), by_hand, alpha=1e-2).fit(X, y)
    assert_allclose(model.predict(new), twin.predict(new), rtol=1e-8)
