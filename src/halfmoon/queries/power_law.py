r"""How errors fall with labels: a power law above a floor, with a prior.

With n labels, a learning curve is taken to be

.. math:: \log e(n) = \log e_0 + \log\Bigl(g + (1 - g)
          \Bigl(\frac{n + d}{64 + d}\Bigr)^{-b}\Bigr) + B(\log n)                   (1)

where g is the share of the error at 64 labels that no label takes away, b the rate at
which the rest falls, and d a delay before it does. B, a Brownian motion of variance
:math:`\tau^2` for each unit of log n, is what a power law misses. The prior of
:math:`\log b` and :math:`logit\, g` is normal, d and :math:`\tau` have a few values
each, and :math:`\log e_0` may be anything. Given the rest of them, (1) is Gaussian; so
its posterior, from errors measured at some counts, is a mixture of Gaussians on a grid
of (b, g, d, tau), without any sampling.

The constants of the prior were fitted by ``benchmarks/learning_curves.py`` to published
curves of twenty learners on one half of 166 tables (Mohr, Viering, Loog, van Rijn,
"LCDB 1.0", 2022) and to curves of halfmoon's own; forecasts are measured on the other
half, and on other tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import norm

from halfmoon.rows import Array

__all__ = ["PRIOR", "CurveMixture", "Prior", "curve_posterior"]

REFERENCE = 64.0  # labels, at which g is the share of the error that stays
START = 4.0  # labels, at which B begins
DELAYS = (0.0, 16.0, 64.0)  # d
DRIFTS = (0.3, 1.0, 3.0)  # times `Prior.drift`: tau
NODES = 15  # of b and of g
REACH = 2.4  # deviations, to which they go


@dataclass(frozen=True)
class Prior:
    """What is expected of a curve before any error is measured.

    Attributes
    ----------
    log_rate, log_rate_std : float
        Of log b.
    logit_floor, logit_floor_std : float
        Of logit g.
    correlation : float
        Between the two.
    drift : float
        tau, the middle one.
    drift_weights, delay_weights : tuple of float
        How likely each of `DRIFTS` and `DELAYS` is, up to a factor.
    """

    log_rate: float
    log_rate_std: float
    logit_floor: float
    logit_floor_std: float
    correlation: float
    drift: float
    drift_weights: tuple[float, float, float]
    delay_weights: tuple[float, float, float]

    def grid(self) -> tuple[Array, Array, Array]:
        """b, g and the logarithms of their weights, shape (`NODES` squared,) each."""
        at = np.linspace(-REACH, REACH, NODES)
        first, second = (each.ravel() for each in np.meshgrid(at, at, indexing="ij"))
        rho = self.correlation
        b = np.exp(self.log_rate + self.log_rate_std * first)
        mixed = rho * first + np.sqrt(1.0 - rho**2) * second
        g = expit(self.logit_floor + self.logit_floor_std * mixed)
        return b, g, _normalized(-(first**2 + second**2) / 2)


PRIOR = Prior(
    log_rate=0.356,
    log_rate_std=0.956,
    logit_floor=-1.729,
    logit_floor_std=3.004,
    correlation=0.129,
    drift=0.0655,
    drift_weights=(1.324, 1.0, 0.85),
    delay_weights=(1.0, 0.388, 0.29),
)


@dataclass(frozen=True)
class CurveMixture:
    """The posterior of log errors at some counts: a mixture of Gaussians.

    Attributes
    ----------
    weights : ndarray of shape (c,)
    means : ndarray of shape (c, m)
    covariances : ndarray of shape (drifts, m, m)
    which : ndarray of int of shape (c,)
        The covariance of each component.
    """

    weights: Array
    means: Array
    covariances: Array
    which: Array

    def draws(self, n: int) -> Array:  # (n, m)
        """Log errors drawn from the mixture, the same ones each time.

        Components are taken in the order of their first mean, each as often as its
        weight says, so that the draws stand for the mixture better than random ones.
        """
        rng = np.random.default_rng(0)
        order = np.argsort(self.means[:, 0], kind="stable")
        cumulative = np.cumsum(self.weights[order])
        at = (np.arange(n) + 0.5) / n * cumulative[-1]
        chosen = order[np.minimum(np.searchsorted(cumulative, at), len(order) - 1)]
        steps = norm.ppf(rng.permuted(_ranks(n, self.means.shape[1]), axis=0))
        out = self.means[chosen]
        for i, covariance in enumerate(self.covariances):
            own = self.which[chosen] == i
            s, U = np.linalg.eigh(covariance)
            out[own] += (steps[own] * np.sqrt(np.maximum(s, 0.0))) @ U.T
        return out


def curve_posterior(
    counts: Array,  # (k,)
    logs: Array,  # (k,)
    covariance: Array,  # (k, k)
    new: Array,  # (m,)
    prior: Prior = PRIOR,
) -> CurveMixture:
    """What measured errors say of errors at other numbers of labels.

    Parameters
    ----------
    counts : ndarray of shape (k,)
        Numbers of labels, `START` or more.
    logs : ndarray of shape (k,)
        Logarithms of the errors measured there.
    covariance : ndarray of shape (k, k)
        Of their measurement errors, positive definite.
    new : ndarray of shape (m,)
        Numbers of labels to forecast at.
    prior : Prior

    Examples
    --------
    >>> counts = np.array([16.0, 23.0, 32.0, 45.0, 64.0])
    >>> logs = np.log(0.4 * (counts / 64) ** -0.5)  # half as many for four times n
    >>> found = curve_posterior(counts, logs, 1e-4 * np.eye(5), np.array([256.0]))
    >>> low, high = np.exp(np.quantile(found.draws(1000), [0.05, 0.95]))
    >>> bool(low < 0.2 < high)
    True
    """
    b, g, log_weights = prior.grid()
    x, x_new = np.log(counts / START), np.log(new / START)
    shapes = [(_shape(counts, b, g, d), _shape(new, b, g, d)) for d in DELAYS]
    by_delay = _normalized(np.log(prior.delay_weights))
    by_drift = _normalized(np.log(prior.drift_weights))
    evidence, means, covariances, which = [], [], [], []
    for i, (drift, of_drift) in enumerate(zip(DRIFTS, by_drift, strict=True)):
        tau2 = (drift * prior.drift) ** 2
        C = covariance + tau2 * np.minimum(x[:, None], x)
        cross = tau2 * np.minimum(x_new[:, None], x)  # (m, k)
        inverse = np.linalg.solve(C, np.hstack([np.eye(len(x)), cross.T]))
        precision, gain = inverse[:, : len(x)], inverse[:, len(x) :].T
        ones = precision.sum(axis=1)
        total = float(ones.sum())  # the precision of log e_0, which is flat
        rest = 1.0 - gain.sum(axis=1)
        among_new = tau2 * np.minimum(x_new[:, None], x_new) - gain @ cross.T
        covariances.append(among_new + np.outer(rest, rest) / total)
        for (old, ahead), of_delay in zip(shapes, by_delay, strict=True):
            r = logs - old  # (nodes, k)
            level = r @ ones / total
            r = r - level[:, None]
            fit = np.einsum("ij,ij->i", r @ precision, r)
            size = np.linalg.slogdet(C)[1] + np.log(total)
            evidence.append(log_weights + of_drift + of_delay - (size + fit) / 2)
            means.append(level[:, None] + ahead + r @ gain.T)
            which.append(np.full(len(r), i))
    return CurveMixture(
        np.exp(_normalized(np.concatenate(evidence))),
        np.concatenate(means),
        np.stack(covariances),
        np.concatenate(which),
    )


def _shape(n: Array, b: Array, g: Array, d: float) -> Array:  # (nodes, len(n))
    falls = ((n + d) / (REFERENCE + d)) ** -b[:, None]
    return np.log(g[:, None] + (1.0 - g[:, None]) * falls)


def _normalized(logs: Array) -> Array:
    return np.asarray(logs - logsumexp(logs))


def _ranks(n: int, columns: int) -> Array:  # (n, columns)
    """Numbers between 0 and 1, equally spaced."""
    return np.tile(((np.arange(n) + 0.5) / n)[:, None], (1, columns))
