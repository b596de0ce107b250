"""Play the few-label league; store it in benchmarks/results/league.json and .md.

python -m benchmarks.league                                everything not stored yet
python -m benchmarks.league --models halfmoon --again      repeat one model
python -m benchmarks.league --tables digits --labels 20 --splits 3
python -m benchmarks.league --report                       only write league.md

Set HALFMOON_DATA to the folder of the data sets; without it, only the tables that come
with scikit-learn are used. Every run is stored as soon as it is done, so a league that
was stopped continues where it was.
"""

import argparse
import sys
import time

from joblib import Parallel, delayed

from benchmarks.league import models, report, results, tables


def main():
    arguments = _arguments()
    names, note = tables.available()
    if note:
        print(note)
    chosen = [name for name in names if name in arguments.tables]
    players = list(arguments.models)
    if models.OURS in players and models.missing():
        print(models.missing())
        players.remove(models.OURS)
    failed = 0
    if not arguments.report:
        failed = play(chosen, players, arguments)
    about, runs = results.read()
    if runs:
        print(f"kept in {results.PATH} and {report.write(about, runs.values())}")
    sys.exit(bool(failed))


def play(names, players, arguments):
    """Play what is requested and not stored yet; return the number of failed runs."""
    about = {name: tables.load(name).about() for name in names}
    kept = set() if arguments.again else set(results.read()[1])
    # Splits come first, so that a league that is stopped has a few of every cell.
    asked = [
        (name, labels, split, player)
        for split in range(arguments.splits)
        for labels in arguments.labels
        for name in names
        for player in players
        if models.plays(player, tables.load(name))
    ]
    queue = [at for at in asked if at not in kept]
    print(f"{len(queue)} runs, {len(asked) - len(queue)} are there already")
    done, failed, start = 0, 0, time.perf_counter()
    jobs = (delayed(attempt)(at) for at in queue)
    for at, entries, problem in Parallel(
        n_jobs=arguments.jobs, return_as="generator_unordered"
    )(jobs):
        done += 1
        left = (time.perf_counter() - start) / done * (len(queue) - done) / 60
        what = f"{at[0]} {at[1]} labels, split {at[2]}, {at[3]}"
        if problem:
            failed += 1
            print(f"[{done}/{len(queue)}] {what}: FAILED, {problem}", flush=True)
            continue
        results.merge(about, entries)
        print(
            f"[{done}/{len(queue)}] {what}: {entries[0]['error']:.4f} in "
            f"{entries[0]['seconds']:.1f} s, {left:.0f} min left",
            flush=True,
        )
    return failed


def attempt(at):
    """Run once; a failure is reported and does not end the league."""
    try:
        return at, models.run(*at), ""
    except Exception as error:
        return at, [], f"{type(error).__name__}: {error}"


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.league")
    add = parser.add_argument
    add("--models", nargs="+", choices=models.NAMES, default=models.NAMES)
    add("--tables", nargs="+", choices=tables.NAMES, default=tables.NAMES)
    add("--labels", nargs="+", type=int, default=(20, 50, 100))
    add("--splits", type=int, default=10, help="splits 0, 1, ... (10)")
    add("--jobs", type=int, default=1, help="processes (1), of one BLAS thread each")
    add("--again", action="store_true", help="also what is there already")
    add("--report", action="store_true", help="play nothing, only write league.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
