"""Candidate sets, intervals and rankings: held-out rows beside simple rivals.

    HALFMOON_DATA=folder python -m benchmarks.weak [sets] [intervals] [rankings]

Columns are standardized on the training rows. Everything else is chosen on the training
rows alone: alpha by folds, the kernel (Gaussian or Laplace, at the median distance) by
the loss of the same folds. Folds are those of the files, or ten at random for rankings.
Results are kept after each table, and a table that is there is not run again.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
from sklearn.preprocessing import StandardScaler

from benchmarks.lines import RESULTS, machine
from halfmoon import ConditionalClassifier, ConditionalRegressor
from halfmoon.weak import (
    CandidateSetClassifier,
    IntervalRegressor,
    StructuredPredictor,
)

PATH = RESULTS / "weak.json"
KERNELS = ("gaussian", "laplace")
MISSING = (0.0, 0.3, 0.6)
#: Test accuracy of RC, DIRK and ED-PLL in a survey of 2026.
PRINTED_SETS = {"lost": (0.759, 0.743, 0.768), "MSRCv2": (0.583, 0.446, 0.599)}
#: Kendall's tau of the instance-based method and of trees, Cheng et al. 2009.
PRINTED_RANKINGS = {
    "iris": (0.966, 0.947), "wine": (0.949, 0.882), "glass": (0.865, 0.883),
    "vehicle": (0.862, 0.827), "housing": (0.745, 0.797), "stock": (0.927, 0.895),
}  # fmt: skip

ABOUT = """\
Labels that are known in part, on held-out rows; `python -m benchmarks.weak` makes this
page. Alpha and the kernel are chosen by folds of the training rows, without their true
labels.
"""


def best(make, X, y):
    """The model of the kernel with the least loss on folds of the training rows."""
    models = [make(kernel).fit(X, y) for kernel in KERNELS]
    return min(models, key=lambda model: model.fold_losses_.min())


def scaled(X, train, test):
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test])


def of_sets(folder: Path, name: str) -> dict:
    file = scipy.io.loadmat(folder / "candidate_sets" / f"{name}.mat")
    X, sets = file["features"].astype(float), np.asarray(file["p_labels"]) > 0
    truth, scores = file["logitlabels"].argmax(axis=1), []
    start = time.perf_counter()
    for train, test in zip(file["tr"].ravel(), file["te"].ravel(), strict=True):
        train, test = train.ravel() - 1, test.ravel() - 1
        A, B = scaled(X, train, test)
        classes = np.flatnonzero(sets[train].any(axis=0))
        some = sets[train][:, classes]
        ours = best(
            lambda kernel: CandidateSetClassifier(kernel=kernel, random_state=0),
            A, some,
        )  # fmt: skip
        votes = ConditionalRegressor(ours.kernel).fit(A, some / some.sum(1)[:, None])
        ideal = ConditionalClassifier(ours.kernel).fit(A, truth[train])
        scores.append(
            {
                "halfmoon": np.mean(classes[ours.predict(B)] == truth[test]),
                "vote": np.mean(classes[votes.predict(B).argmax(1)] == truth[test]),
                "truth": np.mean(ideal.predict(B) == truth[test]),
                "found": np.mean(classes[ours.disambiguated_] == truth[train]),
                "kernel": ours.kernel,
            }
        )
    seconds = (time.perf_counter() - start) / len(scores)
    return {**averaged(scores), "seconds": seconds}


def of_intervals(folder: Path, name: str) -> dict:
    read = lambda what: pd.read_csv(folder / "intervals" / name / f"{what}.csv.gz")  # noqa: E731
    X, ends = read("features").to_numpy(float), read("targets").to_numpy(float)
    fold, scores = read("folds").to_numpy().ravel(), []
    start = time.perf_counter()
    for each in np.unique(fold):
        train, test = fold != each, fold == each
        A, B = scaled(X, train, test)
        known = np.isfinite(ends[train]).any(axis=1)
        ours = best(lambda kernel: IntervalRegressor(kernel=kernel), A, ends[train])
        low, high = ends[train].T
        middle = np.where(np.isfinite(low), low, high)
        middle = np.where(np.isfinite(low + high), (low + high) / 2, middle)
        rivals = [
            ConditionalRegressor(kernel).fit(A[known], middle[known])
            for kernel in KERNELS
        ]
        rival = min(rivals, key=lambda model: model.solution_.loo_score)
        score = {"kernel": ours.kernel}
        for label, model in (("halfmoon", ours), ("midpoints", rival)):
            values = model.predict(B)
            out = values - np.clip(values, *ends[test].T)
            score[f"{label} inside"] = np.mean(out == 0)
            score[f"{label} squared distance"] = np.mean(out**2)
        score["residual"] = ours.optimality_residual_
        scores.append(score)
    seconds = (time.perf_counter() - start) / len(scores)
    return {**averaged(scores), "seconds": seconds}


def of_rankings(folder: Path, name: str) -> dict:
    with gzip.open(folder / "rankings" / f"{name}.txt.gz", "rt") as file:
        rows = [line.strip().split(",") for line in file.read().splitlines()[1:]]
    X = np.array([row[:-1] for row in rows], dtype=float)
    orders = [row[-1].split(">") for row in rows]
    items = sorted(orders[0])
    out: dict[str, float] = {"items": len(items)}
    start = time.perf_counter()
    for missing in MISSING:
        rng = np.random.default_rng(0)
        permuted, taus = rng.permutation(len(X)), []
        for fold in range(10):
            test = permuted[fold::10]
            train = np.setdiff1d(permuted, test)
            y = []
            for row in train:
                kept = [item for item in orders[row] if rng.uniform() >= missing]
                y.append(kept if len(kept) > 1 else None)
            A, B = scaled(X, train, test)
            model = best(
                lambda kernel: StructuredPredictor(
                    "kendall", items, kernel=kernel, n_starts=1, random_state=0
                ),
                A, y,
            )  # fmt: skip
            taus.append(1 + 2 * model.score(B, [orders[row] for row in test]))
        out[f"{missing:.0%}"] = float(np.mean(taus))
    out["seconds"] = (time.perf_counter() - start) / 30
    return out


def averaged(scores: list[dict]) -> dict:
    numbers = [key for key, value in scores[0].items() if not isinstance(value, str)]
    out = {key: float(np.mean([each[key] for each in scores])) for key in numbers}
    if "residual" in out:
        out["residual"] = float(max(each["residual"] for each in scores))
    return {**out, "kernels": sorted({each["kernel"] for each in scores})}


TABLES = {
    "sets": (of_sets, ("lost", "MSRCv2")),
    "intervals": (
        of_intervals,
        (
            "H3K27ac-H3K4me3_TDHAM_BP_FPOP", "H3K36me3_AM_immune_PDPA",
            "H3K4me3_TDH_immune_FPOP", "autompg", "housing", "pbc", "servo",
        ),
    ),
    "rankings": (of_rankings, ("iris", "wine", "glass", "housing", "vehicle", "stock")),
}  # fmt: skip


def page(results: dict) -> str:
    lines = [ABOUT]
    sets = results.get("sets", {})
    if sets:
        lines += [
            "## Candidate sets: test accuracy, five folds",
            "",
            "| table | halfmoon | vote | true labels | found in training | printed |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for name, r in sets.items():
            printed = ", ".join(f"{100 * each:.1f}" for each in PRINTED_SETS[name])
            lines.append(
                f"| {name} | {r['halfmoon']:.1%} | {r['vote']:.1%} | {r['truth']:.1%} "
                f"| {r['found']:.1%} | {printed} |"
            )
        lines += [
            "",
            "A vote is kernel ridge on equal shares of the candidates; no method here",
            "may see the true labels. Printed: RC, DIRK, ED-PLL.",
            "",
        ]
    intervals = results.get("intervals", {})
    if intervals:
        lines += [
            "## Intervals: share inside, mean squared distance, given folds",
            "",
            "| table | inside | midpoints | squared distance | midpoints | residual |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for name, r in intervals.items():
            lines.append(
                f"| {name} | {r['halfmoon inside']:.1%} | {r['midpoints inside']:.1%} "
                f"| {r['halfmoon squared distance']:.4g} "
                f"| {r['midpoints squared distance']:.4g} | {r['residual']:.0e} |"
            )
        lines += [
            "",
            "Midpoints are kernel ridge on the middle of each interval, or on its one",
            "finite end. Residual: the largest optimality residual.",
            "",
        ]
    rankings = results.get("rankings", {})
    if rankings:
        lines += [
            "## Rankings: Kendall's tau, ten folds, labels missing",
            "",
            "| table | items | 0 % | 30 % | 60 % | printed at 0 % |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for name, r in rankings.items():
            printed = ", ".join(f"{each:.3f}" for each in PRINTED_RANKINGS[name])
            taus = " | ".join(f"{r[f'{each:.0%}']:.3f}" for each in MISSING)
            lines.append(f"| {name} | {r['items']} | {taus} | {printed} |")
        lines += [
            "",
            "Printed: the instance-based method and trees. Tables with more than eight",
            "items are left out: their rankings cannot be listed.",
            "",
        ]
    return "\n".join(lines)


def main() -> None:
    place = os.environ.get("HALFMOON_DATA")
    if not place or not (Path(place) / "weak").is_dir():
        raise SystemExit("Set HALFMOON_DATA to a folder that holds weak/.")
    for part in sys.argv[1:] or list(TABLES):
        run, names = TABLES[part]
        for name in names:
            results = json.loads(PATH.read_text()) if PATH.exists() else {}
            if name in results.get(part, {}):
                continue
            found = run(Path(place) / "weak", name)
            results = json.loads(PATH.read_text()) if PATH.exists() else {}
            results.setdefault(part, {})[name] = found
            results["machine"] = machine()
            PATH.write_text(json.dumps(results, indent=1) + "\n")
            PATH.with_suffix(".md").write_text(page(results))
            print(part, name, found, flush=True)


if __name__ == "__main__":
    main()
