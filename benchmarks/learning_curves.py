"""Forecasts of learning curves: published curves of twenty learners, and our own.

- ``lcdb``: forecast the errors with 128 and 256 labels from those with 16 to 64, for
  every learner on every second table of LCDB (Mohr et al., 2022). Compared with an
  inverse power law fitted by weighted least squares (Figueroa et al., 2012).
- ``own``: forecast the error with 50, 100 and 200 more labels from N labels of five
  tables. Compared with the error of fits to that many, on rows that are never labeled.

    HALFMOON_DATA=folder python -m benchmarks.learning_curves lcdb own

"lever" and "search" are the two parts of ``own``, whose runs are stored one by one;
stored runs are not repeated. "page" writes the page and runs nothing. The constants of
forecasts come from other tables, by ``benchmarks.curve_prior``.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import curve_fit

from benchmarks.curve_tables import (
    BUDGET,
    folder,
    lever,
    search,
    standardized,
    tables_for_testing,
)
from benchmarks.markdown import row
from benchmarks.stored_runs import RESULTS, StoredRuns
from halfmoon.queries import forecast_learning_curve
from halfmoon.queries._power_law import PRIOR, curve_posterior

OLD, NEW = (16, 23, 32, 45, 64), (128, 256)
FLOOR = 0.002  # added to errors, some of which are 0
ENDS = (0.05, 0.5, 0.95)
MORE = (50, 100, 200)
REPETITIONS = 5
ABOUT = """\
# Forecasts of learning curves

