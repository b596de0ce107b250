"""Did the unlabeled rows help? Each candidate beside its supervised twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon.plotting.axes import axes_of, matplotlib_pyplot
from halfmoon.plotting.inner import inner_model
from halfmoon.rows import Array

__all__ = ["ComparisonDisplay"]

COLUMNS = ("candidate", "unlabeled", "difference", "low", "high", "weight")
SUMMARIES = ("supervised twin", "average of all")  # rows that are no candidates
SHARE = 0.05  # of the answer, from which on a candidate is always shown
SEEN = 0.005  # less is 0 % in print, and not in color
CHOSEN, PASSED, SUMMARY = "C0", "0.65", "black"
AREA = 25.0, 130.0  # of a point with weight 0, and what the largest weight adds
WIDTH, HEIGHT = 8.0, 0.28  # in inches, of the figure and of a line


@dataclass(eq=False, repr=False)
class ComparisonDisplay:
    """A forest plot: one line for each candidate, the best on top.

    A point is the leave-one-out error less that of the supervised twin, its line the
    95 % interval of that difference, and 0 is the twin: what lies left of it does
    better than the labels alone. Candidates with a part in the answer are in color,
    larger by their weight. Those that use no unlabeled rows are diamonds; the twin
    itself and the average of all candidates are black squares.

    Made by `from_estimator` or `from_comparison`.

    Parameters
    ----------
    candidates : list of str
        By rising difference.
    unlabeled : ndarray of bool of shape (m,)
        Which of them use unlabeled rows.
    difference, low, high, weight : ndarrays of shape (m,)

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    intervals_ : LineCollection
    points_ : list of PathCollection
        Of candidates that use unlabeled rows, of those that do not, and of the twin
        and the average.
    twin_ : Line2D
        At 0.
    """

    candidates: list[str]
    unlabeled: NDArray[np.bool_]
    difference: Array
    low: Array
    high: Array
    weight: Array

    ax_: Any = field(init=False)
    figure_: Any = field(init=False)
    intervals_: Any = field(init=False)
    points_: list[Any] = field(init=False)
    twin_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls, model: Any, *, n_candidates: int | None = 10, ax: Any = None
    ) -> Self:
        """Draw the comparison of a fitted HalfmoonClassifier or HalfmoonRegressor.

        Parameters
        ----------
        model : fitted estimator with a `comparison_`
            Or a pipeline or a search with such a one inside.
        n_candidates : int or None
            Show this many, the best, and besides them those with a weight of 5 % or
            more, the twin and the average of all; None is everything.
        ax : Axes or None
            New ones if None.
        """
        check_is_fitted(model)
        model = inner_model(model, "comparison_")
        if not hasattr(model, "comparison_"):
            raise ValueError(
                f"{type(model).__name__} has no comparison_: it fits one model and "
                f"compares none. Use HalfmoonClassifier or HalfmoonRegressor."
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
        """Draw a comparison: equal-length columns, as `comparison_` has them.

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
            order = order[best | summary | (weight[order] >= SHARE)]
        return cls(
            [names[i] for i in order],
            np.asarray(comparison["unlabeled"], dtype=bool)[order],
            *(column[order] for column in (difference, low, high, weight)),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on axes, new ones if None."""
        m = len(self.candidates)
        if ax is None:
            size = (WIDTH, 1.2 + HEIGHT * m)
            ax = matplotlib_pyplot().subplots(figsize=size, layout="constrained")[1]
        self.figure_, self.ax_ = axes_of(ax)
        height = np.arange(m)
        summary = np.array([name in SUMMARIES for name in self.candidates])
        colors = np.where(self.weight >= SEEN, CHOSEN, PASSED)
        colors = np.where(summary, SUMMARY, colors)
        areas = AREA[0] + AREA[1] * self.weight / max(self.weight.max(), SEEN)
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
                *(self.difference[some], height[some]),
                s=areas[some],
                c=colors[some].tolist(),
                marker=marker,
                zorder=3,
            )
            for marker, some in kinds.items()
        ]
        self.ax_.set(
            yticks=height,
            yticklabels=[
                f"{name} ({weight:.0%})" if weight >= SEEN else name
                for name, weight in zip(self.candidates, self.weight, strict=True)
            ],
            xlabel="leave-one-out error less the twin's: left is better",
        )
        self.ax_.invert_yaxis()
        return self
