"""Models that learn from the labeled rows only, tuned by cross-validation on them.

Ties go to the first value of each list. `gamma` is a multiple of
1 / (d var(X)), scikit-learn's own "scale". Forests are tuned with 50 trees and then
fitted with 200.
"""

from functools import cache

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.league.tables import load

PENALTIES = (1.0, 0.1, 10.0, 0.01, 100.0, 0.001, 1000.0)
SVM_C = (1.0, 10.0, 100.0, 0.1)
SVM_GAMMA = (1.0, 0.3, 0.1, 3.0)
NEIGHBORS = (5, 3, 1, 7, 10)
WEIGHTS = ("distance", "uniform")
LEAF_ROWS = (1, 3)  # of a tree of the forest
FEATURES = ("sqrt", 0.3)
SPARSE_FEATURES = ("sqrt", 0.05)  # of 7,511 columns
TREES_TUNED, TREES = 50, 200
BOOSTED_LEAF_ROWS = (5, 2)  # the default of 20 would make no split at 20 labels
BOOSTED_FEATURES = (0.3, 1.0)  # a share helps a lot: with few labels, many splits tie
SVD_COLUMNS = 50

ABOUT = {
    "linear": (
        f"LogisticRegression, C in {sorted(PENALTIES)}; Ridge, alpha in the same"
    ),
    "svm": (
        f"SVC or SVR, Gaussian kernel, C in {sorted(SVM_C)}, gamma in "
        f"{sorted(SVM_GAMMA)} / (d var(X))"
    ),
    "forest": (
        f"RandomForest, {TREES} trees ({TREES_TUNED} while tuned), min_samples_leaf "
        f"in {sorted(LEAF_ROWS)}, max_features in {list(FEATURES)}, "
        f"{list(SPARSE_FEATURES)} if sparse"
    ),
    "boosting": (
        f"HistGradientBoosting, 100 rounds at the default rate, min_samples_leaf in "
        f"{sorted(BOOSTED_LEAF_ROWS)}, max_features in {sorted(BOOSTED_FEATURES)}; "
        f"sparse rows by way of TruncatedSVD to {SVD_COLUMNS} columns, fitted on all "
        f"rows, so that there it learns from the unlabeled ones too"
    ),
    "neighbors": (
        f"KNeighbors, n_neighbors in {sorted(NEIGHBORS)}, weights in {list(WEIGHTS)}"
    ),
}


def predict(name, table, labeled, split):
    """Predictions for every row of the table, and the parameters chosen."""
    X = table.X
    if name == "boosting" and issparse(X):
        X = _condensed(table.name)
    estimator, grid = _candidate(name, table, split)
    if table.mixed_units and name not in ("forest", "boosting"):
        estimator = Pipeline([("scale", StandardScaler()), ("model", estimator)])
        grid = {f"model__{key}": values for key, values in grid.items()}
    scoring = "neg_mean_squared_error" if table.task == "regression" else "accuracy"
    search = GridSearchCV(
        estimator, grid, scoring=scoring, cv=table.folds(labeled, split), refit=False
    ).fit(X[labeled], table.y[labeled])
    estimator.set_params(**search.best_params_)
    if name == "forest":
        estimator.set_params(n_estimators=TREES)
    estimator.fit(X[labeled], table.y[labeled])
    chosen = {k.removeprefix("model__"): v for k, v in search.best_params_.items()}
    return estimator.predict(X), chosen


def gamma_scale(table):
    """1 / (d var(X)) of the table, standardized where it will be."""
    d = table.X.shape[1]
    if table.mixed_units:
        return 1 / d
    variance = (table.X**2).mean() - table.X.mean() ** 2
    return float(1 / (d * variance))


def _candidate(name, table, split):
    regression = table.task == "regression"
    if name == "linear":
        if regression:
            return Ridge(), {"alpha": PENALTIES}
        return LogisticRegression(max_iter=2_000), {"C": PENALTIES}
    if name == "svm":
        gammas = [float(m * gamma_scale(table)) for m in SVM_GAMMA]
        # Both targets have a standard deviation near 1, so epsilon = 0.1 fits.
        return SVR() if regression else SVC(), {"C": SVM_C, "gamma": gammas}
    if name == "forest":
        kind = RandomForestRegressor if regression else RandomForestClassifier
        features = SPARSE_FEATURES if issparse(table.X) else FEATURES
        grid = {"min_samples_leaf": LEAF_ROWS, "max_features": features}
        return kind(TREES_TUNED, random_state=split, n_jobs=1), grid
    if name == "boosting":
        kind = (
            HistGradientBoostingRegressor
            if regression
            else HistGradientBoostingClassifier
        )
        grid = {
            "min_samples_leaf": BOOSTED_LEAF_ROWS,
            "max_features": BOOSTED_FEATURES,
        }
        return kind(early_stopping=False, random_state=split), grid
    kind = KNeighborsRegressor if regression else KNeighborsClassifier
    return kind(), {"n_neighbors": NEIGHBORS, "weights": WEIGHTS}


@cache
def _condensed(name):
    svd = TruncatedSVD(SVD_COLUMNS, random_state=0)
    return np.asarray(svd.fit_transform(load(name).X))
