"""Every estimator refuses bad parameters, with an error that names them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from halfmoon import (
    FredholmFeatures,
    LaplacianEigenmaps,
    NystromFeatures,
    RandomFeatures,
    weak,
)
from halfmoon import _estimators as estimators
from halfmoon._estimators.parameters import RULES
from halfmoon._sklearn_conventions import WHOLE, check_parameters
from halfmoon.baselines import (
    HarmonicClassifier,
    LabelSpreadingClassifier,
    LapRLSClassifier,
    LapRLSRegressor,
    TSVMClassifier,
)
from halfmoon.bases import RandomFeatures as RandomBasis
from halfmoon.filters import Heat
from halfmoon.kernels import Gaussian
from halfmoon.losses import Quantile
from halfmoon.smoothers import Neighbors

PUBLIC = [
    *(getattr(estimators, name)() for name in estimators.__all__),
    *(getattr(weak, name)() for name in weak.__all__),
    *(LapRLSClassifier(), LapRLSRegressor(), HarmonicClassifier()),
    *(LabelSpreadingClassifier(), TSVMClassifier()),
    *(FredholmFeatures(), NystromFeatures(), RandomFeatures(), LaplacianEigenmaps()),
]
X = np.arange(8.0)[:, None]
Y = np.repeat([0.0, 1.0], 4)

BAD = {
    "alpha": ["small", [], None, [[1.0]]],
    "mu": ["small", [], [[1.0]]],
    "basis": ["fourier", 3],
    "landmarks": ["best", 3, None],
    "loss": ["absolute", 3, None],
    "n_components": [2.5, True, "all", 0],
    "energy": ["gradients", np.eye(8)],
    "filter": ["fourier", 3],
    "covariance": ["some"],
    "normalize": [None, 1, "yes"],
    "normalized": [None, 1, "yes"],
    "safe": [None, "yes"],
    "smoother": ["neighbors"],
    "budget": [0, -1.0, np.nan, "much", True],
    "length_scale": [0.0, -1.0, np.inf, np.nan, "mean"],
    "gamma_A": [-1.0, np.inf, np.nan, "auto"],
    "gamma_I": [-1.0, np.inf, np.nan, "auto"],
    "spread": [0.0, 1.0, -0.1, "far"],
    "C": [0.0, -1.0, np.inf, "much"],
    "C_unlabeled": [-1.0, np.inf, "much"],
    "n_steps": [0, 2.5],
    "n_neighbors": [0, -1, 2.5, True, "all"],
    "max_iter": [0, 2.5, None, "many"],
    "tol": [-1.0, np.nan, None, "small"],
    "memory_limit": ["much", 0, -1, None, True],
    "n_jobs": [0, 1.5, "all"],
    "verbose": [-1, "yes", None],
    "n_starts": [0, 2.5, None],
    "separator": [None, 1],
}
GOOD = {
    "alpha": ["auto", 0.1, 1, (0.1, 1.0), np.array([0.1])],
    "mu": [None, 0.1],
    "basis": ["auto", RandomBasis(Gaussian(1.0), 5)],
    "landmarks": ["uniform", [0, 1], np.ones((2, 1)), sp.csr_array(np.ones((2, 1)))],
    "n_components": [None, 3, np.int64(3)],
    "energy": [None, "gradient", "graph"],
    "filter": [None, "heat", Heat(1.0)],
    "loss": ["squared", Quantile(0.9)],
    "normalize": [True, np.bool_(False)],
    "smoother": [None, Neighbors(2)],
    "budget": [1, 0.5, np.float64(2.0), np.inf],
    "memory_limit": ["512MB", 10**9],
    "n_jobs": [None, 1, -1],
    "verbose": [0, 2, True],
}


def test_every_rule_is_tested():
    assert set(RULES) <= set(BAD)


@pytest.mark.parametrize("model", PUBLIC, ids=lambda model: type(model).__name__)
def test_bad_values_are_refused_in_fit(model):
    names = set(BAD) & set(model.get_params())
    if isinstance(model, weak.StructuredPredictor):
        names.remove("loss")  # a loss of outputs
    for name in names:
        for value in [*BAD[name], object()]:
            bad = clone(model).set_params(**{name: value})
            with pytest.raises(ValueError, match=f"(?s)^{name} is .*; .* is needed"):
                bad.fit(X, Y)


def is_whole_number(model, name):
    """Whether only whole numbers are good, as for random features."""
    return model._parameter_rules.get(name) is WHOLE


@pytest.mark.parametrize("model", PUBLIC, ids=lambda model: type(model).__name__)
def test_good_values_are_accepted(model):
    for name in set(GOOD) & set(model.get_params()):
        for value in GOOD[name]:
            if value is None and is_whole_number(model, name):
                continue
            good = clone(model).set_params(**{name: value})
            check_parameters(good, good._parameter_rules)


def test_the_error_says_what_came_and_what_is_needed():
    model = estimators.LaplacianRegressor(filter="fourier")
    message = "filter is 'fourier'; None, a filter of halfmoon.filters, or one of 'tik"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    with pytest.raises(ValueError, match=r"^inner_kernel is 'cubic'; a kernel of half"):
        estimators.FredholmRegressor(inner_kernel="cubic").fit(X, Y)
    with pytest.raises(ValueError, match=r"^unpenalized is -1; None, one of"):
        estimators.ConditionalRegressor(unpenalized=-1).fit(X, Y)
    with pytest.raises(ValueError, match=r"mu is \[1.0\]; None or one number"):
        weak.IntervalRegressor(mu=[1.0]).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_components is 2.5; None, or 1, 2, "):
        TSVMClassifier("gaussian", n_components=2.5).fit(X, Y)
