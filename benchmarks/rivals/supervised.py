"""Tools that learn from the labeled rows, called with their default arguments.

Each function takes a `Work` and returns predictions for its hidden rows, classes as
0, 1, ... Packages are imported in the functions, because only their own environment
has them.
"""

import numpy as np

TREES = 300


def _fitted(model, work):
    """Predictions of a model that accepts only columns of numbers."""
    X = work.numbers
    return model.fit(X[work.labeled], work.target).predict(X[work.hidden])


def forest(work):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if work.regression else RandomForestClassifier
    return _fitted(kind(TREES, random_state=work.seed), work)


def linear_tuned(work):
    from sklearn.linear_model import LogisticRegression, RidgeCV

    if work.regression:
        return _fitted(_scaled(RidgeCV(10.0 ** np.arange(-3, 5))), work)
    grid = {"C": 10.0 ** np.arange(-4, 3)}
    return _fitted(_scaled(_tuned(LogisticRegression(max_iter=1_000), grid)), work)


def svm_tuned(work):
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    grid = {"C": 10.0 ** np.arange(-1, 4), "gamma": 10.0 ** np.arange(-4, 1)}
    model = _tuned(SVR() if work.regression else SVC(), grid)
    if work.regression:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    return _fitted(_scaled(model), work)


def _tuned(model, grid):
    """Choose by cross-validation in five folds."""
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(model, grid, cv=5)


def _scaled(model):
    """Replace missing numbers by medians and scale columns as skrub does."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from skrub import SquashingScaler

    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(imputer, SquashingScaler(), model)


def catboost(work):
    from catboost import CatBoostClassifier, CatBoostError, CatBoostRegressor

    kind = CatBoostRegressor if work.regression else CatBoostClassifier
    model = kind(random_seed=work.seed, verbose=False, allow_writing_files=False)
    categories = [name for name in work.strings if name not in work.texts]
    missing = dict.fromkeys(work.strings, "")
    train, rest = work.train.fillna(missing), work.rest.fillna(missing)
    try:
        model.fit(train, work.target, cat_features=categories, text_features=work.texts)
    except CatBoostError:  # no word occurs often enough
        model.fit(train, work.target, cat_features=work.strings)
    return model.predict(rest)


def lightgbm(work):
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if work.regression else LGBMClassifier
    return _fitted(kind(random_state=work.seed, verbose=-1), work)


def xgboost(work):
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBRegressor if work.regression else XGBClassifier
    return _fitted(kind(random_state=work.seed), work)


def perpetual(work):
    from perpetual import PerpetualClassifier, PerpetualRegressor

    kind = PerpetualRegressor if work.regression else PerpetualClassifier
    return _fitted(kind(), work)


def ebm(work):
    from interpret.glassbox import (
        ExplainableBoostingClassifier,
        ExplainableBoostingRegressor,
    )

    kind = (
        ExplainableBoostingRegressor
        if work.regression
        else ExplainableBoostingClassifier
    )
    return _fitted(kind(random_state=work.seed), work)


def ngboost(work):
    from ngboost import NGBClassifier, NGBRegressor
    from ngboost.distns import k_categorical

    settings = {"random_state": work.seed, "verbose": False}
    if work.regression:
        return _fitted(NGBRegressor(**settings), work)
    kind = k_categorical(len(work.classes))
    return _fitted(NGBClassifier(Dist=kind, **settings), work)


def xrfm(work):
    """Use one label in five as the validation set, as in its own example."""
    from sklearn.model_selection import train_test_split
    from xrfm import xRFM

    X = work.scaled(by=work.labeled).astype(np.float32)
    y = work.target.astype(np.float32) if work.regression else work.target
    train, validation = train_test_split(
        np.arange(y.size), test_size=0.2, random_state=work.seed
    )
    model = xRFM(random_state=work.seed, verbose=False)
    rows = X[work.labeled]
    model.fit(rows[train], y[train], rows[validation], y[validation])
    return model.predict(X[work.hidden])


def realmlp(work):
    from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    kind = RealMLP_TD_Regressor if work.regression else RealMLP_TD_Classifier
    return _fitted(kind(random_state=work.seed, device="cpu"), work)


def skrub_default(work):
    return _skrub("regressor" if work.regression else "classifier", work)


def skrub_linear(work):
    from sklearn.linear_model import LogisticRegression, Ridge

    return _skrub(Ridge() if work.regression else LogisticRegression(), work)


def _skrub(model, work):
    from skrub import tabular_pipeline

    return tabular_pipeline(model).fit(work.train, work.target).predict(work.rest)
