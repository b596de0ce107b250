"""What the pictures of this paper share: colors, and surfaces over the circles."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon._rows import Array

__all__ = ["BLUE", "GRAY", "GREEN", "GRID", "ORANGE", "PINK", "plane", "show", "shown"]

# Told apart by most color-blind readers (Okabe and Ito).
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
GRAY = "0.45"

GRID, REACH = 70, 4.6  # values along a side, and how far beyond the outermost circle


def plane() -> Array:  # (GRID^2, 2)
    """A grid over the four circles."""
    side = np.linspace(-REACH, REACH, GRID)
    return np.column_stack([np.tile(side, GRID), np.repeat(side, GRID)])


def shown(values: Array) -> Array:
    """Values on the grid as they are kept: whole numbers, at most 100 in size.

    Square roots, since a function that fades has most of its values near 0.
    """
    scaled = values / max(float(np.abs(values).max()), 1e-300)
    return np.round(100 * np.sign(scaled) * np.sqrt(np.abs(scaled))).astype(int)


def show(ax: Any, surface: Any, X: Any, known: Any, title: str) -> None:
    """A surface as `shown` leaves it (or None), rows, and labeled rows on top."""
    X, known = np.asarray(X, dtype=float), np.asarray(known, dtype=float)
    if surface is not None:
        side = np.linspace(-REACH, REACH, GRID)
        Z = np.asarray(surface, dtype=float).reshape(GRID, GRID)
        ax.pcolormesh(
            side, side, Z, cmap="RdBu_r", vmin=-100, vmax=100, rasterized=True
        )
    ax.scatter(*X.T, s=1.5, color="black", linewidths=0)
    if len(known):
        # A label is a row of known: where it is, and its sign.
        colors = np.where(known[:, 2] > 0, "#B2182B", "#2166AC")
        ax.scatter(
            *known[:, :2].T,
            s=90,
            c=colors,
            edgecolors="black",
            linewidths=1.2,
            zorder=3,
        )
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH))
