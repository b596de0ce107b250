"""Check claims against known truth: expected accuracy, expected error, intervals.

    python -m benchmarks.coverage                                   tables for choosing
    HALFMOON_DATA=folder python -m benchmarks.coverage confirming   tables never seen

All but 20 or 60 labels of a table, drawn at random, are blanked. `halfmoon.fill` fills
them, and its claims are compared with the blanked labels: the interval of the expected
accuracy or error should contain the truth in 95 of 100 draws, and 90 % of the numbers
should be between low and high. The constants of `halfmoon._report.quality_scores` and
`halfmoon._estimators.intervals` were chosen on the first set of tables. The second set
was run after they were fixed, and again after the search had changed; the constants
stayed. Runs that are already stored are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
from sklearn import datasets as toy

import halfmoon
from benchmarks.everyday.tables import car_frame, penguin_frame
from benchmarks.lines import RESULTS, machine
from experiments import data as real
from halfmoon.table._runs.build_findings import findings_of
from halfmoon.table._runs.run_summary import record_of

LABELS = (20, 60)
SEEDS = 9
BUDGET = 10.0
ROWS = 600
TARGET = "target"
PATH = RESULTS / "coverage.json"
COLUMNS = (
    *("table", "labels", "draws", "inside", "true", "claimed", "mean interval"),
    *("confidence", "low to high holds"),
)

ABOUT = """\
`halfmoon.fill` on tables in which all but a few random labels were blanked; budget
{budget:g} s. Inside: draws in which the claimed 95 % interval of the accuracy (classes)
or of the mean absolute error (numbers) contains the truth. All other columns are means
over the draws: the true and the claimed value, the ends of the interval, the confidence
of the filled rows, and the share of blanked numbers between low and high, which should
be 90 %.
"""


def bunch(load):
    def table():
        found = load()
        frame = pd.DataFrame(found.data, columns=[str(c) for c in found.feature_names])
        names = getattr(found, "target_names", None)
        return frame, found.target if names is None else np.array(names)[found.target]

    return table


def made(make, **options):
    def table():
        X, y = make(n_samples=400, random_state=7, **options)
        y = np.array([f"class {c}" for c in y]) if y.dtype.kind == "i" else y
        return pd.DataFrame(X, columns=[f"column {c}" for c in range(X.shape[1])]), y

    return table


def houses():
    """Houses: prices that vary by factors."""
    rng = np.random.default_rng(11)
    area, rooms = rng.lognormal(7, 0.35, 400), rng.integers(2, 8, 400)
    age, far = rng.uniform(0, 80, 400), rng.exponential(8, 400)
    log_price = 5 + 0.8 * np.log(area) + 0.05 * rooms - 0.004 * age - 0.03 * far
    price = np.exp(log_price + 0.18 * rng.normal(size=400))
    columns = {"area": area, "rooms": rooms, "age": age, "distance": far}
    return pd.DataFrame(columns | {"noise": rng.normal(size=400)}), price


def uneven():
    """Numbers whose noise grows along a column."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (400, 5))
    mean = 20 + 3 * X[:, 0] + 2 * np.sin(3 * X[:, 1])
    y = mean + (0.3 + 0.6 * (X[:, 0] + 1)) * rng.normal(size=400)
    return pd.DataFrame(X, columns=[f"column {c}" for c in range(5)]), y


def digits():
    frame, y = bunch(toy.load_digits)()
    some = np.random.default_rng(0).permutation(len(y))[:ROWS]
    names = np.array([f"digit {c}" for c in y[some]])
    return frame.iloc[some].reset_index(drop=True), names


def california():
    X, y = real.load_california_housing()
    some = np.random.default_rng(0).permutation(len(y))[:ROWS]
    return pd.DataFrame(X[some], columns=[f"column {c}" for c in range(8)]), y[some]


def penguins():
    frame = penguin_frame()
    return frame.drop(columns="species"), frame["species"].to_numpy(str)


def cars():
    frame = car_frame().dropna(subset="Miles_per_Gallon").reset_index(drop=True)
    frame = frame.assign(Year=pd.to_datetime(frame["Year"]).dt.year)
    return frame.drop(columns="Miles_per_Gallon"), frame["Miles_per_Gallon"].to_numpy()


