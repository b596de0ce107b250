"""Hard threshold: error against the number of unpenalized eigenfunctions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from halfmoon._rows import Array
from halfmoon.plotting._axes import axes_of

__all__ = ["HardThresholdDisplay"]


@dataclass(eq=False, repr=False)
class HardThresholdDisplay:
    """Error with the top k eigenfunctions unpenalized, against k, for each alpha.

    With k = 0 the fit is kernel ridge. With k the rank it is interpolation, for any
    alpha. Between them the error often falls and then rises. Figure of Takhanov,
    Assylbekov, "Conditional KRR", 2026, section 5.1.

    Made by `from_path`.

    Parameters
    ----------
    k : ndarray of shape (m,)
        Numbers of unpenalized eigenfunctions.
    alphas : ndarray of shape (a,)
    errors : ndarray of shape (a, m)

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
        One for each alpha.
    minima_ : list of Line2D
        The minimum of each line, as a point.
    """

    k: Array
    alphas: Array
    errors: Array

    ax_: Any = field(init=False)
    figure_: Any = field(init=False)
    lines_: list[Any] = field(init=False)
    minima_: list[Any] = field(init=False)

    @classmethod
    def from_path(cls, path: Any, *, ax: Any = None) -> Self:
        """Draw a path from `ConditionalRegressor.hard_threshold_path`.

        Parameters
        ----------
        path : object with attributes k, alphas and errors
            Of shapes (m,), (a,) and (a, m).
        ax : Axes or None
            New ones if None.
        """
        k, alphas = np.asarray(path.k), np.atleast_1d(path.alphas)
        errors = np.asarray(path.errors, dtype=np.float64)
        if errors.shape != (len(alphas), len(k)):
            raise ValueError(
                f"errors has shape {errors.shape} for {len(alphas)} alphas and "
                f"{len(k)} values of k; shape {(len(alphas), len(k))} is needed."
            )
        return cls(k, alphas, errors).plot(ax)

    @property
    def best(self) -> list[tuple[int, float]]:
        """The k with the smallest error, and this error, for each alpha."""
        finite = np.where(np.isfinite(self.errors), self.errors, np.inf)
        least = finite.argmin(axis=1)
        return [
            (int(self.k[i]), float(row[i]))
            for i, row in zip(least, self.errors, strict=True)
        ]

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes if None."""
        self.figure_, self.ax_ = axes_of(ax)
        self.lines_, self.minima_ = [], []
        for alpha, errors, (k, error) in zip(
            self.alphas, self.errors, self.best, strict=True
        ):
            label = f"alpha = {alpha:.3g}"
            (line,) = self.ax_.plot(self.k, errors, label=label)
            (point,) = self.ax_.plot(
                [k], [error], "o", color=line.get_color(), markeredgecolor="black"
            )
            self.lines_.append(line)
            self.minima_.append(point)
        self.ax_.set(
            xlabel="k, unpenalized eigenfunctions", ylabel="error", yscale="log"
        )
        self.ax_.legend()
        return self
