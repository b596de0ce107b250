"""A model that ignores unlabeled rows, and records whether it was given any."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge

from halfmoon._labels import labeled_rows, labels_of


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


class LabeledOnly(BaseEstimator):
    """Fitted on the labeled rows, counting the others."""

    def __init__(self, alpha=1.0, unlabeled=None):
        self.alpha = alpha
        self.unlabeled = unlabeled

    def fit(self, X, y):
        labeled = labeled_rows(y, self.unlabeled)
        self.n_unlabeled_ = int((~labeled).sum())
        self.model_ = self._model().fit(np.asarray(X)[labeled], labels_of(y, labeled))
        return self

    def predict(self, X):
        return self.model_.predict(dense(X))


class Classifier(ClassifierMixin, LabeledOnly):
    def _model(self):
        return LogisticRegression(C=1 / self.alpha)

    def predict_proba(self, X):
        return self.model_.predict_proba(dense(X))

    def decision_function(self, X):
        return self.model_.decision_function(dense(X))

    @property
    def classes_(self):
        return self.model_.classes_


class Regressor(RegressorMixin, LabeledOnly):
    def _model(self):
        return Ridge(self.alpha)


@pytest.fixture
def classifier():
    return Classifier()


@pytest.fixture
def regressor():
    return Regressor()


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 2))


@pytest.fixture
def words(X, rng):
    """Two classes with some noise, known for 20 of 60 rows."""
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=60) > 0, "yes", "no").astype(object)
    y[rng.permutation(60)[20:]] = None
    return y


@pytest.fixture
def numbers(X, rng):
    y = X[:, 0] + 0.3 * rng.normal(size=60)
    y[rng.permutation(60)[20:]] = np.nan
    return y
