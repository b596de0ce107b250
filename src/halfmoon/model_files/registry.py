"""What a model file may speak of: classes, functions, methods and types, by name.

A name from a file is only ever compared with the names below. It is never imported: the
modules that are imported are those that stand here. Classes of halfmoon are named by
their package, whichever file of it they are in (``halfmoon.kernels.Gaussian``). None of
the classes below imports, evaluates, opens or unpickles what its attributes say; where
one attribute would make it do so, `RULES` says which values it may have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "HALFMOON", "METHODS", "OUTSIDE", "RULES"]

#: Modules and packages of halfmoon whose classes may be in a file.
HALFMOON = (
    "halfmoon.bases",
    "halfmoon.baselines",
    "halfmoon.blocks",
    "halfmoon.selection",
    "halfmoon.estimators",
    "halfmoon.filters",
    "halfmoon.graphs",
    "halfmoon.kernels",
    "halfmoon.losses",
    "halfmoon.problem",
    "halfmoon.progress",
    "halfmoon.smoothers",
    "halfmoon.solvers",
    "halfmoon.table.column_choice",
    "halfmoon.table.columns",
    "halfmoon.table.model",
    "halfmoon.table.number_style",
    "halfmoon.table.numbers",
    "halfmoon.table.ordered",
    "halfmoon.table.target",
    "halfmoon.table.vectors",
    "halfmoon.table.weak_model",
    "halfmoon.transformers",
    "halfmoon.unpenalized",
    "halfmoon.weak",
    "halfmoon.whitening",
)

#: Classes of others, each under the module that it is imported from.
OUTSIDE: dict[str, tuple[str, ...]] = {
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor"),
    "sklearn.decomposition": (
        "FactorAnalysis",
        "FastICA",
        "IncrementalPCA",
        "KernelPCA",
        "NMF",
        "PCA",
        "TruncatedSVD",
    ),
    "sklearn.feature_extraction": ("DictVectorizer", "FeatureHasher"),
    "sklearn.feature_extraction.text": (
        "CountVectorizer",
        "HashingVectorizer",
        "TfidfTransformer",
        "TfidfVectorizer",
    ),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.kernel_approximation": (
        "AdditiveChi2Sampler",
        "Nystroem",
        "PolynomialCountSketch",
        "RBFSampler",
        "SkewedChi2Sampler",
    ),
    "sklearn.neural_network": ("MLPClassifier", "MLPRegressor"),
    "sklearn.neural_network._stochastic_optimizers": (
        "AdamOptimizer",
        "SGDOptimizer",
    ),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "KernelCenterer",
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MultiLabelBinarizer",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "SplineTransformer",
        "StandardScaler",
        "TargetEncoder",
    ),
    "sklearn.random_projection": (
        "GaussianRandomProjection",
        "SparseRandomProjection",
    ),
    "skrub": (
        "ApplyToCols",
        "Cleaner",
        "DatetimeEncoder",
        "GapEncoder",
        "SquashingScaler",
        "StringEncoder",
        "TableVectorizer",
        "ToCategorical",
        "ToDatetime",
    ),
    "skrub._apply_to_each_col": ("ApplyToEachCol",),
    "skrub._apply_to_sub_frame": ("ApplyToSubFrame",),
    "skrub._check_input": ("CheckInputDataFrame",),
    "skrub._clean_categories": ("CleanCategories",),
    "skrub._clean_null_strings": ("CleanNullStrings",),
    "skrub._datetime_encoder": ("_CircularEncoder", "_SplineEncoder"),
    "skrub._drop_uninformative": ("DropUninformative",),
    "skrub._duration_to_float": ("DurationToFloat",),
    "skrub._squashing_scaler": ("_MinMaxScaler",),
    "skrub._table_vectorizer": ("PassThrough", "ShortReprDict"),
    "skrub._to_float": ("ToFloat",),
    "skrub._to_str": ("ToStr",),
    "skrub.selectors._base": (
        "All",
        "And",
        "Cols",
        "Filter",
        "Inv",
        "Or",
        "Sub",
        "XOr",
    ),
}

#: Functions, of halfmoon and of others: all of them only compute.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    "halfmoon.estimators.laplacian": ("_solve_filtered",),
    "halfmoon.problem": ("solve_filter", "solve_ridge"),
    "numpy": (
        "abs",
        "arcsinh",
        "cbrt",
        "cos",
        "exp",
        "expm1",
        "log",
        "log10",
        "log1p",
        "log2",
        "sign",
        "sin",
        "sqrt",
        "square",
        "tanh",
    ),
    "skrub._dataframe": (
        "is_any_date",
        "is_bool",
        "is_categorical",
        "is_float",
        "is_integer",
        "is_numeric",
        "is_object",
        "is_string",
    ),
    "skrub._table_vectorizer": ("_created_by_predicate",),
    "skrub.selectors._selectors": ("_cardinality_below",),
}

#: Methods that fitted objects of halfmoon hold bound to one of their own.
METHODS = {
    ("halfmoon.unpenalized.Constant", "transform"),
}


def _is_ufunc(value: Any) -> bool:
    return value is None or isinstance(value, np.ufunc)


def _is_content(value: Any) -> bool:
    return isinstance(value, str) and value == "content"


#: Attributes of classes of others that may only have such values.
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "memory": (lambda value: value is None, "None"),  # joblib's, which unpickles
    "input": (_is_content, "'content'"),  # else files are opened
    "func": (_is_ufunc, "None or a function of numpy"),
    "inverse_func": (_is_ufunc, "None or a function of numpy"),
}
