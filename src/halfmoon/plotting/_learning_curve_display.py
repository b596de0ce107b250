"""Learning curve: the error measured so far, and forecast for more labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from halfmoon.plotting._axes import axes_of
from halfmoon.queries import Forecast, forecast_learning_curve

__all__ = ["LearningCurveDisplay"]


@dataclass(eq=False, repr=False)
class LearningCurveDisplay:
    """Error against the number of labels: measured, and forecast for more labels.

    Points are errors measured with fewer labels, the line is the fitted curve, and the
    band is its interval. Everything right of the dotted line is a forecast.

    Made by `from_forecast` or `from_estimator`.

    Parameters
    ----------
    forecast : Forecast
        From `halfmoon.queries.forecast_learning_curve`.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    points_ : Line2D
        Errors measured with subsamples of the labels.
    line_ : Line2D
    band_ : FillBetweenPolyCollection
    now_ : Line2D
        The current number of labels.
    asked_ : ErrorbarContainer
        Forecasts for the requested numbers of labels, with their intervals.
    """

    forecast: Forecast

    ax_: Any = field(init=False)
    figure_: Any = field(init=False)
    points_: Any = field(init=False)
    line_: Any = field(init=False)
    band_: Any = field(init=False)
    now_: Any = field(init=False)
    asked_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        n_labels: Any = (50, 100, 200),
        *,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Forecast the learning curve of a model, and draw it.

        Parameters
        ----------
        model, X, y, n_labels, **options
            See `halfmoon.queries.forecast_learning_curve`.
        ax : Axes or None
            New ones if None.
        """
        return cls(forecast_learning_curve(model, X, y, n_labels, **options)).plot(ax)

    @classmethod
    def from_forecast(cls, forecast: Forecast, *, ax: Any = None) -> Self:
        """Draw a forecast.

        Parameters
        ----------
        forecast : Forecast
        ax : Axes or None
            New ones if None.
        """
        return cls(forecast).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes if None."""
        self.figure_, self.ax_ = axes_of(ax)
        found = self.forecast
        scale = 100.0 if found.metric == "error rate" else 1.0
        self.band_ = self.ax_.fill_between(
            *(found.path_counts, scale * found.path_low, scale * found.path_high),
            color="C0",
            alpha=0.2,
            linewidth=0.0,
            label=f"interval, {found.level:.0%}",
        )
        (self.line_,) = self.ax_.plot(
            found.path_counts, scale * found.path, color="C0", label="forecast"
        )
        (self.points_,) = self.ax_.plot(
            found.counts, scale * found.measured, "ko", label="measured"
        )
        expected, low, high = (
            scale * each for each in (found.expected, found.low, found.high)
        )
        self.asked_ = self.ax_.errorbar(
            found.n_labeled + found.n_labels,
            expected,
            yerr=[expected - low, high - expected],
            fmt="o",
            color="C0",
            capsize=3.0,
        )
        self.now_ = self.ax_.axvline(found.n_labeled, color="0.5", linestyle=":")
        what = "error rate, %" if scale > 1 else found.metric
        self.ax_.set(xlabel="labels", ylabel=what)
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.legend()
        return self
