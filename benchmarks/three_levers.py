"""Three levers at once, chosen by the search, on a table made for them.

Rows lie in twelve clouds. The target has a trend along the columns and its own level in
each cloud: unpenalized columns follow the trend; walks or averages over all rows and
the energy of the neighbor graph find the clouds. `HalfmoonClassifier` and
`HalfmoonRegressor` run with default arguments, unchanged, without candidates of three
levers, and without any combination of levers. Run with

    python -m benchmarks.three_levers

Every seed draws new levels and clouds. Seeds 0 and 1 were used to choose this table
among four; those from 2 on are reported.
"""

from __future__ import annotations

import argparse
import json
from typing import Any
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.lines import RESULTS
from halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._selection import families
from halfmoon._selection.semi_supervised_families import composed_candidates as composed

ROWS, CLOUDS, FIRST = 800, 12, 2
LABELS = {"classes": 40, "numbers": 60}
WAYS = ("as it is", "without three levers", "without composed ones", "supervised twin")


def table(seed: int, kind: str) -> tuple[Any, Any, Any]:
    """Draw rows, targets, and which rows are labeled."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-4, 4, (CLOUDS, 3))
    cloud = rng.integers(0, CLOUDS, ROWS)
    X = centers[cloud] + 0.35 * rng.standard_normal((ROWS, 3))
    level = 1.5 * rng.standard_normal(CLOUDS)
    f = X @ [1.0, 0.5, 0.0] + level[cloud]
    if kind == "classes":
        y = (f > np.median(f)).astype(float)
    else:
        y = f + 0.1 * rng.standard_normal(ROWS)
    return X, y, rng.choice(ROWS, LABELS[kind], replace=False)


def run(seed: int, kind: str) -> dict[str, Any]:
    """Return the error of each variant: share of wrong classes, or RMSE / std(y)."""
    X, y, labeled = table(seed, kind)
    known = np.full(ROWS, np.nan)
    known[labeled] = y[labeled]
    rest = np.isnan(known)
    estimator = HalfmoonClassifier if kind == "classes" else HalfmoonRegressor

    def error(model: Any) -> float:
        values = model.predict(X[rest])
        if kind == "classes":
            return float((values != y[rest]).mean())
        return float(np.sqrt(np.mean((values - y[rest]) ** 2)) / y.std())

    def two_levers(bench, own, columns, prepare, promising):
        return composed(bench, own, None, prepare, promising)

    found: dict[str, Any] = {"seed": seed, "kind": kind}
    ways = (composed, two_levers, lambda *_: iter(()))
    for way, candidates in zip(WAYS, ways, strict=False):
        with mock.patch.object(families, "composed_candidates", candidates):
            model = estimator(random_state=seed).fit(X, known)
        found[way] = error(model)
        if way == WAYS[0]:
            found[WAYS[-1]] = error(model.twin_)
            found["weight"] = three_levers_weight(model.comparison_)
    return found


def three_levers_weight(comparison: Any) -> float:
    """Weight of the candidates with three levers in the final model."""
    pairs = zip(comparison["candidate"], comparison["weight"], strict=True)
    return sum(
        float(weight)
        for name, weight in pairs
        if "composed" in name and "columns unpenalized" in name
    )


def page(runs: list[dict[str, Any]]) -> str:
    lines = [
        "# Three levers at once",
        "",
        "Made by `python -m benchmarks.three_levers`: twelve clouds with a level each,",
        "and a trend. Error in % (classes, 40 labels) or RMSE / std(y) in % (numbers,",
        "60 labels): mean ± standard error over the draws. Weight: of the candidates",
        "with a smoothed basis, a graph energy and unpenalized columns, in the answer.",
        "",
        "| kind | draws | " + " | ".join(WAYS) + " | better without three | weight |",
        "| --- | ---: |" + " ---: |" * (len(WAYS) + 2),
    ]
    for kind in LABELS:
        own = [each for each in runs if each["kind"] == kind]
        if not own:
            continue
        cells = []
        for way in WAYS:
            errors = 100 * np.array([each[way] for each in own])
            spread = np.std(errors) / np.sqrt(max(1, len(own) - 1))
            cells.append(f"{errors.mean():.1f} ± {spread:.1f}")
        better = sum(each[WAYS[1]] < each[WAYS[0]] for each in own)
        weight = np.mean([each["weight"] for each in own])
        cells += [f"{better} of {len(own)}", f"{weight:.2f}"]
        lines.append(f"| {kind} | {len(own)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=8)
    args = parser.parse_args()
    runs = []
    for seed in range(FIRST, FIRST + args.seeds):
        for kind in LABELS:
            with threadpool_limits(1):
                runs.append(run(seed, kind))
            print(runs[-1], flush=True)
            (RESULTS / "three_levers.json").write_text(
                json.dumps(runs, indent=1) + "\n"
            )
            (RESULTS / "three_levers.md").write_text(page(runs))


if __name__ == "__main__":
    main()
