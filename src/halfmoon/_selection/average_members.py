"""Members of an average, and groups of members that are averaged on one scale.

A fit in the exact basis is linear in its kernel. So a sum of many fits (`KernelSums`)
evaluates each kernel once, however many members use it, and prepares rows once for all
kernels with the same preparation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Array, Rows, as_rows
from halfmoon._selection.relevance import unstretched
from halfmoon._selection.target_transforms import IDENTITY, TargetTransform
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._gaussian_sums import gaussian_sum
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import Fit
from halfmoon.problem._local_fits import LocalFit
from halfmoon.smoothers._diffusion import DiffusionKernel
from halfmoon.unpenalized import Unpenalized

__all__ = [
    "Group",
    "KernelSums",
    "Member",
    "gram_matrix",
    "is_exact",
    "is_kernel_sum",
]


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted function with its weight."""

    name: str
    fit: Fit | LocalFit
    weight: float
    held_out: Array  # (m, t), predictions at the labeled rows, or at some of them
    y: Array  # (m, t), their transformed targets
    uses_unlabeled: bool  # whether it has learned from unlabeled rows
    target: TargetTransform = IDENTITY  # transform of the targets before the fit

    @property
    def on_original_scale(self) -> Array:
        """Its held-out predictions of targets as given."""
        return self.target.inverse(self.held_out, self.y - self.held_out)


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
            if is_kernel_sum(fit):
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


def is_kernel_sum(fit: Any) -> TypeGuard[Fit | LocalFit]:
    """Whether a fit is a sum of kernels at all labeled rows, plus features."""
    return is_exact(fit) or (isinstance(fit, LocalFit) and len(fit.duals) == 1)


def gram_matrix(basis: Exact, known: dict[Kernel, Array]) -> Array:
    """Return the Gram matrix of the labeled rows; `known` caches its terms."""
    total = np.zeros((basis.n_components_, basis.n_components_))
    for factor, term in basis.kernel_.terms():
        if factor and term not in known:
            known[term] = term(basis.rows_)
        if factor:
            total += factor * known[term]
    return total


class KernelSums:
    """A weighted sum of fits for which `is_kernel_sum` holds.

    Rows are prepared once for all kernels with the same preparation, stretched or not.
    """

    def __init__(self) -> None:
        self.by_kernel: dict[Kernel, tuple[Rows, Array]] = {}
        self.by_features: dict[Unpenalized, Array] = {}

    def add(self, fit: Fit | LocalFit, share: float) -> None:
        """Add a fit times a share."""
        basis, features = fit.posed.basis, fit.posed.unpenalized
        assert isinstance(basis, Exact)
        if isinstance(fit, LocalFit):
            (theta,), (beta,), rows = fit.duals, fit.betas, fit.posed.X_l
        else:
            theta, beta, rows = fit.theta, fit.beta, basis.rows_
        for factor, term in basis.kernel_.terms():
            if factor:
                before = self.by_kernel.get(term, (None, 0.0))[1]
                total = before + factor * share * theta
                self.by_kernel[term] = rows, total
        if features is not None:
            before = self.by_features.get(features, 0.0)
            self.by_features[features] = before + share * beta

    def functions(self) -> list[Callable[[Rows], Array]]:
        """Return functions of rows whose sum is the sum of the fits.

        Diffusions over the same graph share their first step onto it, and Gaussian
        kernels of the same rows their distances.
        """
        found = [_linear(f, beta) for f, beta in self.by_features.items()]
        prepared: dict[Any, list[_Term]] = {}
        for kernel, (rows, C) in self.by_kernel.items():
            if isinstance(kernel, Prepared):
                prepare, by, inner = unstretched(kernel)
                prepared.setdefault(prepare, []).append(_Term(by, inner, rows, C))
            else:
                found.append(kernel.combination(rows, C))
        found += [_after(*each) for each in prepared.items()]
        return found


class _Term(NamedTuple):
    """A kernel on prepared rows, whose columns are multiplied by factors."""

    by: Array | None
    kernel: Kernel
    rows: Rows  # the labeled rows, not prepared
    C: Array  # their coefficients, (l, t)


def _after(
    prepare: Callable[[Rows], Rows], terms: list[_Term]
) -> Callable[[Rows], Array]:
    """Return the sum of combinations of kernels on prepared rows."""
    Z = prepare(terms[0].rows)  # which all kernels share
    by_stretch: dict[int, list[_Term]] = {}
    for term in terms:
        by_stretch.setdefault(id(term.by), []).append(term)
    found = [_stretched(Z, each) for each in by_stretch.values()]

    def total(X: Rows) -> Array:
        prepared = prepare(X)
        return np.sum([function(prepared) for function in found], axis=0)

    return total


def _stretched(Z: Rows, terms: list[_Term]) -> Callable[[Rows], Array]:
    """Return the sum of combinations of kernels on rows with the same stretches."""
    by = terms[0].by
    Z = Z if by is None else Z * by
    found: list[Callable[[Rows], Array]] = []
    gaussians: list[tuple[float, Array]] = []
    on_graph: dict[Any, list[tuple[DiffusionKernel, Array]]] = {}
    for _, kernel, _, C in terms:
        if isinstance(kernel, DiffusionKernel):
            on_graph.setdefault(kernel.walk.index_, []).append((kernel, C))
        elif isinstance(kernel, Gaussian) and not sp.issparse(Z):
            gaussians.append((kernel.width, C))
        else:
            found.append(kernel.combination(Z, C))
    if gaussians:
        found.append(gaussian_sum(as_rows(Z), gaussians))
    for walks in on_graph.values():
        # One at a time, because each has a row for every node of the graph.
        (first, C), *others = walks
        values = first.at_rows(Z, C)
        for kernel, C in others:
            values += kernel.at_rows(Z, C)
        found.append(first.walk.function(values))

    def total(rows: Rows) -> Array:
        rows = rows if by is None else rows * by
        return np.sum([function(rows) for function in found], axis=0)

    return total


def _linear(features: Unpenalized, beta: Array) -> Callable[[Rows], Array]:
    return lambda X: features.transform(X) @ beta
