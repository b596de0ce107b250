"""Columns that give themselves away: what they tell, unlabeled rows do not know.

Tables that people have labeled often hold columns that came with the labels: who
reviewed a row and when, or a code of the class. Left-out labels are predicted well from
them, and unlabeled rows badly. So each column is compared on labeled and on unlabeled
rows.

=====================================================  =============================
column                                                 what becomes of it
=====================================================  =============================
has values only where a label is, or only elsewhere    it is left out
has no value that stands on both kinds of rows         it is left out
is a copy of the target on the labeled rows            it is used, with a warning
differs much between the two kinds of rows             it is used, with a note
=====================================================  =============================

Nothing can be learned from the first two: what they say of labeled rows says nothing of
the others. Chances under the assumption that labels were given at random are small
(`CHANCE`, divided by the number of columns) before any column is left out or noted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import hypergeom, kstwobign

from halfmoon.rows import Array
from halfmoon.table.columns import CATEGORIES, ColumnUse

__all__ = ["WHY", "Giveaways", "leave_out_giveaways"]

CHANCE = 1e-4  # that a column is found though labels were given at random
NONE = 0.02  # share of rows with a value that counts as none having one
SOME = 0.3  # share of rows with a value at least, on the other side
REPEATS = 3  # rows for each value, at least, where no value stands on both sides
COMPARED = 5_000  # rows of each side whose values are compared
COPY_LOOK = 500  # labeled rows that are looked at first
COPY_ROWS, COPY_REPEATS = 20, 6  # labeled rows, and rows a class, to call it a copy
COPY_NUMBERS = 10  # labeled rows to call a column of numbers a copy
UNEXPLAINED = 1e-6  # share of the variance in a copy of numbers
MUCH = 0.5  # difference of shares, or of distribution functions

ONLY_LABELED = "it has values only where a label is"
ONLY_UNLABELED = "it has no values where a label is"
APART = "labeled and unlabeled rows share none of its values"
#: Reasons to leave a column out.
WHY = (ONLY_LABELED, ONLY_UNLABELED, APART)


@dataclass(frozen=True)
class Giveaways:
    """Columns that labeled and unlabeled rows tell apart.

    Attributes
    ----------
    left_out : dict
        Why a column cannot help, by its name.
    copies : tuple of str
        Columns that are copies of the target on the labeled rows.
    shifted : tuple of str
        Columns that differ much between labeled and unlabeled rows.
    """

    left_out: dict[str, str]
    copies: tuple[str, ...]
    shifted: tuple[str, ...]

    @classmethod
    def of(
        cls, frame: pd.DataFrame, uses: Sequence[ColumnUse], labels: Sequence[Any]
    ) -> Giveaways:
        """Compare the columns of rows that have labels and of rows that have none.

        Parameters
        ----------
        frame : DataFrame
            The columns that are used, as `Columns.read` gives them.
        uses : sequence of ColumnUse
            Of these columns.
        labels : sequence
            Classes or numbers; None where a row has none.
        """
        labeled = _is_labeled(labels)
        left_out = one_sided(frame, uses, labels)
        # Some thousand rows of each side tell as much as all of them.
        some = np.sort(np.concatenate([_some(labeled), _some(~labeled)]))
        known = np.array(labels, dtype=object)[labeled]
        chance = CHANCE / max(1, len(uses))
        copies, shifted = [], []
        for use in uses:
            if use.name in left_out:
                continue
            x = _as_numbers(frame[use.name])
            if _is_copy(use, x[labeled], known):
                copies.append(use.name)
            if use.kind != "text" and _differs(use, x[some], labeled[some], chance):
                shifted.append(use.name)
        return cls(left_out, tuple(copies), tuple(shifted))


def leave_out_giveaways(
    frame: pd.DataFrame,
    uses: Sequence[ColumnUse],
    labels: Sequence[Any],
    named: Collection[str],
) -> pd.DataFrame:
    """Take columns that cannot help out of use, unless the user has named them.

    Parameters
    ----------
    frame, uses, labels : as in `Giveaways.of`
    named : collection of str
        Columns to use whatever they look like.

    Returns
    -------
    DataFrame
        Without the columns that are left out.
    """
    tested = [use for use in uses if use.name not in named]
    found = one_sided(frame, tested, labels)
    for use in tested:
        if use.name in found:
            use.role, use.why = "left out", found[use.name]
    return frame.drop(columns=[*found])


def one_sided(
    frame: pd.DataFrame, uses: Sequence[ColumnUse], labels: Sequence[Any]
) -> dict[str, str]:
    """Why columns say nothing of unlabeled rows, by their names; as `Giveaways.of`."""
    labeled = _is_labeled(labels)
    if labeled.all() or not labeled.any():
        return {}
    chance = CHANCE / max(1, len(uses))
    found = {}
    for use in uses:
        why = _why_one_sided(use, _as_numbers(frame[use.name]), labeled, chance)
        if why:
            found[use.name] = why
    return found


def _is_labeled(labels: Sequence[Any]) -> NDArray[np.bool_]:
    return np.array([label is not None for label in labels], dtype=bool)


def _some(rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Numbers of some of the marked rows, from all over the table."""
    found = np.flatnonzero(rows)
    return found[:: -(-len(found) // COMPARED) or 1]


def _as_numbers(values: pd.Series) -> Array:
    """Values as numbers, texts as numbers of their categories; NaN where missing."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy()
        return np.where(codes < 0, np.nan, codes)
    if values.dtype.kind == "M":
        ticks = values.to_numpy().view("int64").astype(np.float64)
        return np.where(values.isna(), np.nan, ticks)
    return values.to_numpy(dtype=np.float64)


def _why_one_sided(
    use: ColumnUse, x: Array, labeled: NDArray[np.bool_], chance: float
) -> str:
    present = ~np.isnan(x)
    for side, why in ((labeled, ONLY_LABELED), (~labeled, ONLY_UNLABELED)):
        apart = present[side].mean() >= SOME and present[~side].mean() <= NONE
        if apart and _chance_of(present, side) < chance:
            return why
    if use.kind in ("category", "boolean") and _share_no_value(
        x[present], labeled[present], chance
    ):
        return APART
    return ""


def _chance_of(marked: NDArray[np.bool_], side: NDArray[np.bool_]) -> float:
    """That so many of the marked rows are on a side, drawn at random (Fisher)."""
    n, n_marked, drawn = len(marked), int(marked.sum()), int(side.sum())
    both = int((marked & side).sum())
    return float(hypergeom.sf(both - 1, n, n_marked, drawn))


def _share_no_value(x: Array, labeled: NDArray[np.bool_], chance: float) -> bool:
    mine, theirs = np.unique(x[labeled]), np.unique(x[~labeled])
    n, l = len(x), int(labeled.sum())
    if not len(mine) or not len(theirs) or np.isin(mine, theirs).any():
        return False
    if l < REPEATS * len(mine) or n - l < REPEATS * len(theirs):
        return False
    # There are 2^v ways to put v values on two sides, each as likely as one of the
    # ways to draw the labeled rows.
    ways = gammaln(n + 1) - gammaln(l + 1) - gammaln(n - l + 1)
    v = len(mine) + len(theirs)
    return bool(math.log(2) * v - ways < math.log(chance))


def _is_copy(use: ColumnUse, x: Array, labels: NDArray[Any]) -> bool:
    """Whether a column is the target by another name, on the labeled rows."""
    present = ~np.isnan(x)
    if use.kind in ("text", "date") or present.mean() < 1 - NONE:
        return False
    x, labels = x[present], labels[present]
    if len(x) > COPY_LOOK and not _is_copy(use, x[:COPY_LOOK], labels[:COPY_LOOK]):
        return False
    if all(isinstance(label, float) for label in labels):
        return use.kind != "category" and _is_linear_copy(x, labels.astype(float))
    pairs = set(zip(x.tolist(), labels.tolist(), strict=True))
    classes = len(set(labels.tolist()))
    return (
        len(pairs) == classes == len(np.unique(x))
        and len(x) >= max(COPY_ROWS, COPY_REPEATS * classes)
        and classes <= CATEGORIES
    )


def _is_linear_copy(x: Array, y: Array) -> bool:
    if len(y) < COPY_NUMBERS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return False
    x, y = (x - x.mean()) / np.ptp(x), (y - y.mean()) / np.ptp(y)
    explained = float(x @ y) ** 2 / (float(x @ x) * float(y @ y))
    return bool(1 - explained <= UNEXPLAINED)


def _differs(
    use: ColumnUse, x: Array, labeled: NDArray[np.bool_], chance: float
) -> bool:
    """Whether labeled rows have other values than unlabeled ones, and clearly so."""
    present = ~np.isnan(x)
    if _unevenly(present, labeled, chance):
        return True
    x, here = x[present], labeled[present]
    if not here.any() or here.all():
        return False
    if use.kind == "category":
        return any(_unevenly(x == value, here, chance) for value in np.unique(x))
    one, other = np.sort(x[here]), np.sort(x[~here])
    below = (
        np.searchsorted(part, x, side="right") / len(part) for part in (one, other)
    )
    distance = float(np.abs(np.subtract(*below)).max())  # Kolmogorov's and Smirnov's
    size = math.sqrt(len(one) * len(other) / len(x))
    return distance >= MUCH and float(kstwobign.sf(distance * size)) < chance


def _unevenly(
    marked: NDArray[np.bool_], labeled: NDArray[np.bool_], chance: float
) -> bool:
    """Whether much more of the rows on one side are marked, and clearly so."""
    if labeled.all() or not labeled.any():
        return False
    more = marked[labeled].mean() - marked[~labeled].mean()
    side = labeled if more > 0 else ~labeled
    return bool(abs(more) >= MUCH and _chance_of(marked, side) < chance)
