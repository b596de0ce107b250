"""Names in model files, and the classes and functions that they stand for.

A name from a file is only compared with the names below; it is never imported. A class
of halfmoon is named by its package, not by its file: ``halfmoon.kernels.Gaussian``. No
class below imports, evaluates, opens or unpickles what its attributes say. Where one
attribute would make it do so, `ATTRIBUTE_RULES` restricts the values.
"""

from __future__ import annotations

import logging
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from halfmoon._model_files.errors import ModelFileError, in_one_line

__all__ = [
    "ATTRIBUTE_RULES",
    "HALFMOON_MODULES",
    "SKLEARN_CLASSES",
    "class_named",
    "function_named",
    "name_of_class",
    "name_of_function",
    "package_of",
]

#: Modules and packages of halfmoon whose classes may be in a file.
HALFMOON = """
    bases baselines blocks _estimators filters _graphs kernels losses problem _progress
    _selection smoothers _solvers _transformers unpenalized weak _whitening
    table._cells.number_style table._cells.several_values
    table._columns.column_choice table._columns.column_encoders
    table._columns.column_kinds table._columns.column_vectors
    table._columns.text_columns
    table._labels.target_labels
    table._models.ordered_classes table._models.table_model
    table._models.weak_table_model
"""
HALFMOON_MODULES = tuple(f"halfmoon.{name}" for name in HALFMOON.split())

#: Classes of scikit-learn for unpenalized features and for the steps of a pipeline, by
#: the module that they are imported from.
SKLEARN_CLASSES = {
    f"sklearn.{module}": names.split()
    for module, names in {
        "compose": "ColumnTransformer",
        "decomposition": "PCA TruncatedSVD",
        "feature_extraction.text": """
            CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer""",
        "impute": "MissingIndicator SimpleImputer",
        "neural_network": "MLPClassifier MLPRegressor",
        "neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
        "pipeline": "FeatureUnion Pipeline",
        "preprocessing": """
            FunctionTransformer LabelBinarizer MaxAbsScaler MinMaxScaler Normalizer
            OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer
            QuantileTransformer RobustScaler StandardScaler""",
    }.items()
}

#: Functions of `halfmoon.problem` that fits hold.
SOLVERS = ("solve_filter", "solve_ridge")


def _is_ufunc(value: Any) -> bool:
    """Whether a value is a NumPy function of one array, such as `numpy.log1p`."""
    if not isinstance(value, np.ufunc) or (value.nin, value.nout) != (1, 1):
        return False
    return vars(np).get(value.__name__) is value


UFUNC_RULE = (lambda v: v is None or _is_ufunc(v), "None or a function of numpy")

#: Values that attributes of scikit-learn's classes may have, and these in words.
ATTRIBUTE_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "memory": (lambda v: v is None, "None"),  # joblib's memory unpickles
    "input": (lambda v: type(v) is str and v == "content", "'content'"),  # not files
    "func": UFUNC_RULE,
    "inverse_func": UFUNC_RULE,
}


def class_named(name: Any) -> type:
    """Return the class of a name that may be in a file."""
    cls = _halfmoon_class(name) or _sklearn_class(name)
    if cls is None:
        raise ModelFileError(
            f"names the class {in_one_line(name)}, which no model file may hold; get "
            f"the file again from its source"
        )
    return cls


def name_of_class(cls: type) -> str | None:
    """Return the name of a class in a file; None if it may not be in one."""
    name = _stable_name(cls)
    if _halfmoon_class(name) is cls:
        return name
    for module, names in SKLEARN_CLASSES.items():
        name = f"{module}.{cls.__name__}"
        if cls.__name__ in names and _sklearn_class(name) is cls:
            return name
    return None


def function_named(name: Any) -> Any:
    """Return the function of a name that may be in a file."""
    module, _, member = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if module == "halfmoon.problem" and member in SOLVERS:
        return getattr(import_module(module), member)
    # Not by getattr, which would import submodules of numpy.
    function = vars(np).get(member) if module == "numpy" else None
    if not _is_ufunc(function):
        raise ModelFileError(
            f"names the function {in_one_line(name)}, which no model file may hold; "
            f"get the file again from its source"
        )
    return function


def name_of_function(function: Any) -> str | None:
    """Return the name of a function in a file; None if it may not be in one."""
    if _is_ufunc(function):
        return f"numpy.{function.__name__}"
    problem = import_module("halfmoon.problem")
    for name in SOLVERS:
        if getattr(problem, name) is function:
            return f"halfmoon.problem.{name}"
    return None


def package_of(cls: type) -> str:
    """Return the top-level package of a class."""
    return cls.__module__.partition(".")[0]


def _stable_package(module: str) -> str:
    """Return ``halfmoon.kernels`` for any module in it, without underscores."""
    return ".".join(part.lstrip("_") for part in module.split(".")[:2])


PACKAGES = frozenset(_stable_package(start) for start in HALFMOON_MODULES)


def _stable_name(cls: type) -> str:
    """Return ``halfmoon.<package>.<class>``, which stays if the class changes files."""
    return f"{_stable_package(cls.__module__)}.{cls.__name__}"


def _halfmoon_class(name: Any) -> type | None:
    package = name.rpartition(".")[0] if isinstance(name, str) else ""
    return _halfmoon_classes(package).get(name) if package in PACKAGES else None


@cache
def _halfmoon_classes(package: str) -> dict[str, type]:
    """Return the classes of one package of halfmoon by their stable names."""
    return {
        _stable_name(cls): cls
        for start in HALFMOON_MODULES
        if _stable_package(start) == package
        for module in _modules(start)
        for cls in vars(module).values()
        if isinstance(cls, type)
        and cls.__module__ == module.__name__
        and not issubclass(cls, (BaseException, logging.Handler))
    }


def _modules(name: str) -> list[Any]:
    """Return a module and, if it is a package, all modules in it."""
    try:
        package = import_module(name)
    except ImportError:  # a part of halfmoon whose extras are not installed
        return []
    modules = [package]
    for inner in pkgutil.iter_modules(getattr(package, "__path__", []), f"{name}."):
        modules += _modules(inner.name)
    return modules


def _sklearn_class(name: Any) -> type | None:
    module, _, member = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if member not in SKLEARN_CLASSES.get(module, ()):
        return None
    try:
        cls: type = getattr(import_module(module), member)
    except (ImportError, AttributeError) as error:
        raise ModelFileError(
            f"needs {name}, which this version of scikit-learn does not have; install "
            f"the version that wrote the file"
        ) from error
    return cls
