"""Families of candidates that learn from all rows, labeled or not.

==============  ==================================================================
family          kernel
==============  ==================================================================
walk            diffusion over a neighbor graph, alone and with some of a Gaussian
long walk       the same, nearly to the harmonic limit, over fewer rows
fredholm        kernels averaged over all rows (`bases.fredholm_kernel`)
energy          Laplacian penalties at landmarks, with a local length scale
composed        two or three levers at once
==============  ==================================================================

Rows of up to 50 columns are prepared as normal scores and standardized; more columns by
50 principal components, of rows as they are and standardized; text by 50 components.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from halfmoon.bases import FredholmKernel, Nystrom
from halfmoon.kernels import Gaussian, Kernel, Linear, Prepared
from halfmoon.kernels.length_scales import median_distance, neighbor_distance
from halfmoon.problem import Posed, PosedKernel, Problem
from halfmoon.rows import Array, Indices, Rows
from halfmoon.selection.candidate import Candidate
from halfmoon.selection.preparation import (
    NormalScores,
    Preparation,
    Standardized,
    principal_components,
    text_components,
)
from halfmoon.selection.supervised import MANY_COLUMNS, fitted
from halfmoon.selection.workbench import Workbench
from halfmoon.smoothers import (
    Diffusion,
    DiffusionKernel,
    KernelWeights,
    diffused_values,
)
from halfmoon.unpenalized import Unpenalized

__all__ = [
    "distance_preparation",
    "energy_candidates",
    "fredholm_candidates",
    "graph_rows",
    "long_walk_candidates",
    "posed_on",
    "walk_candidates",
    "walk_preparations",
]

RESTARTS = (0.01, 0.03, 0.1)
LONG_RESTARTS = (1e-4, 1e-3)
REPEATS = 4
LONG_REPEATS = 2  # more would leave nothing but rounding
MIXES = (0.0, 0.2, 1.0)  # of a Gaussian kernel, with a walk
MIX_WIDTH = 0.5  # of that kernel, in median distances
GRAPH_ROWS = 10_000  # that walks go over; new rows step onto them
LONG_ROWS = 2_500  # that long walks go over
SERIES_TOLERANCE = 1e-7  # of D, whose values at a row are near 0.01
AVERAGED_ROWS = 2_000  # over which Fredholm kernels and energies average
LANDMARKS = 300
ENERGY_WIDTHS = (1.5, 2.0, 3.0)  # in mean distances to the tenth neighbor
INNER_WIDTHS = (0.35, 0.7, 1.4)  # in median distances
BOTH_WIDTHS = (0.25, 0.5)


def walk_candidates(
    bench: Workbench,
    own: Unpenalized | None,
    prepare: Preparation,
    neighbors: tuple[int, ...] = (5, 10),
    *,
    without_constant: bool = False,
) -> Iterator[Candidate]:
    """Walks over the neighbor graph of the prepared rows."""
    Z = prepare(bench.X[graph_rows(bench, GRAPH_ROWS)])
    plain = bench.scaled(
        Prepared(prepare, Gaussian(MIX_WIDTH * median_distance(Z, bench.rng)))
    )
    longest = Diffusion(
        max(neighbors), min(RESTARTS), REPEATS, tolerance=SERIES_TOLERANCE
    ).fit(Z)
    for k, restart, kernel in _walks(bench, prepare, longest, neighbors, RESTARTS):
        one = bench.scaled(kernel)
        name = f"{prepare.name}, walk k={k} restart={restart:g}"
        for share in MIXES:
            mixed: Kernel = one + plain * share if share else one
            label = f"{name} + {share:g} gaussian" if share else name
            yield Candidate(label, "walk", mixed, own, True)
        if without_constant:
            yield Candidate(f"{name}, no constant", "walk", one, None, True)


def long_walk_candidates(
    bench: Workbench,
    own: Unpenalized | None,
    prepare: Preparation,
    neighbors: tuple[int, ...] = (5, 10),
    *,
    without_constant: bool = False,
) -> Iterator[Candidate]:
    """Walks that go nearly to the harmonic limit."""
    Z = prepare(bench.X[graph_rows(bench, LONG_ROWS)])
    longest = Diffusion(max(neighbors), min(LONG_RESTARTS), LONG_REPEATS).fit(Z)
    for k, restart, kernel in _walks(bench, prepare, longest, neighbors, LONG_RESTARTS):
        one = bench.scaled(kernel, centered=True)
        name = f"{prepare.name}, walk k={k} restart={restart:g}"
        yield Candidate(name, "long walk", one, own, True)
        if without_constant:
            yield Candidate(f"{name}, no constant", "long walk", one, None, True)


def _walks(
    bench: Workbench,
    prepare: Preparation,
    longest: Diffusion,
    neighbors: tuple[int, ...],
    restarts: tuple[float, ...],
) -> Iterator[tuple[int, float, Kernel]]:
    """Kernels of walks on one graph, their matrices computed together and kept."""
    points = bench.prepared(prepare)
    for k in neighbors:
        on_graph = longest.variant(n_neighbors=min(k, longest.index_.n_neighbors))
        walks = [on_graph.variant(restart=restart) for restart in restarts]
        grams = diffused_values(walks, points, points[: bench.n_labeled])
        for walk, K in zip(walks, grams, strict=True):
            kernel = Prepared(prepare, DiffusionKernel(walk))
            bench.keep(kernel, np.ascontiguousarray(K))
            yield k, walk.restart, kernel


def fredholm_candidates(
    bench: Workbench, own: Unpenalized | None, prepare: Preparation
) -> Iterator[Candidate]:
    """Kernels averaged over all rows, linear and Gaussian in both places."""
    Z = prepare(bench.X[graph_rows(bench, AVERAGED_ROWS)])
    e = median_distance(Z, bench.rng)
    by_inner_product = KernelWeights(Linear(), normalize=False).fit(Z)
    kinds = {"linear, linear": FredholmKernel(Linear(), by_inner_product)}
    for width in INNER_WIDTHS:
        kinds[f"linear, gaussian {width:g}"] = FredholmKernel(
            Gaussian(width * e), by_inner_product
        )
    for width in BOTH_WIDTHS:
        by_distance = KernelWeights(Gaussian(width * e)).fit(Z)
        kinds[f"gaussian {width:g}, linear"] = FredholmKernel(Linear(), by_distance)
        kinds[f"gaussian {width:g}, gaussian {width:g}"] = FredholmKernel(
            Gaussian(width * e), by_distance
        )
    for name, kernel in kinds.items():
        one = bench.scaled(Prepared(prepare, kernel))
        yield Candidate(f"{prepare.name}, averaged {name}", "fredholm", one, own, True)


def energy_candidates(
    bench: Workbench,
    own: Unpenalized | None,
    prepare: Preparation,
    *,
    without_constant: bool = False,
) -> Iterator[Candidate]:
    """Mean squared gradients over all rows, with Gaussian kernels at landmarks."""
    Z = np.asarray(prepare(bench.X[graph_rows(bench, AVERAGED_ROWS)]))
    local = neighbor_distance(Z, bench.rng)
    for width in ENERGY_WIDTHS:
        basis = Nystrom(Gaussian(width * local), min(LANDMARKS, len(Z)))
        posed = posed_on(Z, Problem(basis, "gradient"), bench)
        one = bench.scaled(Prepared(prepare, PosedKernel(posed)))
        name = f"{prepare.name}, energy {width:g}"
        yield Candidate(name, "energy", one, own, True)
        if without_constant:
            yield Candidate(f"{name}, no constant", "energy", one, None, True)


def posed_on(Z: Array, problem: Problem, bench: Workbench) -> Posed:
    """A problem posed on prepared rows, for its kernel: labels have no part in it."""
    y = np.full(len(Z), np.nan)
    y[0] = 0.0
    return problem.pose(Z, y, rng=bench.rng, stream=bench.data.stream)


def walk_preparations(X: Rows, rng: np.random.Generator) -> Iterator[Preparation]:
    """Ways to prepare rows for distances, the most promising first."""
    d = min(MANY_COLUMNS, min(X.shape) - 1)
    if sp.issparse(X):
        if d > 1:
            yield Preparation(f"{d} components", fitted(text_components(d), X, rng))
    elif X.shape[1] <= MANY_COLUMNS:
        yield Preparation("normal scores", NormalScores().fit(X))
        yield Preparation("standardized", Standardized().fit(X))
    else:
        for name, before in (("", "passthrough"), ("standardized, ", Standardized())):
            components = fitted(principal_components(before, d), X, rng)
            yield Preparation(f"{name}{d} components", components)


def distance_preparation(X: Rows, rng: np.random.Generator) -> Preparation | None:
    """The preparation by which points are near: of few columns standardized, if any."""
    found = list(walk_preparations(X, rng))
    if not found:
        return None
    return found[-1] if X.shape[1] <= MANY_COLUMNS else found[0]


def graph_rows(bench: Workbench, most: int) -> Indices:
    """Numbers of all rows, or of the labeled ones and some of the others."""
    n = bench.X.shape[0]
    if n <= most:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), bench.labeled, assume_unique=True)
    more = min(len(others), max(0, most - bench.n_labeled))
    kept = [bench.labeled, bench.rng.choice(others, more, replace=False)]
    return np.sort(np.concatenate(kept))
