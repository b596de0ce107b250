r"""Eigenlearning: the test error of kernel ridge from the spectrum of its kernel.

Let s_i be the eigenvalues of the kernel as an operator on L2(P), P being the
distribution of the rows, and v_i the coefficients of the truth in its eigenfunctions.
Let the first f modes be unpenalized, and let there be N labels with noise of variance
:math:`\sigma^2`. Unpenalized modes are learned completely and use up one label each. Of
every other mode i the share :math:`L_i = s_i / (s_i + kappa)` is learned, where

.. math:: \sum_{i > f} \frac{s_i}{s_i + kappa} + \frac{alpha N}{kappa} = N - f      (1)

and the mean squared error at a new row, including the noise of its label, is about

.. math:: E = \frac{N}{N - f - \sum_{i > f} L_i^2}
              \Bigl(\sigma^2 + \sum_{i > f} (1 - L_i)^2 v_i^2\Bigr)                 (2)

The fraction is the overfitting factor. For f = 0 this is the theory of Simon, Dickens,
Karkada, DeWeese, "The eigenlearning framework", 2023. Takhanov, Assylbekov,
"Conditional KRR", 2026, section 5.1, add the cost of conditioning to it up to a
constant; (1) and (2) contain that cost, so comparing E at f and at 0 says whether it
pays not to penalize the modes. (They print alpha / kappa in (1), where the averaged
loss has alpha N / kappa.)

The theory assumes that the eigenfunctions at the rows behave like independent normal
numbers. For cosines on a circle it is right to a few percent.

**The root of (1)**, with rest = alpha N and count = N - f. The left side decreases from
the number of modes (from infinity, if rest > 0) to 0, so there is at most one root. It
is bracketed in closed form: s / (s + kappa) is below s / kappa, and the first j modes
add up to at least j s_j / (s_j + kappa), so

.. math:: \max(rest, \max_j s_j (j - count)) \le count \cdot kappa
          \le rest + \sum_i s_i                                                     (3)

with s descending. The root is searched on the scale of log kappa, because spectra may
fall over hundreds of decades.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq

from halfmoon._rows import Array

__all__ = ["Eigenlearning", "as_spectrum", "eigenlearning", "solve_kappa"]

TOLERANCE = 1e-14  # of log kappa


def solve_kappa(s: Array, count: float, rest: float = 0.0) -> float:
    """Return the root kappa of (1), for 0 < count; 0 if there are too few modes."""
    s = np.sort(s[s > 0])[::-1]
    surplus = np.arange(1, s.size + 1) - count
    low = max(rest, float(np.max(s * surplus, initial=0.0))) / count
    if low <= 0:  # rest = 0, and no more modes than there are to count
        return 0.0
    high = (rest + float(s.sum())) / count

    def excess(log_kappa: float) -> float:
        kappa = np.exp(log_kappa)
        return float((s / (s + kappa)).sum() + rest / kappa - count)

    # A factor of two on either side, as (3) may hold with equality.
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


@dataclass(frozen=True)
class Eigenlearning:
    """Predictions of the theory for one fit; see `eigenlearning`."""

    kappa: float
    learnability: Array = field(repr=False)
    overfitting: float
    missed: float
    risk: float


def eigenlearning(
    spectrum: Any,  # (modes,)
    n_samples: int,
    alpha: float,
    *,
    target: Any = 0.0,  # (modes,)
    noise_variance: float = 0.0,
    n_unpenalized: int = 0,
    tail: float = 0.0,
) -> Eigenlearning:
    """Predict the test error of kernel ridge, with some modes unpenalized.

    Parameters
    ----------
    spectrum : array-like of shape (modes,)
        s_i, eigenvalues on L2(P), the unpenalized modes first, the others in any order.
        They are the eigenvalues of a Gram matrix of m rows, divided by m.
    n_samples : int
        N, the number of labeled rows.
    alpha : float
        Penalty weight, relative to the averaged loss, 0 or more.
    target : array-like of shape (modes,) or float
        v_i, coefficients of the truth in the orthonormal eigenfunctions. The part of
        the truth outside these modes counts as noise: add its mean square to
        `noise_variance`.
    noise_variance : float
        The variance of the labels around the truth.
    n_unpenalized : int
        f, less than N.
    tail : float
        Sum of the remaining eigenvalues, all much smaller than kappa: they act like a
        small addition to alpha. It is k(x, x) minus the sum of the spectrum.

    Returns
    -------
    Eigenlearning
        An object with these attributes:

        kappa : float
            Modes with eigenvalues well above it are learned, those below are not. 0 if
            every mode is learned completely.
        learnability : ndarray of shape (modes,)
            L_i, which is 1 for the unpenalized modes. Not shown by `repr`.
        overfitting : float
            The fraction in (2), 1 or more; infinite if there are as many modes as
            labels and no penalty.
        missed : float
            The sum in (2): the part of the truth that is not learned.
        risk : float
            E, the mean squared error at new rows, including the noise of their labels.

    Examples
    --------
    The constant and five cosines learned from 100 labels, with and without a penalty on
    these and their sines:

    >>> i = np.repeat(np.arange(1.0, 501.0), 2)
    >>> spectrum = np.append(1.0, i**-2.0 / 2)
    >>> target = np.zeros(1001)
    >>> target[1:11:2] = np.arange(1, 6) / np.sqrt(2)  # n cos(n x), n = 1, ..., 5
    >>> for f in (0, 11):
    ...     e = eigenlearning(
    ...         spectrum,
    ...         100,
    ...         0.01,
    ...         target=target,
    ...         noise_variance=1.0,
    ...         n_unpenalized=f,
    ...         tail=1 + np.pi**2 / 6 - spectrum.sum(),
    ...     )
    ...     print(round(e.risk, 2))
    4.07
    1.15
    """
    s = as_spectrum(spectrum, tail)
    v = _as_target(target, s.size)
    f, N = n_unpenalized, n_samples
    _check(s, N, alpha, noise_variance, f)
    rest = alpha * N + tail
    kappa = solve_kappa(s[f:], float(N - f), rest)
    L, lost = np.ones(s.size), np.zeros(s.size)
    if kappa > 0:
        L[f:], lost[f:] = s[f:] / (s[f:] + kappa), kappa / (s[f:] + kappa)
        # N - f minus the sum of squares, rewritten by (1) so that nothing cancels.
        left = float((L * lost).sum()) + rest / kappa
    else:  # least squares: no penalty, and no more modes than labels
        L[f:], lost[f:] = s[f:] > 0, s[f:] == 0
        left = float(N - f - np.count_nonzero(s[f:]))
    overfitting = N / left if left > 0 else np.inf
    missed = float(((lost * v) ** 2).sum())
    error = noise_variance + missed
    risk = overfitting * error if error > 0 else 0.0
    return Eigenlearning(kappa, L, overfitting, missed, risk)


def _as_target(target: Any, modes: int) -> Array:
    v = np.asarray(target, dtype=np.float64)
    if v.shape not in ((), (modes,)):
        raise ValueError(
            f"target has shape {v.shape} and the spectrum {modes} modes; one "
            f"coefficient for each mode is needed. Pad it with zeros, or add modes."
        )
    if not np.isfinite(v).all():
        raise ValueError("target has NaN or infinity; finite coefficients are needed.")
    return np.broadcast_to(v, (modes,))


def _check(s: Array, N: int, alpha: float, noise_variance: float, f: int) -> None:
    if N < 1 or int(N) != N:
        raise ValueError(f"n_samples is {N!r}; 1, 2, 3, ... labeled rows are needed.")
    if f < 0 or int(f) != f or f > s.size:
        raise ValueError(
            f"n_unpenalized is {f!r} and the spectrum has {s.size} modes; a number "
            f"from 0 to {s.size} is needed. Give more modes of the spectrum."
        )
    if f >= N:
        raise ValueError(
            f"n_unpenalized is {f} with {N} labels: so many unpenalized modes fit any "
            f"labels exactly, and the error has no bound. Use fewer than {N}, or label "
            f"more rows."
        )
    for name, value in (("alpha", alpha), ("noise_variance", noise_variance)):
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} is {value!r}; a number of 0 or more is needed.")
