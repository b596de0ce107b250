"""S2 shows the test error of the threshold of table 1 at the fixed weight 0.01 against
k, the number of unpenalized eigenfunctions, with a band over the folds.

Setting and choices are those of table 1. Here the band reaches from the least to the
largest of the folds, as they are few.
"""

from __future__ import annotations

import numpy as np

from experiments.conditional import table_1
from experiments.experiment import Experiment, Run
from experiments.page import Claim, Page, Picture
from halfmoon._rows import Array

SHOWN = {"Gaussian": "#0072B2", "NNGP erf": "#D55E00", "Laplace": "#009E73"}

#: Above the least error by this share counts as overfitting that can be seen.
SEEN = 0.02
NEAR = 0.8  # of the training rows, and beyond: near all of them


class Curves:
    """Test errors of one kernel against k, over folds."""

    def __init__(self, kernel: str, runs: list[Run]) -> None:
        results = [r.result for r in runs if r.cell["kernel"] == kernel]
        self.folds = len(results)
        if not self.folds:
            return
        self.rank = min(r["rank"] for r in results)
        self.k = np.unique(
            np.concatenate([r["k"] for r in results]).clip(max=self.rank)
        )
        # Folds keep somewhat different k, and their own best ones.
        self.errors: Array = np.array(
            [np.interp(self.k, r["k"], r["test"]) for r in results]
        )
        self.mean: Array = self.errors.mean(axis=0)

    @property
    def least(self) -> int:
        return int(self.k[self.mean.argmin()])

    @property
    def fall(self) -> float:
        return float(self.mean[0] / self.mean.min() - 1)

    @property
    def rise(self) -> float:
        """How far the error at the largest k is above the least one."""
        return float(self.mean[-1] / self.mean.min() - 1)

    @property
    def seen_from(self) -> float | None:
        """Share of all k from which on overfitting is seen; None where it never is."""
        over = (self.k > self.least) & (self.mean > (1 + SEEN) * self.mean.min())
        return float(self.k[over][0] / self.rank) if over.any() else None


def report(runs: list[Run]) -> Page:
    every = {name: Curves(name, runs) for name in SHOWN}
    every = {name: curves for name, curves in every.items() if curves.folds}
    claims = []
    if "Gaussian" in every and "NNGP erf" in every:
        claims.append(_u_shaped(every))
        claims.append(_mild(every["NNGP erf"], every["Gaussian"]))
    if "Laplace" in every:
        claims.append(_none(every["Laplace"]))
    return Page([_picture(every)], claims)


def _u_shaped(every: dict[str, Curves]) -> Claim:
    said, held = [], 0
    for name in ("Gaussian", "NNGP erf"):
        c = every[name]
        held += c.fall > SEEN and c.rise > SEEN
        said.append(
            f"{name} {c.mean[0]:.4f} at k = 0, {c.mean.min():.4f} at k = {c.least}, "
            f"{c.mean[-1]:.4f} at k = {c.rank} ({c.rise:+.0%})"
        )
    return Claim(
        "Test error against k has the shape of a U for the Gaussian and the erf kernel",
        ("not reproduced", "reproduced in part", "reproduced")[held],
        f"{'; '.join(said)}. A U where both ends are above the least by {SEEN:.0%}",
    )


def _mild(erf: Curves, gaussian: Curves) -> Claim:
    late = erf.seen_from is not None and erf.seen_from >= NEAR
    milder = erf.rise < gaussian.rise
    if late and milder:
        verdict = "reproduced"
    else:
        verdict = "reproduced in part" if late or milder else "not reproduced"
    starts = [
        "nowhere" if c.seen_from is None else f"from k = {c.seen_from:.0%} of N on"
        for c in (erf, gaussian)
    ]
    return Claim(
        "With the erf kernel overfitting is very mild, and noticeable only as k comes "
        "near N, the number of training rows",
        verdict,
        f"above the least error by {SEEN:.0%}: {starts[0]} (Gaussian: {starts[1]}); at "
        f"the end above it by {erf.rise:.1%} (Gaussian: {gaussian.rise:.1%}). "
        f"Reproduced if it is milder, and noticed, but from {NEAR:.0%} on only",
    )


def _none(laplace: Curves) -> Claim:
    return Claim(
        "With the Laplace kernel there is no overfitting",
        "reproduced" if laplace.rise <= SEEN else "not reproduced",
        f"least {laplace.mean.min():.4f} at k = {laplace.least}, "
        f"{laplace.mean[-1]:.4f} at k = {laplace.rank} ({laplace.rise:+.1%})",
    )


def _picture(every: dict[str, Curves]) -> Picture:
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(
        1, len(every), figsize=(3.6 * len(every), 3.0), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for ax, (name, c) in zip(axes[0], every.items(), strict=True):
        color = SHOWN[name]
        low, high = c.errors.min(axis=0), c.errors.max(axis=0)
        ax.fill_between(c.k, low, high, color=color, alpha=0.25, lw=0)
        ax.plot(c.k, c.mean, color=color)
        ax.plot(c.least, c.mean.min(), "o", color=color, ms=4)
        ax.set_title(name)
        ax.set_yscale("log")
        ax.set_xlabel("k, unpenalized eigenfunctions")
    axes[0, 0].set_ylabel("mean squared test error")
    folds = max(c.folds for c in every.values())
    return Picture(
        f"Test error at the weight {table_1.FIXED} against k: mean of {folds} fold(s), "
        "from the least to the largest of them; the dot is the least mean.",
        fig,
    )


EXPERIMENT = Experiment(
    name="conditional-figure-4",
    title="Test error against the number of unpenalized eigenfunctions, 7 against 9",
    cells=table_1.cells,
    run=table_1.run,
    report=report,
    data=("mnist",),
    setting=__doc__,
    runs_of="conditional-table-1",
)
