r"""Infimum loss: find the label in each candidate set that suits a smooth fit best.

.. math:: min_{g, \; y_i \in S_i} \; J = 1/W \sum_i w_i |T_{y_i} - g(x_i)|^2
          + alpha |g|_Q^2                                                            (1)

where T embeds the outputs: rows of the identity for classes, signs of the pairs for
rankings. Two kinds of step, neither of which can increase J:

1. all labels at once for the current g: y_i = argmin over S_i of |T_y - g(x_i)|^2;
2. single labels, with g refitted. With M = I - H, H the smoother of the rows, the
   minimum over g is y'M y, so that a change of T_{y_i} by e changes J by

   .. math:: (2 e'(M y)_i + M_{ii} |e|^2) / W                                        (2)

   and g by H_{.i} e. Steps of the first kind stop where a label agrees with the fit
   only because of its own share H_ii in it; (2) removes that share.

Cabannes, Rudi, Bach, "Structured prediction with partial labelling through the infimum
loss", 2020, for (1); S1 appendix A.2 joins it with an energy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import as_generator
from halfmoon.problem._folds import balanced_folds
from halfmoon.weak._row_smoother import RowCoordinates, RowSmoother
from halfmoon.weak._weak_estimator import WeakEstimator

__all__ = [
    "Embedding",
    "FoundLabels",
    "best_candidates",
    "disambiguate",
    "fit_sets",
    "fold_values",
    "output_blocks",
    "starts",
]

MAX_STEPS, MAX_SWEEPS = 100, 50  # of the two kinds; far more than were ever needed
FAR = 1e9  # compared with any output, so that only the direction counts
ROUNDING = 1e-12  # a smaller change of (2) is rounding
BLOCK_ENTRIES = 2**22  # in a block of rows by outputs


@dataclass(frozen=True)
class Embedding:
    """Outputs as points, and which of them each row may have."""

    T: Array  # (C, t)
    sets: NDArray[np.bool_]  # (n, C)

    def of(self, rows: Indices) -> Embedding:
        """Return the same outputs for some of the rows."""
        return Embedding(self.T, self.sets[rows])

    def mean(self) -> Array:
        """Return the mean point of each row's candidates, shape (n, t)."""
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
class FoundLabels:
    """Labels within their sets, and the objective on the way."""

    codes: Indices  # (r,), labels of the smoother's rows
    targets: Array  # (r, t), to fit
    history: list[float]  # the objective after each step; it never increases


#: Finds labels from a smoother, the sets of its rows, a start and root weights.
FindLabels = Callable[[RowSmoother, Embedding, Array, Array], FoundLabels]
#: Loss of values at rows of which sets are known, and their weights, shape (l,).
SetLoss = Callable[[Array, Embedding, Array], Array]


def best_candidates(
    g: Array,  # (n, t)
    within: Embedding,
) -> Indices:
    """Return the candidate nearest to each row's value; the first of equal ones."""
    size = 0.5 * (within.T**2).sum(axis=1)
    out = np.empty(len(g), dtype=np.intp)
    for rows in output_blocks(len(g), len(within.T)):
        near = g[rows] @ within.T.T - size
        out[rows] = np.where(within.sets[rows], near, -np.inf).argmax(axis=1)
    return out


