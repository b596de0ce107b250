"""The tables of the league, and which of their rows are labeled.

Three come with scikit-learn; the others are read from the folder in HALFMOON_DATA.
A table with more than 10,000 rows is cut to 10,000 of them, drawn once with a fixed
seed. The error is measured on the unlabeled rows of the table itself.
"""

import os
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold

from experiments.data import (
    load_california_housing,
    load_covtype,
    load_protein,
    load_ssl_book,
)

MAX_ROWS = 10_000
ROWS_SEED = 0
BUNDLED = ("digits", "breast_cancer", "wine")
STORED = (
    "covtype",
    "digit1",
    "usps",
    "g241c",
    "text1",
    "california_housing",
    "protein",
)
NAMES = BUNDLED + STORED
REGRESSION = ("california_housing", "protein")
# Columns in one unit (pixels, coordinates, word weights) are not standardized, because
# that would only enlarge the rare ones.
ONE_UNIT = ("digits", "digit1", "usps", "g241c", "text1")
LABELS_PER_CLASS = 2
FOLDS = 5


@dataclass
class Table:
    """Rows, and the class (0, 1, ...) or the number of each."""

    name: str
    X: np.ndarray | csr_array  # (n, d)
    y: np.ndarray  # (n,)

    @property
    def task(self):
        return "regression" if self.name in REGRESSION else "classification"

    @property
    def mixed_units(self):
        return self.name not in ONE_UNIT

    def about(self):
        n, d = self.X.shape
        classes = None if self.task == "regression" else int(self.y.max()) + 1
        about = {"task": self.task, "rows": n, "columns": d, "classes": classes}
        return about | {
            "sparse": bool(issparse(self.X)),
            "standardized": self.mixed_units,
        }

    def draw(self, labels, split):
        """Draw the labeled rows: for classes, two of each first.

        The rest is drawn from all other rows, so frequent classes get more.
        """
        order = np.random.default_rng([labels, split]).permutation(self.y.size)
        if self.task == "regression":
            return order[:labels]
        first = np.zeros(self.y.size, dtype=bool)
        for c in np.unique(self.y):
            first[order[self.y[order] == c][:LABELS_PER_CLASS]] = True
        return np.concatenate([order[first[order]], order[~first[order]]])[:labels]

    def folds(self, labeled, split):
        """Five folds of the labeled rows, as pairs of positions among them.

        Folds are stratified; a class with fewer than five labels is spread over as
        many folds as it has labels, so each class is in each training part. If no
        class has five labels, there are as many folds as the largest has labels.
        """
        if self.task == "regression":
            cut = KFold(FOLDS, shuffle=True, random_state=split)
        else:
            largest = int(np.bincount(self.y[labeled]).max())
            count = min(FOLDS, largest)
            cut = StratifiedKFold(count, shuffle=True, random_state=split)
        return list(cut.split(labeled, self.y[labeled]))

    def error(self, predicted, labeled):
        """Share of wrong classes, or RMSE / std(y), over the unlabeled rows."""
        hidden = np.ones(self.y.size, dtype=bool)
        hidden[labeled] = False
        if self.task == "classification":
            return float(np.mean(predicted[hidden] != self.y[hidden]))
        residual = predicted[hidden] - self.y[hidden]
        return float(np.sqrt(np.mean(residual**2)) / self.y.std())


def available():
    """Names of the tables that can be read, and a note if some cannot."""
    if os.environ.get("HALFMOON_DATA"):
        return NAMES, ""
    return BUNDLED, (
        "HALFMOON_DATA is not set, so only the tables that come with scikit-learn are "
        f"used: {', '.join(BUNDLED)}. Set it to the folder of the others "
        f"({', '.join(STORED)})."
    )


@cache
def load(name):
    X, y = _read(name)
    if y.size > MAX_ROWS:
        rng = np.random.default_rng(ROWS_SEED)
        kept = np.sort(rng.choice(y.size, MAX_ROWS, replace=False))
        X, y = X[kept], y[kept]
    X = csr_array(X, dtype=np.float64) if issparse(X) else X.astype(np.float64)
    if name not in REGRESSION:
        y = np.unique(y, return_inverse=True)[1]
    return Table(name, X, y)


def _read(name):
    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "california_housing":
        return load_california_housing()
    if name == "protein":
        return load_protein()[:2]
    if name == "covtype":
        return load_covtype()
    return load_ssl_book(name)[:2]
