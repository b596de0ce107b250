"""The results of other tools, stored apart from halfmoon's so that either can rerun.

It contains a list of runs per benchmark, with the keys of the benchmark. A failed run
has `failed`, the reason, instead of its measure.
"""

import json
import os

from benchmarks.league.results import lock
from benchmarks.lines import RESULTS, machine

PATH = RESULTS / "rivals.json"
KEYS = {
    "league": ("table", "labels", "split", "model"),
    "tables": ("table", "share", "seed", "model"),
    "fresh": ("table", "labels", "seed", "model"),
}
MEASURE = {"league": "error", "tables": "score", "fresh": "error"}


def key(benchmark, run):
    return tuple(run[part] for part in KEYS[benchmark])


def read(benchmark):
    """The runs of a benchmark by their key."""
    runs = json.loads(PATH.read_text()).get(benchmark, []) if PATH.exists() else []
    return {key(benchmark, run): run for run in runs}


def merge(benchmark, runs):
    """Add runs, replacing those with the same key; the file is never incomplete."""
    RESULTS.mkdir(exist_ok=True)
    with lock():
        kept = {name: read(name) for name in KEYS}
        kept[benchmark] |= {key(benchmark, run): run for run in runs}
        parts = [f'"machine": {json.dumps(machine())}']
        for name, found in kept.items():
            lines = ",\n".join(json.dumps(found[at]) for at in sorted(found))
            parts.append(f'"{name}": [\n{lines}\n]')
        new = PATH.with_suffix(".json.new")
        new.write_text("{" + ",\n".join(parts) + "}\n")
        os.replace(new, PATH)
