"""Transformers and networks of scikit-learn, and pipelines of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import halfmoon

X = np.random.default_rng(0).normal(size=(40, 3)) + 3
NEW = np.random.default_rng(1).normal(size=(9, 3)) + 3
TEXTS = np.array(["one fish", "two fish", "red fish", "blue moon", "", "half a moon"])

TRANSFORMERS = [
    StandardScaler(),
    RobustScaler(),
    MinMaxScaler(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=10),
    PolynomialFeatures(3),
    PCA(2),
    TruncatedSVD(2, random_state=np.random.RandomState(0)),
    SimpleImputer(),
    SimpleImputer(add_indicator=True),
    MaxAbsScaler(),
    Normalizer(),
    FunctionTransformer(np.log1p),
    FunctionTransformer(),
    FeatureUnion([("scaled", StandardScaler()), ("kept", "passthrough")]),
    make_pipeline(StandardScaler(), PCA(2)),
    ColumnTransformer([("scaled", StandardScaler(), [0])], remainder="passthrough"),
    OneHotEncoder(dtype=np.float32, handle_unknown="ignore"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
]


@pytest.mark.parametrize(
    "transformer", TRANSFORMERS, ids=lambda transformer: repr(transformer)[:40]
)
def test_transformers(transformer, round_trip, assert_same):
    transformer = transformer.fit(X)
    loaded = round_trip(transformer)
    assert_same(loaded.transform(NEW), transformer.transform(NEW))


@pytest.mark.parametrize(
    "vectorizer",
    [CountVectorizer(), TfidfVectorizer(), HashingVectorizer(n_features=8)],
)
def test_texts(vectorizer, round_trip, assert_same):
    vectorizer.fit(TEXTS)
    loaded = round_trip(vectorizer)
    assert_same(loaded.transform(TEXTS), vectorizer.transform(TEXTS))


def test_words(round_trip, assert_same):
    words = np.array([["a", 1], ["b", None], [None, 2]], dtype=object)
    encoder = OneHotEncoder(drop="if_binary", min_frequency=1).fit(words)
    loaded = round_trip(encoder)
    assert_same(loaded.transform(words), encoder.transform(words))
    assert_array_equal(loaded.get_feature_names_out(), encoder.get_feature_names_out())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_networks_continue_training(solver, round_trip, assert_same):
    y = X[:, 0] * X[:, 1]
    for network, target in (
        (MLPRegressor(max_iter=5, solver=solver, random_state=0), y),
        (MLPClassifier(max_iter=5, solver=solver, random_state=0), y > 9),
    ):
        network.fit(X, target)
        loaded = round_trip(network)
        assert_same(loaded.predict(NEW), network.predict(NEW))
        if solver != "lbfgs":
            for each in (loaded, network):
                each.partial_fit(X, target)
            assert_same(loaded.predict(NEW), network.predict(NEW))


def test_a_pipeline_that_ends_in_halfmoon(round_trip):
    y = np.where(np.arange(40) < 15, X[:, 0], np.nan)
    model = make_pipeline(StandardScaler(), halfmoon.FredholmRegressor(alpha=1e-3))
    model.fit(X, y)
    assert_array_equal(round_trip(model).predict(NEW), model.predict(NEW))
