"""halfmoon: learn from a table in which only a few rows are labeled.

One problem with three levers, each of which learns from unlabeled rows or from what the
user already knows: a smoothed basis, a reshaped penalty, unpenalized features.

Names are imported when they are first used, so that the command line can answer at
once where it needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfmoon._estimators import (
        ConditionalClassifier,
        ConditionalRegressor,
        FredholmClassifier,
        FredholmRegressor,
        HalfmoonClassifier,
        HalfmoonRegressor,
        LaplacianClassifier,
        LaplacianRegressor,
    )
    from halfmoon._model_files import load, save
    from halfmoon._transformers import (
        FredholmFeatures,
        LaplacianEigenmaps,
        NystromFeatures,
        RandomFeatures,
    )
    from halfmoon.problem import Fit, Problem
    from halfmoon.table._fill_frame import fill

__version__ = "0.1.0"
__all__ = [
    "ConditionalClassifier",
    "ConditionalRegressor",
    "Fit",
    "FredholmClassifier",
    "FredholmFeatures",
    "FredholmRegressor",
    "HalfmoonClassifier",
    "HalfmoonRegressor",
    "LaplacianClassifier",
    "LaplacianEigenmaps",
    "LaplacianRegressor",
    "NystromFeatures",
    "Problem",
    "RandomFeatures",
    "__version__",
    "fill",
    "load",
    "save",
]

_HOMES = {
    **dict.fromkeys(("Fit", "Problem"), "problem"),
    **dict.fromkeys(("load", "save"), "_model_files"),
    "fill": "table._fill_frame",
    **dict.fromkeys(
        ("FredholmFeatures", "LaplacianEigenmaps", "NystromFeatures", "RandomFeatures"),
        "_transformers",
    ),
}
_PACKAGES = {
    *("bases", "baselines", "blocks", "datasets", "filters", "kernels", "losses"),
    *("model_selection", "plotting", "problem", "queries", "smoothers", "table"),
    *("theory", "unpenalized", "weak"),
}


def __getattr__(name: str) -> Any:
    """A public name, or a package, imported when it is first asked for."""
    if name in _PACKAGES:
        return import_module(f"halfmoon.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'halfmoon' has no attribute {name!r}")
    try:
        home = import_module(f"halfmoon.{_HOMES.get(name, '_estimators')}")
    except ModuleNotFoundError as missing:
        if name != "fill" or (missing.name or "").startswith("halfmoon"):
            raise
        return _fill_without(missing.name)
    value = globals()[name] = getattr(home, name)
    return value


def _fill_without(library: str | None) -> Any:
    def fill(*_: Any, **__: Any) -> Any:
        """Fill the blank labels of a data frame: needs the extra `table`."""
        raise ModuleNotFoundError(
            f"halfmoon.fill needs {library}, which is not installed. Run: "
            f'pip install "halfmoon[table]"',
            name=library,
        )

    return fill


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
