r"""Errors with fewer labels than there are, measured on the labels that are hidden.

The labels are shuffled and cut into equal blocks. A fit to the labels of one block, or
to all but one, is tested on the labels of the others, and each block has its turn, so
that at every count each label is tested equally often.

With :math:`r_{ij}` how wrong label i was on average at the j-th count, the measured
errors are the means over labels, and the covariance of these means is that of the
:math:`r_{ij}` divided by the number of labels: which rows happen to be labeled shifts
all counts together. How much the blocks differ is added to its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmoon.queries.power_law import PRIOR, CurveMixture, Prior, curve_posterior
from halfmoon.rows import Array, Indices

__all__ = ["MeasuredErrors", "measured_errors"]

# Numbers of blocks, and of those that keep their labels.
SHARES = ((4, 1), (2, 1), (4, 3))
BY_REFITS = ((4, 1), (2, 1), (5, 4))
FEWEST = 4  # labels of a fit
SHUFFLED = 200  # labels in all shuffles together, so that few are shuffled more often
MOST_SHUFFLES = 5
ROUNDING = 1e-6  # of squared logarithms


@dataclass(frozen=True)
class MeasuredErrors:
    """Errors at several numbers of labels.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Numbers of labels, rising.
    errors : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        Of the errors.
    """

    counts: Array
    errors: Array
    covariance: Array

    @classmethod
    def of_rows(cls, counts: Array, rows: Array) -> MeasuredErrors:
        """From errors of each label at each count, shape (l, k)."""
        k = len(counts)
        covariance = np.cov(rows.T).reshape(k, k) / len(rows)
        return cls(counts, rows.mean(axis=0), covariance)

    def posterior(self, new: Array, prior: Prior = PRIOR) -> CurveMixture:
        """What they say of the logarithms of errors at other counts; none may be 0."""
        scale = np.outer(self.errors, self.errors)
        relative = self.covariance / scale + ROUNDING * np.eye(len(scale))
        logs = np.log(self.errors)
        return curve_posterior(self.counts, logs, relative, new, prior)


def measured_errors(
    l: int,
    errors_of: Callable[[Sequence[Indices]], list[Array]],
    tested: NDArray[np.bool_],  # (l,)
    rng: np.random.Generator,
    *,
    by_refits: bool = False,
) -> MeasuredErrors:
    """Errors with fewer than l labels.

    Parameters
    ----------
    l : int
        Labels.
    errors_of : callable
        From sets of labels that are hidden together to the error of each of them, NaN
        where it is not known.
    tested : ndarray of bool of shape (l,)
        Labels that count.
    rng : Generator
        Shuffles the labels.
    by_refits : bool
        A set takes a fit: there are eleven of them. Otherwise there are more, and every
        label is hidden by itself too.
    """
    shuffles = 1 if by_refits else int(np.clip(SHUFFLED // l, 1, MOST_SHUFFLES))
    choice = BY_REFITS if by_refits else SHARES
    shares = tuple(each for each in choice if l * each[1] // each[0] >= FEWEST)
    sets: list[Indices] = []
    column: list[int] = []
    for _ in range(shuffles):
        order = rng.permutation(l)
        for j, (parts, kept) in enumerate(shares):
            for block in np.array_split(order, parts):
                sets.append(np.setdiff1d(order, block) if kept == 1 else block)
                column.append(j)
    counts = [l * kept // parts for parts, kept in shares]
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
    used = np.flatnonzero((times[ever] > 0).all(axis=0))  # counts that tell of all
    rows = wrong[np.ix_(ever, used)] / times[np.ix_(ever, used)]
    measured = MeasuredErrors.of_rows(np.array(counts, dtype=np.float64)[used], rows)
    between = [_variance_of_mean(by_set[j]) for j in used]
    return MeasuredErrors(
        measured.counts, measured.errors, measured.covariance + np.diag(between)
    )


def _variance_of_mean(values: list[float]) -> float:
    return float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else 0.0
