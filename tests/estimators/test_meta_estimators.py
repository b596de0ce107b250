"""What the guide says of halfmoon inside other estimators."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, VotingClassifier, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_predict, cross_val_score

from halfmoon import LaplacianClassifier, LaplacianRegressor
from halfmoon.model_selection import LabeledKFold

X, TRUTH = load_iris(return_X_y=True)
order = np.random.default_rng(0).permutation(150)
X, TRUTH = X[order], TRUTH[order]
LABELED = np.arange(150) % 3 == 0
Y = np.where(LABELED, TRUTH, np.nan)
MARKED = np.where(LABELED, TRUTH, -1)
MODEL = LaplacianClassifier(alpha=0.01)


def test_meta_estimators_that_work_with_missing_labels():
    voting = VotingRegressor([("one", LaplacianRegressor(alpha=0.01))]).fit(X, Y)
    assert np.abs(voting.predict(X) - TRUTH).mean() < 0.2
    importance = permutation_importance(MODEL.fit(X, Y), X, Y, n_repeats=2)
    assert importance.importances_mean[2] > 0.2
    frozen = CalibratedClassifierCV(FrozenEstimator(MODEL.fit(X, Y)))
    assert frozen.fit(X[LABELED], TRUTH[LABELED]).score(X, TRUTH) > 0.9


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_meta_estimators_that_do_not():
    for make in (BaggingClassifier, CalibratedClassifierCV):
        with pytest.raises(ValueError, match="contains NaN"):
            make(MODEL).fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        cross_val_score(MODEL, X, Y, cv=5)
    with pytest.raises(ValueError, match="partitions"):
        cross_val_predict(MODEL, X, Y, cv=LabeledKFold(5))
    with pytest.raises(ValueError, match="labeled_accuracy"):
        cross_val_score(MODEL, X, Y, cv=LabeledKFold(5), scoring="labeled_accuracy")


@pytest.mark.filterwarnings("ignore:y contains -1")
def test_marked_rows_are_a_trap_in_ensembles():
    model = LaplacianClassifier(alpha=0.01, unlabeled=-1)
    assert cross_val_score(model, X, MARKED, cv=5).mean() > 0.9
    for ensemble in (
        BaggingClassifier(model, random_state=0),
        VotingClassifier([("one", model), ("two", model)]),
    ):
        predicted = ensemble.fit(X, MARKED).predict(X)
        assert (predicted == -1).mean() > 0.6
    accuracy = cross_val_score(model, X, MARKED, cv=5, scoring="accuracy").mean()
    assert accuracy == pytest.approx(1 / 3, abs=0.02)
