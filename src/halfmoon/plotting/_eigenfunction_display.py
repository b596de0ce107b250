"""Eigenfunctions over the rows: colors on a plane, or curves over one column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon._rows import Array
from halfmoon.plotting._axes import inner_model, matplotlib_pyplot
from halfmoon.plotting._planes import as_numbers_table, column_names, column_numbers

__all__ = ["EigenfunctionDisplay"]

MAX_PANELS_ABREAST = 4
PANEL_SIDE = 2.6  # inches


@dataclass(eq=False, repr=False)
class EigenfunctionDisplay:
    """One panel for each function, smoothest first.

    With two columns, rows are points colored by value, on a scale symmetric about 0.
    With one column, the function is a curve.

    Made by `from_estimator`.

    Parameters
    ----------
    rows : ndarray of shape (n, 1) or (n, 2)
    values : ndarray of shape (n, m)
    eigenvalues : ndarray of shape (m,) or None
        s; the title of each panel shows 1 / s, an eigenvalue of the Laplacian.
    names : tuple of str
        Names of the columns.

    Attributes
    ----------
    ax_ : ndarray of Axes of shape (m,)
    figure_ : Figure
    artists_ : list of PathCollection or Line2D
        One for each panel.
    """

    rows: Array
    values: Array
    eigenvalues: Array | None = None
    names: tuple[str, ...] = ("0", "1")

    @classmethod
    def from_estimator(
        cls,
        maps: Any,
        X: Any,
        *,
        columns: Sequence[int | str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the functions of fitted eigenmaps at rows.

        Parameters
        ----------
        maps : fitted LaplacianEigenmaps
            Or another transformer, or a pipeline that ends with one.
        X : array or data frame of shape (n, d)
            The fitted rows, or new ones.
        columns : two of int or str, or None
            The plane, if d is above 2.
        ax : sequence of Axes or None
            One for each function; new ones if None.
        """
        check_is_fitted(maps)
        table = as_numbers_table(X)
        d = table.shape[1]
        shown = [0] if d == 1 else column_numbers(X, columns, d)
        names = column_names(X, d)
        return cls(
            table[:, shown],
            np.asarray(maps.transform(X), dtype=np.float64),
            getattr(inner_model(maps, "eigenvalues_"), "eigenvalues_", None),
            tuple(names[c] for c in shown),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, one for each function, or on new axes if None."""
        m = self.values.shape[1]
        self.ax_ = self._panels(m) if ax is None else np.atleast_1d(ax).ravel()
        if len(self.ax_) != m:
            raise ValueError(
                f"ax has {len(self.ax_)} axes, but there are {m} functions. Pass one "
                f"for each function."
            )
        self.figure_ = self.ax_[0].figure
        self.artists_ = []
        for i, (axis, values) in enumerate(zip(self.ax_, self.values.T, strict=True)):
            if self.rows.shape[1] == 1:
                order = np.argsort(self.rows[:, 0], kind="stable")
                (artist,) = axis.plot(self.rows[order, 0], values[order])
                axis.set(xlabel=self.names[0])
            else:
                reach = float(np.abs(values).max()) or 1.0
                artist = axis.scatter(
                    *self.rows.T, c=values, s=6, cmap="RdBu_r", vmin=-reach, vmax=reach
                )
                axis.set(aspect="equal", xticks=[], yticks=[])
            title = f"function {i + 1}"
            if self.eigenvalues is not None:
                title += f"\n1 / s = {1 / self.eigenvalues[i]:.3g}"
            axis.set_title(title, fontsize="medium")
            self.artists_.append(artist)
        return self

    @staticmethod
    def _panels(m: int) -> NDArray[Any]:
        across = min(m, MAX_PANELS_ABREAST)
        down = -(-m // across)
        figure, axes = matplotlib_pyplot().subplots(
            down,
            across,
            figsize=(PANEL_SIDE * across, (PANEL_SIDE + 0.5) * down),
            layout="constrained",
            squeeze=False,
        )
        for spare in axes.ravel()[m:]:
            figure.delaxes(spare)
        return np.asarray(axes.ravel()[:m])
