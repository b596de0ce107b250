"""The file of results: one line per run, merged by table, labels, split, model."""

import fcntl
import json
import os
from contextlib import contextmanager

from benchmarks.lines import RESULTS, machine

PATH = RESULTS / "league.json"
KEY = ("table", "labels", "split", "model")


def key(run):
    return tuple(run[part] for part in KEY)


def read():
    """Return the table descriptions, and the stored runs by their key."""
    if not PATH.exists():
        return {}, {}
    content = json.loads(PATH.read_text())
    return content["tables"], {key(run): run for run in content["runs"]}


def merge(tables, runs):
    """Add runs to the file; those with the same key are replaced.

    Runs that another process has written meanwhile stay, and a process that is stopped
    leaves a complete file.
    """
    RESULTS.mkdir(exist_ok=True)
    with lock():
        old_tables, old_runs = read()
        tables = old_tables | tables
        kept = old_runs | {key(run): run for run in runs}
        lines = ",\n".join(json.dumps(kept[at]) for at in sorted(kept))
        head = json.dumps({"machine": machine(), "tables": tables}, indent=1)
        new = PATH.with_suffix(".json.new")
        new.write_text(f'{head[:-2]},\n "runs": [\n{lines}\n]}}\n')
        os.replace(new, PATH)


@contextmanager
def lock():
    folder = os.open(RESULTS, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)  # also releases the lock
