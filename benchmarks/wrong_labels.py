"""Wrong labels: how many are missed if as many labels are flagged as are wrong.

10 or 20 % of the labels are changed, to any other class or to the most common class
among the 20 nearest rows of other classes. Then as many labels are flagged as were
changed, the most suspicious first, by

- ours: `suspicious_labels` of a ConditionalClassifier;
- cleanlab: its default score, on the leave-one-out probabilities of that model;
- forest: the same score, on probabilities of a random forest by five folds.

    pip install --group bench
    HALFMOON_DATA=folder python -m benchmarks.wrong_labels
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.learning_curves import folder, standardized
from benchmarks.markdown import row
from halfmoon import ConditionalClassifier
from halfmoon._estimators.loo_probabilities import loo_class_probabilities
from halfmoon.queries import suspicious_labels

RESULTS = Path(__file__).parent / "results"
LABELS = (50, 200, 1000)
RATES = (0.1, 0.2)
KINDS = ("random", "likeliest")
PLAYERS = ("ours", "cleanlab", "forest")
REPETITIONS = 1


def tables():
    found = np.load(folder() / "usps/usps.npz")
    yield "usps", found["X_train"], found["y_train"]
    found = np.load(folder() / "covtype/covtype.npz")
    yield "covtype", found["quant"], found["y"]
    yield "digits", *load_digits(return_X_y=True)
    for name in ("coil2", "digit1"):
        found = np.load(folder() / f"ssl_book/{name}.npz")
        yield name, found["X"], found["y"]


def spoiled(y, some, rate, kind, near, rng):
    """Spoil some labels; return the labels and which of them are wrong."""
    wrong = rng.choice(some, max(1, round(rate * len(some))), replace=False)
    found = y.copy()
    for i in wrong:
        others = np.where(np.arange(near.shape[1]) == y[i], -1.0, near[i])
        if kind == "random":
            others = np.where(others < 0, -1.0, rng.uniform(size=len(others)))
        found[i] = others.argmax()
    return found, np.isin(some, wrong)


def missed(doubts, wrong):
    """Share of the wrong labels that are not flagged."""
    top = np.argsort(-doubts, kind="stable")[: wrong.sum()]
    return float(1 - wrong[top].mean())


def by_forest(X, codes):
    """Class probabilities of a forest, by folds; rare classes may be missing."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer labels than folds
        return cross_val_predict(
            RandomForestClassifier(100, random_state=0),
            *(X, codes),
            cv=folds,
            method="predict_proba",
        )


def run(X, y, near, n, rate, kind, seed):
    from cleanlab.rank import get_label_quality_scores

    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(len(y), n, replace=False))
    labels, wrong = spoiled(y, some, rate, kind, near, rng)
    known = np.full(len(y), np.nan)
    known[some] = labels[some]
    model = ConditionalClassifier(random_state=0).fit(X, known)
    found = suspicious_labels(model)
    doubts = np.zeros(n)
    doubts[np.searchsorted(some, found.row)] = found.score
    rows, p, codes = loo_class_probabilities(model)
    by_cleanlab = np.zeros(n)
    by_cleanlab[rows] = 1 - get_label_quality_scores(codes, p)
    forest = 1 - get_label_quality_scores(
        model._codes, by_forest(X[some], model._codes)
    )
    scores = (doubts, by_cleanlab, forest)
    return {name: missed(s, wrong) for name, s in zip(PLAYERS, scores, strict=True)}


def page(runs):
    yield "# Wrong labels"
    yield ""
    yield (
        "Share of the wrong labels that are missed when as many labels are flagged as "
        f"are wrong, in %, mean of {REPETITIONS} draws. Made by `python -m "
        "benchmarks.wrong_labels`, which says what is compared."
    )
    yield ""
    yield row(["table", "labels", "wrong", "changed to", *PLAYERS])
    yield "| --- | ---: | ---: | --- |" + " ---: |" * len(PLAYERS)
    keys = ("table", "labels", "rate", "kind")
    cells = dict.fromkeys(tuple(r[k] for k in keys) for r in runs)
    best = []
    for cell in cells:
        some = [r for r in runs if tuple(r[k] for k in keys) == cell]
        means = [np.mean([r[name] for r in some]) for name in PLAYERS]
        best.append([mean <= min(means) + 1e-9 for mean in means])
        table, labels, rate, kind = cell
        shown = (f"{100 * mean:.0f}" for mean in means)
        yield row([table, labels, f"{rate:.0%}", kind, *shown])
    yield ""
    shares = np.mean(best, axis=0)
    for name, share in zip(PLAYERS, shares, strict=True):
        mean = np.mean([r[name] for r in runs])
        yield (
            f"- {name}: fewest, or as few, in {share:.0%} of {len(best)} cells; "
            f"{mean:.1%} missed on average"
        )


def main():
    runs = []
    for name, *table in tables():
        X, y = standardized(*table)
        y = np.unique(y, return_inverse=True)[1]
        near = KNeighborsClassifier(20).fit(X, y).predict_proba(X)
        for n in LABELS:
            for rate in RATES:
                for kind in KINDS:
                    for seed in range(REPETITIONS):
                        about = {"table": name, "labels": n, "rate": rate, "kind": kind}
                        figures = run(X, y, near, n, rate, kind, seed)
                        runs.append(about | {"seed": seed} | figures)
            print(runs[-1], flush=True)
        (RESULTS / "wrong_labels.json").write_text(json.dumps(runs, indent=1) + "\n")
        text = "\n".join(page(runs)) + "\n"
        (RESULTS / "wrong_labels.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
