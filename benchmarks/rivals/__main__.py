"""Run other tools where halfmoon was run; store benchmarks/results/rivals.json.

make rivals                                            set up .venv-rivals, once
.venv-rivals/bin/python -m benchmarks.rivals league    everything not stored yet
.venv-rivals/bin/python -m benchmarks.rivals tables
.venv-rivals/bin/python -m benchmarks.rivals fresh --splits 2
.venv-rivals/bin/python -m benchmarks.rivals league --models xrfm catboost \
    --tables wine digits --labels 20 50 --splits 2

Rows, splits and labels are those of `benchmarks.league`, `benchmarks.tables` and
`benchmarks.fresh`, where halfmoon is one of the tools. Set HALFMOON_DATA to the folder
of the data sets; the last needs none. Every run is stored as soon as it is done. A tool
that fails, or needs longer than --limit, is stored as failed with the reason; --again
repeats it. The pages of the benchmark are updated at the end.
"""

import argparse
import os
import time

from benchmarks import fresh
from benchmarks.league import tables as league
from benchmarks.rivals import fresh_report, players, report, results
from benchmarks.rivals.apart import apart
from benchmarks.rivals.run import run


def main():
    arguments = _arguments()
    benchmark = arguments.benchmark
    queue = _queue(arguments)
    if not arguments.again:
        kept = results.read(benchmark)
        queue = [at for at in queue if at not in kept]
    print(f"{len(queue)} runs")
    for done, at in enumerate(queue, start=1):
        table, amount, split, name = at
        start = time.perf_counter()
        found, problem = apart(run, benchmark, *at, limit=arguments.limit)
        if problem:
            wall = round(time.perf_counter() - start, 2)
            found = {"failed": problem, "wall": wall, "seconds": None}
            found["version"] = players.installed(name)
        key = dict(zip(results.KEYS[benchmark], at, strict=True))
        results.merge(benchmark, [key | found])
        said = found.get("failed") or f"{found[results.MEASURE[benchmark]]:.4f}"
        print(
            f"[{done}/{len(queue)}] {table}, {amount}, split {split}, {name}: {said} "
            f"in {found['wall']:.1f} s",
            flush=True,
        )
    pages = [fresh_report.write()] if benchmark == "fresh" else report.rewrite()
    for path in pages:
        print(f"written: {path}")


def _queue(arguments):
    """Order by splits first, so that a stopped run has a few of every cell."""
    names, amounts = arguments.tables, arguments.labels
    if arguments.benchmark == "league":
        known, note = league.available()
        if note:
            print(note)
        names = [name for name in known if name in (names or known)]
        amounts = [int(a) for a in amounts or (20, 50, 100)]
    elif arguments.benchmark == "fresh":
        names = [name for name in fresh.TABLES if name in (names or fresh.TABLES)]
        amounts = [int(a) for a in amounts or fresh.LABELS]
    else:
        from benchmarks import tables

        known = tables.TABLES if os.environ.get("HALFMOON_DATA") else tables.QUICK
        names = [name for name in known if name in (names or known)]
        amounts = amounts or tables.SHARES
    usual = players.FRESH if arguments.benchmark == "fresh" else players.NAMES
    models = arguments.models or usual
    here = [name for name in models if players.installed(name)]
    for name in models:
        if name not in here:
            print(f"{name} is left out: {players.RIVALS[name].package} is missing.")
    return [
        (table, amount, split, name)
        for split in range(arguments.splits)
        for amount in amounts
        for table in names
        for name in here
    ]


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals")
    add = parser.add_argument
    add("benchmark", choices=tuple(results.KEYS))
    add("--models", nargs="+", choices=tuple(players.RIVALS))
    add("--tables", nargs="+", help="some tables of the benchmark (all)")
    add("--labels", nargs="+", type=float, help="numbers in league, shares in tables")
    add("--splits", type=int, default=10, help="splits or seeds 0, 1, ... (10)")
    add("--limit", type=float, default=900, help="seconds after which a run is ended")
    add("--again", action="store_true", help="also what is there already")
    return parser.parse_args()


if __name__ == "__main__":
    main()
