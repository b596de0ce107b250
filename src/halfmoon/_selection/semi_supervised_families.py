"""Families of candidates that learn from labeled and unlabeled rows.

==============  ==================================================================
family          kernel
==============  ==================================================================
walk            diffusion over a neighbor graph, alone or plus a Gaussian kernel
long walk       diffusion close to the harmonic limit, over fewer rows
fredholm        kernels averaged over all rows (`FredholmKernel`)
energy          Laplacian penalties at landmarks, with a local length scale
composed        two or three levers together
==============  ==================================================================

Levers are composed where smoothing alone was promising. The basis is then smoothed over
all rows (first lever) and penalized by an energy of the neighbor graph (second).
Columns are unpenalized (third) if there are enough labels. `PosedKernel` is the kernel
of such a problem.

Rows with up to 50 columns are prepared as normal scores and standardized. Wider rows
are reduced to 50 principal components, raw and standardized; texts to 50 components.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Array, Indices, Rows, some_rows
from halfmoon._selection.candidate import Candidate
from halfmoon._selection.row_preparation import (
    NormalScores,
    Preparation,
    Standardized,
    principal_components,
    text_components,
)
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.supervised_families import (
    FITTED_ROWS,
    MANY_COLUMNS,
    fit_on_sample,
)
from halfmoon.bases import Nystrom, Smoothed
from halfmoon.bases._smoothed import FredholmKernel
from halfmoon.kernels import Gaussian, Kernel, Linear
from halfmoon.kernels._length_scales import median_distance, neighbor_distance
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import Problem
from halfmoon.problem._posed import Posed
from halfmoon.problem._posed_kernel import PosedKernel
from halfmoon.smoothers import Diffusion, KernelWeights, Smoother
from halfmoon.smoothers._diffusion import DiffusionKernel, diffused_values
from halfmoon.unpenalized import Unpenalized

__all__ = [
    "GRAPH_ROWS",
    "composed_candidates",
    "distance_preparation",
    "energy_candidates",
    "fredholm_candidates",
    "walk_candidates",
    "walk_preparations",
]

RESTARTS: tuple[float, ...] = (0.01, 0.03, 0.1)
LONG_RESTARTS: tuple[float, ...] = (1e-4, 1e-3)
REPEATS = 4
LONG_REPEATS = 2  # more would leave only rounding errors
MIXES: tuple[float, ...] = (0.0, 0.2, 1.0)  # of a Gaussian kernel added to a walk
MIX_WIDTH = 0.5  # length scale of that kernel, in median distances
GRAPH_ROWS = 10_000  # rows in the graph; other rows step onto it
LONG_ROWS = 2_500  # the same for long walks
SERIES_TOLERANCE = 1e-7  # absolute, for diffused values that are near 0.01
AVERAGED_ROWS = 2_000  # rows in the averages of Fredholm kernels and energies
ENERGY_LANDMARKS = 300
ENERGY_WIDTHS = (1.5, 2.0, 3.0)  # mean distances to the tenth neighbor
INNER_WIDTHS = (0.35, 0.7, 1.4)  # median distances
BOTH_WIDTHS = (0.25, 0.5)
COMPOSED_LANDMARKS = 200
BASIS_WIDTH = 0.5  # median distances
WEIGHTS_WIDTH = 0.25  # of the averaging weights, in median distances
RESTART = 0.1  # restart probability of walks
MU = 1e-2  # weight of the RKHS norm relative to the energy


def walk_candidates(
    shared: SearchData,
    unpenalized: Unpenalized | None,
    prepare: Preparation,
    neighbors: tuple[int, ...] = (5, 10),
    *,
    without_constant: bool = False,
    long: bool = False,
) -> Iterator[Candidate]:
    """Yield diffusions over the neighbor graph of the prepared rows.

    Those close to the harmonic limit are `long`. The others are also tried in sums with
    a Gaussian kernel.
    """
    Z = prepare(shared.X[graph_rows(shared, LONG_ROWS if long else GRAPH_ROWS)])
    if long:
        family, restarts, mixes = "long walk", LONG_RESTARTS, MIXES[:1]
        longest = Diffusion(max(neighbors), min(restarts), LONG_REPEATS)
    else:
        family, restarts, mixes = "walk", RESTARTS, MIXES
        gaussian = Gaussian(MIX_WIDTH * median_distance(Z, shared.rng))
        plain = shared.scaled(Prepared(prepare, gaussian))
        longest = Diffusion(
            max(neighbors), min(restarts), REPEATS, tolerance=SERIES_TOLERANCE
        )
    longest = longest.fit(Z)
    points = shared.prepared(prepare)
    for k in neighbors:
        on_graph = longest.variant(n_neighbors=min(k, longest.index_.n_neighbors))
        walks = [on_graph.variant(restart=restart) for restart in restarts]
        grams = diffused_values(walks, points, points[: shared.n_labeled])
        for walk, K in zip(walks, grams, strict=True):
            diffusion = Prepared(prepare, DiffusionKernel(walk))
            shared.keep(diffusion, np.ascontiguousarray(K))
            one = shared.scaled(diffusion, centered=long)
            name = f"{prepare.name}, walk k={k} restart={walk.restart:g}"
            for share in mixes:
                mixed: Kernel = one + plain * share if share else one
                label = f"{name} + {share:g} gaussian" if share else name
                yield Candidate(label, family, mixed, unpenalized, True)
            if without_constant:
                yield Candidate(f"{name}, no constant", family, one, None, True)


def fredholm_candidates(
    shared: SearchData, unpenalized: Unpenalized | None, prepare: Preparation
) -> Iterator[Candidate]:
    """Yield Fredholm kernels with linear and Gaussian inner and outer kernels."""
    Z = prepare(shared.X[graph_rows(shared, AVERAGED_ROWS)])
    e = median_distance(Z, shared.rng)
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
        one = shared.scaled(Prepared(prepare, kernel))
        yield Candidate(
            f"{prepare.name}, averaged {name}", "fredholm", one, unpenalized, True
        )


def energy_candidates(
    shared: SearchData,
    unpenalized: Unpenalized | None,
    prepare: Preparation,
    *,
    without_constant: bool = False,
) -> Iterator[Candidate]:
    """Yield Dirichlet energies with Gaussian kernels at landmarks."""
    Z = np.asarray(prepare(shared.X[graph_rows(shared, AVERAGED_ROWS)]))
    local = neighbor_distance(Z, shared.rng)
    for width in ENERGY_WIDTHS:
        basis = Nystrom(Gaussian(width * local), min(ENERGY_LANDMARKS, len(Z)))
        posed = pose_without_labels(Z, Problem(basis, "gradient"), shared)
        one = shared.scaled(Prepared(prepare, PosedKernel(posed)))
        name = f"{prepare.name}, energy {width:g}"
        yield Candidate(name, "energy", one, unpenalized, True)
        if without_constant:
            yield Candidate(f"{name}, no constant", "energy", one, None, True)


def composed_candidates(
    shared: SearchData,
    unpenalized: Unpenalized | None,
    columns: Unpenalized | None,
    prepare: Preparation,
    promising: set[str],
) -> Iterator[Candidate]:
    """Yield combinations of levers whose families are promising on their own.

    Every candidate leaves `unpenalized` unpenalized; some also leave `columns` so.
    """
    smoothers: dict[str, Smoother] = {}
    if not promising & {"energy", "walk", "long walk", "fredholm"}:
        return
    Z = np.asarray(prepare(shared.X[graph_rows(shared, AVERAGED_ROWS)]))
    e = median_distance(Z, shared.rng)
    if "fredholm" in promising:
        smoothers["averaged"] = KernelWeights(Gaussian(WEIGHTS_WIDTH * e))
    if promising & {"walk", "long walk"}:
        smoothers["walk"] = Diffusion(10, RESTART)
    inner = Nystrom(Gaussian(BASIS_WIDTH * e), min(COMPOSED_LANDMARKS, len(Z)))
    for name, smoother in smoothers.items():
        problem = Problem(Smoothed(inner, smoother), "graph", MU)
        kernel = PosedKernel(pose_without_labels(Z, problem, shared))
        one = shared.scaled(Prepared(prepare, kernel))
        full = f"{prepare.name}, composed {name} + energy"
        yield Candidate(full, "composed", one, unpenalized, True)
        if columns is not None:
            full = f"{full}, columns unpenalized"
            yield Candidate(full, "composed", one, columns, True)


def pose_without_labels(Z: Array, problem: Problem, shared: SearchData) -> Posed:
    """Pose a problem for its kernel, which does not depend on labels."""
    y = np.full(len(Z), np.nan)
    y[0] = 0.0
    return problem.pose(Z, y, rng=shared.rng, stream=shared.data.stream)


def walk_preparations(X: Rows, rng: np.random.Generator) -> Iterator[Preparation]:
    """Yield preparations for distances, the most promising first."""
    d = min(MANY_COLUMNS, min(X.shape) - 1)
    if sp.issparse(X):
        if d > 1:
            yield Preparation(
                f"{d} components", fit_on_sample(text_components(d), X, rng)
            )
    elif X.shape[1] <= MANY_COLUMNS:
        yield Preparation("normal scores", NormalScores().fit(X))
        yield Preparation("standardized", Standardized().fit(X))
    else:
        sample = some_rows(X, FITTED_ROWS, rng)
        varying = int(np.count_nonzero(sample.max(axis=0) > sample.min(axis=0)))
        d = max(1, min(d, len(sample) - 1, varying))
        for name, before in (("", "passthrough"), ("standardized, ", Standardized())):
            components = principal_components(before, d).fit(sample)
            yield Preparation(f"{name}{d} components", components)


def distance_preparation(X: Rows, rng: np.random.Generator) -> Preparation | None:
    """Return the preparation in which neighbors of points are found, or None."""
    found = list(walk_preparations(X, rng))
    if not found:
        return None
    return found[-1] if X.shape[1] <= MANY_COLUMNS else found[0]


def graph_rows(shared: SearchData, most: int) -> Indices:
    """Return indices of all rows, or of the labeled rows and a sample of the others."""
    n = shared.X.shape[0]
    if n <= most:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), shared.labeled, assume_unique=True)
    more = min(len(others), max(0, most - shared.n_labeled))
    kept = [shared.labeled, shared.rng.choice(others, more, replace=False)]
    return np.sort(np.concatenate(kept))
