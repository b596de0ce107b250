r"""Outputs with gaps: a row may have some of its outputs and lack others.

Each output learns from the rows that have it. Outputs with the same labeled rows are a
*group*: they share a factorization, and are fitted as one target of several columns is.
The groups share what does not depend on labels: the basis, the energy, the root of the
penalty, and the kernel matrix between all labeled rows.

What has a column for each output keeps it, and an output's own rows are found in it:

================================  ===================================================
of an output that a row lacks     is
================================  ===================================================
its leave-one-out residual        NaN
its weight in `smoother_matrix`   0; the matrix has shape (b, n_labeled, t)
its dual coefficient              0
================================  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmoon.problem import Fit
from halfmoon.rows import Array, Indices, Rows

__all__ = ["OutputGroups", "by_output", "groups_of_outputs", "without_pieces"]


def groups_of_outputs(
    y: Array,  # (n,) or (n, t)
) -> list[Indices]:
    """Columns that are known in the same rows, group by group.

    Outputs without any label are refused where others have some.

    Examples
    --------
    >>> y = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, 5.0]])
    >>> groups_of_outputs(y)
    [array([0, 2]), array([1])]
    """
    y = y.reshape(len(y), -1)
    known = ~np.isnan(y)
    if known.any() and not known.any(axis=0).all():
        empty = int(np.flatnonzero(~known.any(axis=0))[0])
        raise ValueError(
            f"Output {empty} of y has no label in any row. Leave this column out, or "
            f"label some rows."
        )
    groups: dict[bytes, list[int]] = {}
    for column, rows in enumerate(known.T):
        groups.setdefault(rows.tobytes(), []).append(column)
    return [np.array(columns) for columns in groups.values()]


def by_output(
    columns: Sequence[Indices], values: Sequence[Any], fill: float = 0.0
) -> Array:
    """Arrays of the groups, their last axis being outputs, as one; ragged ones filled.

    Examples
    --------
    >>> by_output([np.array([0, 2]), np.array([1])], [[[1, 2], [3, 4]], [[5]]])
    array([[1., 5., 2.],
           [3., 0., 4.]])
    """
    arrays = [np.asarray(each, dtype=np.float64) for each in values]
    shape = tuple(np.max([each.shape[:-1] for each in arrays], axis=0))
    out = np.full((*shape, sum(map(len, columns))), fill)
    for some, each in zip(columns, arrays, strict=True):
        corner: Any = (*map(slice, each.shape[:-1]), some)
        out[corner] = each
    return out


@dataclass(frozen=True)
class OutputGroups:
    """Fitted functions of the groups, as the function of all outputs.

    Attributes
    ----------
    parts : tuple of Fit or Average
        One for each group.
    columns : tuple of ndarray
        The outputs of each group.
    places : tuple of ndarray
        The labeled rows of each group, among those that have any label.
    n_labeled : int
        Number of rows that have any label.
    """

    parts: tuple[Any, ...]
    columns: tuple[Indices, ...]
    places: tuple[Indices, ...]
    n_labeled: int

    def with_parts(self, estimators: Sequence[Any]) -> OutputGroups:
        """The same groups with the solutions of other estimators."""
        return replace(self, parts=tuple(each.solution_ for each in estimators))

    def __iter__(self) -> Iterator[tuple[Any, Indices]]:
        """Each part with its outputs."""
        return zip(self.parts, self.columns, strict=True)

    @property
    def posed(self) -> Any:
        """There is none: an error that says where to look."""
        raise ValueError(
            "Some rows lack some outputs, so the outputs were fitted in groups, and "
            "there is no one problem to look at. Use an estimator of parts_, or fit "
            "each output by itself."
        )

    def predict(self, X: Rows) -> Array:
        """Values at any rows, shape (b, t)."""
        return self._each(lambda part: part.predict(X))

    def std(self, X: Rows) -> Array:
        """Posterior standard deviations at any rows, shape (b, t)."""
        return self._each(lambda part: part.std(X))

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals without their own label, (n_labeled, t); NaN where there is none.

        Leaving out a row leaves out the labels of all its outputs.
        """
        return self.at_rows([part.leave_one_out() for part in self._at_work()])[some]

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, n_labeled, t): value j is H(x)[:, j] times output j."""
        b = X.shape[0]
        H = np.zeros((b, self.n_labeled, sum(map(len, self.columns))))
        for part, some, rows in zip(
            self._at_work(), self.columns, self.places, strict=True
        ):
            H[:, rows[:, None], some] = part.smoother_matrix(X)[:, :, None]
        return H

    def at_rows(self, values: Sequence[Array], fill: float = np.nan) -> Array:
        """Values at the labeled rows of each group as one array, (n_labeled, t)."""
        out = np.full((self.n_labeled, sum(map(len, self.columns))), fill)
        for each, some, rows in zip(values, self.columns, self.places, strict=True):
            out[np.ix_(rows, some)] = each.reshape(len(rows), -1)
        return out

    def shaped(self, values: Array) -> Array:
        """The values themselves: outputs with gaps are several."""
        return values

    def _each(self, function: Callable[[Any], Array]) -> Array:
        return by_output(self.columns, [function(part) for part in self._at_work()])

    def _at_work(self) -> Iterator[Any]:
        return map(self.at_work, self.parts)

    @staticmethod
    def at_work(part: Any) -> Any:
        """A part that keeps nothing of what it computes, if it holds nothing yet."""
        return part if _has_pieces(part) else without_pieces(part)


def without_pieces(solution: Any) -> Any:
    """A fit without the factorization that it was found by: this is made again."""
    if not isinstance(solution, Fit):
        return solution
    return replace(solution, posed=replace(solution.posed))


def _has_pieces(solution: Any) -> bool:
    return not isinstance(solution, Fit) or "path" in solution.posed.__dict__