Made by `python -m benchmarks.learning_curves lcdb own`. Intervals have a level of 90 %.
"""


# ---- published curves ----------------------------------------------------------------


def lcdb_curves():
    """Read errors and their standard errors, one row per table and learner."""
    found = pd.read_csv(folder() / "learning_curves/lcdb.csv.gz")
    found["error"] = 1 - found["mean"]
    found["deviation"] = (found["std"] / np.sqrt(found["count"])).fillna(0.05)
    index = ["openmlid", "learner"]
    return tuple(
        found.pivot_table(index=index, columns="size_train", values=name)
        for name in ("error", "deviation")
    )


def halves(errors):
    """Split the rows by table: for fitting, and for testing."""
    tables = errors.index.get_level_values(0)
    first = np.isin(tables, np.unique(tables)[::2])
    return np.flatnonzero(first), np.flatnonzero(~first)


def complete(errors, rows, counts):
    return rows[errors.iloc[rows][list(counts)].notna().all(axis=1).to_numpy()]


def forecast_curve(errors, deviations, i, old, new, prior, n=400):
    """Quantiles of the measured errors at new counts, (3, new), and these errors."""
    e, s = (each.iloc[i][[*old, *new]].to_numpy() for each in (errors, deviations))
    k, raised = len(old), e + FLOOR
    noise = (s / raised) ** 2 + 1e-6
    counts = np.array([*old, *new], dtype=np.float64)
    logs = np.log(raised[:k])
    found = curve_posterior(counts[:k], logs, np.diag(noise[:k]), counts[k:], prior)
    steps = np.random.default_rng(0).normal(size=(n, len(new)))
    draws = np.exp(found.draws(n) + np.sqrt(noise[k:]) * steps) - FLOOR
    return np.quantile(draws, ENDS, axis=0), e[k:]


def inverse_power_law(old, e, new):
    """Fit a + b n^-c by least squares with weights n; the last error if that fails."""
    x = np.array(old, dtype=np.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (a, b, c), _ = curve_fit(
                lambda n, a, b, c: a + b * n**-c,
                *(x, e),
                p0=[0.9 * e.min(), 1.0, 0.5],
                sigma=1 / np.sqrt(x / x.max()),
                bounds=([0, 0, 0], [1, np.inf, 5]),
                maxfev=5000,
            )
    except RuntimeError:
        return np.full(len(new), e[-1])
    return a + b * np.array(new, dtype=np.float64) ** -c


def run_lcdb():
    errors, deviations = lcdb_curves()
    _, rows = halves(errors)
    rows = complete(errors, rows, [*OLD, *NEW])
    found, start = [], time.process_time()
    for i in rows:
        q, truth = forecast_curve(errors, deviations, i, OLD, NEW, PRIOR)
        e = errors.iloc[i][list(OLD)].to_numpy()
        held = (q[0] <= truth) & (truth <= q[2])
        law = inverse_power_law(OLD, e, NEW)
        found.append([np.abs(q[1] - truth), np.abs(law - truth), held, q[2] - q[0]])
    ours, law, held, width = np.array(found).transpose(1, 0, 2)
    learners = errors.index.get_level_values(1)[rows]
    by_learner = {
        str(name): {
            "curves": int((learners == name).sum()),
            "error": ours[learners == name].mean(axis=0).tolist(),
            "power_law": law[learners == name].mean(axis=0).tolist(),
            "held": held[learners == name].mean(axis=0).tolist(),
        }
        for name in np.unique(learners)
    }
    return {
        "curves": len(rows),
        "tables": len(np.unique(errors.index.get_level_values(0)[rows])),
        "error": ours.mean(axis=0).tolist(),
        "power_law": law.mean(axis=0).tolist(),
        "held": held.mean(axis=0).tolist(),
        "width": width.mean(axis=0).tolist(),
        "by_learner": by_learner,
        "cpu_seconds": time.process_time() - start,
    }


# ---- our own curves ------------------------------------------------------------------


def one_case(X, y, of_classes, n, seed, make):
    """Fit n labels; return errors of it and of fits to more, on other rows."""
    order = np.random.default_rng(seed).permutation(len(y))
    test = order[-min(1000, len(y) // 4) :]
    more = [each for each in MORE if n + each <= 0.75 * len(y)]

    def fitted(labels):
        known = np.full(len(y), np.nan)
        known[order[:labels]] = y[order[:labels]]
        return make(of_classes).fit(X, known), known

    def error(model):
        answers = model.predict(X[test])
        wrong = answers != y[test] if of_classes else np.abs(answers - y[test])
        return float(np.mean(wrong))

    model, known = fitted(n)
    truth = [error(model), *(error(fitted(n + each)[0]) for each in more)]
    return model, known, more, np.array(truth)


def judged(X, model, known, more, truth):
    """Compare a forecast with the truth."""
    start = time.process_time()
    f = forecast_learning_curve(model, X, known, more)
    seconds = time.process_time() - start
    then, gains = truth[1:], truth[0] - truth[1:]
    return {
        "now": f.error,
        "true_now": float(truth[0]),
        "more": more,
        "expected": f.expected.tolist(),
        "true": then.tolist(),
        "held": ((f.low <= then) & (then <= f.high)).tolist(),
        "gain": f.gain.tolist(),
        "true_gain": gains.tolist(),
        "gain_held": ((f.gain_low <= gains) & (gains <= f.gain_high)).tolist(),
        "cpu_seconds": seconds,
    }


def run_own(stored, players):
    tables = [
        (name, *standardized(*table), of_classes)
        for name, *table, of_classes in tables_for_testing()
    ]
    for player, seed in product(players, range(REPETITIONS)):
        make = {"lever": lever, "search": search}[player]
        for (name, X, y, of_classes), n in product(tables, (40, 100)):
            about = {"table": name, "estimator": player, "labels": n, "seed": seed}
            if about not in stored:
                start, cpu = time.monotonic(), time.process_time()
                case = one_case(X, y, of_classes, n, seed, make)
                used = (time.process_time() - cpu) / (time.monotonic() - start)
                stored.add(about | judged(X, *case) | {"processor": round(used, 3)})


# ---- the page ------------------------------------------------------------------------


def lcdb_page(found):
    yield "## Published curves"
    yield ""
    yield (
        f"{found['curves']:,} curves of {found['tables']} tables on which nothing was "
        f"fitted: from 16 to 64 labels, to 128 and 256. Mean absolute error of the "
        f"error rate, in percentage points."
    )
    yield ""
    yield row(["labels", "forecast", "inverse power law", "interval holds", "width"])
    yield "| ---: | ---: | ---: | ---: | ---: |"
    for j, n in enumerate(NEW):
        figures = [100 * found[name][j] for name in ("error", "power_law", "held")]
        width = f"{100 * found['width'][j]:.1f}"
        held = f"{figures[2]:.1f} %"
        yield row([n, *(f"{x:.2f}" for x in figures[:2]), held, width])
    yield ""
    yield row(["learner", "curves", "forecast 256", "power law 256", "held 256"])
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, each in found["by_learner"].items():
        held = f"{100 * each['held'][1]:.0f} %"
        figures = [f"{100 * each[k][1]:.2f}" for k in ("error", "power_law")]
        yield row([name.split(".")[-1], each["curves"], *figures, held])
    yield ""


def own_page(runs):
    yield "## Curves of halfmoon"
    yield ""
    yield (
        f"Five tables of at most 3,000 rows; {REPETITIONS} draws of N labels each. "
        f"`lever` is ConditionalClassifier or ConditionalRegressor, `search` is "
        f"HalfmoonClassifier or HalfmoonRegressor with a budget of {BUDGET:g} s. The "
        f"truth is the error of a fit to N + 50, 100, 200 labels on up to 1,000 rows "
        f"that are never labeled. Held: share of intervals that contain it, for the "
        f"error and for the gain."
    )
    yield ""
    head = [
        "table",
        "estimator",
        "N",
        "now",
        "true",
        "+100",
        "true",
        "held",
        "gain held",
    ]
    yield row(head)
    yield "| --- | --- " + "| ---: " * 7 + "|"
    keys = dict.fromkeys((r["table"], r["estimator"], r["labels"]) for r in runs)
    for key in keys:
        some = [r for r in runs if (r["table"], r["estimator"], r["labels"]) == key]
        figures = [np.mean([r[k] for r in some]) for k in ("now", "true_now")]
        figures += [np.mean([r[k][1] for r in some]) for k in ("expected", "true")]
        held = [np.mean([r[k] for r in some]) for k in ("held", "gain_held")]
        yield row([*key, *(f"{x:.3g}" for x in figures), *(f"{x:.0%}" for x in held)])
    for player in dict.fromkeys(r["estimator"] for r in runs):
        some = [r for r in runs if r["estimator"] == player]
        held = [np.mean([r[k] for r in some]) for k in ("held", "gain_held")]
        seconds = np.mean([r["cpu_seconds"] for r in some])
        yield ""
        yield (
            f"All of `{player}`: {held[0]:.0%} of the intervals contain the error, "
            f"{held[1]:.0%} the gain; a forecast takes {seconds:.2f} s of processor "
            f"time on average. The machine did other work, too: the fits had "
            f"{np.mean([r['processor'] for r in some]):.0%} of a processor."
        )


def main(parts):
    path = RESULTS / "learning_curves.json"
    if "lcdb" in parts:
        path.write_text(json.dumps(run_lcdb(), indent=1) + "\n")
    own = StoredRuns("own_curves", ("table", "estimator", "labels", "seed"))
    run_own(own, [name for name in ("lever", "search") if {name, "own"} & set(parts)])
    lines = [ABOUT, *lcdb_page(json.loads(path.read_text())), *own_page(own.runs)]
    text = "\n".join(lines) + "\n"
    path.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:] or ["lcdb", "own"])
