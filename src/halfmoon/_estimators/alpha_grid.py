r"""The alphas to compare: those given, or ``"auto"`` in the unit of the problem.

.. math:: alpha = a \, u, \quad u = \frac1W \sum_j s_j^2
          = \frac1W tr \bigl( (I - P) Phi Q^{-1} Phi' \bigr)

The squared singular values s^2 are those of the problem, in coordinates where its
penalty is the identity and without what the unpenalized features explain
(`_solvers.ridge`). So u is the mean prior variance of the labeled rows around these
features, and a is the ratio of noise to signal. Other units of X, of the kernel or of
the energy change u, and nothing in the fit. The quantile loss grows with residuals and
not with their squares; for it u is divided by the standard deviation of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfmoon.losses import Quantile
from halfmoon.problem._posed import Posed
from halfmoon.problem._solve_ridge import as_numbers

__all__ = ["AUTO_ALPHAS", "Alphas", "unit_of"]

#: "auto", in the unit of the problem: from interpolation to nearly no fit.
AUTO_ALPHAS = tuple(10.0 ** (e / 2) for e in range(-16, 3))


@dataclass(frozen=True)
class Alphas:
    """Alphas to choose from.

    Attributes
    ----------
    values : tuple of float
    automatic : bool
        Whether the values are in the unit of the problem.
    """

    values: tuple[float, ...]
    automatic: bool = False

    @classmethod
    def of(cls, alpha: Any, automatic: tuple[float, ...] = AUTO_ALPHAS) -> Self:
        """Return the alphas of a parameter: "auto", a number or a sequence."""
        if isinstance(alpha, str):
            return cls(automatic, automatic=True)
        return cls(tuple(as_numbers(alpha, "alpha")))

    def __len__(self) -> int:
        return len(self.values)

    def only(self, which: int) -> Self:
        """Return only one of them."""
        return replace(self, values=(self.values[which],))

    def at(self, posed: Posed) -> list[float]:
        """Return the alphas as numbers, for a posed problem."""
        unit = unit_of(posed) if self.automatic else 1.0
        return [unit * value for value in self.values]


def unit_of(posed: Posed) -> float:
    """Return u above; 1 where no row varies and alpha does not matter.

    Examples
    --------
    >>> from halfmoon.bases import Exact
    >>> from halfmoon.kernels import Gaussian
    >>> from halfmoon.problem import Problem
    >>> problem = Problem(Exact(9.0 * Gaussian(1.0)), unpenalized=None)
    >>> round(unit_of(problem.pose(np.eye(2), [0.0, 1.0])), 6)
    9.0
    """
    path = posed.path
    unit = float(path.s2.sum()) / path.total_weight
    if isinstance(posed.loss, Quantile):
        unit /= float(posed.y.std(axis=0).mean()) or 1.0
    return unit if 0 < unit < np.inf else 1.0
