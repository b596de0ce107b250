r"""Infimum loss: the labels within their candidate sets that a smooth fit agrees with.

.. math:: min_{g, \; y_i \in S_i} \; J = 1/W \sum_i w_i |T_{y_i} - g(x_i)|^2
          + alpha |g|_Q^2                                                            (1)

where T embeds the outputs: rows of the identity for classes, signs of the pairs for
rankings. Two kinds of step, neither of which can raise J:

1. all labels at once for the present g: y_i = argmin over S_i of |T_y - g(x_i)|^2;
2. single labels with g fitted anew. With M = I - H, H the smoother of the rows, the
   minimum over g is y'M y, so that a change of T_{y_i} by e changes J by

   .. math:: (2 e'(M y)_i + M_{ii} |e|^2) / W                                        (2)

   and g by H_{.i} e. Steps of the first kind stop where a label only agrees with the
   part H_ii of the fit that it made itself; (2) has that part taken out.

Cabannes, Rudi, Bach, "Structured prediction with partial labelling through the infimum
loss", 2020, for (1); S1 appendix A.2 joins it with an energy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array, Indices
from halfmoon.weak.coordinates import Smoother

__all__ = [
    "Disambiguated",
    "Embedding",
    "best_candidates",
    "disambiguate",
    "output_blocks",
    "starts",
]

STEPS, SWEEPS = 100, 50  # of either kind; far more than were ever needed
FAR = 1e9  # beside any output, so that only the direction counts
ROUNDING = 1e-12  # a change of (2) by less is none
BLOCK = 2**22  # entries of a block of rows times outputs


@dataclass(frozen=True)
class Embedding:
    """Outputs as points, and which of them each row may have.

    Attributes
    ----------
    T : ndarray of shape (C, t)
    sets : ndarray of shape (n, C)
    """

    T: Array
    sets: NDArray[np.bool_]

    def of(self, rows: Indices) -> Embedding:
        """The same outputs for some of the rows."""
        return Embedding(self.T, self.sets[rows])

    def mean(self) -> Array:
        """The mean point of each row's candidates, shape (n, t)."""
        out = np.empty((len(self.sets), self.T.shape[1]))
        for rows in output_blocks(*self.sets.shape):
            share = self.sets[rows].astype(np.float64)
            out[rows] = (share @ self.T) / share.sum(axis=1, keepdims=True)
        return out

    @cached_property
    def open(self) -> bool:
        """Whether some row has more than one candidate."""
        return bool((self.sets.sum(axis=1) > 1).any())


@dataclass(frozen=True)
class Disambiguated:
    """Labels within their sets, and how the objective came down to theirs.

    Attributes
    ----------
    codes : ndarray of shape (r,)
        Of the rows that the smoother has targets for.
    history : list of float
        J of (1) after each step, never rising.
    """

    codes: Indices
    history: list[float]


def best_candidates(
    g: Array,  # (n, t)
    within: Embedding,
) -> Indices:
    """The nearest of each row's candidates to its value; the first of equal ones."""
    size = 0.5 * (within.T**2).sum(axis=1)
    out = np.empty(len(g), dtype=np.intp)
    for rows in output_blocks(len(g), len(within.T)):
        near = g[rows] @ within.T.T - size
        out[rows] = np.where(within.sets[rows], near, -np.inf).argmax(axis=1)
    return out


def starts(
    within: Embedding, count: int, rng: np.random.Generator
) -> list[Array]:  # each (n, t)
    """Targets to begin with: the mean of the candidates, then halfway to some of them.

    Those are the candidates farthest in a direction at random, one for each row.
    """
    first = within.mean()
    if not within.open:
        return [first]
    farthest = (
        best_candidates(rng.normal(size=first.shape) * FAR, within)
        for _ in range(count - 1)
    )
    return [first, *((first + within.T[codes]) / 2 for codes in farthest)]


def disambiguate(
    smoother: Smoother,
    within: Embedding,  # of the rows of the smoother
    start: Array,  # (r, t)
    root_w: Array,  # (r, 1)
) -> Disambiguated:
    """Take both kinds of step from a start until no label changes."""
    descent = _Descent(smoother, within, root_w, start)
    descent.all_at_once()
    descent.one_by_one()
    return Disambiguated(descent.codes, descent.history)


class _Descent:
    """Labels, the values fitted to them, and the objective so far."""

    def __init__(
        self, smoother: Smoother, within: Embedding, root_w: Array, start: Array
    ) -> None:
        self.smoother, self.within, self.root_w = smoother, within, root_w
        self.codes = best_candidates(self.fitted(start), within)
        self.g = self.fitted(within.T[self.codes])
        self.history = [self.objective(self.codes, self.g)]

    def fitted(self, targets: Array) -> Array:
        rows = self.smoother.rows
        return self.smoother.values(self.root_w * targets)[rows] / self.root_w

    def objective(self, codes: Indices, g: Array) -> float:
        """The minimum of (1) over g, which is y'M y / W."""
        y, w = self.within.T[codes], self.root_w**2
        return max(0.0, float((w * y * (y - g)).sum() / w.sum()))

    def all_at_once(self) -> None:
        for _ in range(STEPS):
            codes = best_candidates(self.g, self.within)
            if (codes == self.codes).all():
                return
            g = self.fitted(self.within.T[codes])
            now = self.objective(codes, g)
            if now >= self.history[-1]:  # equal candidates, or rounding
                return
            self.codes, self.g = codes, g
            self.history.append(now)

    def one_by_one(self) -> None:
        T, sets = self.within.T, self.within.sets
        left = 1.0 - self.smoother.own()  # M_ii
        for _ in range(SWEEPS):
            codes, g = self.codes.copy(), self.g.copy()
            for i in self._to_look_at(left):
                own, choices = T[codes[i]], np.flatnonzero(sets[i])
                e = T[choices] - own
                change = 2 * e @ (own - g[i]) + left[i] * (e**2).sum(axis=1)
                best = int(change.argmin())
                if change[best] >= -ROUNDING * (1.0 + float(own @ own)):
                    continue
                column = self.smoother.column(int(i)) * self.root_w[i]
                g += (column[:, None] / self.root_w) * e[best]
                codes[i] = choices[best]
            now = self.objective(codes, g)
            if now >= self.history[-1]:
                return
            self.codes, self.g = codes, g
            self.history.append(now)

    def _to_look_at(self, left: Array) -> Indices:
        """Rows that some other candidate suits better, by the present values."""
        T, sets = self.within.T, self.within.sets
        own, size = T[self.codes], (T**2).sum(axis=1)
        # (2) without what all candidates of a row share; 0 is the present one's.
        slope = 2 * (own - self.g - left[:, None] * own)
        present = np.einsum("it,it->i", slope, own) + left * size[self.codes]
        found = np.zeros(len(own), dtype=bool)
        for block in output_blocks(len(own), len(T)):
            change = slope[block] @ T.T + left[block, None] * size
            least = np.where(sets[block], change, np.inf).min(axis=1)
            found[block] = least < present[block] - ROUNDING * (1.0 + size.max())
        return np.flatnonzero(found)


def output_blocks(n: int, outputs: int) -> Iterator[slice]:
    """Blocks of n rows, of each of which every output is looked at."""
    step = max(1, BLOCK // outputs)
    return (slice(start, start + step) for start in range(0, n, step))
