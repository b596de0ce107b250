r"""Noise suppression by Fredholm kernels of Gaussian rows, in closed form.

Rows are Gaussian, with variance lambda^2 in the columns that carry the signal and less,
sigma^2, in the m columns that are noise. Averaging a kernel over such rows shrinks the
noise columns more than the others. With Gaussian kernels of squared width t, and
infinitely many rows to average over,

===========================  =======================================================
k linear, h Gaussian         k_F(x, z) = x'S z, S of `fredholm_inner_product`
k Gaussian, h linear, (N)    k_F(x, z) = a(x)'a(z), a_i(x) = x_i v_i / (t + v_i)
k and h Gaussian, (N)        a Gaussian kernel of squared width `fredholm_width(t, v)`
                             in a column of variance v, times `fredholm_constant`
===========================  =======================================================

If h has another squared width s than k, use `fredholm_width(t, v, s)`. So kernels
scaled to the same mean can be compared by their variance under noise.
Que, Belkin, Wang, "Learning with Fredholm kernels", 2014: theorems 4, 5 and 8, and
lemma 12 for different widths.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from halfmoon._rows import TINY, Array

__all__ = [
    "fredholm_constant",
    "fredholm_inner_product",
    "fredholm_linear_noise",
    "fredholm_width",
    "gaussian_noise",
    "linear_noise",
    "outer_width",
]


def _require_positive(**values: float | None) -> None:
    """Raise a ValueError for the first value that is not a positive, finite number."""
    for name, value in values.items():
        if value is not None and not 0 < value < np.inf:
            raise ValueError(f"{name} is {value}; a positive number is needed.")


def fredholm_inner_product(
    mean: Array,  # (d,)
    variances: Array,  # (d,)
    t: float,
) -> Array:  # (d, d)
    r"""Return S with k_F(x, z) = x'S z for a linear outer kernel (theorem 4).

    .. math:: S = \prod_i \sqrt{t / (2 v_i + t)}
              \; \bigl( m m' + diag(v_i^2 / (2 v_i + t)) \bigr)

    so t is a soft threshold: directions of variance well below it are suppressed.

    Examples
    --------
    >>> S = fredholm_inner_product(np.zeros(2), np.array([10.0, 1.0]), t=5.0)
    >>> round(float(S[0, 0] / S[1, 1]), 6)
    28.0
    """
    _require_positive(t=t)
    scale = np.sqrt(np.prod(t / (2 * variances + t)))
    shrunk = np.diag(variances**2 / (2 * variances + t))
    return np.asarray(scale * (np.outer(mean, mean) + shrunk))


def linear_noise(m: int, noise: float) -> float:
    """Return the variance of x'z under noise in m columns (lemma 6)."""
    return m * noise**2


def fredholm_linear_noise(m: int, signal: float, noise: float, t: float) -> float:
    r"""Return the variance of k_F under noise, scaled to the mean of x'z (lemma 7).

    .. math:: m \, noise^2 \left(
              \frac{noise \, (t + signal)}{signal \, (t + noise)} \right)^4

    Less than `linear_noise` if the signal has more variance than the noise.
    """
    _require_positive(signal=signal, noise=noise, t=t)
    return linear_noise(m, noise) * (noise * (t + signal) / signal / (t + noise)) ** 4


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
    _require_positive(t=t, variance=variance, s=s)
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
    _require_positive(r=r)
    if s is not None and r <= s:
        raise ValueError(
            f"r is {r}, not above s = {s}: averaging makes a kernel wider, never "
            f"narrower. Give a larger r or a smaller s."
        )
    high = 1.0
    while fredholm_width(high, variance, s) < r:
        high *= 2
    return float(brentq(lambda t: fredholm_width(t, variance, s) - r, TINY, high,
                        xtol=1e-15 * high, rtol=1e-14))  # fmt: skip


def fredholm_constant(
    m: int, variance: float, t: float, s: float | None = None
) -> float:
    r"""Return the factor of k_F from m columns, for Gaussian k and h.

    .. math:: \left( \frac{s (t + v)}{s t + s v + 2 t v} \right)^{m/2}

    Averaging over noise of the same variance in these columns gives another factor
    :math:`(w / (w + 2 v))^{m/2}`, with w the `fredholm_width`. The product of both
    factors, for signal and noise, is c_2 of lemma 12.
    """
    _require_positive(t=t, variance=variance, s=s)
    s = t if s is None else s
    v = variance
    return float((s * (t + v) / (s * t + s * v + 2 * t * v)) ** (m / 2))


def gaussian_noise(m: int, noise: float, width: float) -> float:
    r"""Return the relative variance of exp(-q / 2 width) under noise (lemmas 10, 11).

    .. math:: \left( \frac{(w + 2 noise)^2}{w (w + 4 noise)} \right)^{m/2} - 1

    The plain kernel has the squared width r. In the columns of noise the Fredholm
    kernel has the much larger `fredholm_width(t, noise)`, with t such that
    `fredholm_width(t, signal)` is r.
    """
    _require_positive(noise=noise, width=width)
    ratio = (width + 2 * noise) ** 2 / (width * (width + 4 * noise))
    return float(np.expm1(m / 2 * np.log(ratio)))
