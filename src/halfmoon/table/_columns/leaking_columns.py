"""Columns that leak the labels, or differ between labeled and unlabeled rows.

Labeled tables often have columns that came with the labels: who reviewed a row and
when, or a code of the class. They predict the given labels well, and unlabeled rows
badly. So each column is compared on labeled and on unlabeled rows.

=====================================================  =============================
column                                                 treatment
=====================================================  =============================
has values only in labeled rows, or only in others     left out
has no value in common between the two kinds of rows   left out
is 0 or -1 in all unlabeled rows, and in no other      left out
is a copy of the target on the labeled rows            used, with a warning
differs a lot between the two kinds of rows            used, with a note
=====================================================  =============================

Nothing about unlabeled rows can be learned from the first three. Numbers with no common
value may still continue a trend, as years do, so they are left out only if they are
also a copy of the target, or the default of a cell that nobody filled in. A column is
left out or noted only if that is significant: if labels had been given at random, the
probability would be below `SIGNIFICANCE`, divided by the number of columns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chi2_contingency, hypergeom, kstwobign

from halfmoon._rows import Array
from halfmoon.table._columns.column_kinds import CATEGORIES, ColumnUse

__all__ = ["WHY", "LeakingColumns", "leave_out_leaking"]

SIGNIFICANCE = 1e-4
MAX_ABSENT = 0.02  # share of rows with a value that counts as none
MIN_PRESENT = 0.3  # share of rows with a value on the other side
MIN_REPEATS = 3  # rows for each value, if no value is common to both sides
MAX_COMPARED = 5_000  # rows of each side
COPY_PROBE = 500  # labeled rows that are checked first
COPY_ROWS, COPY_REPEATS = 20, 6  # labeled rows, and rows of a class, to call it a copy
COPY_NUMBERS = 10  # different labels that are compared as numbers, not as classes
UNEXPLAINED = 1e-6  # share of the variance in a copy of numbers
DEFAULTS = (0.0, -1.0)  # numbers that may stand for a cell that nobody filled in
MIN_EXPECTED = 5  # rows of each side, if labels had been given at random
LARGE = 0.5  # difference of shares, or of distribution functions

ONLY_LABELED = "it has values only in labeled rows"
ONLY_UNLABELED = "it has values only in unlabeled rows"
APART = "labeled and unlabeled rows share none of its values"
DEFAULT = "it is the same number in all unlabeled rows and in no labeled row"
#: Reasons to leave a column out.
WHY = (ONLY_LABELED, ONLY_UNLABELED, APART, DEFAULT)


@dataclass(frozen=True)
class LeakingColumns:
    """Columns that differ between labeled and unlabeled rows."""

    left_out: dict[str, str]  # reasons why columns cannot help, by name
    copies: tuple[str, ...]  # of the target on the labeled rows
    shifted: tuple[str, ...]  # columns that differ a lot

    @classmethod
    def of(
        cls, frame: pd.DataFrame, uses: Sequence[ColumnUse], labels: Sequence[Any]
    ) -> LeakingColumns:
        """Compare columns, as `Columns.read` returns them, on both kinds of rows.

        Labels are classes or numbers, None for a blank.
        """
        labeled = _is_labeled(labels)
        left_out = one_sided(frame, uses, labels)
        sample = np.sort(np.concatenate([_sample(labeled), _sample(~labeled)]))
        known = np.array(labels, dtype=object)[labeled]
        significance = SIGNIFICANCE / max(1, len(uses))
        copies, shifted = [], []
        for use in uses:
            if use.name in left_out:
                continue
            x = _as_numbers(frame[use.name])
            if _is_copy(use, x[labeled], known):
                copies.append(use.name)
            if not use.is_text and _differs(
                use, x[sample], labeled[sample], significance
            ):
                shifted.append(use.name)
        return cls(left_out, tuple(copies), tuple(shifted))


def leave_out_leaking(
    frame: pd.DataFrame,
    uses: Sequence[ColumnUse],
    labels: Sequence[Any],
    named: Collection[str],
) -> pd.DataFrame:
    """Leave out columns that cannot help, unless the user has named them.

    Arguments are those of `LeakingColumns.of`. The frame is returned without the
    columns that are left out.
    """
    tested = [use for use in uses if use.name not in named]
    reasons = one_sided(frame, tested, labels)
    for use in tested:
        if use.name in reasons:
            use.role, use.why = "left out", reasons[use.name]
    return frame.drop(columns=[*reasons])


def one_sided(
    frame: pd.DataFrame, uses: Sequence[ColumnUse], labels: Sequence[Any]
) -> dict[str, str]:
    """Return why columns say nothing about unlabeled rows, by name."""
    labeled = _is_labeled(labels)
    if labeled.all() or not labeled.any():
        return {}
    significance = SIGNIFICANCE / max(1, len(uses))
    known = np.array(labels, dtype=object)[labeled]
    reasons = {
        use.name: _why_one_sided(
            use, _as_numbers(frame[use.name]), labeled, known, significance
        )
        for use in uses
    }
    return {name: why for name, why in reasons.items() if why}


def _is_labeled(labels: Sequence[Any]) -> NDArray[np.bool_]:
    return np.array([label is not None for label in labels], dtype=bool)


def _sample(rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return some thousand of the marked rows, from all over the table."""
    found = np.flatnonzero(rows)
    return found[:: -(-len(found) // MAX_COMPARED) or 1]


def _as_numbers(values: pd.Series) -> Array:
    """Return values as numbers, categories as codes, NaN where missing."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy()
        return np.where(codes < 0, np.nan, codes)
    if values.dtype.kind == "M":
        ticks = values.to_numpy().view("int64").astype(np.float64)
        return np.where(values.isna(), np.nan, ticks)
    return values.to_numpy(dtype=np.float64)


def _why_one_sided(
    use: ColumnUse,
    x: Array,  # (n,)
    labeled: NDArray[np.bool_],  # (n,)
    known: NDArray[Any],  # (l,), the labels
    significance: float,
) -> str:
    """Return why a column says nothing about unlabeled rows; empty if it may."""
    present = ~np.isnan(x)
    for side, why in ((labeled, ONLY_LABELED), (~labeled, ONLY_UNLABELED)):
        absent = present[~side].mean() <= MAX_ABSENT
        apart = absent and present[side].mean() >= MIN_PRESENT
        if apart and _p_value(present, side) < significance:
            return why
    if use.kind in ("category", "boolean"):
        apart = _share_no_value(x[present], labeled[present], significance)
        return APART if apart else ""
    theirs = np.unique(x[present & ~labeled])
    if use.kind not in ("number", "time") or not len(theirs):
        return ""
    if np.isin(theirs, x[labeled]).any():
        return ""
    same = len(theirs) == 1 and theirs[0] in DEFAULTS
    if same and _p_value(x == theirs[0], ~labeled) < significance:
        return DEFAULT
    repeats = (present & ~labeled).sum() >= MIN_REPEATS * len(theirs)
    return APART if repeats and _is_copy(use, x[labeled], known) else ""


def _p_value(marked: NDArray[np.bool_], side: NDArray[np.bool_]) -> float:
    """Return the p-value of so many marked rows on a side, by Fisher's exact test."""
    n, n_marked, drawn = len(marked), int(marked.sum()), int(side.sum())
    both = int((marked & side).sum())
    return float(hypergeom.sf(both - 1, n, n_marked, drawn))


def _share_no_value(x: Array, labeled: NDArray[np.bool_], significance: float) -> bool:
    ours, theirs = np.unique(x[labeled]), np.unique(x[~labeled])
    n, l = len(x), int(labeled.sum())
    if not len(ours) or not len(theirs) or np.isin(ours, theirs).any():
        return False
    if l < MIN_REPEATS * len(ours) or n - l < MIN_REPEATS * len(theirs):
        return False
    # There are 2^v ways to put v values on two sides, each as likely as one of the
    # ways to draw the labeled rows.
    ways = gammaln(n + 1) - gammaln(l + 1) - gammaln(n - l + 1)
    v = len(ours) + len(theirs)
    return bool(math.log(2) * v - ways < math.log(significance))


def _is_copy(use: ColumnUse, x: Array, labels: NDArray[Any]) -> bool:
    """Whether a column is a copy of the target on the labeled rows."""
    present = ~np.isnan(x)
    if use.is_text or use.kind == "date" or present.mean() < 1 - MAX_ABSENT:
        return False
    x, labels = x[present], labels[present]
    if len(x) > COPY_PROBE and not _is_copy(use, x[:COPY_PROBE], labels[:COPY_PROBE]):
        return False
    repeats = np.array([*Counter(labels.tolist()).values()])
    classes = len(repeats)
    if classes >= COPY_NUMBERS and all(isinstance(label, float) for label in labels):
        return use.kind != "category" and _is_linear_copy(x, labels.astype(float))
    pairs = set(zip(x.tolist(), labels.tolist(), strict=True))
    # Probability that the labels, put in any order, agree with the column.
    chance = gammaln(repeats + 1).sum() - gammaln(len(x) + 1)
    return (
        len(pairs) == classes == len(np.unique(x))
        and len(x) >= max(COPY_ROWS, COPY_REPEATS * classes)
        and classes <= CATEGORIES
        and bool(chance < math.log(SIGNIFICANCE))
    )


def _is_linear_copy(x: Array, y: Array) -> bool:
    """Whether numbers lie on a straight line, the usual ones as well as the largest.

    A few numbers much larger than the others explain nearly all of the variance: the
    populations of countries in two years are no copies.
    """
    if np.ptp(x) == 0:
        return False
    x, y = (x - x.mean()) / np.ptp(x), (y - y.mean()) / np.ptp(y)
    residuals = y - float(x @ y) / float(x @ x) * x
    if float(residuals @ residuals) > UNEXPLAINED * float(y @ y):
        return False
    usual = np.median(np.abs(y - np.median(y)))
    return bool(np.median(np.abs(residuals)) <= math.sqrt(UNEXPLAINED) * usual)


def _differs(
    use: ColumnUse, x: Array, labeled: NDArray[np.bool_], significance: float
) -> bool:
    """Whether values of labeled and unlabeled rows differ a lot and significantly."""
    present = ~np.isnan(x)
    if _is_uneven(present, labeled, significance):
        return True
    x, labeled = x[present], labeled[present]
    if not labeled.any() or labeled.all():
        return False
    if use.kind == "category":
        return any(
            _is_uneven(x == v, labeled, significance) for v in np.unique(x)
        ) or _are_uneven(x, labeled, significance)
    ours, theirs = np.sort(x[labeled]), np.sort(x[~labeled])
    shares = (np.searchsorted(each, x, "right") / len(each) for each in (ours, theirs))
    statistic = float(np.abs(np.subtract(*shares)).max())  # of Kolmogorov and Smirnov
    size = math.sqrt(len(ours) * len(theirs) / len(x))
    # The limit for many rows, which is cautious for few.
    return statistic >= LARGE and float(kstwobign.sf(statistic * size)) < significance


def _are_uneven(x: Array, labeled: NDArray[np.bool_], significance: float) -> bool:
    """Whether the shares of all values together differ a lot and significantly.

    Rare values count as one, because the test (chi-squared) is one of large counts.
    """
    codes = np.unique(x, return_inverse=True)[1]
    counts = np.array([np.bincount(codes[labeled], minlength=codes.max() + 1)] * 2)
    counts[1] = np.bincount(codes) - counts[0]
    totals, least = counts.sum(axis=0), len(x) / counts.sum(axis=1).min()
    common = totals >= MIN_EXPECTED * least
    counts = np.column_stack([counts[:, common], counts[:, ~common].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) >= MIN_EXPECTED * least]
    if counts.shape[1] < 2:
        return False
    shares = counts / counts.sum(axis=1, keepdims=True)
    distance = float(np.abs(np.subtract(*shares)).sum() / 2)  # total variation
    return distance >= LARGE and float(chi2_contingency(counts).pvalue) < significance


def _is_uneven(
    marked: NDArray[np.bool_], labeled: NDArray[np.bool_], significance: float
) -> bool:
    """Whether the shares of marked rows differ a lot and significantly."""
    if labeled.all() or not labeled.any():
        return False
    more = marked[labeled].mean() - marked[~labeled].mean()
    side = labeled if more > 0 else ~labeled
    return bool(abs(more) >= LARGE and _p_value(marked, side) < significance)
