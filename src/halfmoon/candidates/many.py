"""More labels than candidates are compared on: an average of fits in cells.

What suits 500 labels is too smooth for 5,000, so kernels are compared anew, on some
cells of the table (`partition.py`): these have as many labels to the space as the
whole. On each preparation, as it is and with its columns weighed (`relevance.py`),
stand product Laplace and Gaussian kernels of several widths, and some with a linear
kernel beside them; where columns are many, plain ones on rows as they are. The weights
that d columns get from many more labels cannot memorize these, so leave-one-out holds
for them as well. The few best are fitted to all labels, each with cells of its own, and
averaged with weights of least squared error.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from halfmoon.blocks import Stream, blas_for
from halfmoon.candidates.blend import stacked_weights
from halfmoon.candidates.cells import Cellwise, solve_cell
from halfmoon.candidates.judges import Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.partition import Partition
from halfmoon.candidates.preparation import NormalScores, Preparation, Standardized
from halfmoon.candidates.relevance import Stretched, by_correlation, by_gradient
from halfmoon.kernels import Gaussian, Kernel, Laplace, Linear, ProductLaplace
from halfmoon.kernels.length_scales import median_distance
from halfmoon.rows import Array, Indices, Rows, some_rows

__all__ = ["InCells", "fit_in_cells"]

logger = logging.getLogger("halfmoon")

CELL = 1_200  # labeled rows of a cell, at most
TRIED_CELL = 600  # of a cell in which kernels are compared
TRIED_CELLS = 3
MEMBERS = 4  # of the average, at most
OPERATIONS = 3e11  # l s^2 of all members together, beyond which there are fewer
RATIOS = (0.01, 0.05, 0.25, 1.0, 5.0)  # lam: of the noise to what the kernel explains
WIDTHS = (0.12, 0.25, 0.5, 1.0)  # of product Laplace kernels
SMOOTH_WIDTHS = (0.25, 0.5, 1.0)  # of Gaussian and Laplace kernels
TABLE_COLUMNS = 100  # of a table whose columns are weighed one by one
RECIPE_LABELS = 1_000  # by which columns are weighed
RECIPES = {"correlation": by_correlation, "gradient": by_gradient(steps=1, power=0.5)}
SAMPLE_ROWS = 2_000
WEIGHED_ROWS = 5_000  # by which the members get their weights


class _Kind(NamedTuple):
    name: str
    prepare: Preparation
    kernel: Kernel


class _Values(NamedTuple):
    """Values at left-out rows."""

    losses: Array  # (m,)
    values: Array  # (m, t)


@dataclass(frozen=True)
class _Tried:
    """A kernel at its best alpha, with its values at left-out rows."""

    kind: _Kind
    alpha: float
    losses: Array  # (m,)
    values: Array  # (m, t)


def _at(member: Cellwise, some: Indices, y: Array) -> _Values:
    values = member.left_out[some]
    return _Values(((values - y) ** 2).mean(axis=1), values)


@dataclass(frozen=True)
class InCells:
    """An average of fits in cells, to all labels.

    Attributes
    ----------
    members : list of Cellwise
    weights : ndarray of shape (m,)
        Positive, and 1 in sum.
    data : Labeled
    single : bool
        The targets came as a vector.
    stream : Stream
    limits : (ndarray, ndarray) or None
        Least and largest value of each target.
    """

    members: list[Cellwise]
    weights: Array
    data: Labeled
    single: bool
    stream: Stream
    limits: tuple[Array, Array] | None = None

    unlabeled = False

    def predict(self, X: Rows) -> Array:
        """Values, shape (b,) or (b, t)."""
        return self.shaped(self._limited(self._mean(lambda m: m.predict, X)))

    def std(self, X: Rows) -> Array:
        """Posterior standard deviation of the function, as of a mixture."""
        values = [member.predict(X, self.stream) for member in self.members]
        mean = np.tensordot(self.weights, values, 1)
        variance = self._mean(lambda m: m.variance, X)
        for weight, value in zip(self.weights, values, strict=True):
            variance += weight * (value - mean) ** 2
        return self.shaped(np.sqrt(variance))

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with values H(x) y for any targets; weights are held."""
        return self._mean(lambda m: m.smoother_matrix, X)

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals of the labeled rows without their own labels, the weights held."""
        return self.shaped((self.data.y - self.left_out)[some])

    @property
    def left_out(self) -> Array:
        """Values of the labeled rows without their own labels, shape (l, t)."""
        values = [member.left_out for member in self.members]
        return self._limited(np.tensordot(self.weights, values, 1))

    def shaped(self, values: Array) -> Array:
        """One column for each target, or a vector where the targets came as one."""
        return values[:, 0] if self.single else values

    def _mean(
        self, which: Callable[[Cellwise], Callable[[Rows, Stream], Array]], X: Rows
    ) -> Array:
        total = self.weights[0] * which(self.members[0])(X, self.stream)
        for weight, member in zip(self.weights[1:], self.members[1:], strict=True):
            total += weight * which(member)(X, self.stream)
        return np.asarray(total)

    def _limited(self, values: Array) -> Array:
        return values if self.limits is None else np.clip(values, *self.limits)


def fit_in_cells(
    data: Labeled,
    judge: Judge,
    *,
    single: bool,
    rng: np.random.Generator,
    stream: Stream,
    seconds: float,
) -> InCells:
    """Compare kernels on some cells, and fit the best to all labels.

    Parameters
    ----------
    data : Labeled
        Dense rows.
    judge : Judge
    single : bool
        The targets came as a vector.
    rng, stream : Generator, Stream
    seconds : float
        After which no more kernels are tried.
    """
    with blas_for(float(TRIED_CELL) ** 3):
        tried, rows = _try(data, judge, rng, seconds)
        most = int(np.clip(OPERATIONS / (len(data.y) * float(CELL) ** 2), 1, MEMBERS))
        weights = stacked_weights(tried, data.y[rows], data.w[rows])
        best = np.argsort(-weights, kind="stable")[:most]
        members = [
            Cellwise.fit(
                *tried[i].kind, alpha=tried[i].alpha, data=data, size=CELL, rng=rng
            )
            for i in best
            if weights[i] > 0
        ]
    # All cells tell more of the members than those that they were tried in.
    some = rng.choice(len(data.y), min(WEIGHED_ROWS, len(data.y)), replace=False)
    y, w = data.y[some], data.w[some]
    weights = stacked_weights([_at(member, some, y) for member in members], y, w)
    members = [each for each, weight in zip(members, weights, strict=True) if weight]
    limits = judge.limits(data)
    return InCells(members, weights[weights > 0], data, single, stream, limits)


def _try(
    data: Labeled, judge: Judge, rng: np.random.Generator, seconds: float
) -> tuple[list[_Tried], Indices]:
    """Kernels at their best alphas, and the labeled rows that they were tried on."""
    start = time.monotonic()
    first = Standardized().fit(some_rows(data.X, 10 * SAMPLE_ROWS, rng))
    partition = Partition.of(first.transform(data.X_l), TRIED_CELL, rng)
    some = rng.permutation(len(partition.members))[:TRIED_CELLS]
    cells = [partition.members[i] for i in some]
    rows = np.concatenate(cells)
    there = replace(data, chosen=data.chosen[rows], y=data.y[rows], w=data.w[rows])
    tried = []
    alphas = [ratio / len(data.y) for ratio in RATIOS]
    for kind in _kinds(data, rng):
        values = np.empty((len(alphas), *there.y.shape))
        done = 0
        for members in cells:
            Z, y = kind.prepare(data.X_l[members]), data.y[members]
            K, mean = kind.kernel(Z), y.mean(axis=0)
            for value, alpha in zip(values, alphas, strict=True):
                lam = data.total_weight * alpha
                e = solve_cell(K, y, data.w[members], lam).residuals
                known = np.where(np.isfinite(e), e, y - mean)
                value[done : done + len(y)] = y - known
            done += len(members)
        losses = judge.on(there).losses(values, there)
        best = int(np.argmin(losses @ there.w))
        tried.append(_Tried(kind, alphas[best], losses[best], values[best]))
        spent = time.monotonic() - start
        logger.debug("%5.1f s: %s in cells", spent, kind.name)
        if spent > seconds:
            break
    return tried, rows


def _kinds(data: Labeled, rng: np.random.Generator) -> Iterator[_Kind]:
    """Kernels on prepared rows, the most promising first."""
    sample = some_rows(data.X, SAMPLE_ROWS, rng)
    if data.X.shape[1] > TABLE_COLUMNS:
        for prepare in (
            Preparation("as they are", None),
            Preparation("standardized", Standardized().fit(data.X)),
        ):
            Z = prepare(sample)
            e = median_distance(Z, rng)
            for width in SMOOTH_WIDTHS:
                yield _Kind(f"{prepare.name}, gaussian", prepare, Gaussian(width * e))
                yield _Kind(f"{prepare.name}, laplace", prepare, Laplace(2 * width * e))
        return
    some = rng.choice(len(data.y), min(RECIPE_LABELS, len(data.y)), replace=False)
    for plain in (
        Preparation("normal scores", NormalScores().fit(data.X)),
        Preparation("standardized", Standardized().fit(data.X)),
    ):
        Z_l = np.asarray(plain(data.X_l[some]))
        preparations = [plain]
        for name, recipe in RECIPES.items():
            by = recipe(Z_l, Z_l, data.y[some], data.w[some])
            stretched = Stretched(plain, by)
            preparations.append(Preparation(f"{plain.name} by {name}", stretched))
        for prepare in preparations:
            Z = np.asarray(prepare(sample))
            e1 = float(ProductLaplace().resolve(Z, rng).length_scale)
            for width in WIDTHS:
                kernel: Kernel = ProductLaplace(width * e1)
                yield _Kind(f"{prepare.name}, laplace {width:g}", prepare, kernel)
            linear = Linear() * (1.0 / max(float((Z * Z).sum(axis=1).mean()), 1e-300))
            for width in WIDTHS[-2:]:
                both = ProductLaplace(width * e1) * 0.5 + linear * 0.5
                name = f"{prepare.name}, laplace {width:g} + linear"
                yield _Kind(name, prepare, both)
            e = median_distance(Z, rng)
            for width in SMOOTH_WIDTHS:
                kernel = Gaussian(width * e)
                yield _Kind(f"{prepare.name}, gaussian {width:g}", prepare, kernel)
