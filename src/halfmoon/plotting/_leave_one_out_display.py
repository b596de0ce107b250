"""Leave-one-out error against alpha, and the alpha that was chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon._rows import Array
from halfmoon.plotting._axes import axes_of
from halfmoon.plotting._inner_estimator import inner_model

__all__ = ["LeaveOneOutDisplay"]

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

    ax_: Any = field(init=False)
    figure_: Any = field(init=False)
    line_: Any = field(init=False)
    chosen_: Any = field(init=False)

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
            *([self.alpha], [least], "o"),
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
