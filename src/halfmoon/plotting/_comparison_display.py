"""Did the unlabeled rows help? Each candidate compared with the supervised twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon._rows import Array
from halfmoon._selection.comparison import SUMMARIES
from halfmoon.plotting._axes import axes_of, inner_model, matplotlib_pyplot

__all__ = ["ComparisonDisplay"]

COLUMNS = ("candidate", "unlabeled", "difference", "low", "high", "weight")
ALWAYS_SHOWN_WEIGHT = 0.05
MIN_SHOWN_WEIGHT = 0.005  # less is printed as 0 % and drawn in gray
USED_COLOR, UNUSED_COLOR, SUMMARY_COLOR = "C0", "0.65", "black"
MIN_AREA, WEIGHT_AREA = 25.0, 130.0  # area at weight 0; added at the largest weight
FIGURE_WIDTH, LINE_HEIGHT = 8.0, 0.28  # inches


@dataclass(eq=False, repr=False)
class ComparisonDisplay:
    """A forest plot: one line for each candidate, the best on top.

    A point is the leave-one-out error minus that of the supervised twin, and its line
    is the 95 % interval of this difference. Points left of 0 are better than the twin,
    which uses the labeled rows alone. Candidates that the model uses are in color, and
    larger the more weight they have. Candidates that use no unlabeled rows are
    diamonds; the twin and the average of all candidates are black squares.

    Made by `from_estimator` or `from_comparison`.

    Parameters
    ----------
    candidates : list of str
        In the order of their differences.
    unlabeled : ndarray of bool of shape (m,)
        Whether each candidate uses unlabeled rows.
    difference, low, high, weight : ndarrays of shape (m,)

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    intervals_ : LineCollection
    points_ : list of PathCollection
        Candidates that use unlabeled rows, those that do not, and the twin with the
        average.
    twin_ : Line2D
        The line at 0.
    """

    candidates: list[str]
    unlabeled: NDArray[np.bool_]
    difference: Array
    low: Array
    high: Array
    weight: Array

    @classmethod
    def from_estimator(
        cls, model: Any, *, n_candidates: int | None = 10, ax: Any = None
    ) -> Self:
        """Draw the comparison of a fitted HalfmoonClassifier or HalfmoonRegressor.

        Parameters
        ----------
        model : fitted estimator with a `comparison_`
            Or a pipeline or a search that contains one.
        n_candidates : int or None
            Number of the best candidates to show, in addition to those with a weight of
            5 % or more, the twin and the average; None shows all.
        ax : Axes or None
            New ones if None.
        """
        check_is_fitted(model)
        model = inner_model(model, "comparison_")
        if not hasattr(model, "comparison_"):
            raise ValueError(
                f"{type(model).__name__} has no comparison_, because it fits only one "
                f"model. Use HalfmoonClassifier or HalfmoonRegressor."
            )
        return cls.from_comparison(model.comparison_, n_candidates=n_candidates, ax=ax)

    @classmethod
    def from_comparison(
        cls,
        comparison: Mapping[str, Any],
        *,
        n_candidates: int | None = 10,
        ax: Any = None,
    ) -> Self:
        """Draw a comparison, a mapping of columns like `comparison_`.

        Parameters
        ----------
        comparison : mapping
            With the columns candidate, unlabeled, difference, low, high and weight.
        n_candidates, ax : see `from_estimator`
        """
        missing = [name for name in COLUMNS if name not in comparison]
        if missing:
            raise ValueError(
                f"The comparison has no column {missing[0]!r}; {', '.join(COLUMNS)} "
                f"are needed."
            )
        difference, low, high, weight = (
            np.asarray(comparison[name], dtype=np.float64) for name in COLUMNS[2:]
        )
        names = [str(name) for name in comparison["candidate"]]
        order = np.argsort(difference, kind="stable")
        if n_candidates is not None:
            summary = np.array([names[i] in SUMMARIES for i in order])
            best = ~summary & (np.cumsum(~summary) <= n_candidates)
            order = order[best | summary | (weight[order] >= ALWAYS_SHOWN_WEIGHT)]
        return cls(
            [names[i] for i in order],
            np.asarray(comparison["unlabeled"], dtype=bool)[order],
            *(column[order] for column in (difference, low, high, weight)),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes if None."""
        m = len(self.candidates)
        if ax is None:
            size = (FIGURE_WIDTH, 1.2 + LINE_HEIGHT * m)
            ax = matplotlib_pyplot().subplots(figsize=size, layout="constrained")[1]
        self.figure_, self.ax_ = axes_of(ax)
        height = np.arange(m)
        summary = np.array([name in SUMMARIES for name in self.candidates])
        used = self.weight >= MIN_SHOWN_WEIGHT
        colors = np.where(used, USED_COLOR, UNUSED_COLOR)
        colors = np.where(summary, SUMMARY_COLOR, colors)
        largest = max(self.weight.max(), MIN_SHOWN_WEIGHT)
        areas = MIN_AREA + WEIGHT_AREA * self.weight / largest
        self.twin_ = self.ax_.axvline(0.0, color="black", linewidth=1.0, zorder=1)
        self.intervals_ = self.ax_.hlines(
            height, self.low, self.high, colors=colors.tolist(), zorder=2
        )
        kinds = {
            "o": self.unlabeled & ~summary,
            "D": ~self.unlabeled & ~summary,
            "s": summary,
        }
        self.points_ = [
            self.ax_.scatter(
                self.difference[kind],
                height[kind],
                s=areas[kind],
                c=colors[kind].tolist(),
                marker=marker,
                zorder=3,
            )
            for marker, kind in kinds.items()
        ]
        self.ax_.set(
            yticks=height,
            yticklabels=[
                f"{name} ({weight:.0%})" if weight >= MIN_SHOWN_WEIGHT else name
                for name, weight in zip(self.candidates, self.weight, strict=True)
            ],
            xlabel="leave-one-out error minus that of the twin (left is better)",
        )
        self.ax_.invert_yaxis()
        return self
