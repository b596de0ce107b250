r"""The scale kappa below which modes of a spectrum count as lost.

A mode of eigenvalue s is kept to the part L = s / (s + kappa). How many parts there are
in all is given, and kappa is what makes them so many:

.. math:: \sum_i \frac{s_i}{s_i + kappa} + \frac{rest}{kappa} = count               (1)

The left side falls from the number of modes (from infinity, if rest > 0) to 0, so
there is one root at most. Both sides of a bracket are closed forms: as s / (s + kappa)
is below s / kappa, and the first j modes count for at least j s_j / (s_j + kappa),

.. math:: \max(rest, \max_j s_j (j - count)) \le count \cdot kappa
          \le rest + \sum_i s_i                                                     (2)

with s falling. The root is sought on the scale of log kappa, which spectra need that
fall over hundreds of decades.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from halfmoon.rows import Array

__all__ = ["as_spectrum", "count_modes", "solve_kappa"]

ROUNDING = 1e-14  # of log kappa, in which the bracket is searched


def solve_kappa(s: Array, count: float, rest: float = 0.0) -> float:
    """The root of (1), for 0 < count; 0 where the modes are too few for any other."""
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
    return float(np.exp(brentq(excess, *bracket, xtol=ROUNDING, rtol=ROUNDING)))


def count_modes(s: Array) -> int:
    """How many modes have an eigenvalue above 0."""
    return int(np.count_nonzero(s))


def as_spectrum(spectrum: Any, tail: float) -> Array:
    """Eigenvalues as an array, checked, and what is left beyond them checked too."""
    s = np.asarray(spectrum, dtype=np.float64)
    if s.ndim != 1 or s.size == 0:
        raise ValueError(
            f"spectrum has shape {s.shape}; a sequence of eigenvalues is needed."
        )
    if not (np.isfinite(s).all() and (s >= 0).all()):
        raise ValueError(
            f"spectrum has {int(np.count_nonzero(~(np.isfinite(s) & (s >= 0))))} "
            f"value(s) that are negative or no number; eigenvalues of a positive "
            f"definite kernel are 0 or more. Clip what rounding has put below 0."
        )
    if not 0 <= tail < np.inf:
        raise ValueError(
            f"tail is {tail!r}; the sum of the eigenvalues that are not given is "
            f"needed, a number of 0 or more."
        )
    return s
