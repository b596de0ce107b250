"""Families of candidates that learn from labeled rows only.

From unlabeled rows they take only the scale of the columns.

==============  ==================================================================
rows            prepared as
==============  ==================================================================
to 50 columns   standardized; normal scores
to 100 columns  the same, and raw
more: images    standardized; raw
sparse: text    words damped, in rows of unit length; 100 components
==============  ==================================================================

Each preparation is tried with a linear kernel, with Gaussian and Laplace kernels of
three widths near the median distance, and with sums of these and the linear kernel.
Tables are also tried with an additive kernel, alone and in sums with these kernels. It
is a product Laplace kernel so wide that k = 1 - |x - z|_1 / e up to terms of second
order: a sum of one curve for each column, with next to no interactions. With few
labels, columns stretched by relevance are tried as well (`relevance.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Rows, some_rows
from halfmoon._selection.candidate import WIDTHS, Candidate
from halfmoon._selection.row_preparation import (
    DampedUnitRows,
    NormalScores,
    Preparation,
    Standardized,
    text_components,
)
from halfmoon._selection.search_data import SearchData
from halfmoon.kernels import Gaussian, Kernel, Laplace, Linear, ProductLaplace
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.unpenalized import Constant, Polynomials, Unpenalized
from halfmoon.unpenalized._base import PreparedFeatures

__all__ = [
    "FITTED_ROWS",
    "LABELS_PER_FEATURE",
    "additive_candidates",
    "constant_candidates",
    "plain_candidates",
    "plain_preparations",
]

MANY_COLUMNS = 50  # wider rows may be in one unit, so raw rows are tried too
TABLE_COLUMNS = 100  # columns that are ranked and stretched one by one, at most
TEXT_COMPONENTS = 100
ADDITIVE_WIDTH = 16.0  # median distances
LABELS_PER_FEATURE = 5  # with fewer, unpenalized features overfit
SAMPLE_ROWS = 2_000  # for a median distance
FITTED_ROWS = 20_000  # to which components are fitted


def constant_candidates(shared: SearchData) -> Iterator[Candidate]:
    """Yield the constant: the mean of the labels, or the class shares."""
    prepare = Preparation("as they are", None)
    kernel = Prepared(prepare, Linear()) * 0.0
    yield Candidate("constant", "constant", kernel, Constant().fit(shared.data.X))


def plain_candidates(
    shared: SearchData, unpenalized: Unpenalized | None, *, free: bool
) -> Iterator[Candidate]:
    """Yield candidates with kernels on prepared rows.

    If `free`, columns may be unpenalized as well.
    """
    for prepare in plain_preparations(shared.X, shared.rng):
        sample = prepare(some_rows(shared.X, SAMPLE_ROWS, shared.rng))
        linear = shared.scaled(Prepared(prepare, Linear()))
        yield Candidate(f"{prepare.name}, linear", "plain", linear, unpenalized)
        columns = unpenalized_columns(shared, prepare) if free else None
        for name, kernel in kernels_near_median(sample, shared.rng).items():
            name = f"{prepare.name}, {name}"
            one = shared.scaled(Prepared(prepare, kernel))
            yield Candidate(name, "plain", one, unpenalized)
            both = linear * 0.5 + one * 0.5
            yield Candidate(f"{name} + linear", "plain", both, unpenalized)
            if columns is not None:
                yield Candidate(f"{name}, columns unpenalized", "plain", one, columns)


def additive_candidates(
    shared: SearchData, unpenalized: Unpenalized | None, prepare: Preparation
) -> Iterator[Candidate]:
    """Yield candidates with a curve for each column, alone and plus interactions."""
    sample = prepare(some_rows(shared.X, SAMPLE_ROWS, shared.rng))
    e = float(ProductLaplace().resolve(sample, shared.rng).length_scale)
    wide = Prepared(prepare, ProductLaplace(ADDITIVE_WIDTH * e))
    additive = shared.scaled(wide, centered=True)
    name = f"{prepare.name}, additive"
    yield Candidate(name, "additive", additive, unpenalized)
    for label, kernel in kernels_near_median(sample, shared.rng, WIDTHS[1:]).items():
        both = additive * 0.5 + shared.scaled(Prepared(prepare, kernel)) * 0.5
        yield Candidate(f"{name} + {label}", "additive", both, unpenalized)


def unpenalized_columns(
    shared: SearchData, prepare: Preparation
) -> PreparedFeatures | None:
    """Return the constant and the prepared columns, or None with too few labels."""
    Z = shared.prepared(prepare)[: shared.n_labeled]
    k = Z.shape[1] + 1
    if sp.issparse(Z) or LABELS_PER_FEATURE * k >= shared.n_labeled:
        return None
    features = PreparedFeatures(prepare, Polynomials(1)).fit(
        some_rows(shared.X, SAMPLE_ROWS, shared.rng)
    )
    F = features.features_.transform(Z)
    return features if np.linalg.matrix_rank(F) == k else None


def kernels_near_median(
    sample: Rows, rng: np.random.Generator, widths: tuple[float, ...] = WIDTHS
) -> dict[str, Kernel]:
    """Return kernels of widths near the median distance, by name."""
    wide = sp.issparse(sample) or sample.shape[1] > TABLE_COLUMNS
    e = median_distance(sample, rng)
    found: dict[str, Kernel] = {
        f"gaussian {width:g}": Gaussian(width * e) for width in widths
    }
    if wide:
        more: dict[str, Kernel] = {
            f"laplace {width:g}": Laplace(width * e) for width in WIDTHS[1:]
        }
    else:
        e = float(ProductLaplace().resolve(sample, rng).length_scale)
        more = {f"laplace {width:g}": ProductLaplace(width * e) for width in widths}
    return found | more


def plain_preparations(X: Rows, rng: np.random.Generator) -> Iterator[Preparation]:
    """Yield preparations of the rows, the most promising first."""
    if sp.issparse(X):
        damped = fit_on_sample(DampedUnitRows(), X, rng)
        yield Preparation("damped rows", damped)
        d = min(TEXT_COMPONENTS, min(X.shape) - 1)
        if d > 1:
            yield Preparation(
                f"{d} components", fit_on_sample(text_components(d), X, rng)
            )
        return
    yield Preparation("standardized", Standardized().fit(X))
    if X.shape[1] <= TABLE_COLUMNS:
        yield Preparation("normal scores", NormalScores().fit(X))
    if X.shape[1] > MANY_COLUMNS:
        yield Preparation("as they are", None)


def fit_on_sample(transformer: Any, X: Rows, rng: np.random.Generator) -> Any:
    """Fit the transformer on a sample of the rows and return it."""
    return transformer.fit(some_rows(X, FITTED_ROWS, rng))
