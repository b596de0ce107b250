"""The paper's setting: two Gaussians in d = 10, unit variance, centers 3 apart; one row
in ten labeled; error of the unlabeled rows against n over 50 trials, for Laplacian
regularization (lambda = 1, mu = 1/n, p = 50) and for the harmonic function of the graph
of all rows, both with a Gaussian of bandwidth n^(-1/14) log n; then the time to train,
also with all n (d + 1) functions.

Chosen where it is silent: as many rows and as many labels of either class; landmarks
are drawn uniformly; no unpenalized constant; graph weights are those of the kernel,
with no loops. S1 equation 5 has the labeled rows in the covariance, algorithm 1 has all
of them: both are shown, and the claims are judged by the first. In the second panel a
row's class is the side of the median of all unlabeled rows on which it lies, instead of
its sign, for both methods: what is left of the gap once neither need guess where to
cut, given that the classes are equally large. (Zhu, Ghahramani and Lafferty, from whom
the graph method is, correct the masses of the classes for the same reason.) Times are
those that one thread keeps a processor busy, the median of three after one that does
not count, and include predicting the rows; the representation in all n (d + 1)
functions is timed up to 400 rows, some ten seconds, and not beyond.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Run, Size
from experiments.laplacian.gaussians import (
    BEST_ERROR,
    draw,
    errors,
    exact,
    graph,
    kernelized,
)
from experiments.laplacian.pictures import BLUE, GRAY, GREEN, ORANGE, PINK
from experiments.page import Claim, Page, Picture, Table

TARGET = 0.20  # the error at which the paper compares
NS = (40, 60, 100, 200, 400, 700, 1_000)
METHODS = {
    "labeled": ("Laplacian", BLUE),
    "all": ("Laplacian, covariance of all rows", PINK),
    "graph": ("graph", ORANGE),
}
TIMED = {
    "labeled": (BLUE, (100, 200, 400, 700, 1_000, 2_000)),
    "graph": (ORANGE, (100, 200, 400, 700, 1_000, 2_000)),
    "exact": (GREEN, (100, 200, 300, 400)),
}
LABELS = {
    "labeled": "Laplacian, p = 50",
    "graph": "graph",
    "exact": "all n (d + 1) functions",
}


def cells(size: Size) -> list[dict[str, Any]]:
    ns, trials = size.pick((NS, 50), ((40, 100, 400), 8))
    most = {"exact": size.pick(10_000, 100)}
    timed = [
        {"what": "time", "method": method, "n": n}
        for method, (_, sizes) in TIMED.items()
        for n in sizes
        if n <= most.get(method, size.pick(10_000, 200))
    ]
    return [*({"what": "error", "n": n, "trials": trials} for n in ns), *timed]


def run(what: str, n: int, trials: int = 1, method: str = "") -> dict[str, Any]:
    return timing(method, n) if what == "time" else errors_at(n, trials)


def errors_at(n: int, trials: int) -> dict[str, Any]:
    out: dict[str, list[tuple[float, float, float]]] = {name: [] for name in METHODS}
    for trial in range(trials):
        table = draw(n, trial)
        for covariance in ("labeled", "all"):
            values = kernelized(table, trial, covariance=covariance)
            out[covariance].append(errors(table, values))
        out["graph"].append(errors(table, graph(table)))
    return {
        name: dict(zip(("sign", "median", "square"), np.transpose(each), strict=True))
        for name, each in out.items()
    }


def timing(method: str, n: int) -> dict[str, Any]:
    table = draw(n, 0)
    train: dict[str, Callable[[], Any]] = {
        "labeled": lambda: kernelized(table, 0),
        "graph": lambda: graph(table),
        "exact": lambda: exact(table),
    }
    seconds = []
    with threadpool_limits(1):
        for _ in range(4):
            start = time.process_time()
            train[method]()
            seconds.append(time.process_time() - start)
            if sum(seconds) > 15:  # long enough for the first call not to matter
                return {"seconds": min(seconds)}
    return {"seconds": float(np.median(seconds[1:]))}


def report(runs: list[Run]) -> Page:
    by_n = {r.cell["n"]: r.result for r in runs if r.cell["what"] == "error"}
    times: dict[str, dict[int, float]] = {name: {} for name in TIMED}
    for run in runs:
        if run.cell["what"] == "time":
            times[run.cell["method"]][run.cell["n"]] = run.result["seconds"]
    parts: list[str | Table | Picture] = []
    claims: list[Claim] = []
    if by_n:
        parts += [_error_table(by_n), Picture(_ERROR_CAPTION, _error_figure(by_n))]
        claims += _error_claims(by_n)
    if any(times.values()):
        parts += [_time_table(times), Picture(_TIME_CAPTION, _time_figure(times))]
        claims += _time_claims(times)
    return Page(parts, claims)


# ---- errors --------------------------------------------------------------------------


def _of(by_n: dict[int, Any], method: str, cut: str) -> np.ndarray:  # (n's, trials)
    return np.array([by_n[n][method][cut] for n in sorted(by_n)])


def _error_table(by_n: dict[int, Any]) -> Table:
    header, lines = ["n"], [[f"{n:,}"] for n in sorted(by_n)]
    for cut in ("sign", "median"):
        for method, (name, _) in METHODS.items():
            header.append(f"{name}, by {cut}")
            each = 100 * _of(by_n, method, cut)
            for line, mean, sd in zip(lines, each.mean(1), each.std(1), strict=True):
                line.append(f"{mean:.1f} ± {sd:.1f}")
    trials = _of(by_n, "graph", "sign").shape[1]
    caption = (
        f"Errors of unlabeled rows in percent, {trials} trials, mean and standard "
        f"deviation. The best border has {100 * BEST_ERROR:.1f} %."
    )
    return Table(caption, header, lines)


def _needs(by_n: dict[int, Any], method: str, paper: int) -> Claim:
    """The claim that a method's error is 20 % at the paper's n."""
    says = f"Figure 3: {METHODS[method][0]} needs {paper} rows for an error of 20 %."
    ns, each = sorted(by_n), _of(by_n, method, "sign")
    mean, error = each.mean(axis=1), each.std(axis=1) / np.sqrt(each.shape[1])
    seen = "means in percent " + ", ".join(
        f"{n}: {100 * m:.1f} ± {100 * e:.1f}"
        for n, m, e in zip(ns, mean, error, strict=True)
    )
    if paper not in ns:
        return Claim(says, "not testable", f"{paper} rows were not run; {seen}")
    at = ns.index(paper)
    off, allowed = abs(mean[at] - TARGET), 0.01 + 2 * error[at]
    verdict = "reproduced in part" if off <= 0.05 else "not reproduced"
    return Claim(
        says,
        "reproduced" if off <= allowed else verdict,
        f"{seen}; at {paper} rows {100 * off:.1f} points from 20 %, of which a point "
        f"and two standard errors, {100 * allowed:.1f}, are allowed",
    )


def _error_claims(by_n: dict[int, Any]) -> list[Claim]:
    ns = sorted(by_n)
    claims = [_needs(by_n, "labeled", 40), _needs(by_n, "graph", 700)]
    for cut in ("sign", "median"):
        gap = _of(by_n, "graph", cut) - _of(by_n, "labeled", cut)
        mean, error = gap.mean(axis=1), gap.std(axis=1) / np.sqrt(gap.shape[1])
        better = mean > 2 * error
        seen = "graph minus Laplacian, in points: " + ", ".join(
            f"{n}: {100 * m:+.1f} ± {100 * e:.1f}"
            for n, m, e in zip(ns, mean, error, strict=True)
        )
        if cut == "sign":
            says = "Figure 3: superior to the graph in d = 10, at every n."
            verdict = "reproduced" if better.all() else "reproduced in part"
            verdict = verdict if better.any() else "not reproduced"
        else:
            says = (
                "(ours) Nothing is left of that gap when both are cut at their median: "
                "the graph orders the rows no worse, but its values are shifted."
            )
            verdict = "not reproduced" if better.all() else "reproduced in part"
            verdict = verdict if better.any() else "reproduced"
        claims.append(Claim(says, verdict, seen))
    return claims


_ERROR_CAPTION = (
    "Left: errors against n, thresholded at 0 as in the paper. Right: the same fits, "
    "each thresholded at its median. Bars are standard deviations over trials."
)


def _error_figure(by_n: dict[int, Any]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(11, 4.2), sharey=True, layout="constrained"
    )
    ns = sorted(by_n)
    titles = {"sign": "sign of the values", "median": "side of their median"}
    for ax, (cut, title) in zip(axes, titles.items(), strict=True):
        for shift, (method, (name, color)) in zip(
            (0.97, 1.0, 1.03), METHODS.items(), strict=True
        ):
            each = 100 * _of(by_n, method, cut)
            x = shift * np.array(ns)
            mean, deviation = each.mean(axis=1), each.std(axis=1)
            ax.errorbar(
                *(x, mean, deviation), color=color, marker="o", capsize=3, label=name
            )
        ax.axhline(100 * BEST_ERROR, color=GRAY, linestyle=":", label="best border")
        ax.set(xscale="log", xlabel="n", title=f"class by the {title}")
        ax.set_xticks(ns, [f"{n:,}" for n in ns])
        ax.minorticks_off()
    axes[0].set_ylabel("error of unlabeled rows, %")
    axes[1].legend()
    return figure


# ---- times ---------------------------------------------------------------------------


def _time_table(times: dict[str, dict[int, float]]) -> Table:
    ns = sorted({n for each in times.values() for n in each})
    lines = [
        [f"{n:,}", *(f"{each[n]:.3g}" if n in each else "" for each in times.values())]
        for n in ns
    ]
    return Table(
        "Processor seconds to fit and predict, one thread.",
        ["n", *LABELS.values()],
        lines,
    )


def _time_claims(times: dict[str, dict[int, float]]) -> list[Claim]:
    ours, by_graph, naive = times["labeled"], times["graph"], times["exact"]
    claims = []
    n = 1_000 if 1_000 in ours else max(ours, default=0)
    if n and n in by_graph:
        slower = max(ours[n], by_graph[n])
        claims.append(
            Claim(
                "Figure 3: at 1,000 rows Laplacian and graph both take about a tenth "
                "of a second (on 2 GHz).",
                "reproduced"
                if slower <= 0.2 and n == 1_000
                else "not reproduced"
                if n == 1_000
                else "not testable",
                f"at {n:,} rows {ours[n]:.3f} s and {by_graph[n]:.3f} s",
            )
        )
    both = sorted(set(ours) & set(naive))
    if both:
        at = both[-1]
        ratio, slope = naive[at] / ours[at], float("nan")
        if len(both) > 1:
            slope = np.polyfit(
                np.log(both[-2:]), np.log([naive[m] for m in both[-2:]]), 1
            )[0]
        claims.append(
            Claim(
                "Figure 3: at 1,000 rows all n (d + 1) functions take a hundred times "
                "as long (10 s).",
                "reproduced"
                if ratio >= 100
                else ("reproduced in part" if ratio >= 10 else "not reproduced"),
                f"already {ratio:.0f} times as long at {at:,} rows, the most that were "
                f"timed ({naive[at]:.1f} s against {ours[at]:.3f} s), growing as n to "
                f"the {slope:.1f}; needed: 100 times at 1,000 rows or before",
            )
        )
    return claims


_TIME_CAPTION = (
    "Processor seconds to fit and predict, one thread. All n (d + 1) functions end "
    "at 400 rows."
)


def _time_figure(times: dict[str, dict[int, float]]) -> Any:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
    for method, (color, _) in TIMED.items():
        each = sorted(times[method].items())
        if each:
            ax.plot(*zip(*each, strict=True), "o-", color=color, label=LABELS[method])
    ax.set(xscale="log", yscale="log", xlabel="n", ylabel="seconds")
    ns = sorted({n for each in times.values() for n in each})
    ax.set_xticks(ns, [f"{n:,}" for n in ns])
    ax.minorticks_off()
    ax.legend()
    return figure


EXPERIMENT = Experiment(
    name="laplacian-figure-3",
    title="Two Gaussians in ten columns, against the graph",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__ or "",
)
