"""Charts of how well hidden labels were predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon._number_format import PERCENT, count, number, percent, two_decimals
from halfmoon._report.findings import Findings, LooNumbers
from halfmoon._report.quality_by_part import (
    Confusion,
    Reliability,
    confusion,
    reliability,
)
from halfmoon._report.svg_drawing import (
    GRAY,
    INK,
    ON_SHARE,
    PALETTE,
    PAPER,
    SHARE,
    SOFT,
    Picture,
    draw,
    legend_above,
    short_names,
)

__all__ = ["of_quality"]

MAX_POINTS = 400  # more hide each other
OUTSIDE = PALETTE[1]


def of_quality(findings: Findings) -> list[Picture]:
    """Show how well hidden labels were predicted."""
    loo = findings.loo
    if isinstance(loo, LooNumbers):
        if not len(loo.given):
            return []
        return [_predicted_against_given(loo), _error_histogram(loo)]
    tested = loo.tested()
    if not tested.given:
        return []
    pairs = zip(tested.given, tested.predicted, strict=True)
    right = np.array([given == predicted for given, predicted in pairs])
    return [
        _confusion_matrix(confusion(tested.given, tested.predicted)),
        _reliability_diagram(reliability(tested.confidence, right)),
    ]


def _confusion_matrix(found: Confusion) -> Picture:
    """Draw the counts, shaded by their share of the given class."""
    c, counts = len(found.classes), found.counts
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    listed = c - (found.lumped > 0)
    names = [*short_names(found.classes[:listed], 14), *found.classes[listed:]]
    fontsize = 10.5 if c <= 7 else 9.0 if c <= 10 else 8.0
    tilt = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    is_tilted = max(len(name) for name in names) * c > 36

    def paint(ax: Any) -> None:
        gaps = {"edgecolors": PAPER, "linewidth": 1.5, "antialiased": True}
        ax.pcolormesh(shares, cmap=SHARE, vmin=0, vmax=1, **gaps)
        for i, j in np.argwhere(counts > 0):
            color = ON_SHARE if shares[i, j] > 0.6 else INK
            style = {"color": color, "weight": "bold" if i == j else "normal"}
            place = {"ha": "center", "va": "center", "fontsize": fontsize}
            ax.text(j + 0.5, i + 0.5, f"{counts[i, j]:,}", **style, **place)
        ax.set_xticks(np.arange(c) + 0.5, names, **(tilt if is_tilted else {}))
        ax.set_yticks(np.arange(c) + 0.5, names)
        ax.set(xlabel="predicted", ylabel="given")
        ax.invert_yaxis()
        ax.spines[:].set_visible(False)

    alt = f"Confusion matrix of {count(found.total, 'label')}: {found.wrong:,} wrong."
    caption = (
        "Each of your labels against the prediction made while it was hidden. Numbers "
        "on the diagonal are right, all others are mix-ups."
    )
    if found.lumped:
        among = found.lumped_right + found.lumped_wrong
        caption += (
            f" The {c - 1} classes with the most mix-ups, or the most "
            f"labels, have a row each; {found.lumped:,} other classes share the last "
            f"row. {count(among, 'label')} of these other classes "
            f"{'was' if among == 1 else 'were'} predicted as one of them, "
            f"{found.lumped_right:,} correctly; the picture leaves them out."
        )
    return draw(paint, height=max(4.2, 1.5 + 0.31 * c), alt=alt, caption=caption)


def _reliability_diagram(found: Reliability) -> Picture:
    """Draw accuracy over confidence with intervals, above the labels in each bin."""
    differ = (
        f"On average, confidence and accuracy differ by {percent(found.error)}; if "
        f"each confidence were right, they would differ by "
        f"{percent(found.error_by_chance)} by chance."
    )

    def paint(ax: Any, below: Any) -> None:
        ax.plot([0, 100], [0, 100], color=GRAY, linestyle="--", linewidth=1.3)
        x, y = 100 * found.confidence, 100 * found.accuracy
        around = np.abs(100 * np.array([found.low, found.high]) - y)
        bars = {"ecolor": PALETTE[4], "elinewidth": 2.5}
        ax.errorbar(x, y, around, fmt="o", color=PALETTE[0], markersize=7, **bars)
        hint = {"fontsize": 9, "color": SOFT}
        ax.text(97, 5, "below the line:\ntoo confident", ha="right", **hint)
        ax.text(3, 99, "above the line:\ntoo cautious", va="top", **hint)
        ax.set(xlim=(0, 102), ylim=(0, 104), ylabel="right, %")
        ax.grid(visible=True)
        below.bar(x, found.counts, 4.0, color=PALETTE[4])
        for place, n in zip(x, found.counts, strict=True):
            below.text(place, n, f"{n:,}", ha="center", va="bottom", fontsize=9)
        highest = max(1, found.counts.max(initial=1))
        below.set(xlabel="confidence, %", ylabel="labels", ylim=(0, 1.5 * highest))
        below.set_yticks([])

    alt = (
        f"Hidden labels were predicted with "
        f"{percent(found.mean(found.confidence))} confidence on average, and "
        f"{percent(found.mean(found.accuracy))} of the predictions were right. {differ}"
    )
    caption = (
        f"Can you trust the confidence? On the dashed line, rows predicted with "
        f"80{PERCENT} confidence are right 80{PERCENT} of the time. Bars are "
        f"95{PERCENT} intervals; the numbers below count the labels. {differ}"
    )
    return draw(paint, height=4.2, parts=(3.6, 1), alt=alt, caption=caption)


def _predicted_against_given(loo: LooNumbers) -> Picture:
    """Draw each hidden label with its interval; intervals that miss it stand out."""
    rows = np.flatnonzero(np.isfinite(loo.given) & np.isfinite(loo.predicted))
    if len(rows) > MAX_POINTS:  # spread evenly over the given numbers
        order = rows[np.argsort(loo.given[rows], kind="stable")]
        rows = order[np.linspace(0, len(order) - 1, MAX_POINTS).astype(int)]
    x, y = loo.given[rows], loo.predicted[rows]
    low, high = loo.low[rows], loo.high[rows]
    inside = (low <= x) & (x <= high)

    def paint(ax: Any) -> None:
        both = np.concatenate([x, y]) if len(rows) else np.array([0.0, 1.0])
        margin = 0.04 * np.ptp(both) or 0.5
        reach = [both.min() - margin, both.max() + margin]
        ax.plot(reach, reach, color=GRAY, linestyle="--", linewidth=1.3)
        for chosen, color, marker, label in (
            (inside, PALETTE[0], "o", "in its interval"),
            (~inside, OUTSIDE, "D", "outside"),
        ):
            point = {"color": color, "markersize": 4.5, "label": label}
            ax.vlines(x[chosen], low[chosen], high[chosen], color=color, alpha=0.22)
            ax.plot(x[chosen], y[chosen], marker, **point)
        ends = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)], reach])
        ax.set(xlabel="given", ylabel="predicted while hidden")
        ax.set(xlim=reach, ylim=(ends.min(), ends.max()))
        ax.locator_params(nbins=6)
        ax.grid(visible=True)
        legend_above(ax, handletextpad=0.2)

    alt = (
        f"Predicted against given numbers: R² {two_decimals(loo.r_squared().value)}, "
        f"and {percent(loo.held)} of the given numbers lie within their "
        f"intervals."
    )
    caption = (
        f"On the dashed line the prediction is exact. Vertical lines are the "
        f"intervals, which should hold {percent(loo.level)} of the given numbers: they "
        f"were made from these errors, so this is no test of them."
    )
    return draw(paint, height=4.0, alt=alt, caption=caption)


def _error_histogram(loo: LooNumbers) -> Picture:
    """Draw given minus predicted; 0 is no error."""
    errors = loo.given - loo.predicted
    errors = errors[np.isfinite(errors)]
    bias = half = most = np.nan
    if len(errors):
        bias, (half, most) = errors.mean(), np.quantile(np.abs(errors), [0.5, 0.9])

    def paint(ax: Any) -> None:
        if m := len(errors):
            reach = np.abs(np.quantile(errors, [0.005, 0.995])).max() or 1.0
            bins = int(np.clip(2 * np.ceil(m ** (1 / 3)), 6, 30))
            edges = np.linspace(-reach, reach, bins + 1)
            style = {"color": PALETTE[4], "edgecolor": PAPER, "linewidth": 0.8}
            ax.hist(np.clip(errors, -reach, reach), edges, **style)
        ax.axvline(0.0, color=INK, linewidth=1.4)
        if np.isfinite(bias):
            ax.axvline(bias, color=OUTSIDE, linewidth=1.8, linestyle=":")
        ax.set(xlabel="given minus predicted", ylabel="labels")
        ax.locator_params(axis="x", nbins=6)
        ax.locator_params(axis="y", nbins=5, integer=True)
        ax.grid(axis="y")

    alt = (
        f"Histogram of errors: mean {number(bias)}, half of them no larger than "
        f"{number(half)} in size."
    )
    caption = (
        f"Errors: given minus predicted. Half of them are no larger than "
        f"{number(half)}, nine out of ten no larger than {number(most)}. The dotted "
        f"line is their mean, {number(bias)}. A mean far from 0 says that predictions "
        f"are too low (above 0) or too high (below 0)."
    )
    return draw(paint, height=2.9, alt=alt, caption=caption)
