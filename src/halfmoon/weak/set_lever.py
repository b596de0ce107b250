"""What candidate classes and structured outputs share: alpha, starts, the final fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmoon.problem import balanced_folds
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Indices, Rows
from halfmoon.weak.alpha_search import held_out_losses
from halfmoon.weak.coordinates import RowCoordinates
from halfmoon.weak.disambiguation import Embedding, disambiguate, starts
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
    ) -> tuple[Indices, Array | None]:
        """Choose alpha, find the labels, fit.

        The codes of the labeled rows, and their values without the sets of their folds,
        None where no label was to be chosen.
        """
        if self.n_starts < 1:
            raise ValueError(f"n_starts is {self.n_starts}; at least 1 is needed.")
        known = np.asarray(~within.sets.all(axis=1))
        posed, coordinates, alphas = self._posed(X, known, w, within.T.shape[1])
        within = within.of(posed.chosen)
        self.fold_losses_: Array | None = None
        if len(alphas) > 1 and len(within.sets) > 1:

            def losses(alpha: float, folds: list[Indices]) -> Array:
                values = fold_values(coordinates, within, alpha, folds)
                return infimum(values, within.sets)

            self.fold_losses_ = held_out_losses(within.mean(), alphas, losses, posed.w)
            alphas = [alphas[int(np.argmin(self.fold_losses_))]]
        smoother = coordinates.smoother(alphas[0])
        every = [
            disambiguate(smoother, within, each, coordinates.root_w)
            for each in starts(within, self.n_starts, as_generator(self.random_state))
        ]
        self.objectives_ = np.array([each.history[-1] for each in every])
        best = every[int(self.objectives_.argmin())]
        self.history_ = best.history
        self._store(posed, within.T[best.codes], alphas[0])
        values = None
        if within.open and len(within.sets) > 1:
            folds = balanced_folds(within.mean())
            values = fold_values(coordinates, within, alphas[0], folds)
        return best.codes, values

    def _in_table(self, codes: Indices, found: Indices) -> Indices:
        """Outputs of all rows: `codes` of the labeled ones, `found` of the others."""
        rows = self.labeled_
        if self._weighted_rows is not None:
            rows = self._weighted_rows[rows]
        found[rows] = codes
        return found


def fold_values(
    coordinates: RowCoordinates, within: Embedding, alpha: float, folds: list[Indices]
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
