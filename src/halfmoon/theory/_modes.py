r"""The scale kappa below which modes of a spectrum count as lost.

The share L = s / (s + kappa) of a mode with eigenvalue s is kept. The sum of all shares
is given, and determines kappa:

.. math:: \sum_i \frac{s_i}{s_i + kappa} + \frac{rest}{kappa} = count               (1)

The left side decreases from the number of modes (from infinity, if rest > 0) to 0, so
there is at most one root. It is bracketed in closed form: s / (s + kappa) is below
s / kappa, and the first j modes add up to at least j s_j / (s_j + kappa), so

.. math:: \max(rest, \max_j s_j (j - count)) \le count \cdot kappa
          \le rest + \sum_i s_i                                                     (2)

with s descending. The root is searched on the scale of log kappa, because spectra may
fall over hundreds of decades.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from halfmoon._rows import Array

__all__ = ["as_spectrum", "solve_kappa"]

TOLERANCE = 1e-14  # of log kappa


def solve_kappa(s: Array, count: float, rest: float = 0.0) -> float:
    """Return the root of (1), for 0 < count; 0 if there are too few modes."""
    s = np.sort(s[s > 0])[::-1]
    surplus = np.arange(1, s.size + 1) - count
    low = max(rest, float(np.max(s * surplus, initial=0.0))) / count
    if low <= 0:  # rest = 0, and no more modes than there are to count
        return 0.0
    high = (rest + float(s.sum())) / count

    def excess(log_kappa: float) -> float:
        kappa = np.exp(log_kappa)
        return float((s / (s + kappa)).sum() + rest / kappa - count)

    # A factor of two on either side, as (2) may hold with equality.
    bracket = np.log(low / 2.0), np.log(2.0 * high)
    return float(np.exp(brentq(excess, *bracket, xtol=TOLERANCE, rtol=TOLERANCE)))


def as_spectrum(spectrum: Any, tail: float) -> Array:
    """Check the eigenvalues and their tail, and return the former as an array."""
    s = np.asarray(spectrum, dtype=np.float64)
    if s.ndim != 1 or s.size == 0:
        raise ValueError(
            f"spectrum has shape {s.shape}; a sequence of eigenvalues is needed."
        )
    if not (np.isfinite(s).all() and (s >= 0).all()):
        raise ValueError(
            f"spectrum has {int(np.count_nonzero(~(np.isfinite(s) & (s >= 0))))} "
            f"value(s) that are negative or not finite; eigenvalues of a positive "
            f"definite kernel are 0 or more. Clip small negative values from rounding."
        )
    if not 0 <= tail < np.inf:
        raise ValueError(
            f"tail is {tail!r}; it is the sum of the remaining eigenvalues, a number "
            f"of 0 or more."
        )
    return s
