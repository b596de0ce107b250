"""An average of local fits, for more than 300 labels.

Kernels that suit 500 labels are too smooth for 5,000. So kernels are compared again in
some regions of the table, where labels are as dense as in the whole. Each preparation
of the rows, with and without weighted columns (`relevance.py`), is tried with product
Laplace, Laplace and Gaussian kernels of several widths, some of them plus a linear
kernel. Columns are weighted by slopes of a smooth fit and of one that may bend sharply.
Wide tables are tried with plain kernels. Column weights learned from many labels cannot
memorize them, so leave-one-out holds for these kernels too. The few best are fitted to
all labels (`problem._local_fits`), each in regions of its own, and averaged with the
weights of smallest squared error, or log loss of classes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from math import ceil
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from halfmoon._progress import search_step
from halfmoon._rows import Array, Indices, Rows, some_rows
from halfmoon._selection.average import Average
from halfmoon._selection.average_members import Member
from halfmoon._selection.criteria import Criterion
from halfmoon._selection.relevance import Stretched, by_gradient
from halfmoon._selection.row_preparation import NormalScores, Preparation, Standardized
from halfmoon._selection.supervised_families import SAMPLE_ROWS, TABLE_COLUMNS
from halfmoon._selection.target_transforms import IDENTITY, TargetTransform
from halfmoon._solvers.ridge import ridge_weighted
from halfmoon.bases import Exact
from halfmoon.blocks import blas_for, free_workers, side_by_side
from halfmoon.kernels import Gaussian, Kernel, Laplace, Linear, ProductLaplace
from halfmoon.kernels._length_scales import median_distance
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import solve_locally
from halfmoon.problem._posed import Posed
from halfmoon.problem._regions import HALF_SHARE, Regions

__all__ = ["average_of_local_fits"]

REGION_ROWS = 1_200, 2_400  # most labeled rows in a region: in large tables, in others
TRIED_REGION_ROWS = 600  # the same while kernels are compared
TRIED_REGIONS = 3
MAX_LOCAL_MEMBERS = 4
MAX_OPERATIONS = 3e11  # l s^2 summed over members; more labels mean fewer members
MAX_KERNEL_VALUES = 1e9  # n s summed over members: for predictions at all rows
REGION_MATRICES = 8  # s-by-s, that a fit in a region may hold
CHOICES_AHEAD = 12  # kernels that threads compare while columns are weighted
PATH_OPERATIONS = 10.0  # of all eigenvectors of a matrix, by the cube of its rows
FIT_OPERATIONS = 1.5  # of a Cholesky factor and leave-one-out
NOISE_RATIOS = (0.01, 0.05, 0.25, 1.0, 5.0)  # lam, noise relative to signal
LOCAL_WIDTHS = (0.12, 0.25, 0.5, 1.0, 2.0)  # product Laplace, in median distances
LINEAR_WIDTHS = (0.5, 1.0)  # product Laplace kernels that are added to a linear one
SMOOTH_WIDTHS = (0.25, 0.5, 1.0)  # Gaussian kernels, and half of Laplace kernels
MAX_RELEVANCE_LABELS = 1_000  # labels used to weight columns
RECIPES = {
    "gradient": by_gradient(steps=3),
    "sharp gradient": by_gradient(steps=3, kernel=ProductLaplace()),
}
WEIGHTING_ROWS = 5_000  # labeled rows used to weight members


class _Tried(NamedTuple):
    """A kernel on prepared rows at its best alpha."""

    name: str
    prepare: Preparation
    kernel: Kernel
    alpha: float
    losses: Array  # (m,), of the held-out predictions
    values: Array  # (m, t), these predictions


def average_of_local_fits(
    X: Rows,  # (n, d), all rows
    data: Posed,
    criterion: Criterion,
    rng: np.random.Generator,
    seconds: float,
    target: TargetTransform = IDENTITY,
) -> Average:
    """Compare kernels in some regions and fit the best to all labels.

    The data are the labeled rows, with their unpenalized features. Kernels are tried
    as long as there is time to fit the best of them in the rest of the seconds; others
    are fitted if there is time for as long a fit as the last one. All fits are to
    transformed targets.
    """
    until = time.monotonic() + seconds
    given, limits = data.y, criterion.limits(data.y)
    data = replace(data, y=target.forward(given))
    with blas_for(float(TRIED_REGION_ROWS) ** 3):
        size = _region_size(X.shape[0], data)
        most = MAX_OPERATIONS / (len(data.y) * float(size) ** 2)
        most = int(np.clip(most, 1, MAX_LOCAL_MEMBERS))
        operations = _fit_operations(len(data.y), size)
        tried, rows = _compare_in_regions(X, data, criterion, rng, seconds, operations)
        y, w = data.y[rows], data.w[rows]
        weights = criterion.mixture(tried, y, w, MAX_LOCAL_MEMBERS)
        best = np.argsort(-weights, kind="stable")
        best = best[:most]
        fits = []
        for i in best[weights[best] > 0]:
            begun = time.monotonic()
            name, prepare, kernel, alpha, *_ = tried[i]
            posed = replace(data, basis=Exact(Prepared(prepare, kernel)).fit(data.X))
            fit = solve_locally(posed, alpha, size=size, rng=rng, coordinates=prepare)
            fits.append((f"{name}{target.suffix}, local fits", fit))
            ended = time.monotonic()
            if ended + (ended - begun) > until:
                break
    # Weights come from all regions, not only from those used to compare kernels.
    some = rng.choice(len(data.y), min(WEIGHTING_ROWS, len(data.y)), replace=False)
    y, w = data.y[some], data.w[some]
    found = [
        SimpleNamespace(losses=((values - y) ** 2).mean(1), values=values)
        for values in (fit.held_out[some] for _, fit in fits)
    ]
    weights = criterion.mixture(found, y, w)
    members = [
        Member(name, fit, float(weight), fit.held_out, data.y, False, target)
        for (name, fit), weight in zip(fits, weights, strict=True)
        if weight > 0
    ]
    return Average(members, given, data.w, data.X, data.single, data.stream, limits)


def _region_size(n: int, data: Posed) -> int:
    """Return the most labeled rows in a region, for fits and predictions in seconds.

    Larger regions are a little better and cost more. Where they cost too much, regions
    are smaller, but not below the least of `REGION_ROWS`.
    """
    limit = data.stream.limit
    largest = min(
        np.sqrt(MAX_OPERATIONS / (MAX_LOCAL_MEMBERS * len(data.y))),
        MAX_KERNEL_VALUES / (MAX_LOCAL_MEMBERS * n),
        np.sqrt(limit / (8 * REGION_MATRICES)),
    )
    return int(np.clip(largest, *REGION_ROWS))


def _fit_operations(l: int, size: int) -> float:
    """Return the operations of a fit in all regions."""
    regions, rows = 1, l
    while rows > size:
        regions, rows = 2 * regions, ceil(HALF_SHARE * rows)
    return FIT_OPERATIONS * regions * float(rows) ** 3


def _compare_in_regions(
    X: Rows,
    data: Posed,
    criterion: Criterion,
    rng: np.random.Generator,
    seconds: float,
    operations: float,
) -> tuple[list[_Tried], Indices]:
    """Return kernels at their best alphas and the labeled rows used to compare them.

    The fit that follows takes so many operations, and the same time for each as here.
    """
    start = time.monotonic()
    first = Standardized().fit(some_rows(X, 10 * SAMPLE_ROWS, rng))
    partition = Regions.of(first.transform(data.X), TRIED_REGION_ROWS, rng)
    some = rng.permutation(len(partition.regions))[:TRIED_REGIONS]
    regions = [partition.regions[i] for i in some]
    rows = np.concatenate(regions)
    y, w, F = data.y[rows], data.w[rows], data.F
    to_compare = PATH_OPERATIONS * sum(float(len(each)) ** 3 for each in regions)
    tried = []
    alphas = [ratio / len(data.y) for ratio in NOISE_RATIOS]

    def held_out(choice: tuple[str, Preparation, Kernel]) -> tuple[Any, Array, float]:
        """Return a choice, its predictions, (alphas, m, t), and the seconds."""
        begun, (_, prepare, kernel) = time.monotonic(), choice
        values = np.empty((len(alphas), *y.shape))
        done = 0
        for members in regions:
            K, w_m = kernel(prepare(data.X[members])), data.w[members]
            path = ridge_weighted(K, F[members], data.y[members], w_m)
            # lam is that of all labels, so that alpha suits the fit to all of them.
            scaled = [data.total_weight * alpha / w_m.sum() for alpha in alphas]
            residuals = path.leave_one_out(scaled) / np.sqrt(w_m)[:, None]
            centered = data.y[members] - data.y[members].mean(axis=0)
            found = np.where(np.isfinite(residuals), residuals, centered)
            values[:, done : done + len(members)] = data.y[members] - found
            done += len(members)
        return choice, values, time.monotonic() - begun

    states = []  # of rng: choices that are drawn ahead and not used leave no trace

    def choices() -> Iterator[tuple[str, Preparation, Kernel]]:
        for choice in _kernel_choices(X, data, rng):
            states.append(rng.bit_generator.state)
            yield choice

    workers = free_workers(data.stream.n_jobs)
    comparing = 0.0
    compared = side_by_side(held_out, choices(), workers, ahead=CHOICES_AHEAD)
    with closing(compared) as results:
        for (name, prepare, kernel), values, taken in results:
            losses = criterion.losses(values, y, w)
            best = int(np.argmin(losses @ w))
            found = alphas[best], losses[best], values[best]
            tried.append(_Tried(name, prepare, kernel, *found))
            spent = time.monotonic() - start
            search_step(spent, seconds, f"{name} in regions", logging.DEBUG)
            comparing += taken
            to_fit = operations / to_compare * comparing / len(tried) / workers
            if spent + to_fit > seconds:
                rng.bit_generator.state = states[len(tried) - 1]
                break
    return tried, rows


def _kernel_choices(
    X: Rows, data: Posed, rng: np.random.Generator
) -> Iterator[tuple[str, Preparation, Kernel]]:
    """Yield kernels on prepared rows with their names, the most promising first."""
    sample = some_rows(X, SAMPLE_ROWS, rng)
    if X.shape[1] > TABLE_COLUMNS:
        for prepare in (
            Preparation("as they are", None),
            Preparation("standardized", Standardized().fit(X)),
        ):
            e = median_distance(prepare(sample), rng)
            for width in SMOOTH_WIDTHS:
                yield f"{prepare.name}, gaussian", prepare, Gaussian(width * e)
                yield f"{prepare.name}, laplace", prepare, Laplace(2 * width * e)
        return
    some = rng.choice(
        len(data.y), min(MAX_RELEVANCE_LABELS, len(data.y)), replace=False
    )
    for plain in (
        Preparation("normal scores", NormalScores().fit(X)),
        Preparation("standardized", Standardized().fit(X)),
    ):
        for prepare in _with_weighted_columns(plain, data, some):
            Z, name = np.asarray(prepare(sample)), prepare.name
            e1 = float(ProductLaplace().resolve(Z, rng).length_scale)
            for width in LOCAL_WIDTHS:
                yield f"{name}, laplace {width:g}", prepare, ProductLaplace(width * e1)
            linear = Linear() * (1.0 / max(float((Z * Z).sum(axis=1).mean()), 1e-300))
            for width in LINEAR_WIDTHS:
                both = ProductLaplace(width * e1) * 0.5 + linear * 0.5
                yield f"{name}, laplace {width:g} + linear", prepare, both
            e = median_distance(Z, rng)
            for width in SMOOTH_WIDTHS:
                yield f"{name}, gaussian {width:g}", prepare, Gaussian(width * e)
                label = f"{name}, radial laplace {2 * width:g}"
                yield label, prepare, Laplace(2 * width * e)


def _with_weighted_columns(
    plain: Preparation, data: Posed, some: Indices
) -> Iterator[Preparation]:
    """Yield a preparation, then the same with columns weighted by some labels.

    Weights are computed when they are asked for, while threads compare the kernels of
    the preparation before.
    """
    yield plain
    Z_l = np.asarray(plain(data.X[some]))
    for name, recipe in RECIPES.items():
        by = recipe(Z_l, Z_l, data.y[some], data.w[some])
        yield Preparation(f"{plain.name} by {name}", Stretched(plain, by))
