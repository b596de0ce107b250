r"""Members of an average, and groups of members that are averaged on one scale.

A fit in the exact basis is linear in its kernel, so each kernel is evaluated once,
however many members use it, and rows are prepared once for all kernels with the same
preparation (`kernel_sums.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon._selection.kernel_sums import KernelSums
from halfmoon._selection.target_transforms import IDENTITY, TargetTransform
from halfmoon.bases import Exact
from halfmoon.problem import Fit
from halfmoon.problem._local_fits import LocalFit

__all__ = ["ByLabelWeights", "Group", "Member", "is_exact"]


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted function with its weight.

    Attributes
    ----------
    name : str
    fit : Fit or LocalFit
    weight : float
    held_out : ndarray of shape (m, t)
        Held-out predictions at the labeled rows, or at some of them.
    y : ndarray of shape (m, t)
        Their transformed targets.
    uses_unlabeled : bool
        Whether it has learned from unlabeled rows.
    target : TargetTransform
        Transform of the targets before the fit.
    """

    name: str
    fit: Fit | LocalFit
    weight: float
    held_out: Array
    y: Array
    uses_unlabeled: bool
    target: TargetTransform = IDENTITY


class Group:
    """Members with the same target transform, averaged on that scale."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members, self.target = members, members[0].target
        self.share = float(sum(member.weight for member in members))
        shares = [member.weight / self.share for member in members]
        held_out = np.tensordot(shares, [member.held_out for member in members], 1)
        self.residuals = members[0].y - held_out

    @cached_property
    def values(self) -> Callable[[Rows], Array]:
        """Function from rows to values on the transformed scale."""
        sums = KernelSums()
        others: list[tuple[float, Fit | LocalFit]] = []
        for member in self.members:
            fit, share = member.fit, member.weight / self.share
            if is_exact(fit):
                sums.add(fit, share)
            else:
                others.append((share, fit))
        functions = sums.functions()

        def values(X: Rows) -> Array:
            parts = [function(X) for function in functions]
            for share, fit in others:
                parts.append(share * fit.predict(X).reshape(X.shape[0], -1))
            return np.sum(parts, axis=0)

        return values

    def inverse(self, values: Array) -> Array:
        """Return this group's part of the average on the original scale."""
        return self.share * self.target.inverse(values, self.residuals)

    def on_original_scale(self, X: Rows) -> Array:
        """Return this group's part of the average at any rows."""
        return self.inverse(self.values(X))


def is_exact(fit: Any) -> TypeGuard[Fit]:
    """Whether a fit is in the exact basis of a kernel."""
    return isinstance(fit, Fit) and isinstance(fit.posed.basis, Exact)


@dataclass(frozen=True)
class ByLabelWeights:
    """A fit with other targets, evaluated through its label weights."""

    fit: Fit | LocalFit
    y: Array

    def predict(self, X: Rows) -> Array:
        return self.fit.smoother_matrix(X) @ self.y
