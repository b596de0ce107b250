"""Refit the outcome of a search to all labels.

===================  ================================================================
labels               what predicts
===================  ================================================================
all were compared    the average itself
up to 2,000          its two heaviest candidates, fitted to all labels
more                 its best candidate, at landmarks
===================  ================================================================

With more than 300 labels, an average of local fits (`local_average.py`) is averaged
with the above. If all labels were compared, both have equal parts: the columns of local
fits are weighted by all labels, so their held-out losses are too small to be compared
with cross-fitted ones. They are left out if they are larger even so. With more labels,
the parts are those of smallest squared error. At landmarks the smaller held-out loss
wins. Beyond 20,000 labels only candidates that use unlabeled rows are fitted at
landmarks, which are too few for the others.

**Time.** One refit or the local fits are needed. Any other refit is begun only if it
fits into the rest of the budget. The expected time is that of a few columns of the
kernel matrix, times the number of columns, plus that of the factorizations. The former
is large for kernels that have learned from unlabeled rows: each column of a walk is
diffused over the whole graph. So their landmarks are drawn uniformly, because better
ones are chosen by their columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace

import numpy as np

from halfmoon._rows import Array
from halfmoon._selection.average import Average
from halfmoon._selection.average_members import Member, is_exact
from halfmoon._selection.average_weights import stacked_weights
from halfmoon._selection.candidate import ALPHAS, Candidate, Entry, loo_values
from halfmoon._selection.criteria import Criterion, squared_losses
from halfmoon._selection.search import SearchOutcome
from halfmoon._selection.semi_supervised_families import GRAPH_ROWS
from halfmoon._selection.target_transforms import IDENTITY, TargetTransform
from halfmoon._solvers.positive_part import IndefiniteKernelError
from halfmoon.bases import Nystrom
from halfmoon.blocks import blas_for
from halfmoon.problem import Fit, solve_ridge
from halfmoon.problem._local_fits import LocalFit
from halfmoon.problem._posed import DUAL_MATRICES, Posed

__all__ = ["Refit", "average_of_entries", "with_local_fits"]

KEPT = 2  # candidates refitted exactly
DUAL_LABELS = 2_000  # for which a refit is exact
LANDMARK_LABELS = 20_000  # for which supervised candidates are fitted at landmarks
REFIT_LANDMARKS = 1_500
CHOOSING = 4  # the choice of landmarks may use this fraction (1/4) of the memory
TIMED_COLUMNS = 32  # of the kernel matrix, from which the time of all is expected
EIGEN_OPERATIONS = 20  # of all eigenvectors, a factorization and leave-one-out, by p^3
PASSES = 5  # products of l p^2 operations: the choice of landmarks, moments, residuals
FLOAT64_BYTES = 8
OPERATIONS_A_SECOND = 1e10  # of matrix products, on one core


def average_of_entries(
    entries: Sequence[Entry],
    weights: Array,
    data: Posed,
    limits: tuple[Array, Array] | None,
    posed: Mapping[Candidate, Posed] | None = None,
) -> Average:
    """Return the average of entries that were fitted to all labels.

    `posed` has problems that are factored already, with the targets as they are.
    """
    known: dict[tuple[Candidate, TargetTransform], Posed]
    known = {(each, IDENTITY): found for each, found in (posed or {}).items()}
    members = []
    for entry, weight in zip(entries, weights, strict=True):
        if weight <= 0:
            continue
        key = entry.candidate, entry.target
        if key not in known:
            known[key] = entry.candidate.pose(replace(data, y=entry.y))
        fit = Fit(
            known[key],
            entry.theta,
            entry.beta,
            alpha=entry.alpha,
            by_ridge=True,
            solve=partial(solve_ridge, alpha=entry.alpha),
        )
        members.append(
            Member(
                entry.name,
                fit,
                weight=float(weight),
                held_out=entry.held_out,
                y=entry.y,
                uses_unlabeled=entry.candidate.uses_unlabeled,
                target=entry.target,
            )
        )
    return Average(members, data.y, data.w, data.X, data.single, data.stream, limits)


@dataclass(frozen=True)
class Refit:
    """Refits the outcome of a search to all labels."""

    data: Posed  # all labeled rows
    outcome: SearchOutcome
    criterion: Criterion
    rng: np.random.Generator
    local: Callable[[], Average] | None  # returns the average of local fits
    until: float = np.inf  # the time at which the budget ends
    _posed: dict[Candidate, Posed] = field(default_factory=dict, init=False)
    _landmark_fits: dict[Candidate, Average] = field(default_factory=dict, init=False)

    def averages(self) -> dict[str, Average]:
        """Return the fitted "twin" and "chosen", which may be the same.

        The twin "without local fits" is there too.
        """
        outcome = self.outcome
        local = None if self.local is None else self.local()
        if len(self.data.y) <= len(outcome.entries[0].y):
            plain = self._average("twin")
            twin = chosen = self._in_equal_parts(plain, "twin", local)
            if outcome.chosen == "average":
                average = self._average("average")
                chosen = self._in_equal_parts(average, "average", local)
            return {"twin": twin, "chosen": chosen, "without local fits": plain}
        with blas_for(float(len(self.data.y)) ** 3):
            twin = chosen = min(self._refitted("twin", local), key=self._loss)
            if outcome.chosen == "average":
                others = self._refitted("average", local, twin)
                chosen = min([twin, *others], key=self._loss)
        return {"twin": twin, "chosen": chosen, "without local fits": twin}

    def _average(self, name: str) -> Average:
        limits = self.criterion.limits(self.data.y)
        entries, weights = self.outcome.entries, self.outcome.weights[name]
        return average_of_entries(entries, weights, self.data, limits)

    def _in_equal_parts(
        self, average: Average, name: str, local: Average | None
    ) -> Average:
        """Average with local fits, unless they are worse."""
        if local is None:
            return average
        y, w = average.y, average.w
        values = np.array([self.outcome.held_out[name], local.held_out])
        alone, by_local = self.criterion.losses(values, y, w)
        worse = np.average(by_local - alone, weights=w) > 0
        return average if worse else _joined(average, local, 0.5)

    def _refitted(
        self, name: str, local: Average | None, twin: Average | None = None
    ) -> list[Average]:
        """Return refits of an average to all labels, and local fits.

        With a `twin`, there is an alternative to all of them.
        """
        needed = local is None and twin is None
        refits = self._refits(name, locally=local is not None, needed=needed)
        exact = [each for each in refits if is_exact(each.members[0].fit)]
        if local is None or not exact:
            return refits if local is None or twin else [local, *refits]
        y, w, both = local.y, local.w, (exact[0], local)
        to_weigh = [
            SimpleNamespace(values=v, losses=squared_losses(v[None], y)[0])
            for v in (each.held_out for each in both)
        ]
        return [_joined(*both, float(stacked_weights(to_weigh, y, w)[1]))]

    def _loss(self, average: Average) -> float:
        y, w = average.y[average.rows], average.w[average.rows]
        losses = self.criterion.losses(average.held_out[None], y, w)[0]
        return float(np.average(losses, weights=w))

    def _refits(self, name: str, *, locally: bool, needed: bool) -> list[Average]:
        """Return refits of the candidates of an average to all labels.

        One refit is exact; those at landmarks are of each kind of candidate. There may
        be none if none is `needed`.
        """
        l = len(self.data.y)
        best = self._by_weight(self.outcome.weights[name])
        limit = self.data.stream.limit
        if l <= DUAL_LABELS and 8 * DUAL_MATRICES * l * l <= limit:
            able: list[Candidate] = []
            for candidate in best:
                if len(able) == KEPT:
                    break
                if (needed and not able) or self._in_time(candidate, l):
                    able += [candidate] * self._is_definite(candidate)
            return [self._refit_exactly(able)] if able else []
        of_a_kind: dict[bool, Candidate] = {}
        for candidate in best:
            of_a_kind.setdefault(candidate.uses_unlabeled, candidate)
        few = locally and l > LANDMARK_LABELS
        found: list[Average] = []
        for uses, candidate in of_a_kind.items():
            if few and not uses:
                continue
            if (needed and not found) or self._in_time(candidate, REFIT_LANDMARKS):
                found.append(self._at_landmarks(candidate))
        return found

    def _in_time(self, candidate: Candidate, columns: int) -> bool:
        """Whether a refit to some columns of the kernel matrix fits in the budget."""
        if candidate in self._posed or candidate in self._landmark_fits:
            return True
        start, l = time.monotonic(), len(self.data.y)
        if self.until == np.inf or start >= self.until:
            return start < self.until
        p, some = min(columns, l), self.data.X[:TIMED_COLUMNS]
        candidate.kernel.sections(some)(some)
        now = time.monotonic()
        by_column = (now - start) / some.shape[0]
        operations = EIGEN_OPERATIONS * p**3 + PASSES * (l > p) * l * p**2
        expected = by_column * p + operations / OPERATIONS_A_SECOND
        return now + expected <= self.until

    def _is_definite(self, candidate: Candidate) -> bool:
        """Factor a candidate for all labels; whether its kernel is definite there.

        The average and the twin may share it, and later questions need it again.
        """
        if candidate not in self._posed:
            posed = candidate.pose(self.data)
            try:
                posed.path  # noqa: B018 - computed here, to be kept
            except IndefiniteKernelError:
                return False
            self._posed[candidate] = posed
        return True

    def _refit_exactly(self, some: list[Candidate]) -> Average:
        entries = []
        data = self.data
        for candidate in some:
            path = self._posed[candidate].path
            held_out = loo_values(path, data.y, data.w)
            losses = self.criterion.losses(held_out, data.y, data.w)
            theta, beta = path.coefficients(ALPHAS)
            theta *= data.root_w[:, :, None]
            # At every alpha, because more labels need a smaller one.
            entries += [
                Entry(
                    candidate,
                    alpha,
                    IDENTITY,
                    y=data.y,
                    held_out=held_out[i],
                    values=held_out[i],
                    losses=losses[i],
                    theta=theta[:, i],
                    beta=beta[:, i],
                )
                for i, alpha in enumerate(ALPHAS)
            ]
        weights = self.criterion.weights(entries, data.y, data.w)
        limits = self.criterion.limits(data.y)
        average = average_of_entries(entries, weights, data, limits, self._posed)
        return _named(average, "all labels")

    def _at_landmarks(self, candidate: Candidate) -> Average:
        """Return a refit at landmarks, which the average and the twin may share."""
        if candidate not in self._landmark_fits:
            self._landmark_fits[candidate] = self._refit_at_landmarks(candidate)
        return self._landmark_fits[candidate]

    def _refit_at_landmarks(self, candidate: Candidate) -> Average:
        data = self.data
        # The rest of the memory is for moments and for what is already held.
        share = max(1, data.stream.limit // CHOOSING)
        p, how = min(REFIT_LANDMARKS, len(data.y)), "rpcholesky"
        if candidate.uses_unlabeled:  # each landmark holds a number for all rows
            p, how = max(1, min(p, share // (FLOAT64_BYTES * GRAPH_ROWS))), "uniform"
        basis = Nystrom(candidate.kernel, p, how, memory_limit=share)
        basis = basis.fit(data.X, self.rng)
        posed = replace(data, basis=basis, unpenalized=candidate.unpenalized)
        fit = solve_ridge(posed, ALPHAS)
        rows = posed.loo_sample
        y = data.y[rows]
        held_out = y - fit.leave_one_out(rows).reshape(y.shape)
        member = Member(candidate.name, fit, 1.0, held_out, y, candidate.uses_unlabeled)
        limits = self.criterion.limits(data.y)
        average = Average(
            [member], data.y, data.w, data.X, data.single, data.stream, limits, rows
        )
        return _named(average, "at landmarks")

    def _by_weight(self, weights: Array) -> list[Candidate]:
        """Return candidates by weight, except logarithms and kernels by relevance."""
        shares: dict[Candidate, float] = {}
        for entry, weight in zip(self.outcome.entries, weights, strict=True):
            plain = not entry.target.suffix and entry.candidate.by_folds is None
            if weight > 0 and plain:
                before = shares.get(entry.candidate, 0.0)
                shares[entry.candidate] = before + float(weight)
        # The constant comes last.
        return sorted(shares, key=lambda c: (c.family == "constant", -shares[c]))


def with_local_fits(
    average: Average,
    held_out: Array,  # (l, t)
) -> Array:
    """Return held-out predictions of candidates, joined with the local fits of it."""
    local = [member for member in average.members if isinstance(member.fit, LocalFit)]
    if not local:
        return held_out
    share = float(sum(member.weight for member in local))
    alone = [replace(member, weight=member.weight / share) for member in local]
    part = replace(average, members=alone).held_out
    return average.clip((1.0 - share) * held_out + share * part)


def _joined(average: Average, local: Average, share: float) -> Average:
    """Return an average in which local fits have a share."""
    members = [
        replace(member, weight=part * member.weight)
        for part, each in ((1.0 - share, average), (share, local))
        for member in each.members
        if part > 0
    ]
    return replace(average, members=members)


def _named(average: Average, how: str) -> Average:
    members = [replace(m, name=f"{m.name}, {how}") for m in average.members]
    return replace(average, members=members)
