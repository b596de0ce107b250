"""One run of one tool, measured as the benchmark measures."""

import importlib
import resource
import time
import warnings

import numpy as np

from benchmarks.league import tables as league
from benchmarks.rivals import work as works
from benchmarks.rivals.players import RIVALS, installed

WORK = {
    "league": works.of_league,
    "tables": works.of_tables,
    "fresh": works.of_fresh,
}


def run(benchmark, table, amount, split, name):
    """Return the measure, clock and processor seconds, and the version.

    `amount` is the number of labels in the league, their share in the tables. The tool
    uses its own number of threads.
    """
    rival = RIVALS[name]
    importlib.import_module(rival.module)
    given = WORK[benchmark](table, amount, split)
    start, processor = time.perf_counter(), _processor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = given.decoded(rival.predict(given))
    found = {
        "wall": round(time.perf_counter() - start, 2),
        "seconds": round(_processor() - processor, 2),
        "version": installed(name),
    }
    return measure(benchmark, table, given, predicted) | found


def measure(benchmark, table, given, predicted):
    """Error in the league, score in the tables, over the hidden rows."""
    if predicted.shape != given.hidden.shape:
        raise ValueError(
            f"{predicted.size} predictions for {given.hidden.size} unlabeled rows"
        )
    if given.regression and not np.isfinite(predicted).all():
        raise ValueError("some predictions are not finite")
    if benchmark == "league":
        whole = np.zeros(len(given.frame), predicted.dtype)
        whole[given.hidden] = predicted
        return {"error": league.load(table).error(whole, given.labeled)}
    if benchmark == "fresh":
        from benchmarks import fresh

        return {"error": fresh.error(table, predicted, given.hidden)}
    from benchmarks import tables

    truth = tables.TABLES[table]()[1][given.hidden]
    if given.regression:
        return {"score": tables.r2(predicted, truth)}
    return {"score": float((predicted == truth).mean())}


def _processor():
    """Processor seconds of this process and of its children."""
    whose = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    used = [resource.getrusage(who) for who in whose]
    return sum(each.ru_utime + each.ru_stime for each in used)
