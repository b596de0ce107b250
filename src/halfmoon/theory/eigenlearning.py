r"""Eigenlearning: the test error of kernel ridge from the spectrum of its kernel.

Let s_i be the eigenvalues of the kernel as an operator on L2(P), P being the
distribution of the rows, and v_i the coefficients of the truth in its eigenfunctions.
Leave the first f modes unpenalized, and have N labels with noise of variance
:math:`\sigma^2`. Free modes are learned whole and take up one label each; mode i
beyond them is learned to the part :math:`L_i = s_i / (s_i + kappa)`, where

.. math:: \sum_{i > f} \frac{s_i}{s_i + kappa} + \frac{alpha N}{kappa} = N - f      (1)

and the mean squared error at a new row, its label's noise included, is about

.. math:: E = \frac{N}{N - f - \sum_{i > f} L_i^2}
              \Bigl(\sigma^2 + \sum_{i > f} (1 - L_i)^2 v_i^2\Bigr)                 (2)

The fraction is the overfitting factor: how much larger an error is for being learned
from. For f = 0 this is the theory of Simon, Dickens, Karkada, DeWeese, "The
eigenlearning framework", 2023. Takhanov, Assylbekov, "Conditional KRR", 2026, section
5.1, add the cost of conditioning to it up to a constant; (1) and (2) contain that cost,
so comparing E at f and at 0 says whether freeing the modes pays. (They print alpha /
kappa in (1), where the averaged loss has alpha N / kappa.)

What the theory takes for granted is that the eigenfunctions at the rows behave like
independent normal numbers: good to a few percent for cosines on a circle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfmoon.rows import Array
from halfmoon.theory.modes import as_spectrum, count_modes, solve_kappa

__all__ = ["Eigenlearning", "eigenlearning"]


@dataclass(frozen=True)
class Eigenlearning:
    """What the theory says of one fit.

    Attributes
    ----------
    kappa : float
        Modes with eigenvalues well above it are learned, those below are not. 0 where
        every mode is learned whole.
    learnability : ndarray of shape (modes,)
        L_i, which is 1 for the free modes. Not shown by `repr`.
    overfitting : float
        The fraction in (2), 1 or more; infinite where the modes are as many as the
        labels and none is penalized.
    missed : float
        The sum in (2): what is not learned of the truth.
    risk : float
        E, the mean squared error at new rows with the noise of their labels.
    """

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
    """Predict the test error of kernel ridge, with some modes free of penalty.

    Parameters
    ----------
    spectrum : array-like of shape (modes,)
        s_i, eigenvalues on L2(P), the free modes first; beyond them in any order. A
        Gram matrix of m rows has them times m.
    n_samples : int
        N, the number of labeled rows.
    alpha : float
        Penalty beside the averaged loss, 0 or more.
    target : array-like of shape (modes,) or float
        v_i, coefficients of the truth in the orthonormal eigenfunctions. What it has
        beyond these modes counts as noise: add its square to `noise_variance`.
    noise_variance : float
        The variance of the labels about the truth.
    n_unpenalized : int
        f, less than N.
    tail : float
        Sum of the eigenvalues beyond those given, all of them small beside kappa: they
        act as a little more alpha. It is k(x, x) less the sum of the spectrum.

    Returns
    -------
    Eigenlearning

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
        # N - f less the sum of squares, by (1): nothing cancels.
        left = float((L * lost).sum()) + rest / kappa
    else:  # no penalty, and labels for every mode: least squares
        L[f:], lost[f:] = s[f:] > 0, s[f:] == 0
        left = float(N - f - count_modes(s[f:]))
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
            f"coefficient for each is needed. Fill up with zeros, or add modes."
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
            f"n_unpenalized is {f} with {N} labels: so many free modes pass through "
            f"every label, whatever it is, and the error has no bound. Free fewer than "
            f"{N}, or label more rows."
        )
    for name, value in (("alpha", alpha), ("noise_variance", noise_variance)):
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} is {value!r}; a number of 0 or more is needed.")
