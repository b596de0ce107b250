"""Eigenfunctions over the rows: colors on a plane, or curves on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon.plotting.axes import matplotlib_pyplot
from halfmoon.plotting.inner import inner_model
from halfmoon.plotting.planes import as_numbers_table, column_names, column_numbers
from halfmoon.rows import Array

__all__ = ["EigenfunctionDisplay"]

IN_A_ROW = 4  # panels
SIDE = 2.6  # of a panel, in inches


@dataclass(eq=False, repr=False)
class EigenfunctionDisplay:
    """One panel for each function, smoothest first.

    Rows of two columns are points in the color of the value, on a scale that is
    symmetric about 0; rows of one column are a curve.

    Made by `from_estimator`.

    Parameters
    ----------
    rows : ndarray of shape (n, 1) or (n, 2)
    values : ndarray of shape (n, m)
    eigenvalues : ndarray of shape (m,) or None
        s; 1 / s, an eigenvalue of the Laplacian, is written above each panel.
    names : tuple of str
        Of the columns.

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

    ax_: NDArray[Any] = field(init=False)
    figure_: Any = field(init=False)
    artists_: list[Any] = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        maps: Any,
        X: Any,
        *,
        columns: Sequence[int | str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the functions of fitted eigenmaps over rows.

        Parameters
        ----------
        maps : fitted LaplacianEigenmaps
            Or any transformer, or a pipeline that ends with one.
        X : array or data frame of shape (n, d)
            The rows that were fitted, or new ones.
        columns : two of int or str, or None
            The plane, if d is above 2.
        ax : sequence of Axes or None
            As many as there are functions; new ones if None.
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
        """Draw on axes, as many as there are functions; new ones if None."""
        m = self.values.shape[1]
        self.ax_ = self._panels(m) if ax is None else np.atleast_1d(ax).ravel()
        if len(self.ax_) != m:
            raise ValueError(
                f"ax holds {len(self.ax_)} axes and there are {m} functions; one for "
                f"each is needed."
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
        across = min(m, IN_A_ROW)
        down = -(-m // across)
        figure, axes = matplotlib_pyplot().subplots(
            *(down, across),
            figsize=(SIDE * across, (SIDE + 0.5) * down),
            layout="constrained",
            squeeze=False,
        )
        for spare in axes.ravel()[m:]:
            figure.delaxes(spare)
        return np.asarray(axes.ravel()[:m])
