"""Axes to draw on, and the estimator to draw.

This is the only file that imports matplotlib.pyplot.
"""

from __future__ import annotations

from typing import Any

__all__ = ["axes_of", "inner_model", "matplotlib_pyplot"]


def matplotlib_pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Matplotlib cannot be imported; displays need it. Install it with: "
            'pip install matplotlib, or pip install "halfmoon[plot]"'
        ) from error
    return plt


def axes_of(ax: Any = None) -> tuple[Any, Any]:
    """Return the figure and the axes to draw on; new ones if `ax` is None."""
    if ax is None:
        return matplotlib_pyplot().subplots(layout="constrained")
    return ax.figure, ax


#: Attributes in which wrappers of scikit-learn and table models keep a fitted model.
WRAPPED = ("best_estimator_", "regressor_", "estimator_")


def inner_model(model: Any, attribute: str) -> Any:
    """Return the outermost model that has an attribute; the innermost if none has.

    Parameters
    ----------
    model : fitted estimator
        Itself, the last step of a pipeline, or the best model of a search.
    attribute : str

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> inner_model(make_pipeline(LinearRegression()).fit([[0], [1]], [0, 1]), "coef_")
    LinearRegression()
    """
    while not hasattr(model, attribute):
        inner = [getattr(model, name) for name in WRAPPED if hasattr(model, name)]
        if hasattr(model, "steps"):
            inner = [model.steps[-1][1]]
        if not inner:
            break
        model = inner[0]
    return model
