"""Wrong labels: how many are missed if as many labels are flagged as are wrong.

10 or 20 % of the labels are changed, to any other class or to the most common class
among the 20 nearest rows of other classes. Then as many labels are flagged as were
changed, the most suspicious first, by

- search: `suspicious_labels` of a HalfmoonClassifier with a budget of 1 s;
- its p: cleanlab's default score, on the held-out probabilities of that model;
- lever, its p: the same of a ConditionalClassifier;
- forest: cleanlab's score on probabilities of a random forest by five folds.

    pip install --group bench
    HALFMOON_DATA=folder python -m benchmarks.wrong_labels

Results are stored after each draw, and stored draws are not repeated. "page" writes the
page of the stored draws and runs nothing.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.curve_tables import folder, standardized
from benchmarks.markdown import row
from benchmarks.stored_runs import StoredRuns
from halfmoon import ConditionalClassifier, HalfmoonClassifier
from halfmoon._estimators.loo_probabilities import loo_class_probabilities
from halfmoon.queries import suspicious_labels

LABELS = (50, 200, 1000)
RATES = (0.1, 0.2)
KINDS = ("random", "likeliest")
PLAYERS = ("search", "lever", "cleanlab on search", "cleanlab on lever", "forest")
#: What is compared with what: the aim is to miss the fewest of three.
TEAMS = (
    ("search", "cleanlab on search", "forest"),
    ("lever", "cleanlab on lever", "forest"),
)
REPETITIONS = 3


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


def by_model(model, n):
    """Doubts of each label: ours, and cleanlab's on the same probabilities."""
    from cleanlab.rank import get_label_quality_scores

    found, (rows, p, codes) = suspicious_labels(model), loo_class_probabilities(model)
    ours, cleanlab = np.zeros(n), np.zeros(n)
    ours[np.searchsorted(model.labeled_, found.row)] = found.score
    cleanlab[rows] = 1 - get_label_quality_scores(codes, p)
    return ours, cleanlab


def run(X, y, near, n, rate, kind, seed):
    from cleanlab.rank import get_label_quality_scores

    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(len(y), n, replace=False))
    labels, wrong = spoiled(y, some, rate, kind, near, rng)
    known = np.full(len(y), np.nan)
    known[some] = labels[some]
    lever = ConditionalClassifier(random_state=0).fit(X, known)
    search = HalfmoonClassifier(budget=1.0, random_state=0).fit(X, known)
    by_lever, by_search = by_model(lever, n), by_model(search, n)
    forest = by_forest(X[some], lever._codes)
    doubts = {
        "search": by_search[0],
        "lever": by_lever[0],
        "cleanlab on search": by_search[1],
        "cleanlab on lever": by_lever[1],
        "forest": 1 - get_label_quality_scores(lever._codes, forest),
    }
    return {name: round(missed(doubts[name], wrong), 4) for name in PLAYERS}


def page(runs):
    keys = ("table", "labels", "rate", "kind")
    cells = {}
    for each in runs:
        cells.setdefault(tuple(each[k] for k in keys), []).append(each)
    draws = sorted({len(some) for some in cells.values()})
    yield "# Wrong labels"
    yield ""
    yield (
        "Share of the wrong labels that are missed when as many labels are flagged as "
        f"are wrong, in %: mean of {' or '.join(map(str, draws))} draws. Made by "
        "`python -m benchmarks.wrong_labels`, which says what is compared."
    )
    yield ""
    yield row(["table", "labels", "wrong", "changed to", *PLAYERS])
    yield "| --- | ---: | ---: | --- |" + " ---: |" * len(PLAYERS)
    means = {}
    for cell, some in cells.items():
        means[cell] = {name: np.mean([r[name] for r in some]) for name in PLAYERS}
        table, labels, rate, kind = cell
        shown = (f"{100 * mean:.0f}" for mean in means[cell].values())
        yield row([table, labels, f"{rate:.0%}", kind, *shown])
    yield ""
    for team in TEAMS:
        found = np.array([[each[name] for name in team] for each in means.values()])
        best = found <= found.min(axis=1, keepdims=True) + 1e-9
        for name, share, mean in zip(team, best.mean(0), found.mean(0), strict=True):
            yield (
                f"- {name}: fewest of {', '.join(team)}, or as few, in {share:.0%} of "
                f"{len(best)} cells; {mean:.1%} missed on average"
            )


def main(parts):
    keys = ("table", "labels", "rate", "kind", "seed")
    stored = StoredRuns("wrong_labels", keys)
    found = [] if "page" in parts else list(tables())
    for seed in range(REPETITIONS):
        for name, *table in found:
            X, y = standardized(*table)
            y = np.unique(y, return_inverse=True)[1]
            near = KNeighborsClassifier(20).fit(X, y).predict_proba(X)
            for cell in product(LABELS, RATES, KINDS):
                about = dict(zip(keys, (name, *cell, seed), strict=True))
                if about not in stored:
                    stored.add(about | run(X, y, near, *cell, seed))
    stored.write_page(page(stored.runs))


if __name__ == "__main__":
    main(sys.argv[1:])
