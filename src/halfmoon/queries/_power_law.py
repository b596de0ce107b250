r"""Learning curves: errors measured with fewer labels, and a power law through them.

**The model** is a power law above a floor, with a prior. The error with n labels is
modeled as

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

**Measured errors** are those of fits to subsets of the labels, at the hidden labels.
The labels are shuffled and cut into equal blocks. A fit to the labels of one block, or
of all blocks but one, is tested on the other labels, for each block in turn. So at
every count each label is tested equally often.

With :math:`r_{ij}` the mean error of label i at the j-th count, the measured errors are
the means over labels. The covariance of these means is that of the :math:`r_{ij}`
divided by the number of labels, for the choice of labeled rows shifts all counts
together. The variance between blocks is added to its diagonal.

A power law describes the mean error of fits to n labels. The error of one such fit also
depends on which rows have the labels. This luck is much like that of a mean over n
labels, the first of which remain when more are added: the logarithms of the errors with
n and n' labels vary about their means with

.. math:: cov = s^2 \frac{64}{\max(n, n')}                                           (2)

In curves of halfmoon, measured by ``python -m benchmarks.curve_prior luck``, s is
about 0.13, and nearly the same at all n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from scipy.stats import norm

from halfmoon._rows import Array, Indices

__all__ = [
    "PRIOR",
    "REFERENCE",
    "CurveMixture",
    "MeasuredErrors",
    "Prior",
    "curve_posterior",
    "measured_errors",
]

REFERENCE = 64.0  # labels, at which g is a share of the error
START = 4.0  # labels, at which B is 0
DELAYS = (0.0, 16.0, 64.0)  # d
DRIFTS = (0.3, 1.0, 3.0)  # tau, relative to `Prior.drift`
NODES = 15  # of the grid, for each of b and g
REACH = 2.4  # of the grid, in standard deviations
# Numbers of blocks, and of blocks that are fitted.
SHARES = ((4, 1), (2, 1), (4, 3))
SHARES_BY_REFITS = ((4, 1), (2, 1), (5, 4))
MIN_FITTED = 4  # labels
SHUFFLED_LABELS = 200  # in all shuffles together: few labels are shuffled more often
MAX_SHUFFLES = 5
ROUNDING = 1e-6  # of squared logarithms
LUCK = 0.13  # s of (2)


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


@dataclass(frozen=True)
class MeasuredErrors:
    """Errors at several numbers of labels."""

    counts: Array  # (k,), increasing
    errors: Array  # (k,)
    covariance: Array  # (k, k)

    @classmethod
    def of_rows(cls, counts: Array, rows: Array) -> MeasuredErrors:
        """Return the means over errors of each label at each count, shape (l, k)."""
        k = len(counts)
        covariance = np.cov(rows.T).reshape(k, k) / len(rows)
        return cls(counts, rows.mean(axis=0), covariance)

    def posterior(self, new: Array, prior: Prior = PRIOR) -> CurveMixture:
        """Return the posterior of log errors of fits to other numbers of labels.

        The measured errors must not be 0.
        """
        scale = np.outer(self.errors, self.errors)
        relative = self.covariance / scale + ROUNDING * np.eye(len(scale))
        logs = np.log(self.errors)
        mean = curve_posterior(self.counts, logs, relative, new, prior)
        luck = LUCK**2 * REFERENCE / np.maximum(new[:, None], new)
        return replace(mean, covariances=mean.covariances + luck)


def measured_errors(
    l: int,
    errors_of: Callable[[Sequence[Indices]], list[Array]],
    tested: NDArray[np.bool_],  # (l,)
    rng: np.random.Generator,
    *,
    by_refits: bool = False,
) -> MeasuredErrors:
    """Measure the errors with fewer than l labels, of which only `tested` ones count.

    `errors_of` maps sets of labels that are hidden together to the error of each of
    them, NaN if it is unknown. If a set takes a refit, there are eleven sets; else
    there are more, and each label is also hidden alone.
    """
    shuffles = 1 if by_refits else int(np.clip(SHUFFLED_LABELS // l, 1, MAX_SHUFFLES))
    choice = SHARES_BY_REFITS if by_refits else SHARES
    shares = tuple(each for each in choice if l * each[1] // each[0] >= MIN_FITTED)
    sets: list[Indices] = []
    column: list[int] = []
    for _ in range(shuffles):
        order = rng.permutation(l)
        for j, (parts, fitted) in enumerate(shares):
            for block in np.array_split(order, parts):
                sets.append(np.setdiff1d(order, block) if fitted == 1 else block)
                column.append(j)
    counts = [l * fitted // parts for parts, fitted in shares]
    if not by_refits:
        sets += [np.array([i]) for i in range(l)]
        column += [len(shares)] * l
        counts.append(l - 1)
    found = errors_of(sets)
    wrong, times = np.zeros((l, len(counts))), np.zeros((l, len(counts)))
    by_set: list[list[float]] = [[] for _ in counts]
    for hidden, errors, j in zip(sets, found, column, strict=True):
        known = np.isfinite(errors) & tested[hidden]
        wrong[hidden[known], j] += errors[known]
        times[hidden[known], j] += 1
        if known.any() and len(hidden) > 1:
            by_set[j].append(float(errors[known].mean()))
    ever = (times > 0).any(axis=1)
    used = np.flatnonzero((times[ever] > 0).all(axis=0))  # counts with all labels
    rows = wrong[np.ix_(ever, used)] / times[np.ix_(ever, used)]
    measured = MeasuredErrors.of_rows(np.array(counts, dtype=np.float64)[used], rows)
    between = [
        np.var(by_set[j], ddof=1) / len(by_set[j]) if len(by_set[j]) > 1 else 0.0
        for j in used
    ]
    return replace(measured, covariance=measured.covariance + np.diag(between))


def _shape(n: Array, b: Array, g: Array, d: float) -> Array:  # (nodes, len(n))
    decrease = ((n + d) / (REFERENCE + d)) ** -b[:, None]
    return np.log(g[:, None] + (1.0 - g[:, None]) * decrease)


def _normalized(logs: Array) -> Array:
    return np.asarray(logs - logsumexp(logs))
