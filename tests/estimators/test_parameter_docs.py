"""Every parameter and attribute is explained, and nothing else is."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import is_regressor

from halfmoon import _estimators as estimators
from halfmoon._estimators.parameter_docs import (
    ATTRIBUTES,
    CLASS_ATTRIBUTES,
    PARAMETERS,
    SEARCH_ATTRIBUTES,
)

CLASSES = [getattr(estimators, name) for name in estimators.__all__]


@pytest.mark.parametrize("cls", CLASSES)
def test_the_docstring_names_the_parameters(cls):
    section = cls.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    with_parameter_docs = re.findall(r"^(\w+) : ", section, flags=re.MULTILINE)
    assert with_parameter_docs == list(inspect.signature(cls).parameters)
    assert max(len(line) for line in cls.__doc__.splitlines()) <= 88


@pytest.mark.parametrize("cls", CLASSES)
def test_the_sections_are_in_order(cls):
    titles = re.findall(r"^(\w+)\n-+$", cls.__doc__, flags=re.MULTILINE)
    assert titles == ["Parameters", "Attributes", "Examples"]


@pytest.mark.parametrize("cls", CLASSES)
def test_the_attributes_are_there(cls):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.where(np.arange(30) < 20, X[:, 0] > 0, np.nan)
    searches = "budget" in inspect.signature(cls).parameters
    given = {"budget": 1e-9, "unpenalized": "linear"} if searches else {}
    model = cls(**given).fit(X, y)
    attributes = SEARCH_ATTRIBUTES if searches else ATTRIBUTES
    section = cls.__doc__.split("Attributes\n")[1].split("Examples\n")[0]
    with_parameter_docs = re.findall(r"^(\w+) : ", section, flags=re.MULTILINE)
    of_kind = ["noise_variance_"] if is_regressor(model) else CLASS_ATTRIBUTES
    assert with_parameter_docs == [*attributes, *of_kind]
    assert all(hasattr(model, name) for name in with_parameter_docs)


def test_only_existing_parameters_are_explained():
    used = {name for cls in CLASSES for name in inspect.signature(cls).parameters}
    assert set(PARAMETERS) - {"outer kernel", "budget", "safe"} <= used
    assert all(text.strip() for text in (*PARAMETERS.values(), *ATTRIBUTES.values()))


@pytest.mark.slow  # -OO compiles every library anew
def test_classes_without_docstrings():
    code = "import halfmoon as hm; print(hm.LaplacianRegressor.__name__, hm.weak)"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("LaplacianRegressor")