def starts(
    within: Embedding, count: int, rng: np.random.Generator
) -> list[Array]:  # each (n, t)
    """Return targets to start from: the mean of the candidates, then random ones.

    A random start is halfway from the mean to the candidate that is farthest in a
    random direction.
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
    smoother: RowSmoother,
    within: Embedding,  # of the rows of the smoother
    start: Array,  # (r, t)
    root_w: Array,  # (r, 1)
) -> FoundLabels:
    """Take both kinds of step from a start, until no label changes."""
    descent = _Descent(smoother, within, root_w, start)
    descent.all_at_once()
    descent.one_by_one()
    return FoundLabels(descent.codes, within.T[descent.codes], descent.history)


class _Descent:
    """The current labels, the values fitted to them, and the objective so far."""

    def __init__(
        self, smoother: RowSmoother, within: Embedding, root_w: Array, start: Array
    ) -> None:
        self.smoother, self.within, self.root_w = smoother, within, root_w
        self.codes = best_candidates(self.fitted(start), within)
        self.g = self.fitted(within.T[self.codes])
        self.history = [self.objective(self.codes, self.g)]

    def fitted(self, targets: Array) -> Array:
        rows = self.smoother.rows
        return self.smoother.values(self.root_w * targets)[rows] / self.root_w

    def objective(self, codes: Indices, g: Array) -> float:
        """Return the minimum of (1) over g, which is y'M y / W."""
        y, w = self.within.T[codes], self.root_w**2
        return max(0.0, float((w * y * (y - g)).sum() / w.sum()))

    def all_at_once(self) -> None:
        for _ in range(MAX_STEPS):
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
        M_diagonal = 1.0 - self.smoother.diagonal()
        for _ in range(MAX_SWEEPS):
            codes, g = self.codes.copy(), self.g.copy()
            for i in self._rows_to_change(M_diagonal):
                point, choices = T[codes[i]], np.flatnonzero(sets[i])
                e = T[choices] - point
                change = 2 * e @ (point - g[i]) + M_diagonal[i] * (e**2).sum(axis=1)
                best = int(change.argmin())
                if change[best] >= -ROUNDING * (1.0 + float(point @ point)):
                    continue
                column = self.smoother.column(int(i)) * self.root_w[i]
                g += (column[:, None] / self.root_w) * e[best]
                codes[i] = choices[best]
            now = self.objective(codes, g)
            if now >= self.history[-1]:
                return
            self.codes, self.g = codes, g
            self.history.append(now)

    def _rows_to_change(self, M_diagonal: Array) -> Indices:
        """Return the rows for which another candidate is better, at the current g."""
        T, sets = self.within.T, self.within.sets
        points, size = T[self.codes], (T**2).sum(axis=1)
        # (2) without the terms that all candidates of a row share.
        slope = 2 * (points - self.g - M_diagonal[:, None] * points)
        current = np.einsum("it,it->i", slope, points) + M_diagonal * size[self.codes]
        found = np.zeros(len(points), dtype=bool)
        for block in output_blocks(len(points), len(T)):
            change = slope[block] @ T.T + M_diagonal[block, None] * size
            least = np.where(sets[block], change, np.inf).min(axis=1)
            found[block] = least < current[block] - ROUNDING * (1.0 + size.max())
        return np.flatnonzero(found)


def output_blocks(n: int, outputs: int) -> Iterator[slice]:
    """Yield blocks of n rows that are compared with every output at once."""
    step = max(1, BLOCK_ENTRIES // outputs)
    return (slice(start, start + step) for start in range(0, n, step))


def fit_sets(
    model: WeakEstimator,
    X: Rows,  # (n, d)
    within: Embedding,  # of all rows
    w: Array,  # (n,)
    find: FindLabels,
    loss: SetLoss,
) -> Indices:  # (l,)
    """Choose kernel and alpha, find the labels, fit. Returns the labels as codes."""
    known = np.asarray(~within.sets.all(axis=1))
    within, known_w = within.of(np.flatnonzero(known)), w[known]
    mean = within.mean()

    def losses(values: Array) -> tuple[Array, Array]:
        nearest = within.T[best_candidates(values, within)]
        distances = ((values - nearest) ** 2).sum(axis=1)
        return loss(values, within, known_w), distances

    posed, coordinates, alpha = model._choose_by_folds(
        X,
        known,
        w,
        balanced_folds(mean) if len(mean) > 1 else [],
        partial(fold_values, find, within),
        losses,
        size=within.T.shape[1],
        always=within.open,
    )
    smoother = coordinates.smoother(alpha)
    rng = as_generator(model.random_state)
    found = [
        find(smoother, within, start, coordinates.root_w)
        for start in starts(within, model.n_starts, rng)
    ]
    model.objectives_ = np.array([each.history[-1] for each in found])
    best = found[int(model.objectives_.argmin())]
    model.history_ = best.history
    model._store_fit(posed, best.targets, alpha)
    return best.codes


def fold_values(
    find: FindLabels,
    within: Embedding,
    coordinates: RowCoordinates,
    alpha: float,
    folds: list[Indices],
) -> Array:  # (l, t)
    """Return the values at the labeled rows, each by a fit to the other folds."""
    out, root_w = np.empty((len(within.sets), within.T.shape[1])), coordinates.root_w
    for fold, smoother in zip(folds, coordinates.without(alpha, folds), strict=True):
        rows = smoother.rows
        training = within.of(rows)
        found = find(smoother, training, training.mean(), root_w[rows])
        values = smoother.values(root_w[rows] * found.targets)
        out[fold] = values[fold] / root_w[fold]
    return out
