"""What to label next: labels needed to match 100 random labels.

Start from ten random labels. Choose ten more at a time from a pool of 600 rows, and
refit a ConditionalClassifier or ConditionalRegressor each time. Its error is measured
on up to 600 other rows. The alternatives are scikit-activeml's uncertainty sampling
with its own classifier, and its greedy sampling for numbers; the rows that they choose
are fitted by the same estimator of ours.

    pip install --group bench
    HALFMOON_DATA=folder python -m benchmarks.query_curves [choosing]

"choosing" compares scores for `informative` on other tables, and stores them elsewhere.
Results are stored after each curve, and stored curves are not repeated. "page" writes
the page of the stored curves and runs nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np

from benchmarks.curve_tables import (
    lever,
    standardized,
    tables_for_choosing,
    tables_for_testing,
)
from benchmarks.markdown import row
from benchmarks.stored_runs import StoredRuns
from halfmoon import queries
from halfmoon.queries._pool import Pool
from halfmoon.queries._strategies import (
    best_rows,
    class_uncertainty,
    squared_correlation,
)

POOL, TEST = 600, 600
FIRST, STEP, LAST = 10, 10, 120
REFERENCE = 100  # labels at random
REPETITIONS = 20
RESAMPLED = 500
OURS = ("informative", "margin", "variance_reduction", "maximin")
PLAYERS: tuple[str, ...] = ("random", *OURS, "scikit-activeml")
# Powers of w(u) and of w(x_j) in the score of `informative`, and whether the sum
# contains row u.
CHOICES = {
    "cube, all rows": (3, 0, True),
    "cube, other rows": (3, 0, False),
    "square, other rows": (2, 1, False),
    "informative": (1, 1, False),
}


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


def by_powers(model, X, n, own, others, itself):
    pool = Pool.of(model, X, n)
    posterior = pool.posterior()
    w = class_uncertainty(pool, posterior)
    posterior.weights = w**others

    def score(_):
        v, squares = posterior.variance, posterior.squared_columns()
        if not itself:
            squares = squares - posterior.weights * v**2
        return w**own * squares / (v + posterior.noise)

    similarity = squared_correlation(posterior)
    return best_rows(similarity, pool.free, n, score, posterior.condition)


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
        elif player in CHOICES and player not in PLAYERS:
            picks = by_powers(model, X[pool], n, *CHOICES[player])
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
    target = means[0, (REFERENCE - FIRST) // STEP]  # of "random"
    return np.array([labels_needed(each, target) for each in means])


def page(runs, players):
    of_seed = Counter(r["seed"] for r in runs)
    seeds = [seed for seed, n in of_seed.items() if n == max(of_seed.values())]
    curves = {}
    for table in dict.fromkeys(r["table"] for r in runs):
        errors = {
            (r["player"], r["seed"]): r["errors"] for r in runs if r["table"] == table
        }
        curves[table] = np.array([[errors[name, s] for s in seeds] for name in players])
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
    yield row(["table", *players])
    yield "| --- |" + " ---: |" * len(players)
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
    name, tables, players = "query_curves", tables_for_testing, PLAYERS
    if "choosing" in parts:
        name, tables = "query_choice", tables_for_choosing
        players = ("random", *CHOICES)
    stored = StoredRuns(name, ("table", "player", "seed"))
    found = [] if "page" in parts else list(tables())
    for seed in range(REPETITIONS):
        for table, *rows, of_classes in found:
            X, y = standardized(*rows)
            if of_classes:
                y = np.unique(y, return_inverse=True)[1].astype(float)
            for player in players:
                about = {"table": table, "player": player, "seed": seed}
                if about not in stored:
                    errors = curve(X, y, of_classes, player, seed)
                    stored.add(about | {"errors": np.round(errors, 5).tolist()})
    stored.write_page(page(stored.runs, players))


if __name__ == "__main__":
    main(sys.argv[1:])
