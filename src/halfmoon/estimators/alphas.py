r"""The alphas to compare: a user's own, or ``"auto"`` in the unit of the problem.

.. math:: alpha = a \, u, \quad u = \frac1W \sum_j s_j^2
          = \frac1W tr \bigl( (I - P) Phi Q^{-1} Phi' \bigr)

Here the squared singular values s^2 are those of the problem itself, in coordinates
where its penalty is the identity and without what the unpenalized features explain
(`solvers/ridge.py`). So u is the mean variance, under the prior that the penalty stands
for, of the labeled rows around these features, and a is noise against signal. Changing
the units of X, of the kernel or of an energy changes u, and nothing in the fit. For the
quantile loss, which grows with residuals and not with their squares, u is divided by
the deviation of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfmoon.losses import Quantile
from halfmoon.problem import Posed, as_numbers

__all__ = ["ALPHAS", "Alphas", "unit_of"]

#: Of "auto", in the unit of the problem: from interpolation to nearly no fit.
ALPHAS = tuple(10.0 ** (e / 2) for e in range(-16, 3))


@dataclass(frozen=True)
class Alphas:
    """Alphas to choose from.

    Attributes
    ----------
    values : tuple of float
    automatic : bool
        The values are in the unit of the problem that they are used for.
    """

    values: tuple[float, ...]
    automatic: bool = False

    @classmethod
    def of(cls, alpha: Any, automatic: tuple[float, ...] = ALPHAS) -> Self:
        """From an estimator's parameter: "auto", a number or a sequence of them."""
        if isinstance(alpha, str):
            if alpha != "auto":
                raise ValueError(
                    f"alpha is {alpha!r}; 'auto', a number, or a sequence of at least "
                    f"one, is needed."
                )
            return cls(automatic, automatic=True)
        return cls(tuple(as_numbers(alpha, "alpha")))

    def __len__(self) -> int:
        return len(self.values)

    def only(self, which: int) -> Self:
        """One of them alone."""
        return replace(self, values=(self.values[which],))

    def at(self, posed: Posed) -> list[float]:
        """The numbers that a posed problem is solved with."""
        unit = unit_of(posed) if self.automatic else 1.0
        return [unit * value for value in self.values]


def unit_of(posed: Posed) -> float:
    """u above; 1 where no row varies, so that any alpha does.

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
