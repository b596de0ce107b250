r"""Errors with subsets of the labels, measured on the hidden labels.

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

.. math:: cov = s^2 \frac{64}{\max(n, n')}                                           (1)

In curves of halfmoon, measured by ``python -m benchmarks.curve_prior luck``, s is
about 0.13, and nearly the same at all n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array, Indices
from halfmoon.queries._power_law import (
    PRIOR,
    REFERENCE,
    CurveMixture,
    Prior,
    curve_posterior,
)

__all__ = ["MeasuredErrors", "measured_errors"]

# Numbers of blocks, and of blocks that are fitted.
SHARES = ((4, 1), (2, 1), (4, 3))
SHARES_BY_REFITS = ((4, 1), (2, 1), (5, 4))
MIN_FITTED = 4  # labels
SHUFFLED_LABELS = 200  # in all shuffles together: few labels are shuffled more often
MAX_SHUFFLES = 5
ROUNDING = 1e-6  # of squared logarithms
LUCK = 0.13  # s of (1)


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
    between = [_variance_of_mean(by_set[j]) for j in used]
    return replace(measured, covariance=measured.covariance + np.diag(between))


def _variance_of_mean(values: list[float]) -> float:
    return float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else 0.0
