"""Curves of errors: against alpha, against k, and against the number of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon._rows import Array
from halfmoon.plotting._axes import axes_of, inner_model
from halfmoon.queries import Forecast, forecast_learning_curve

__all__ = ["HardThresholdDisplay", "LearningCurveDisplay", "LeaveOneOutDisplay"]

RIDGE = "mean squared leave-one-out residual"
FOLDS = "mean loss on held-out folds"


@dataclass(eq=False, repr=False)
class LeaveOneOutDisplay:
    """The errors in a search over alpha, and the alpha that was chosen.

    If the curve is flat, the choice matters little. If the minimum is at either end,
    alphas beyond it should be tried.

    Made by `from_estimator`.

    Parameters
    ----------
    alphas : ndarray of shape (a,)
        Ascending.
    errors : ndarray of shape (a,)
        Infinite where the other labels do not determine a prediction.
    alpha : float
        The alpha that was chosen.
    what : str
        Name of the error.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    line_ : Line2D
    chosen_ : Line2D
        The chosen alpha, as a point.
    """

    alphas: Array
    errors: Array
    alpha: float
    what: str = RIDGE

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the search of a fitted model.

        Parameters
        ----------
        model : fitted estimator of halfmoon
            With several alphas; or a pipeline or a search that contains one.
        ax : Axes or None
            New ones if None.
        """
        check_is_fitted(model)
        model = inner_model(model, "loo_errors_")
        if not hasattr(model, "alphas_"):
            raise ValueError(
                f"{type(model).__name__} has no loo_errors_: it does not choose alpha "
                f"by leave-one-out. Use an estimator of halfmoon with several alphas."
            )
        alphas, errors = model.alphas_, model.loo_errors_
        if errors is None or len(alphas) < 2:
            raise ValueError(
                f"alpha is {model.alpha!r}: there was nothing to choose by "
                f"leave-one-out. Fit with several, such as np.logspace(-8, 0, 17)."
            )
        if np.ndim(alphas) > 1:
            raise ValueError(
                "Some rows lack some outputs, so each group of outputs has its own "
                "alpha. Draw one of model.parts_."
            )
        order = np.argsort(alphas)
        return cls(
            alphas[order],
            np.asarray(errors)[order],
            float(model.alpha_),
            _error_name(model.solution_),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes if None."""
        self.figure_, self.ax_ = axes_of(ax)
        (self.line_,) = self.ax_.plot(self.alphas, self.errors, ".-")
        least = float(self.errors[self.alphas == self.alpha][0])
        (self.chosen_,) = self.ax_.plot(
            [self.alpha],
            [least],
            "o",
            color=self.line_.get_color(),
            markersize=10,
            markeredgecolor="black",
            label=f"chosen: alpha = {self.alpha:.3g}",
        )
        self.ax_.set(xlabel="alpha", ylabel=self.what, yscale="log")
        if self.alphas[0] > 0:
            self.ax_.set_xscale("log")
        else:  # 0 has no logarithm
            self.ax_.set_xscale("symlog", linthresh=self.alphas[self.alphas > 0][0])
        self.ax_.legend()
        return self


def _error_name(fit: Any) -> str:
    if fit.by_ridge:
        return RIDGE
    if fit.left_out_values is None:
        return FOLDS
    return f"mean leave-one-out {fit.posed.loss.name} loss"


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
            found.path_counts,
            scale * found.path_low,
            scale * found.path_high,
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
