"""Sums of fits in exact bases, kernel by kernel.

A fit in the exact basis of a kernel is linear in the kernel. So of many fits that are
added up each kernel is evaluated once, and rows are prepared once for all kernels that
see them so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from halfmoon.bases import Exact
from halfmoon.kernels import Kernel, Prepared
from halfmoon.problem import Fit
from halfmoon.rows import Array, Rows
from halfmoon.smoothers import DiffusionKernel
from halfmoon.unpenalized import Unpenalized

__all__ = ["KernelSums", "gram_matrix"]


def gram_matrix(basis: Exact, known: dict[Kernel, Array]) -> Array:
    """The kernel at the labeled rows; each of its terms is computed once for all."""
    total = np.zeros((basis.n_components_, basis.n_components_))
    for factor, term in basis.kernel_.terms():
        if factor and term not in known:
            known[term] = term(basis.rows_)
        if factor:
            total += factor * known[term]
    return total


class KernelSums:
    """Fits in exact bases, added up kernel by kernel."""

    def __init__(self) -> None:
        self.by_kernel: dict[Kernel, tuple[Rows, Array]] = {}
        self.by_features: dict[Unpenalized, Array] = {}

    def add(self, fit: Fit, share: float) -> None:
        """Add a fit times a number."""
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
        """Functions of rows, to be added up.

        Rows are prepared once for all kernels that see them so, and diffusions over
        one graph take their first step onto it together.
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
    Z = prepare(kernels[0][1])  # the labeled rows, which all of them have
    found = []
    on_graph: dict[Any, list[tuple[DiffusionKernel, Array]]] = {}
    for kernel, _, C in kernels:
        if isinstance(kernel, DiffusionKernel):
            on_graph.setdefault(kernel.walk.index_, []).append((kernel, C))
        else:
            found.append(kernel.combination(Z, C))
    for walks in on_graph.values():
        values = np.sum([kernel.at_rows(Z, C) for kernel, C in walks], axis=0)
        found.append(walks[0][0].walk.function(values))
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
