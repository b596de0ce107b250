"""The rows to pick from: which are labeled, which are copies, for any estimator."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from halfmoon import ConditionalClassifier, ConditionalRegressor
from halfmoon._selection.row_preparation import NormalScores, Preparation
from halfmoon.baselines import (
    HarmonicClassifier,
    HarmonicRegressor,
    LabelSpreadingClassifier,
    PrincipalComponentRegressor,
    TSVMClassifier,
)
from halfmoon.kernels import Laplace
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.queries import (
    informative,
    margin,
    maximin,
    random,
    suspicious_labels,
    variance_reduction,
)
from halfmoon.queries._strategies import best_rows

EVERY = [informative, margin, maximin, variance_reduction, random]


@pytest.mark.parametrize("strategy", [informative, margin, variance_reduction])
def test_nearly_equal_rows_are_copies_also_by_ranks(strategy, rng):
    X = rng.normal(size=(40, 2))
    X[25:] = X[10:25] + 1e-6 * rng.normal(size=(15, 2))
    y = np.where(np.arange(40) < 10, X[:, 0], np.nan)
    ranks = Preparation("ranks", NormalScores().fit(X))
    model = ConditionalRegressor(Prepared(ranks, Laplace(0.5)), alpha=0.01).fit(X, y)
    picks = strategy(model, X, 15)
    assert sorted(np.where(picks < 25, picks, picks - 15)) == list(range(10, 25))


def test_exact_copies_come_after_similar_rows():
    novelty = np.array([1.0, 1e-5, 0.0, 6e-6, 4e-6])

    def similarity(u):
        return 1.0 - novelty if u == 0 else np.zeros(5)

    def score(_):
        return np.array([9.0, 1.0, 8.0, 2.0, 7.0])

    free = np.ones(5, dtype=bool)
    assert best_rows(similarity, free, 5, score) == [0, 3, 1, 4, 2]
    assert best_rows(similarity, free, 5, score, with_copies=False) == [0]


@pytest.mark.parametrize("strategy", EVERY)
@pytest.mark.parametrize(
    "baseline",
    [
        HarmonicClassifier(),
        LabelSpreadingClassifier(),
        TSVMClassifier(),
        HarmonicRegressor(),
        PrincipalComponentRegressor(),
        make_pipeline(StandardScaler(), HarmonicClassifier()),
    ],
)
def test_baselines_know_their_labeled_rows(strategy, baseline):
    X, y = make_moons(40, noise=0.05, random_state=0)
    baseline.fit(X, np.where(np.arange(40) % 4 == 0, y, np.nan))
    picks = strategy(baseline, X, 30, random_state=0)
    assert sorted(picks) == [i for i in range(40) if i % 4]
    with pytest.raises(ValueError, match="only 30 of the 40 rows of X are unlabeled"):
        strategy(baseline, X, 31)
    assert len(strategy(baseline, X[:7], 7)) == 7  # a pool of its own


def test_classifiers_with_scores_alone(rng):
    X = rng.normal(size=(40, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for codes in (y, y > 0):
        model = LinearSVC().fit(X[:20], codes[:20])
        scores = model.decision_function(X[20:])
        if scores.ndim == 1:
            gap = np.abs(scores)
        else:  # of the softmax
            p = np.sort(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
            gap = p[:, -1] - p[:, -2]
        first = margin(model, X, 1, labeled=np.arange(20))
        assert first == 20 + gap.argmin()


def test_the_best_of_a_search_is_used(rng):
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(float)
    search = GridSearchCV(ConditionalClassifier(), {"alpha": [0.01, 1.0]}, cv=2)
    search.fit(X[:20], y[:20])
    for strategy in EVERY[:3]:
        expected = strategy(search.best_estimator_, X[20:], 4)
        assert_array_equal(strategy(search, X[20:], 4), expected)
    assert_array_equal(
        suspicious_labels(search), suspicious_labels(search.best_estimator_)
    )
