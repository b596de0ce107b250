"""What k Gaussian features leave of each mode: theorem 5.2 by draws.

The paper's setting: the ratio of the residual eigenvalue to the eigenvalue, 1 - 2 s_i
E[M_ii] + sum_j s_j^2 E[M_ij^2], with M_ij = xi_i' G^-1 xi_j and G = sum_i s_i xi_i
xi_i', a mean over 50 draws; k = 10, 100, 200, 300; eigenvalues i^-4, i^-2, i^-1.1 and
exp(-0.1 i).

Chosen, where the paper is silent: 2,000 modes are drawn, and those beyond enter by
their mean, as a multiple of the identity in G. For i^-1.1 this matters: two fifths of
the sum of all eigenvalues lie there. The black lines are the closed form c kappa^2 /
(s_i + kappa)^2 of `halfmoon.theory.soft_threshold_spectrum`, in which nothing is
fitted: sum L_i = k gives kappa, and c = k / (k - sum L_i^2).

For exp(-0.1 i) and k = 300 the matrix G falls by 13 decades and is singular in double
precision, so that the formula as it stands cannot be computed; the table says what
comes out of it. We work with a root of G that is made orthonormal in two passes
(`experiments/conditional/draws.py`), which is exact to 12 digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import zeta

from experiments.conditional.draws import drawn_ratio, plain_ratio
from experiments.experiment import Experiment, Run, Size
from experiments.page import Claim, Page, Picture, Table
from halfmoon._rows import Array
from halfmoon.theory import soft_threshold_spectrum
from halfmoon.theory._soft_threshold import SoftThreshold

SPECTRA = ("i^-4", "i^-2", "i^-1.1", "exp(-0.1 i)")
RATE = 0.1
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
NEAR = 0.05  # how close draws and theory must be at a mode to count as equal


def cells(size: Size) -> list[dict[str, Any]]:
    modes, draws = size.pick(2000, 300), size.pick(50, 10)
    return [
        {"spectrum": name, "k": k, "modes": modes, "draws": draws}
        for name in SPECTRA
        for k in size.pick((10, 100, 200, 300), (10, 40))
    ]


def eigenvalues(name: str, modes: int) -> tuple[Array, float, float]:
    """The first modes, and the sums of the others and of their squares."""
    i = np.arange(1.0, modes + 1)
    if name.startswith("exp"):
        rest = [
            np.exp(-rate * (modes + 1)) / (1 - np.exp(-rate))
            for rate in (RATE, 2 * RATE)
        ]
        return np.exp(-RATE * i), float(rest[0]), float(rest[1])
    a = power(name)
    return i**-a, float(zeta(a, modes + 1)), float(zeta(2 * a, modes + 1))


def power(name: str) -> float:
    """a of i^-a."""
    return float(name.removeprefix("i^-"))


def theory(cell: dict[str, Any]) -> SoftThreshold:
    s, tail, _ = eigenvalues(cell["spectrum"], cell["modes"])
    return soft_threshold_spectrum(s, cell["k"], tail=tail)


def run(spectrum: str, k: int, modes: int, draws: int) -> dict[str, Any]:
    """Ratios at about a hundred modes, spread evenly on the scale of log i."""
    rng = np.random.default_rng([6, SPECTRA.index(spectrum), k])
    s, tail, squares = eigenvalues(spectrum, modes)
    shown = np.unique(np.geomspace(1, modes, 140).round().astype(np.intp)) - 1
    near_k = np.unique(np.linspace(k / 2, 2 * k, 40).astype(np.intp))
    shown = np.union1d(shown, near_k[near_k < modes])
    ratios = np.array(
        [drawn_ratio(s, k, shown, rng, tail, squares) for _ in range(draws)]
    )
    plain, rank = plain_ratio(s, k, shown, np.random.default_rng(0))
    exact = drawn_ratio(s, k, shown, np.random.default_rng(0))
    large = exact > 0.5  # modes that are not taken out
    return {
        "mode": shown + 1,
        "ratio": ratios.mean(axis=0),
        "error": ratios.std(axis=0, ddof=1) / np.sqrt(draws),
        "rank": rank,
        "plain_error": float(np.median(np.abs(plain[large] / exact[large] - 1))),
    }


def report(runs: list[Run]) -> Page:
    picture = Picture(
        "Residual over original eigenvalue against the mode, by draws (dots, ± 2 "
        "standard errors) and in closed form (line); dashed: k.",
        _draw(runs),
    )
    return Page(
        [picture, _table(runs)], [_softly(runs), _amplified(runs), _closed(runs)]
    )


def _draw(runs: list[Run]) -> Any:
    import matplotlib.pyplot as plt

    ks = sorted({r.cell["k"] for r in runs})
    figure, axes = plt.subplots(
        len(SPECTRA), len(ks), figsize=(3.2 * len(ks), 9.5), layout="constrained",
        squeeze=False, sharex=True,
    )  # fmt: skip
    for r in runs:
        row, column = SPECTRA.index(r.cell["spectrum"]), ks.index(r.cell["k"])
        axis, mode = axes[row, column], np.array(r.result["mode"])
        error = 2 * np.array(r.result["error"])
        axis.errorbar(mode, r.result["ratio"], error, fmt="o", ms=2.5, lw=0.8,
                      color=COLORS[row])  # fmt: skip
        axis.plot(mode, theory(r.cell).ratio[mode - 1], color="black", lw=1.2)
        axis.axvline(r.cell["k"], ls="--", color="gray", lw=0.8)
        axis.set(xscale="log", ylim=(0, None))
        axis.set_title(f"{r.cell['spectrum']}, k = {r.cell['k']}", fontsize=10)
    for axis in axes[-1]:
        axis.set_xlabel("mode i")
    for axis in axes[:, 0]:
        axis.set_ylabel("residual / original")
    return figure


def _table(runs: list[Run]) -> Table:
    rows = []
    for r in runs:
        said, seen = theory(r.cell), np.array(r.result["ratio"])
        last = np.array(r.result["mode"]) > r.cell["modes"] / 2
        rows.append(
            [
                r.cell["spectrum"],
                str(r.cell["k"]),
                f"{said.kappa:.2e}",
                f"{said.c:.3f}",
                f"{seen[last].mean():.3f}",
                f"{r.result['rank']} of {r.cell['k']}",
                f"{r.result['plain_error']:.0e}",
            ]
        )
    return Table(
        "Closed form and draws. The last modes are those of the upper half; the rank "
        "of G is that in double precision, and the plain error what solving with G as "
        "it stands does to one draw (median over modes that are not taken out).",
        ["eigenvalues", "k", "kappa", "c", "ratio of the last modes", "rank of G",
         "plain error"],
        rows,
    )  # fmt: skip


def _softly(runs: list[Run]) -> Claim:
    """Reproduced where the first have ratios below 0.25, and the last a mean above 1.

    In every panel; the first are those with eigenvalues ten times above kappa or more,
    the last those a hundred times below: at ten times a fifth is still taken out.
    """
    first: list[float] = []
    last: list[float] = []  # a mean for each panel
    nearer: list[float] = []
    for r in runs:
        mode, ratio = np.array(r.result["mode"]), np.array(r.result["ratio"])
        s = eigenvalues(r.cell["spectrum"], r.cell["modes"])[0][mode - 1]
        kappa = theory(r.cell).kappa
        first += list(ratio[s > 10 * kappa])
        nearer += list(ratio[s < kappa / 10])
        if (s < kappa / 100).any():
            last.append(float(ratio[s < kappa / 100].mean()))
    if not first or not last:
        return Claim(SOFT, "not testable", "no mode is far from kappa in these runs")
    ok = max(first) < 0.25, min(last) > 1
    verdict = "reproduced" if all(ok) else "reproduced in part"
    if not any(ok):
        verdict = "not reproduced"
    return Claim(
        SOFT,
        verdict,
        f"eigenvalues ten times above kappa: ratio at most {max(first):.3f} (median "
        f"{np.median(first):.1e}, {len(first)} points); a hundred times below: means "
        f"from {min(last):.2f} to {max(last):.1f} over {len(last)} panels; single "
        f"modes only ten times below: from {min(nearer):.2f}, "
        f"{100 * np.mean(np.array(nearer) < 1):.0f} % of them under 1",
    )


SOFT = (
    "Modes with eigenvalues well above kappa are strongly suppressed, those well below "
    "amplified"
)


def _amplified(runs: list[Run]) -> Claim:
    """Reproduced where, at the least k, the last modes grow by c within 15 percent."""
    few = [r for r in runs if r.cell["k"] == min(run.cell["k"] for run in runs)]
    ratios = []
    for r in few:
        last = np.array(r.result["mode"]) > r.cell["modes"] / 2
        ratios.append(np.array(r.result["ratio"])[last].mean() / theory(r.cell).c)
    ok = np.abs(np.array(ratios) - 1) < 0.15
    verdict = "reproduced" if ok.all() else "reproduced in part"
    if not ok.any():
        verdict = "not reproduced"
    seen = ", ".join(
        f"{r.cell['spectrum']} {ratio:.2f}"
        for r, ratio in zip(few, ratios, strict=True)
    )
    return Claim(
        "The behavior persists for finite k",
        verdict,
        f"at k = {few[0].cell['k']}, growth of the last modes over c: {seen}",
    )


def _closed(runs: list[Run]) -> Claim:
    """Reproduced where 9 of 10 modes agree to 5 percent or two standard errors.

    Of modes that are left at least a tenth of.
    """
    apart, errors = [], []
    for r in runs:
        said = theory(r.cell).ratio[np.array(r.result["mode"]) - 1]
        left = said > 0.1
        apart += list((np.array(r.result["ratio"]) / said - 1)[left])
        errors += list((np.array(r.result["error"]) / said)[left])
    gap = np.abs(apart)
    near = float(np.mean((gap < NEAR) | (gap < 2 * np.array(errors))))
    verdict = "reproduced" if near >= 0.9 else "reproduced in part"
    if near < 0.5:
        verdict = "not reproduced"
    return Claim(
        "(ours) The closed form with c = k / (k - sum L_i^2) has no free constant left",
        verdict,
        f"{100 * near:.0f} % of {len(apart)} points with a ratio above 0.1 within 5 % "
        f"or two standard errors; draws over theory: median "
        f"{1 + np.median(apart):.3f}, 8 of 10 from "
        f"{1 + np.quantile(apart, 0.1):.3f} to {1 + np.quantile(apart, 0.9):.3f}",
    )


EXPERIMENT = Experiment(
    name="conditional-figure-6",
    title="What k Gaussian features leave of each mode",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__ or "",
)
