"""Axes to draw on. This is the only file that imports matplotlib.pyplot."""

from __future__ import annotations

from typing import Any

__all__ = ["axes_of", "matplotlib_pyplot"]


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
