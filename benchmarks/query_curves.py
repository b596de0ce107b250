"""What to label next: labels needed to match 100 random labels.

Start from ten random labels. Choose ten more at a time from a pool of 600 rows, and
refit a ConditionalClassifier or ConditionalRegressor each time. Its error is measured
on up to 600 other rows. The alternatives are scikit-activeml's uncertainty sampling
with its own classifier, and its greedy sampling for numbers; the rows that they choose
are fitted by the same estimator of ours.

    pip install --group bench
    HALFMOON_DATA=folder python -m benchmarks.query_curves

Results are stored after each curve, and stored curves are not repeated. "page" writes
the page of the stored curves and runs nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np

from benchmarks.curve_tables import lever, standardized, tables_for_testing
from benchmarks.markdown import row
from benchmarks.stored_runs import StoredRuns
from halfmoon import queries

POOL, TEST = 600, 600
FIRST, STEP, LAST = 10, 10, 120
REFERENCE = 100  # labels at random
REPETITIONS = 20
RESAMPLED = 500
OURS = ("informative", "margin", "variance_reduction", "maximin")
PLAYERS = ("random", *OURS, "scikit-activeml")


def by_activeml(X, known, of_classes, n, seed):
    from skactiveml.classifier import ParzenWindowClassifier
    from skactiveml.pool import GreedySamplingX, UncertaintySampling

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not of_classes:
            greedy = GreedySamplingX(random_state=seed)
            return greedy.query(X, known, batch_size=n)
        classes = np.unique(known[~np.isnan(known)])
        model = ParzenWindowClassifier(classes=classes, random_state=seed)
        sampling = UncertaintySampling(random_state=seed)
        return sampling.query(X, known, clf=model, batch_size=n)


def curve(X, y, of_classes, player, seed):
    """Return errors with 10, 20, ... labels."""
    order = np.random.default_rng(seed).permutation(len(y))
    pool = order[: min(POOL, 2 * len(y) // 3)]
    test = order[len(pool) : len(pool) + TEST]
    known = np.full(len(pool), np.nan)
    first = FIRST
    while len(np.unique(y[pool[:first]])) < 2:  # a class may be rare
        first += 1
    known[:first] = y[pool[:first]]
    errors = []
    for labels in range(FIRST, LAST + 1, STEP):
        model = lever(of_classes).fit(X[pool], known)
        answers = model.predict(X[test])
        wrong = answers != y[test] if of_classes else np.abs(answers - y[test])
        errors.append(float(np.mean(wrong)))
        if labels == LAST:
            break
        n = labels + STEP - int((~np.isnan(known)).sum())
        if player == "scikit-activeml":
            picks = by_activeml(X[pool], known, of_classes, n, seed)
        else:
            options = {"random_state": 1000 * seed + labels}
            picks = getattr(queries, player)(model, X[pool], n, **options)
        known[picks] = y[pool[picks]]
    return errors


def labels_needed(errors, target):
    """Number of labels at which a mean curve first reaches an error, interpolated."""
    counts = np.arange(FIRST, LAST + 1, STEP)
    reached = np.flatnonzero(np.asarray(errors) <= target)
    if not len(reached):
        return float("inf")
    i = reached[0]
    if i == 0:
        return float(counts[0])
    above, below = errors[i - 1] - target, target - errors[i]
    return float(counts[i - 1] + STEP * above / max(above + below, 1e-12))


def needed(curves):
    """Labels that each player needs, from curves of shape (players, seeds, counts)."""
    means = curves.mean(axis=1)
    target = means[PLAYERS.index("random"), (REFERENCE - FIRST) // STEP]
    return np.array([labels_needed(each, target) for each in means])


def page(runs):
    of_seed = Counter(r["seed"] for r in runs)
    seeds = [seed for seed, n in of_seed.items() if n == max(of_seed.values())]
    curves = {}
    for table in dict.fromkeys(r["table"] for r in runs):
        errors = {
            (r["player"], r["seed"]): r["errors"] for r in runs if r["table"] == table
        }
        curves[table] = np.array([[errors[name, s] for s in seeds] for name in PLAYERS])
    yield "# What to label next"
    yield ""
    yield (
        f"Labels needed to reach the error of {REFERENCE} random labels: "
        f"first crossing of the mean curve of {len(seeds)} repetitions, from "
        f"{FIRST} labels in steps of {STEP}; counted up to {LAST}. In brackets, the "
        f"5 and 95 % quantiles if the repetitions are drawn again (bootstrap). Made by "
        f"`python -m benchmarks.query_curves`, which says what is compared."
    )
    yield ""
    yield row(["table", *PLAYERS])
    yield "| --- |" + " ---: |" * len(PLAYERS)
    rng = np.random.default_rng(0)
    draws = rng.integers(len(seeds), size=(RESAMPLED, len(seeds)))
    found = {table: needed(each) for table, each in curves.items()}
    again = {
        table: np.array([needed(each[:, draw]) for draw in draws])
        for table, each in curves.items()
    }
    found["median"] = np.median(list(found.values()), axis=0)
    again["median"] = np.median(list(again.values()), axis=0)
    for table, numbers in found.items():
        ends = np.quantile(again[table], [0.05, 0.95], axis=0, method="nearest").T
        cells = zip(numbers, ends, strict=True)
        yield row(
            [table, *(f"{shown(n)} ({shown(a)}–{shown(b)})" for n, (a, b) in cells)]
        )


def shown(n):
    return f"{n:.0f}" if np.isfinite(n) else f"over {LAST}"


def main(parts):
    stored = StoredRuns("query_curves", ("table", "player", "seed"))
    tables = [] if "page" in parts else list(tables_for_testing())
    for seed in range(REPETITIONS):
        for name, *table, of_classes in tables:
            X, y = standardized(*table)
            if of_classes:
                y = np.unique(y, return_inverse=True)[1].astype(float)
            for player in PLAYERS:
                about = {"table": name, "player": player, "seed": seed}
                if about not in stored:
                    errors = curve(X, y, of_classes, player, seed)
                    stored.add(about | {"errors": np.round(errors, 5).tolist()})
    stored.write_page(page(stored.runs))


if __name__ == "__main__":
    main(sys.argv[1:])