CHOOSING = {
    "iris": bunch(toy.load_iris),
    "breast cancer": bunch(toy.load_breast_cancer),
    "three classes": made(
        toy.make_classification, n_features=10, n_informative=4, n_classes=3
    ),
    "diabetes": bunch(toy.load_diabetes),
    "Friedman 1": made(toy.make_friedman1, n_features=8, noise=1.0),
    "houses": houses,
    "uneven errors": uneven,
}
CONFIRMING = {
    "wine": bunch(toy.load_wine),
    "penguins": penguins,
    "digits": digits,
    "california": california,
    "Friedman 2": made(toy.make_friedman2, noise=60.0),
    "cars": cars,
}
SETS = {"choosing": CHOOSING, "confirming": CONFIRMING}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("set", nargs="?", choices=SETS, default="choosing")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="draws of each cell")
    arguments = parser.parse_args()
    for seed in range(arguments.seeds):
        for name, table in SETS[arguments.set].items():
            frame, y = table()
            for labels in LABELS:
                key = {"table": name, "labels": labels, "seed": seed}
                if any(key.items() <= each.items() for each in read()):
                    continue
                result = key | {"set": arguments.set} | run(frame, y, labels, seed)
                print(result, flush=True)
                keep(result)
    content = markdown(read())
    (RESULTS / "coverage.md").write_text(content)
    print(content)


def run(frame, y, labels, seed):
    """Fill one table; return what was claimed and what is true."""
    numbers = y.dtype.kind == "f"
    labeled = draw(y, labels, seed)
    blanked = np.setdiff1d(np.arange(len(y)), labeled)
    cells = pd.Series(y, dtype=object if not numbers else float)
    cells[blanked] = np.nan if numbers else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = halfmoon.fill(
            frame.assign(**{TARGET: cells}),
            TARGET,
            task="numbers" if numbers else "classes",
            budget=BUDGET,
            seed=seed,
        )
        found = findings_of(
            result.filled, result.settings, source="", command="", for_page=False
        )
    record = record_of(found, result.settings)
    out, truth = result.table.iloc[blanked], y[blanked]
    if not numbers:
        claim = record["leave_one_out"]["accuracy"]
        true = float((out[TARGET].to_numpy(str) == truth).mean())
        more = {"confidence": record["mean_confidence"]}
    else:
        claim = record["leave_one_out"]["mean_absolute_error"]
        true = float(np.abs(out[TARGET].to_numpy(float) - truth).mean())
        low, high = (out[f"{TARGET}_{end}"].to_numpy(float) for end in ("low", "high"))
        more = {"held": float(((low <= truth) & (truth <= high)).mean())}
    ends = {name: claim[name] for name in ("value", "low", "high")}
    return {"true": true} | ends | more


def draw(y, labels, seed):
    """Draw labeled rows; draw again if all are of one class."""
    rng = np.random.default_rng([seed, labels])
    while True:
        labeled = np.sort(rng.permutation(len(y))[:labels])
        if len(np.unique(y[labeled])) > 1:
            return labeled


def read():
    return json.loads(PATH.read_text())["runs"] if PATH.exists() else []


def keep(result):
    """Add a run to the file, which is never incomplete."""
    lines = ",\n".join(json.dumps(each) for each in [*read(), result])
    new = PATH.with_suffix(".json.new")
    RESULTS.mkdir(exist_ok=True)
    new.write_text(f'{{"machine": {json.dumps(machine())},\n"runs": [\n{lines}\n]}}\n')
    os.replace(new, PATH)


def holds(each):
    return each["low"] is not None and each["low"] <= each["true"] <= each["high"]


def markdown(runs):
    lines = ["# Claims and truth\n", "Made by `python -m benchmarks.coverage`.\n"]
    lines.append(ABOUT.format(budget=BUDGET))
    for which, title in (
        ("choosing", "Tables on which the constants were chosen"),
        ("confirming", "Tables that had no part in choosing the constants"),
    ):
        of_set = [each for each in runs if each["set"] == which]
        if not of_set:
            continue
        lines += [f"## {title}\n", f"| {' | '.join(COLUMNS)} |"]
        lines.append("| --- |" + " ---: |" * (len(COLUMNS) - 1))
        cells = defaultdict(list)
        for each in of_set:
            cells[each["table"], each["labels"]].append(each)
        for name, labels in ((n, l) for n in SETS[which] for l in LABELS):
            if some := cells[name, labels]:
                lines.append("| " + " | ".join(line(name, labels, some)) + " |")
        inside = sum(map(holds, of_set))
        lines.append(f"\nThe truth is inside in {inside} of {len(of_set)} draws.\n")
    return "\n".join(lines)


def line(name, labels, some):
    def mean(key):
        values = [each[key] for each in some if each.get(key) is not None]
        return f"{np.mean(values):.3g}" if values else ""

    inside = f"{sum(map(holds, some))} of {len(some)}"
    interval = f"{mean('low')} to {mean('high')}"
    figures = (mean("true"), mean("value"), interval, mean("confidence"), mean("held"))
    return [name, str(labels), str(len(some)), inside, *figures]


if __name__ == "__main__":
    main()
