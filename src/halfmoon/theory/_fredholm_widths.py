r"""Width of a Fredholm kernel of Gaussian rows, in closed form.

Averaged over infinitely many Gaussian rows of variance v, a Gaussian kernel stays a
Gaussian kernel, of another squared width. Columns of little variance are shrunk more
than others, which suppresses noise.
Que, Belkin, Wang, "Learning with Fredholm kernels", 2014: theorem 8, and lemma 12 for
an inner kernel of another width.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

__all__ = ["fredholm_width", "outer_width", "refuse_negative"]


def refuse_negative(**values: float | None) -> None:
    """Raise a ValueError for the first value that is not a positive, finite number."""
    for name, value in values.items():
        if value is not None and not 0 < value < np.inf:
            raise ValueError(f"{name} is {value}; a positive number is needed.")


def fredholm_width(t: float, variance: float, s: float | None = None) -> float:
    r"""Return the squared width of k_F in a column, for Gaussian k and h.

    .. math:: (t + v) (s t + s v + 2 t v) / v^2

    which for s = t is t (t + v) (t + 3 v) / v^2.

    Parameters
    ----------
    t : float
        Squared width of the outer kernel k.
    variance : float
        v, the variance of the column.
    s : float or None
        Squared width of the inner kernel h; None is t.
    """
    refuse_negative(t=t, variance=variance, s=s)
    s = t if s is None else s
    v = variance
    return (t + v) * (s * t + s * v + 2 * t * v) / v**2


def outer_width(r: float, variance: float, s: float | None = None) -> float:
    """Return the squared width t of k for which k_F has the squared width r.

    So the Fredholm kernel can be compared with the plain kernel of width r (theorem 8).

    Parameters
    ----------
    r : float
        If s is given, larger than s, because averages only widen.
    variance : float
    s : float or None
        Squared width of h; None is t itself.

    Examples
    --------
    >>> t = outer_width(3.0, variance=2.0)
    >>> round(fredholm_width(t, 2.0), 12)
    3.0
    """
    refuse_negative(r=r)
    if s is not None and r <= s:
        raise ValueError(
            f"r is {r}, not above s = {s}: averaging makes a kernel wider, never "
            f"narrower. Give a larger r or a smaller s."
        )
    high = 1.0
    while fredholm_width(high, variance, s) < r:
        high *= 2
    least = np.finfo(np.float64).tiny
    return float(brentq(lambda t: fredholm_width(t, variance, s) - r, least, high,
                        xtol=1e-15 * high, rtol=1e-14))  # fmt: skip
