"""Test error against k where the labels are noise alone.

S2, section 5.1: "for pure-noise datasets (f = 0), the test MSE consistently increased
with k across all experiments". The circle of figure 2 with f = 0, noise of variance 1,
lambda = 0.01, N = 50, 100 and 400; k leading eigenfunctions are unpenalized, those of
the integral operator (the waves 1, cos ix, sin ix, as in figure 3) or those of the
kernel matrix (`halfmoon._solvers.hard_threshold`). 200 repetitions (50 at N = 400); the
test error is that of an infinite test set. The lines of the table are means over
repetitions.

There is nothing to learn here, so each function that is set free costs about its share
of the noise: this is the cost of conditioning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.conditional.circle import ALPHA, KERNEL, grid, sample_rows, waves
from experiments.experiment import Experiment, Run, Size
from experiments.page import Claim, Page, Table
from halfmoon._solvers.feature_path import hard_threshold, nested_features

NOISE = 1.0
FUNCTIONS = {"waves": "of the operator", "kernel": "of the kernel matrix"}


def cells(size: Size) -> list[dict[str, Any]]:
    many, few = size.pick(200, 10), size.pick(50, 4)
    return [
        {"n": n, "k_max": k_max, "repeats": repeats}
        for n, k_max, repeats in ((50, 8, many), (100, 15, many), (400, 20, few))
    ]


def run(n: int, k_max: int, repeats: int) -> dict[str, Any]:
    """Test errors with 0, 1, 3, 5, ... free functions, and how often they rise."""
    rng = np.random.default_rng([7, n, k_max])
    everywhere = grid(256)
    F_x, nothing = waves(everywhere, k_max), np.zeros((256, 1))
    columns = [0] + [2 * k + 1 for k in range(k_max + 1)]
    risks = {name: np.empty((repeats, len(columns))) for name in FUNCTIONS}
    for i in range(repeats):
        X = sample_rows(rng, n)
        y = np.sqrt(NOISE) * rng.standard_normal((n, 1))
        K, K_x = KERNEL(X), KERNEL(everywhere, X)
        nested = nested_features(K, waves(X, k_max), y, ALPHA * n)
        risks["waves"][i] = NOISE + nested.errors(K_x, F_x, nothing)[columns]
        path = hard_threshold(K, y)
        errors = path.errors(K_x, nothing, np.array([ALPHA]))[0]
        risks["kernel"][i] = NOISE + errors[columns]
    return {
        "free": columns,
        **{name: each.mean(axis=0) for name, each in risks.items()},
        **{
            f"{name}_step": np.diff(each, axis=1).mean(axis=0)
            for name, each in risks.items()
        },
        **{
            f"{name}_step_error": np.diff(each, axis=1).std(axis=0, ddof=1)
            / np.sqrt(repeats)
            for name, each in risks.items()
        },
    }


def report(runs: list[Run]) -> Page:
    page = Page()
    rows = []
    for r in runs:
        free = r.result["free"]
        for name, what in FUNCTIONS.items():
            risk = np.array(r.result[name])
            shown = [0, 1, len(free) // 2, len(free) - 1]
            told = [f"{risk[at]:.3f} ({free[at]})" for at in shown]
            rows.append([str(r.cell["n"]), what, *told])
    page.parts.append(
        Table(
            "Test error of pure noise, with the number of free functions in brackets.",
            ["N", "eigenfunctions", "none", "first", "half", "all"],
            rows,
        )
    )
    page.claims.append(_rises(runs))
    return page


def _rises(runs: list[Run]) -> Claim:
    """Reproduced where no step of k lowers the mean error by two standard errors.

    And the last k must be above the first by two standard errors of its steps.
    """
    seen, rises = [], []
    for r in runs:
        for name, what in FUNCTIONS.items():
            step = np.array(r.result[f"{name}_step"])
            error = np.array(r.result[f"{name}_step_error"])
            never_falls = bool((step > -2 * error).all())
            total = step.sum() > 2 * np.sqrt((error**2).sum())
            rises.append(never_falls and bool(total))
            risk = np.array(r.result[name])
            seen.append(f"N = {r.cell['n']}, {what}: {risk[0]:.3f} to {risk[-1]:.3f}")
    verdict = "reproduced" if all(rises) else "reproduced in part"
    if not any(rises):
        verdict = "not reproduced"
    text = "For pure noise the test error increases with k"
    return Claim(text, verdict, "; ".join(seen))


EXPERIMENT = Experiment(
    name="conditional-pure-noise",
    title="Pure noise: the test error rises with the number of free functions",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__ or "",
)
