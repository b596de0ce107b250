"""Many labels: a candidate again, at landmarks, for all of them.

Beyond some thousand labels a matrix of labels by labels is too much to factor. A kernel
on prepared rows becomes a Nystrom basis, and a walk becomes one that is smoothed by it;
the labels then enter by sums over blocks, and alpha is searched by leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from halfmoon.bases import Basis, Nystrom, Smoothed
from halfmoon.blocks import Stream
from halfmoon.candidates.candidate import ALPHAS, Candidate
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.parts import KernelPart, WalkPart
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels.length_scales import median_distance
from halfmoon.memory import parse_bytes
from halfmoon.problem import Fit, Posed, solve_ridge
from halfmoon.rows import Array, Indices, Rows
from halfmoon.smoothers import Diffusion
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["PreparedFit", "at_landmarks"]

LANDMARKS = 1_500
CHOOSING = 4  # part of the memory that choosing the landmarks may take
WALKED = 300  # landmarks whose sections are sent on walks
WALKED_WIDTH = 0.5  # of these sections, beside the median distance


@dataclass(frozen=True)
class PreparedFit:
    """A fit on prepared rows, for rows as the user has them.

    Attributes
    ----------
    prepare : callable
    fit : Fit
    unlabeled : bool
        Rows without labels have a part in it.
    name : str
        Of the candidate.
    """

    prepare: Callable[[Rows], Rows]
    fit: Fit
    unlabeled: bool
    name: str

    def predict(self, X: Rows) -> Array:
        """Values, shape (b,) or (b, t)."""
        return self._map(self.fit.predict, X)

    def std(self, X: Rows) -> Array:
        """Posterior standard deviation, shape (b,) or (b, t)."""
        return self._map(self.fit.std, X)

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with values H(x) y."""
        return self._map(self.fit.smoother_matrix, X)

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals of the labeled rows without their own labels."""
        return self.fit.leave_one_out(some)

    @property
    def coef(self) -> Array:
        """Weights of the unpenalized features, shape (k, t)."""
        return self.fit.beta

    def shaped(self, values: Array) -> Array:
        """One column for each target, or a vector where the targets came as one."""
        return self.fit.shaped(values)

    def _map(self, function: Callable[[Rows], Array], X: Rows) -> Array:
        stream = self.fit.posed.stream
        row_bytes = 2 * self.fit.posed.basis.row_bytes + 32 * X.shape[1]
        return stream.map(
            lambda rows: function(self.prepare(rows)), X, row_bytes=row_bytes
        )


def at_landmarks(
    candidate: Candidate,
    data: Labeled,
    *,
    unpenalized: Unpenalized | None,
    single: bool,
    rng: np.random.Generator,
    stream: Stream,
) -> PreparedFit:
    """A candidate fitted to all labels of a table, at landmarks.

    Parameters
    ----------
    candidate : Candidate
        Of a walk, or of kernels that see the rows in one way.
    data : Labeled
    unpenalized : Unpenalized or None
        Fitted on the rows as the user has them; walks leave only the constant free.
    single : bool
        The targets came as a vector.
    rng, stream : Generator, Stream
    """
    part = candidate.mix[0][0]
    if isinstance(part, WalkPart):
        prepare: Callable[[Rows], Rows] = part.prepare
        rows, unpenalized = prepare(data.X_l), Constant().fit(data.X_l)
        basis = _walked(part.walk, rng)
    else:
        prepare, rows = _as_it_is, data.X_l
        kernel = _sum_of_kernels(candidate)
        p = min(LANDMARKS, len(data.y))
        # The rest of the memory is for the moments, and for what was held before.
        share = max(1, parse_bytes(stream.memory_limit) // CHOOSING)
        basis = Nystrom(kernel, p, memory_limit=share).fit(rows, rng)
    posed = Posed(
        basis=basis,
        energy=None,
        mu=1.0,
        unpenalized=unpenalized,
        X=rows,
        chosen=np.arange(len(data.y)),
        y=data.y,
        w=data.w,
        single=single,
        stream=stream,
    )
    fit = solve_ridge(posed, ALPHAS)
    return PreparedFit(prepare, fit, candidate.unlabeled, candidate.label)


@dataclass(eq=False, repr=False)
class PreparedKernel(Kernel):
    """A kernel of prepared rows, as one of rows as the user has them."""

    prepare: Callable[[Rows], Rows]
    kernel: Kernel

    @property
    def temporaries(self) -> int:  # type: ignore[override]
        """As the kernel itself."""
        return self.kernel.temporaries

    def _value(self, X: Rows, Z: Rows) -> Array:
        return self.kernel(self.prepare(X), self.prepare(Z))

    def _diag(self, X: Rows) -> Array:
        return self.kernel.diag(self.prepare(X))


def _as_it_is(X: Rows) -> Rows:
    return X


def _sum_of_kernels(candidate: Candidate) -> Kernel:
    """The kernel of a candidate, a sum over its parts."""
    total: Kernel | None = None
    for part, share in candidate.mix:
        if not isinstance(part, KernelPart):
            raise TypeError(f"{candidate.name} has no form at landmarks.")
        kernel = PreparedKernel(part.prepare, part.kernel) * (share * part.scale)
        total = kernel if total is None else total + kernel
    return cast(Kernel, total)


def _walked(walk: Diffusion, rng: np.random.Generator) -> Basis:
    """Sections at some rows of the graph, smoothed by the walk."""
    Z = walk.rows_
    kernel = Gaussian(WALKED_WIDTH * median_distance(Z, rng))
    inner = Nystrom(kernel, min(WALKED, Z.shape[0]))
    half = Diffusion(walk.n_neighbors, walk.restart, max(1, walk.repeats // 2))
    return Smoothed(inner, half).fit(Z, rng)
