"""Decision boundary: a model's predictions over a plane, and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from halfmoon._rows import Array
from halfmoon.plotting._axes import axes_of, matplotlib_pyplot
from halfmoon.plotting._planes import (
    as_numbers_table,
    column_names,
    column_numbers,
    label_values,
    model_values,
    table_like,
)

__all__ = ["BoundaryDisplay"]

PLOT_MARGIN = 0.08  # beyond the rows on each side, relative to their range
LABELED_AREA, UNLABELED_AREA = 90.0, 8.0  # of markers, in points squared
GRAY = "0.45"


@dataclass(eq=False, repr=False)
class BoundaryDisplay:
    """Predictions of a model over two columns, with the rows drawn on top.

    For two classes the surface is the probability of the second (the decision function
    if the model has no probabilities), and a line marks the boundary. For more classes
    it is the predicted class, and for a regressor the predicted value. Labeled rows are
    large and have the color of their label; the others are small.

    Made by `from_estimator`.

    Parameters
    ----------
    grid_x, grid_y : ndarrays of shape (r,)
        Coordinates of the surface.
    surface : ndarray of shape (r, r)
        A value, a probability, or the number of a class, one row for each grid_y.
    rows : ndarray of shape (n, 2)
    values : ndarray of shape (n,)
        Label of each row on the scale of the surface, NaN for an unlabeled row.
    predicted : ndarray of shape (n,)
        Prediction for each row, on the same scale.
    border : float or None
        Boundary between two classes, on the scale of the surface; None for more
        classes and for regressors.
    classes : ndarray or None
        Classes of a classifier.
    names : tuple of str
        Names of the two columns.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    surface_ : QuadMesh
    border_ : QuadContourSet or None
    labeled_, unlabeled_ : PathCollection
    """

    grid_x: Array
    grid_y: Array
    surface: Array
    rows: Array
    values: Array
    predicted: Array
    border: float | None = None
    classes: NDArray[Any] | None = None
    names: tuple[str, str] = ("0", "1")

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[int | str] | None = None,
        resolution: int = 120,
        unlabeled: Any = None,
        color_by: str = "label",
        legend: bool = False,
        ax: Any = None,
    ) -> Self:
        """Predict over the plane and draw the predictions.

        Parameters
        ----------
        model : fitted classifier or regressor
            An estimator of halfmoon or scikit-learn, or a pipeline.
        X : array or data frame of shape (n, d)
            Rows to draw.
        y : array-like of shape (n,) or None
            Labels of the rows, missing for unlabeled rows; None is no labels.
        columns : two of int or str, or None
            The plane, if d is above 2; other columns are fixed at their medians.
        resolution : int
            Number of values along each side of the surface.
        unlabeled : object or None
            A value of y that also counts as missing, such as -1.
        color_by : {"label", "prediction"}
            "label" draws unlabeled rows in gray; "prediction" in the color of their
            prediction.
        legend : bool
            Whether to add a legend of the classes.
        ax : Axes or None
            New ones if None.
        """
        check_is_fitted(model)
        if color_by not in ("label", "prediction"):
            raise ValueError(
                f"color_by is {color_by!r}; 'label' or 'prediction' is needed."
            )
        table = as_numbers_table(X)
        shown = column_numbers(X, columns, table.shape[1])
        rows = table[:, shown]
        grid_x, grid_y = (_grid(values, resolution) for values in rows.T)
        plane = np.tile(np.median(table, axis=0), (resolution**2, 1))
        plane[:, shown[0]] = np.tile(grid_x, resolution)
        plane[:, shown[1]] = np.repeat(grid_y, resolution)
        surface, border = model_values(model, table_like(X, plane))
        names = column_names(X, table.shape[1])
        display = cls(
            grid_x,
            grid_y,
            surface.reshape(resolution, resolution),
            rows,
            label_values(model, y, len(rows), unlabeled),
            model_values(model, X)[0],
            border,
            model.classes_ if is_classifier(model) else None,
            (names[shown[0]], names[shown[1]]),
        )
        return display.plot(ax, color_by=color_by, legend=legend)

    def plot(
        self, ax: Any = None, *, color_by: str = "label", legend: bool = False
    ) -> Self:
        """Draw on `ax`, or on new axes if None; see `from_estimator`."""
        self.figure_, self.ax_ = axes_of(ax)
        colors = self._colors()
        self.surface_ = self.ax_.pcolormesh(
            self.grid_x,
            self.grid_y,
            self.surface,
            **(colors | {"alpha": 0.35, "shading": "nearest", "linewidth": 0}),
            rasterized=True,
        )
        self.border_ = None
        low, high = self.surface.min(), self.surface.max()
        if self.border is not None and low < self.border < high:
            self.border_ = self.ax_.contour(
                self.grid_x,
                self.grid_y,
                self.surface,
                levels=[self.border],
                colors="black",
                linewidths=1.0,
            )
        labeled = ~np.isnan(self.values)
        by_prediction = colors | {"c": self.predicted[~labeled]}
        self.unlabeled_ = self.ax_.scatter(
            *self.rows[~labeled].T,
            s=UNLABELED_AREA,
            linewidths=0,
            **(by_prediction if color_by == "prediction" else {"color": GRAY}),
        )
        self.labeled_ = self.ax_.scatter(
            *self.rows[labeled].T,
            c=self._of_codes(self.values[labeled]),
            s=LABELED_AREA,
            edgecolors="black",
            linewidths=1.0,
            **colors,
        )
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        if legend and self.classes is not None:
            color = self.labeled_.to_rgba(
                self._of_codes(np.arange(float(len(self.classes))))
            )
            for each, name in zip(color, self.classes, strict=True):
                self.ax_.scatter([], [], color=each, edgecolors="black", label=name)
            self.ax_.legend()
        return self

    def _of_codes(self, values: Array) -> Array:
        """Return labels on the scale of the surface.

        No value of a decision function represents a class, so labels get the extremes.
        """
        if self.border == 0.0:
            reach = float(np.abs(self.surface).max())
            return np.where(values > 0, reach, -reach)
        return np.asarray(values, dtype=np.float64)

    def _colors(self) -> dict[str, Any]:
        """Return the map from values to colors, for the surface and the rows."""
        plt = matplotlib_pyplot()
        if self.border is not None:  # two classes, by probability or by score
            reach = 0.5 if self.border == 0.5 else float(np.abs(self.surface).max())
            low, high = self.border - reach, self.border + reach
            return {"cmap": plt.get_cmap("coolwarm"), "vmin": low, "vmax": high}
        if self.classes is not None:
            from matplotlib.colors import ListedColormap

            palette = plt.get_cmap("tab10" if len(self.classes) <= 10 else "turbo")
            c = np.arange(len(self.classes))
            colors = palette(c if len(c) <= 10 else c / (len(c) - 1))
            return {"cmap": ListedColormap(colors), "vmin": -0.5, "vmax": len(c) - 0.5}
        shown = np.append(self.surface, self.values[~np.isnan(self.values)])
        low, high = float(shown.min()), float(shown.max())
        return {"cmap": plt.get_cmap("viridis"), "vmin": low, "vmax": high}


def _grid(values: Array, resolution: int) -> Array:
    low, high = values.min(), values.max()
    margin = PLOT_MARGIN * (high - low) or 1.0  # any width will do for equal values
    return np.linspace(low - margin, high + margin, resolution)
