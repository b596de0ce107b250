"""What candidate classes and structured outputs share: alpha, starts, the final fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Indices, Rows
from halfmoon.weak.alpha_search import held_out_losses
from halfmoon.weak.coordinates import RowCoordinates
from halfmoon.weak.disambiguation import Embedding, disambiguate, starts
from halfmoon.weak.levers import WeakLever

__all__ = ["SetLever"]

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
        """Choose alpha, find the labels, fit; the codes of the labeled rows."""
        if self.n_starts < 1:
            raise ValueError(f"n_starts is {self.n_starts}; at least 1 is needed.")
        known = np.asarray(~within.sets.all(axis=1))
        posed, coordinates, alphas = self._posed(X, known, w, within.T.shape[1])
        within = within.of(posed.chosen)
        self.fold_losses_: Array | None = None
        if len(alphas) > 1 and len(within.sets) > 1:
            losses = partial(_held_out, coordinates, within, infimum)
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
        return best.codes

    def _in_table(self, codes: Indices, found: Indices) -> Indices:
        """Outputs of all rows: `codes` of the labeled ones, `found` of the others."""
        rows = self.labeled_
        if self._weighted_rows is not None:
            rows = self._weighted_rows[rows]
        found[rows] = codes
        return found


def _held_out(
    coordinates: RowCoordinates,
    within: Embedding,
    infimum: Infimum,
    alphas: Sequence[float],
    kept: Indices,
    fold: Indices,
) -> Array:
    """Infimum losses of held-out rows for each alpha, (len(alphas), len(fold))."""
    some, root_w = within.of(kept), coordinates.root_w
    out, start = np.empty((len(alphas), len(fold))), some.mean()
    for i, alpha in enumerate(alphas):
        smoother = coordinates.smoother(alpha, kept)
        found = disambiguate(smoother, some, start, root_w[kept])
        values = smoother.values(root_w[kept] * within.T[found.codes])
        out[i] = infimum(values[fold] / root_w[fold], within.sets[fold])
    return out
