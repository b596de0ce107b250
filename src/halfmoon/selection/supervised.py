"""Families of candidates that learn from labeled rows alone.

Of the other rows they take only the scale of the columns.

==============  ==================================================================
rows            prepared as
==============  ==================================================================
to 50 columns   standardized; normal scores
to 100 columns  the same, and as they are
more: images    standardized; as they are
sparse: text    unit length; 100 components
==============  ==================================================================

On each preparation stand the linear kernel, Gaussian and Laplace kernels of three
widths about the median distance, and the sums of each of these with the linear one;
where labels are few, so do columns weighed by their relevance (`relevance.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import Normalizer

from halfmoon.kernels import Gaussian, Kernel, Laplace, Linear, Prepared, ProductLaplace
from halfmoon.kernels.length_scales import median_distance
from halfmoon.rows import Rows, some_rows
from halfmoon.selection.candidate import Candidate
from halfmoon.selection.preparation import (
    NormalScores,
    Preparation,
    Standardized,
    text_components,
)
from halfmoon.selection.workbench import Workbench
from halfmoon.unpenalized import Constant, Polynomials, PreparedFeatures, Unpenalized

__all__ = ["constant_candidates", "plain_candidates", "plain_preparations"]

WIDTHS = (0.5, 1.0, 2.0)  # of kernels, in median distances
MANY_COLUMNS = 50  # above it, rows may have one unit: they are tried as they are too
TABLE_COLUMNS = 100  # of a table whose columns are ranked and weighed one by one
TEXT_COMPONENTS = 100
LABELS_FOR_A_FEATURE = 5  # at least, where columns are unpenalized
SAMPLE_ROWS = 2_000  # to find a median distance from


def constant_candidates(bench: Workbench) -> Iterator[Candidate]:
    """The mean of the labels, or the shares of the classes, for every row."""
    prepare = Preparation("as they are", None)
    kernel = Prepared(prepare, Linear()) * 0.0
    yield Candidate("constant", "constant", kernel, Constant().fit(bench.data.X))


def plain_candidates(
    bench: Workbench, own: Unpenalized | None, *, free: bool
) -> Iterator[Candidate]:
    """Candidates with kernels on prepared rows.

    Parameters
    ----------
    bench : Workbench
    own : Unpenalized or None
        The features that all candidates leave unpenalized, fitted.
    free : bool
        Columns may be unpenalized too, where they are few.
    """
    for prepare in plain_preparations(bench.X, bench.rng):
        sample = prepare(some_rows(bench.X, SAMPLE_ROWS, bench.rng))
        linear = bench.scaled(Prepared(prepare, Linear()))
        yield Candidate(f"{prepare.name}, linear", "plain", linear, own)
        columns = unpenalized_columns(bench, prepare) if free else None
        for name, kernel in kernels_about(sample, bench.rng).items():
            name = f"{prepare.name}, {name}"
            one = bench.scaled(Prepared(prepare, kernel))
            yield Candidate(name, "plain", one, own)
            both = linear * 0.5 + one * 0.5
            yield Candidate(f"{name} + linear", "plain", both, own)
            if columns is not None:
                yield Candidate(f"{name}, columns unpenalized", "plain", one, columns)


def unpenalized_columns(
    bench: Workbench, prepare: Preparation
) -> PreparedFeatures | None:
    """The constant and the prepared columns; None where labels are too few for them."""
    Z = bench.prepared(prepare)[: bench.n_labeled]
    k = Z.shape[1] + 1
    if sp.issparse(Z) or LABELS_FOR_A_FEATURE * k >= bench.n_labeled:
        return None
    features = PreparedFeatures(prepare, Polynomials(1)).fit(
        some_rows(bench.X, SAMPLE_ROWS, bench.rng)
    )
    F = features.features_.transform(Z)
    return features if np.linalg.matrix_rank(F) == k else None


def kernels_about(sample: Rows, rng: np.random.Generator) -> dict[str, Kernel]:
    """Kernels of three widths about the median distance of the rows, by name."""
    wide = sp.issparse(sample) or sample.shape[1] > TABLE_COLUMNS
    e = median_distance(sample, rng)
    found: dict[str, Kernel] = {
        f"gaussian {width:g}": Gaussian(width * e) for width in WIDTHS
    }
    if wide:
        more: dict[str, Kernel] = {
            f"laplace {width:g}": Laplace(width * e) for width in WIDTHS[1:]
        }
    else:
        e = float(ProductLaplace().resolve(sample, rng).length_scale)
        more = {f"laplace {width:g}": ProductLaplace(width * e) for width in WIDTHS}
    return found | more


def plain_preparations(X: Rows, rng: np.random.Generator) -> Iterator[Preparation]:
    """Ways to prepare rows, the most promising first."""
    if sp.issparse(X):
        yield Preparation("unit rows", Normalizer().fit(X))
        d = min(TEXT_COMPONENTS, min(X.shape) - 1)
        if d > 1:
            yield Preparation(f"{d} components", fitted(text_components(d), X, rng))
        return
    yield Preparation("standardized", Standardized().fit(X))
    if X.shape[1] <= TABLE_COLUMNS:
        yield Preparation("normal scores", NormalScores().fit(X))
    if X.shape[1] > MANY_COLUMNS:
        yield Preparation("as they are", None)


def fitted(transformer: Any, X: Rows, rng: np.random.Generator) -> Any:
    """The transformer, fitted on some of the rows."""
    return transformer.fit(some_rows(X, 10 * SAMPLE_ROWS, rng))
