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

from halfmoon.table.columns import CATEGORIES, ColumnUse

__all__ = ["WHY", "Giveaways", "leave_out_giveaways"]

CHANCE = 1e-4  # that a column is found though labels were given at random
NONE = 0.02  # share of rows with a value that counts as none having one
SOME = 0.3  # share of rows with a value at least, on the other side
REPEATS = 3  # rows for each value, at least, where no value stands on both sides
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
        labeled = np.array([label is not None for label in labels], dtype=bool)
        known = [label for label in labels if label is not None]
        chance = CHANCE / max(1, len(uses))
        left_out, copies, shifted = {}, [], []
        for use in uses:
            values = pd.Series(frame[use.name])
            why = _only_on_one_side(use, values, labeled, chance)
            if why:
                left_out[use.name] = why
                continue
            if _is_copy(use, values[labeled], known):
                copies.append(use.name)
            if _differs(use, values, labeled, chance):
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
    found = Giveaways.of(frame, tested, labels).left_out
    for use in tested:
        if use.name in found:
            use.role, use.why = "left out", found[use.name]
    return frame.drop(columns=[*found])


def _only_on_one_side(
    use: ColumnUse, values: pd.Series, labeled: NDArray[np.bool_], chance: float
) -> str:
    """Why a column says nothing of unlabeled rows; nothing if it may."""
    present = values.notna().to_numpy()
    for side, why in ((labeled, ONLY_LABELED), (~labeled, ONLY_UNLABELED)):
        here, there = present[side], present[~side]
        if not len(here) or not len(there):
            continue
        apart = here.mean() >= SOME and there.mean() <= NONE
        if apart and _chance_of(present, side) < chance:
            return why
    if use.kind in ("category", "boolean") and _share_no_value(
        values[present], labeled[present], chance
    ):
        return APART
    return ""


def _chance_of(present: NDArray[np.bool_], side: NDArray[np.bool_]) -> float:
    """That so many of the marked rows are on a side, drawn at random (Fisher)."""
    n, marked, drawn = len(present), int(present.sum()), int(side.sum())
    both = int((present & side).sum())
    return float(hypergeom.sf(both - 1, n, marked, drawn))


def _share_no_value(
    values: pd.Series, labeled: NDArray[np.bool_], chance: float
) -> bool:
    here, there = values[labeled], values[~labeled]
    mine, theirs = set(here.unique()), set(there.unique())
    if not mine or not theirs or mine & theirs:
        return False
    if len(here) < REPEATS * len(mine) or len(there) < REPEATS * len(theirs):
        return False
    # There are 2^v ways to put v values on two sides, each as likely as one of the
    # ways to draw the labeled rows.
    n, l = len(values), len(here)
    ways = gammaln(n + 1) - gammaln(l + 1) - gammaln(n - l + 1)
    return bool(math.log(2) * len(mine | theirs) - ways < math.log(chance))


def _is_copy(use: ColumnUse, values: pd.Series, labels: list[Any]) -> bool:
    """Whether a column is the target by another name, on the labeled rows."""
    present = values.notna().to_numpy()
    if present.mean() < 1 - NONE:
        return False
    cells = values[present].to_numpy()
    known = [label for label, there in zip(labels, present, strict=True) if there]
    if all(isinstance(label, float) for label in known):
        if use.kind not in ("number", "time", "boolean"):
            return False
        return _is_linear_copy(np.asarray(cells, dtype=np.float64), np.array(known))
    pairs = set(zip(cells.tolist(), known, strict=True))
    classes = len(set(known))
    return (
        use.kind in ("category", "boolean", "number")
        and len(pairs) == classes == len(set(cells.tolist()))
        and len(known) >= max(COPY_ROWS, COPY_REPEATS * classes)
        and classes <= CATEGORIES
    )


def _is_linear_copy(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    if len(y) < COPY_NUMBERS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return False
    x, y = (x - x.mean()) / np.ptp(x), (y - y.mean()) / np.ptp(y)
    explained = float(x @ y) ** 2 / (float(x @ x) * float(y @ y))
    return bool(1 - explained <= UNEXPLAINED)


def _differs(
    use: ColumnUse, values: pd.Series, labeled: NDArray[np.bool_], chance: float
) -> bool:
    """Whether labeled rows have other values than unlabeled ones, and clearly so."""
    present = values.notna().to_numpy()
    if any(_more_on(present, side, chance) for side in (labeled, ~labeled)):
        return True
    cells, here = values[present], labeled[present]
    if not here.any() or here.all() or use.kind == "text":
        return False
    if use.kind == "category":
        return any(
            _more_on((cells == value).to_numpy(), side, chance)
            for value in cells.unique()
            for side in (here, ~here)
        )
    x = cells.astype("int64") if use.kind == "date" else cells.astype("float64")
    distance, size = _distribution_distance(x.to_numpy(), here)
    return distance >= MUCH and float(kstwobign.sf(distance * size)) < chance


def _more_on(marked: NDArray[np.bool_], side: NDArray[np.bool_], chance: float) -> bool:
    """Whether much more of the rows on a side are marked, and clearly so."""
    if side.all() or not side.any():
        return False
    more = marked[side].mean() - marked[~side].mean()
    return bool(more >= MUCH and _chance_of(marked, side) < chance)


def _distribution_distance(
    x: NDArray[Any], here: NDArray[np.bool_]
) -> tuple[float, float]:
    """Kolmogorov's and Smirnov's distance, and the size that it counts with."""
    one, other = np.sort(x[here]), np.sort(x[~here])
    below = [
        np.searchsorted(part, x, side="right") / len(part) for part in (one, other)
    ]
    size = math.sqrt(len(one) * len(other) / len(x))
    return float(np.abs(below[0] - below[1]).max()), size
