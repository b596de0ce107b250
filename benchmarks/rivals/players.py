"""The other tools by name: what each is, which package it needs, how it is called."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from benchmarks.rivals import automl, imputers, ours, supervised

SUPERVISED = "from the labeled rows"
EVERY_ROW = "from every row"


@dataclass
class Rival:
    """A tool: `predict` takes a `Work` and predicts its hidden rows."""

    predict: Callable
    module: str  # imported before the clock starts
    package: str  # whose version is stored
    call: str
    learns: str = SUPERVISED

    @property
    def limited(self):
        """Whether it stops by the clock."""
        return self.predict.__module__ == automl.__name__


RIVALS = {
    "halfmoon": Rival(
        ours.halfmoon, "halfmoon", "halfmoon", "`halfmoon.fill(...)`", EVERY_ROW
    ),
    "forest": Rival(
        supervised.forest,
        "sklearn.ensemble",
        "scikit-learn",
        f"`RandomForestClassifier({supervised.TREES})`",
    ),
    "linear": Rival(
        supervised.linear_tuned,
        "sklearn.linear_model",
        "scikit-learn",
        "`LogisticRegression()`, C tuned in five folds; `RidgeCV()` for numbers; "
        "columns scaled by skrub's `SquashingScaler`",
    ),
    "svm": Rival(
        supervised.svm_tuned,
        "sklearn.svm",
        "scikit-learn",
        "`SVC()`, C and gamma tuned in five folds, columns scaled likewise",
    ),
    "autogluon": Rival(
        automl.autogluon,
        "autogluon.tabular",
        "autogluon.tabular",
        "`TabularPredictor(...).fit(rows, time_limit=...)`",
    ),
    "autogluon-pseudo": Rival(
        automl.autogluon_pseudo,
        "autogluon.tabular",
        "autogluon.tabular",
        "the same, then `.fit_pseudolabel(rest, time_limit=...)`; it "
        "keeps the first models where its held-out score does not improve",
        EVERY_ROW,
    ),
    "flaml": Rival(
        automl.flaml,
        "flaml",
        "flaml",
        "`AutoML().fit(..., time_budget=...)`",
    ),
    "catboost": Rival(
        supervised.catboost,
        "catboost",
        "catboost",
        "`CatBoostClassifier()`, columns of strings as categories or as text",
    ),
    "lightgbm": Rival(
        supervised.lightgbm, "lightgbm", "lightgbm", "`LGBMClassifier()`"
    ),
    "xgboost": Rival(supervised.xgboost, "xgboost", "xgboost-cpu", "`XGBClassifier()`"),
    "perpetual": Rival(
        supervised.perpetual, "perpetual", "perpetual", "`PerpetualClassifier()`"
    ),
    "ebm": Rival(
        supervised.ebm,
        "interpret.glassbox",
        "interpret-core",
        "`ExplainableBoostingClassifier()`",
    ),
    "ngboost": Rival(
        supervised.ngboost, "ngboost", "ngboost", "`NGBClassifier(k_categorical(k))`"
    ),
    "xrfm": Rival(
        supervised.xrfm,
        "xrfm",
        "xrfm",
        "`xRFM()`, one label in five as its validation set, columns standardized",
    ),
    "realmlp": Rival(
        supervised.realmlp, "pytabkit", "pytabkit", "`RealMLP_TD_Classifier()`"
    ),
    "skrub": Rival(
        supervised.skrub_default,
        "skrub",
        "skrub",
        '`tabular_pipeline("classifier")`, which is HistGradientBoosting',
    ),
    "skrub-linear": Rival(
        supervised.skrub_linear,
        "skrub",
        "skrub",
        "`tabular_pipeline(LogisticRegression())`, `Ridge()` for numbers",
    ),
    "knn-imputer": Rival(
        imputers.knn,
        "sklearn.impute",
        "scikit-learn",
        "`KNNImputer()`, columns standardized, labels as more columns",
        EVERY_ROW,
    ),
    "iterative-imputer": Rival(
        imputers.iterative,
        "sklearn.impute",
        "scikit-learn",
        "`IterativeImputer()`, likewise",
        EVERY_ROW,
    ),
    "missforest": Rival(
        imputers.missforest,
        "missforest",
        "MissForest",
        "`MissForest(categorical=[target])`",
        EVERY_ROW,
    ),
}
BASELINES = "halfmoon", "forest", "linear", "svm"  # run by the other benchmarks
NAMES = tuple(name for name in RIVALS if name not in BASELINES)
FRESH = (*BASELINES, "catboost", "autogluon")


def installed(name):
    """Version of a tool's package, or None."""
    try:
        return version(RIVALS[name].package)
    except PackageNotFoundError:
        return None
