"""Sums of fits in exact bases, grouped by kernel.

A fit in the exact basis is linear in its kernel. So a sum of many fits evaluates each
kernel once, and prepares rows once for all kernels with the same preparation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon.bases import Exact
from halfmoon.kernels import Kernel
from halfmoon.kernels._prepared import Prepared
from halfmoon.problem import Fit
from halfmoon.smoothers._diffusion import DiffusionKernel
from halfmoon.unpenalized import Unpenalized

__all__ = ["KernelSums", "gram_matrix"]


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
    """A weighted sum of fits in exact bases."""

    def __init__(self) -> None:
        self.by_kernel: dict[Kernel, tuple[Rows, Array]] = {}
        self.by_features: dict[Unpenalized, Array] = {}

    def add(self, fit: Fit, share: float) -> None:
        """Add a fit times a share."""
        basis, features = fit.posed.basis, fit.posed.unpenalized
        assert isinstance(basis, Exact)
        for factor, term in basis.kernel_.terms():
            if factor:
                before = self.by_kernel.get(term, (None, 0.0))[1]
                total = before + factor * share * fit.theta
                self.by_kernel[term] = basis.rows_, total
        if features is not None:
            beta = self.by_features.get(features, 0.0)
            self.by_features[features] = beta + share * fit.beta

    def functions(self) -> list[Callable[[Rows], Array]]:
        """Return functions of rows whose sum is the sum of the fits.

        Diffusions over the same graph share their first step onto it.
        """
        found = [_linear(f, beta) for f, beta in self.by_features.items()]
        prepared: dict[Any, list[tuple[Kernel, Rows, Array]]] = {}
        for term, (rows, C) in self.by_kernel.items():
            if isinstance(term, Prepared):
                prepared.setdefault(term.prepare, []).append((term.kernel, rows, C))
            else:
                found.append(term.combination(rows, C))
        for prepare, kernels in prepared.items():
            found.append(_after(prepare, _combinations(prepare, kernels)))
        return found


def _combinations(
    prepare: Callable[[Rows], Rows], kernels: list[tuple[Kernel, Rows, Array]]
) -> list[Callable[[Rows], Array]]:
    Z = prepare(kernels[0][1])  # the labeled rows, which all kernels share
    found = []
    on_graph: dict[Any, list[tuple[DiffusionKernel, Array]]] = {}
    for kernel, _, C in kernels:
        if isinstance(kernel, DiffusionKernel):
            on_graph.setdefault(kernel.walk.index_, []).append((kernel, C))
        else:
            found.append(kernel.combination(Z, C))
    for walks in on_graph.values():
        # One at a time, because each has a row for every node of the graph.
        (first, C), *others = walks
        values = first.at_rows(Z, C)
        for kernel, C in others:
            values += kernel.at_rows(Z, C)
        found.append(first.walk.function(values))
    return found


def _after(
    prepare: Callable[[Rows], Rows], functions: list[Callable[[Rows], Array]]
) -> Callable[[Rows], Array]:
    def total(X: Rows) -> Array:
        Z = prepare(X)
        return np.sum([function(Z) for function in functions], axis=0)

    return total


def _linear(features: Unpenalized, beta: Array) -> Callable[[Rows], Array]:
    return lambda X: features.transform(X) @ beta
