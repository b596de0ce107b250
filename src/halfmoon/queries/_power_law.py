r"""Model of a learning curve: a power law above a floor, with a prior.

The error with n labels is modeled as

.. math:: \log e(n) = \log e_0 + \log\Bigl(g + (1 - g)
          \Bigl(\frac{n + d}{64 + d}\Bigr)^{-b}\Bigr) + B(\log n)                   (1)

where g is the share of the error at 64 labels that never goes away, b the rate at which
the rest decreases, and d a delay. B, a Brownian motion of variance :math:`\tau^2` per
unit of log n, models the deviations from a power law. The prior of :math:`\log b` and
:math:`logit\, g` is normal, d and :math:`\tau` have a few values each, and the prior of
:math:`\log e_0` is flat. Given (b, g, d, tau), (1) is Gaussian. So its posterior, from
errors measured at some counts, is a mixture of Gaussians on a grid of (b, g, d, tau),
without any sampling.

The constants of the prior were fitted by ``benchmarks/curve_prior.py`` to published
curves of twenty learners on one half of 166 tables (Mohr, Viering, Loog, van Rijn,
"LCDB 1.0", 2022) and to curves of halfmoon. The other half, and other tables, test the
forecasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import norm

from halfmoon._rows import Array

__all__ = ["PRIOR", "REFERENCE", "CurveMixture", "Prior", "curve_posterior"]

REFERENCE = 64.0  # labels, at which g is a share of the error
START = 4.0  # labels, at which B is 0
DELAYS = (0.0, 16.0, 64.0)  # d
DRIFTS = (0.3, 1.0, 3.0)  # tau, relative to `Prior.drift`
NODES = 15  # of the grid, for each of b and g
REACH = 2.4  # of the grid, in standard deviations


@dataclass(frozen=True)
class Prior:
    """The prior of a learning curve."""

    log_rate: float  # mean of log b
    log_rate_std: float
    logit_floor: float  # mean of logit g
    logit_floor_std: float
    correlation: float  # between the two
    drift: float  # the middle value of tau
    drift_weights: tuple[float, float, float]  # of `DRIFTS`, up to a factor
    delay_weights: tuple[float, float, float]  # of `DELAYS`, up to a factor

    def grid(self) -> tuple[Array, Array, Array]:
        """Return b, g and their log weights, each of shape (`NODES` squared,)."""
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
    """The posterior of log errors at some counts: a mixture of Gaussians."""

    weights: Array  # (c,)
    means: Array  # (c, m)
    covariances: Array  # (drifts, m, m)
    which: Array  # (c,), the covariance of each component

    def draws(self, n: int) -> Array:  # (n, m)
        """Return n draws of log errors, the same ones in each call.

        The draws are stratified: components come in the order of their first mean, each
        as often as its weight says.
        """
        rng = np.random.default_rng(0)
        order = np.argsort(self.means[:, 0], kind="stable")
        cumulative = np.cumsum(self.weights[order])
        at = (np.arange(n) + 0.5) / n * cumulative[-1]
        chosen = order[np.minimum(np.searchsorted(cumulative, at), len(order) - 1)]
        ranks = np.tile(((np.arange(n) + 0.5) / n)[:, None], self.means.shape[1])
        steps = norm.ppf(rng.permuted(ranks, axis=0))
        out = self.means[chosen]
        for i, covariance in enumerate(self.covariances):
            rows = self.which[chosen] == i
            s, U = np.linalg.eigh(covariance)
            out[rows] += (steps[rows] * np.sqrt(np.maximum(s, 0.0))) @ U.T
        return out


def curve_posterior(
    counts: Array,  # (k,), at least `START`
    logs: Array,  # (k,), logarithms of the errors measured there
    covariance: Array,  # (k, k), of their measurement errors; positive definite
    new: Array,  # (m,), numbers of labels to forecast
    prior: Prior = PRIOR,
) -> CurveMixture:
    """Return the posterior of log errors at other numbers of labels.

    Examples
    --------
    >>> counts = np.array([16.0, 23.0, 32.0, 45.0, 64.0])
    >>> logs = np.log(0.4 * (counts / 64) ** -0.5)  # half the error for four times n
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
        total = float(ones.sum())  # the precision of log e_0
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
    decrease = ((n + d) / (REFERENCE + d)) ** -b[:, None]
    return np.log(g[:, None] + (1.0 - g[:, None]) * decrease)


def _normalized(logs: Array) -> Array:
    return np.asarray(logs - logsumexp(logs))
