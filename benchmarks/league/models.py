"""The models of the league by name, and one run of one of them."""

import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import halfmoon
from benchmarks.league import supervised, transductive
from benchmarks.league.tables import load

OURS, TWIN = "halfmoon", "supervised twin"
ABOUT = {
    **supervised.ABOUT,
    **transductive.ABOUT,
    OURS: "HalfmoonClassifier or HalfmoonRegressor with default arguments",
}
NAMES = tuple(ABOUT)
CLASSIFIERS_ONLY = tuple(transductive.ABOUT)


def missing():
    """Why our own models cannot run; empty if they can."""
    if hasattr(halfmoon, "HalfmoonClassifier"):
        return ""
    return f"{OURS} is left out: this halfmoon has no HalfmoonClassifier yet."


def plays(name, table):
    return table.task == "classification" or name not in CLASSIFIERS_ONLY


def run(table_name, labels, split, name):
    """Run once; return the entries to add to the results.

    Seconds are processor seconds on one thread, so that other work on the machine
    does not count.
    """
    table = load(table_name)
    labeled = table.draw(labels, split)
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        if name != OURS:  # a peer that has not converged is used as it is
            warnings.simplefilter("ignore")
        if name in supervised.ABOUT:
            predicted, chosen = supervised.predict(name, table, labeled, split)
            found = {name: predicted}
        elif name in transductive.ABOUT:
            predicted, chosen = transductive.predict(name, table, labeled, split)
            found = {name: predicted}
        else:
            found, chosen = _ours(table, labeled, split)
    seconds = time.process_time() - start
    key = {"table": table_name, "task": table.task, "labels": labels, "split": split}
    return [
        key
        | {
            "model": model,
            "error": table.error(predicted, labeled),
            "seconds": round(seconds, 3) if model == name else None,
            "parameters": chosen if model == name else {},
        }
        for model, predicted in found.items()
    ]


def _ours(table, labeled, split):
    """Fit our model with default arguments; return its predictions and its twin's."""
    kind = f"Halfmoon{'Classifier' if table.task == 'classification' else 'Regressor'}"
    model = getattr(halfmoon, kind)(random_state=split)
    y = np.full(table.y.size, np.nan)
    y[labeled] = table.y[labeled]
    model.fit(table.X, y)
    found = {OURS: model.predict(table.X), TWIN: model.twin_.predict(table.X)}
    return found, {"used_unlabeled": bool(model.used_unlabeled_)}
