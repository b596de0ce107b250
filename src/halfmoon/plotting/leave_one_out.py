"""Leave-one-out error against alpha: how a fit chose its penalty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon.plotting.axes import axes_of
from halfmoon.plotting.inner import inner_model
from halfmoon.rows import Array

__all__ = ["LeaveOneOutDisplay"]

RIDGE = "mean squared left-out residual"
FOLDS = "mean loss of left-out folds"


@dataclass(eq=False, repr=False)
class LeaveOneOutDisplay:
    """The errors that a search over alpha has seen, and the alpha that it chose.

    A flat valley says that the choice matters little; a minimum at either end, that
    alphas beyond it should be tried.

    Made by `from_estimator`.

    Parameters
    ----------
    alphas : ndarray of shape (a,)
        Rising.
    errors : ndarray of shape (a,)
        Infinite where a left-out row is not known at all.
    alpha : float
        The one chosen.
    what : str
        The name of the error.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    line_ : Line2D
    chosen_ : Line2D
        One point.
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
            With several alphas; or a pipeline or a search with such a one inside.
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
                f"leave-one-out. Fit with several, alpha=np.logspace(-8, 0, 17) say."
            )
        if np.ndim(alphas) > 1:
            raise ValueError(
                "Some rows lack some outputs, so each group of outputs has an alpha of "
                "its own. Draw one of model.parts_."
            )
        order = np.argsort(alphas)
        return cls(
            alphas[order],
            np.asarray(errors)[order],
            float(model.alpha_),
            _name_of_error(model.solution_),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on axes, new ones if None."""
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
        else:  # 0 has no logarithm, and comes one step before the others
            self.ax_.set_xscale("symlog", linthresh=self.alphas[self.alphas > 0][0])
        self.ax_.legend()
        return self


def _name_of_error(fit: Any) -> str:
    if fit.by_ridge:
        return RIDGE
    if fit.left_out_values is None:
        return FOLDS
    return f"mean {fit.posed.loss.name} loss of left-out rows"
