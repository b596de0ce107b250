r"""The soft threshold: the residual spectrum after k draws of a Gaussian process.

k random features that are draws of a kernel's Gaussian process remove part of each mode
of the kernel. With eigenvalues s_i and standard normal vectors xi_i of length k,

.. math:: G = \sum_i s_i \xi_i \xi_i', \quad M_{ij} = \xi_i'G^{-1}\xi_j, \quad
          \mu_i / s_i = 1 - 2 s_i E[M_{ii}] + \sum_j s_j^2 E[M_{ij}^2]              (1)

is the mean residual spectrum (theorem 5.2 of the paper). For many draws it tends to

.. math:: \frac{\mu_i}{s_i} = \frac{c \, kappa^2}{(s_i + kappa)^2}, \quad
          \sum_i L_i = k, \quad c = \frac{k}{k - \sum_i L_i^2}, \quad
          L_i = \frac{s_i}{s_i + kappa}                                             (2)

where the paper finds c by experiments.

**Derivation.** 1 / kappa = tr G^-1, and by Sherman and Morrison's formula M_ii = 1 /
(s_i + kappa); as the M_ii s_i sum to k, so do the L_i. The terms i and i, i of (1) are
:math:`kappa^2 / (s_i + kappa)^2`, and those with j other than i the same times
:math:`t = tr(G^{-1} \sum_j s_j^2 \xi_j \xi_j' G^{-1})`. To find t, let every s move by
:math:`\epsilon s^2`. Then tr G^-1 moves by :math:`-t \epsilon`, so kappa by
:math:`t \, kappa^2 \epsilon`, and the sum of the L_i must not move:

.. math:: \sum_i \frac{kappa \, s_i^2 - s_i \, t \, kappa^2}{(s_i + kappa)^2} = 0
          \;\Rightarrow\; t = \frac{\sum_i L_i^2}{\sum_i L_i (1 - L_i)}, \quad
          c = 1 + t

For s_i = i^-a sums tend to integrals, in which L_i^2 has (1 - 1/a) k: so c tends to a.
Takhanov, Assylbekov, "Conditional KRR", 2026, section 5.2 and appendix F.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfmoon._rows import Array
from halfmoon.theory._eigenlearning import as_spectrum, solve_kappa

__all__ = ["SoftThreshold", "soft_threshold_spectrum"]


@dataclass(frozen=True)
class SoftThreshold:
    """The residual spectrum (2); see `soft_threshold_spectrum`."""

    kappa: float
    c: float
    learnability: Array = field(repr=False)
    ratio: Array = field(repr=False)
    spectrum: Array = field(repr=False)


def soft_threshold_spectrum(
    spectrum: Any,  # (modes,)
    k: int,
    *,
    tail: float = 0.0,
) -> SoftThreshold:
    """Return the mean residual spectrum after k draws of the Gaussian process.

    `halfmoon.unpenalized.GaussianDraws` makes such features.

    Parameters
    ----------
    spectrum : array-like of shape (modes,)
        s_i, eigenvalues on L2(P), in any order.
    k : int
        Number of draws, smaller than the number of modes.
    tail : float
        Sum of the remaining eigenvalues, all much smaller than kappa.

    Returns
    -------
    SoftThreshold
        An object with these attributes:

        kappa : float
            Modes with eigenvalues well above it are removed; infinite for k = 0.
        c : float
            Factor by which the modes well below it grow.
        learnability : ndarray of shape (modes,)
            L_i: the share of mode i in the span of the draws. Not shown by `repr`.
        ratio : ndarray of shape (modes,)
            mu_i / s_i, defined even if s_i = 0. Not shown by `repr`.
        spectrum : ndarray of shape (modes,)
            mu_i, eigenvalues of the mean residual kernel. Not shown by `repr`.

    Examples
    --------
    The first modes are removed, and the last grow by the power of the decay:

    >>> soft = soft_threshold_spectrum(np.arange(1, 30001) ** -2.0, 100)
    >>> soft.ratio[[0, 99, 29999]].round(4)
    array([0.    , 1.0017, 1.9927])
    """
    s = as_spectrum(spectrum, tail)
    if k < 0 or int(k) != k:
        raise ValueError(f"k is {k!r}; 0, 1, 2, ... draws are needed.")
    if k == 0:
        return SoftThreshold(np.inf, 1.0, np.zeros(s.size), np.ones(s.size), s)
    modes = np.count_nonzero(s)
    if tail == 0 and k >= modes:
        raise ValueError(
            f"k is {k}, but the spectrum has only {modes} mode(s) above 0: so "
            f"many draws span them all, and nothing is left of the kernel. Draw fewer, "
            f"or give more of the spectrum."
        )
    kappa = solve_kappa(s, float(k), tail)
    L, lost = s / (s + kappa), kappa / (s + kappa)
    # k minus the sum of squares, rewritten so that nothing cancels.
    c = k / (float((L * lost).sum()) + tail / kappa)
    return SoftThreshold(kappa, c, L, c * lost**2, c * lost**2 * s)
