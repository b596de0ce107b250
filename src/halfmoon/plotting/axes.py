"""Axes to draw on: the user's own, or new ones. Matplotlib is imported here only."""

from __future__ import annotations

from typing import Any

__all__ = ["axes_of", "matplotlib_pyplot"]


def matplotlib_pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays are drawn by Matplotlib, which cannot be imported. Install it "
            'with: pip install matplotlib, or pip install "halfmoon[plot]"'
        ) from error
    return plt


def axes_of(ax: Any = None) -> tuple[Any, Any]:
    """The figure and the axes to draw on; both are new if there are none."""
    if ax is None:
        return matplotlib_pyplot().subplots(layout="constrained")
    return ax.figure, ax
