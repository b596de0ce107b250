"""The estimator inside pipelines, searches and models of tables."""

from __future__ import annotations

from typing import Any

__all__ = ["inner_model"]

#: Where wrappers of scikit-learn, and a model of a table, keep what they fitted.
FITTED = ("best_estimator_", "regressor_", "estimator_")


def inner_model(model: Any, attribute: str) -> Any:
    """The innermost model that has an attribute; the last one looked at if none has.

    Parameters
    ----------
    model : fitted estimator
        Itself, the last step of a pipeline, or the best one of a search.
    attribute : str

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> inner_model(make_pipeline(LinearRegression()).fit([[0], [1]], [0, 1]), "coef_")
    LinearRegression()
    """
    while not hasattr(model, attribute):
        held = [getattr(model, name) for name in FITTED if hasattr(model, name)]
        if hasattr(model, "steps"):
            held = [model.steps[-1][1]]
        if not held:
            break
        model = held[0]
    return model
