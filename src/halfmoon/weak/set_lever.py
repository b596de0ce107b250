"""What candidate classes and structured outputs share: the search, starts, the fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from halfmoon.problem import balanced_folds
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Indices, Rows
from halfmoon.weak.coordinates import RowCoordinates
from halfmoon.weak.disambiguation import (
    Embedding,
    best_candidates,
    disambiguate,
    starts,
)
from halfmoon.weak.levers import WeakLever

__all__ = ["SetLever", "fold_values"]

#: Least loss over the sets, of values and the sets of the same rows.
Infimum = Callable[[Array, NDArray[np.bool_]], Array]


@dataclass(eq=False, repr=False, kw_only=True)
class SetLever(WeakLever):
    """All three levers, for labels that are known to be in a set."""

    n_starts: int = 5

    def _fit_sets(
        self,
        X: Rows,  # (n, d)
        within: Embedding,  # of all rows
        w: Array,  # (n,)
        infimum: Infimum,
    ) -> Indices:
        """Choose kernel and alpha, find the labels, fit; the labeled rows' codes."""
        if self.n_starts < 1:
            raise ValueError(f"n_starts is {self.n_starts}; at least 1 is needed.")
        known = np.asarray(~within.sets.all(axis=1))
        within = within.of(np.flatnonzero(known))
        mean = within.mean()
        folds = balanced_folds(mean) if len(mean) > 1 else []

        def losses(values: Array) -> tuple[Array, Array]:
            nearest = within.T[best_candidates(values, within)]
            away = ((values - nearest) ** 2).sum(axis=1)
            return infimum(values, within.sets), away

        self._open = within.open
        posed, coordinates, alpha = self._by_folds(
            X,
            known,
            w,
            folds,
            partial(fold_values, within),
            losses,
            size=within.T.shape[1],
            always=within.open,
        )
        smoother = coordinates.smoother(alpha)
        every = [
            disambiguate(smoother, within, each, coordinates.root_w)
            for each in starts(within, self.n_starts, as_generator(self.random_state))
        ]
        self.objectives_ = np.array([each.history[-1] for each in every])
        best = every[int(self.objectives_.argmin())]
        self.history_ = best.history
        self._store(posed, within.T[best.codes], alpha)
        return best.codes

    def _in_table(self, codes: Indices, found: Indices) -> Indices:
        """Outputs of all rows: `codes` of the labeled ones, `found` of the others."""
        rows = self.labeled_
        if self._weighted_rows is not None:
            rows = self._weighted_rows[rows]
        found[rows] = codes
        return found


def fold_values(
    within: Embedding, coordinates: RowCoordinates, alpha: float, folds: list[Indices]
) -> Array:
    """Values at the labeled rows by fits to the sets of the other folds, (l, t)."""
    out, root_w = np.empty((len(within.sets), within.T.shape[1])), coordinates.root_w
    for fold, smoother in zip(folds, coordinates.without(alpha, folds), strict=True):
        kept = smoother.rows
        some = within.of(kept)
        found = disambiguate(smoother, some, some.mean(), root_w[kept])
        values = smoother.values(root_w[kept] * within.T[found.codes])
        out[fold] = values[fold] / root_w[fold]
    return out
