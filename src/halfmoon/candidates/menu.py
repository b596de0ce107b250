"""What is tried: the candidates for a table, the most promising first.

Plain candidates learn from labeled rows alone (of the others they take only the scale
of the columns); walks, averages and energies learn from all rows.

==============  ============================  ==================================
rows            plain: prepared as            walks on the neighbors of
==============  ============================  ==================================
to 50 columns   standardized; normal scores   either
to 100 columns  the same, and as they are     50 principal components, of the rows
                                              as they are and standardized
more: images    standardized; as they are     the same
sparse: text    unit length; 100 components   50 components of unit length
==============  ============================  ==================================

On each preparation stand the linear kernel, Gaussian and Laplace kernels of three
widths about the median distance, and the sums of each of these with the linear one;
where labels are few, so do columns weighed by their relevance (`relevance.py`). Walks
differ in the number of neighbors and in how far they go, and each is tried alone and
with some of a Gaussian kernel. Averages are Fredholm kernels, energies Laplacian
penalties at landmarks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import Normalizer

from halfmoon.bases import Exact, Nystrom, Smoothed
from halfmoon.candidates.candidate import Candidate, NullSpace
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.parts import KernelPart, Part, ProblemPart, WalkPart
from halfmoon.candidates.preparation import (
    NormalScores,
    Preparation,
    Standardized,
    principal_components,
    text_components,
)
from halfmoon.candidates.relevance import relevance_candidates
from halfmoon.kernels import Gaussian, Kernel, Laplace, Linear, ProductLaplace
from halfmoon.kernels.length_scales import median_distance
from halfmoon.problem import Problem
from halfmoon.rows import Array, Rows, some_rows
from halfmoon.smoothers import Diffusion, KernelWeights, diffused_grams
from halfmoon.unpenalized import Constant, Polynomials

__all__ = [
    "lever_candidates",
    "plain_candidates",
    "walk_candidates",
    "weighed_candidates",
]

WIDTHS = (0.5, 1.0, 2.0)  # of kernels, beside the median distance
COLUMNS = 50  # principal components of what has more
TABLE_COLUMNS = 100  # of a table whose columns are weighed one by one
TEXT_COMPONENTS = 100
FEW_FEATURES = 2.5  # labels for each unpenalized column, at least
SAMPLE_ROWS = 2_000  # to find a median distance, or the components, from

RESTARTS = (0.01, 0.03, 0.1)
REPEATS = 4
MIXES = (0.0, 0.2, 1.0)  # of a plain Gaussian kernel beside a walk
MIX_WIDTH = 0.5
GRAPH_ROWS = 10_000  # rows that walks go over; new rows step onto them
SERIES_TOLERANCE = 1e-9  # of D, whose values at a row are near 0.01

RELEVANCE_LABELS = 300  # above it, six fits for each candidate take too long

AVERAGED_ROWS = 5_000  # above it, averages over all pairs of rows take too long
LANDMARKS = 200
MUS = (1e-3, 1e-1)  # of the norm, beside the energy


@dataclass(eq=False)
class LinearFeatures:
    """The constant and the prepared columns, centered."""

    prepare: Preparation
    columns: Polynomials

    def __call__(self, X: Rows) -> Array:
        """f(x), shape (b, 1 + d)."""
        return self.columns.transform(self.prepare(X))


def plain_candidates(
    data: Labeled, null_space: NullSpace | None, rng: np.random.Generator
) -> Iterator[Candidate]:
    """Candidates that learn from labeled rows alone.

    Parameters
    ----------
    data : Labeled
    null_space : NullSpace or None
        The user's own; None tries the constant, and the columns where they are few.
    rng : Generator
    """
    constant = null_space or NullSpace("constant", Constant().transform)
    for prepare in _plain_preparations(data.X, rng):
        Z_l = prepare(data.X_l)
        sample = prepare(some_rows(data.X, SAMPLE_ROWS, rng))
        linear = KernelPart(f"{prepare.name}, linear", prepare, Linear(), Z_l)
        yield Candidate(linear.name, ((linear, 1.0),), constant, data)
        for kernel in _kernels(sample, rng):
            part = KernelPart(f"{prepare.name}, {_name(kernel)}", prepare, kernel, Z_l)
            yield Candidate(part.name, ((part, 1.0),), constant, data)
            both = ((linear, 0.5), (part, 0.5))
            yield Candidate(f"{part.name} + linear", both, constant, data)
            few = FEW_FEATURES * (Z_l.shape[1] + 1) < len(data.y)
            if null_space is None and few and not sp.issparse(Z_l):
                columns = Polynomials(1).fit(sample)
                features = LinearFeatures(prepare, columns)
                if np.linalg.matrix_rank(features(data.X_l)) == Z_l.shape[1] + 1:
                    free = NullSpace(f"{prepare.name} columns", features)
                    name = f"{part.name}, columns unpenalized"
                    yield Candidate(name, ((part, 1.0),), free, data)


def weighed_candidates(
    data: Labeled, null_space: NullSpace | None, rng: np.random.Generator
) -> Iterator[Candidate]:
    """Candidates with columns weighed by the labels; parameters as before."""
    few = 4 <= len(data.y) <= RELEVANCE_LABELS
    if few and not sp.issparse(data.X) and 1 < data.X.shape[1] <= TABLE_COLUMNS:
        constant = null_space or NullSpace("constant", Constant().transform)
        prepare = next(_plain_preparations(data.X, rng))
        yield from relevance_candidates(prepare, data, constant, rng)


def walk_candidates(
    data: Labeled,
    null_space: NullSpace | None,
    rng: np.random.Generator,
    neighbors: tuple[int, ...] = (5, 10),
) -> Iterator[Candidate]:
    """Candidates that learn from all rows.

    Parameters
    ----------
    data, null_space, rng : see `plain_candidates`
    neighbors : tuple of int
        Of a row in the graphs that are walked on.
    """
    constant = null_space or NullSpace("constant", Constant().transform)
    rows = _graph_rows(data, rng)
    if rows.shape[0] < 3:
        return
    for prepare in _walk_preparations(data.X, rng):
        Z = prepare(rows)
        kernel = Gaussian(MIX_WIDTH * median_distance(Z, rng))
        Z_l = prepare(data.X_l)
        plain = KernelPart(f"{prepare.name}, gaussian", prepare, kernel, Z_l)
        longest = Diffusion(
            max(neighbors), min(RESTARTS), REPEATS, tolerance=SERIES_TOLERANCE
        ).fit(Z)
        for k in neighbors:
            on_graph = longest.variant(n_neighbors=min(k, longest.index_.n_neighbors))
            walks = [on_graph.variant(restart=restart) for restart in RESTARTS]
            for walk, values in zip(walks, diffused_grams(walks, Z_l), strict=True):
                name = f"{prepare.name}, walk k={k} restart={walk.restart:g}"
                part = WalkPart(name, prepare, walk, Z_l, values)
                for share in MIXES:
                    mix: tuple[tuple[Part, float], ...] = ((part, 1.0),)
                    if share:
                        mix = (*mix, (plain, share))
                        name = f"{part.name} + {share:g} gaussian"
                    yield Candidate(name, mix, constant, data)


def lever_candidates(
    data: Labeled, null_space: NullSpace | None, rng: np.random.Generator
) -> Iterator[Candidate]:
    """Fredholm kernels and Laplacian penalties; parameters as of `plain_candidates`."""
    constant = null_space or NullSpace("constant", Constant().transform)
    for prepare in _walk_preparations(data.X, rng):
        Z = np.asarray(prepare(data.X))
        e = median_distance(Z, rng)
        problems = {}
        if Z.shape[0] <= AVERAGED_ROWS:
            weights = KernelWeights(Gaussian("neighbors"))
            problems["averaged"] = Problem(Smoothed(Exact(Gaussian(e)), weights))
        basis = Nystrom(Gaussian(e), min(LANDMARKS, Z.shape[0]))
        for mu in MUS:
            problems[f"energy mu={mu:g}"] = Problem(basis, "gradient", mu)
        for name, problem in problems.items():
            posed = problem.pose(
                Z, data.on_table, sample_weight=data.weight_on_table, rng=rng
            )
            part = ProblemPart(f"{prepare.name}, {name}", prepare, posed)
            yield Candidate(part.name, ((part, 1.0),), constant, data)


def _plain_preparations(X: Rows, rng: np.random.Generator) -> Iterator[Preparation]:
    if sp.issparse(X):
        yield Preparation("unit rows", Normalizer().fit(X))
        d = min(TEXT_COMPONENTS, min(X.shape) - 1)
        if d > 1:
            yield Preparation(f"{d} components", _fitted(text_components(d), X, rng))
        return
    yield Preparation("standardized", Standardized().fit(X))
    if X.shape[1] <= TABLE_COLUMNS:
        yield Preparation("normal scores", NormalScores().fit(X))
    if X.shape[1] > COLUMNS:
        yield Preparation("as they are", None)


def _walk_preparations(X: Rows, rng: np.random.Generator) -> Iterator[Preparation]:
    d = min(COLUMNS, min(X.shape) - 1)
    if sp.issparse(X):
        if d > 1:
            yield Preparation(f"{d} components", _fitted(text_components(d), X, rng))
    elif X.shape[1] <= COLUMNS:
        yield Preparation("normal scores", NormalScores().fit(X))
        yield Preparation("standardized", Standardized().fit(X))
    else:
        for name, before in (("", "passthrough"), ("standardized, ", Standardized())):
            components = _fitted(principal_components(before, d), X, rng)
            yield Preparation(f"{name}{d} components", components)


def _fitted(transformer: Any, X: Rows, rng: np.random.Generator) -> Any:
    return transformer.fit(some_rows(X, 10 * SAMPLE_ROWS, rng))


def _kernels(sample: Rows, rng: np.random.Generator) -> list[Kernel]:
    """Kernels of three widths about the median distance of the rows."""
    wide = sp.issparse(sample) or sample.shape[1] > TABLE_COLUMNS
    e = median_distance(sample, rng)
    kernels: list[Kernel] = [Gaussian(width * e) for width in WIDTHS]
    if wide:
        return kernels + [Laplace(width * e) for width in WIDTHS[1:]]
    e = float(ProductLaplace().resolve(sample, rng).length_scale)
    return kernels + [ProductLaplace(width * e) for width in WIDTHS]


def _name(kernel: Kernel) -> str:
    return f"{type(kernel).__name__.lower()} {kernel.get_params()['length_scale']:.3g}"


def _graph_rows(data: Labeled, rng: np.random.Generator) -> Rows:
    """Rows for walks to go over: all, or the labeled ones and some of the others."""
    n = data.X.shape[0]
    if n <= GRAPH_ROWS:
        return data.X
    others = np.setdiff1d(np.arange(n), data.chosen, assume_unique=True)
    more = min(len(others), max(0, GRAPH_ROWS - len(data.chosen)))
    kept = np.concatenate([data.chosen, rng.choice(others, more, replace=False)])
    return data.X[np.sort(kept)]
