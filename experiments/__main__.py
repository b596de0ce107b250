"""Command line: python -m experiments list | run NAME... | report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.experiment import Experiment, Size, all_experiments
from experiments.report import write_report
from experiments.runner import missing_data, run_all
from experiments.store import Store

EXAMPLES = """examples:
  python -m experiments list
  python -m experiments run fredholm-table-6 --splits 10
  python -m experiments run all --out build/reproduce    resumes where it was stopped
  python -m experiments report --out build/reproduce     RESULTS.md from what is there
"""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    known = all_experiments()
    size = Size(options.splits, options.quick)
    if options.command == "list":
        return _list(known, size)
    store = Store(options.out / "results")
    chosen = _chosen(known, options.names)
    if options.command == "run":
        named = "all" not in options.names
        try:
            outcome = run_all(chosen, size, store, options.fresh)
        except KeyboardInterrupt:
            print("Stopped. The same command goes on from here.", file=sys.stderr)
            return 130
        for name, why in outcome.skipped.items():
            print(f"{name} was not run. {why}", file=sys.stderr)
        for name, text in outcome.failed.items():
            print(f"{name} failed:\n{text}", file=sys.stderr)
        if outcome.failed or (named and outcome.skipped):
            return 1
    write_report(list(known.values()), size, store, options.out / "RESULTS.md")
    print(options.out / "RESULTS.md")
    return 0


def _list(known: dict[str, Experiment], size: Size) -> int:
    for experiment in known.values():
        needs = "" if missing_data(experiment) is None else "  (data not here)"
        print(f"{experiment.name:26} {experiment.title}{needs}")
    return 0


def _chosen(known: dict[str, Experiment], names: list[str]) -> list[Experiment]:
    if "all" in names:
        return list(known.values())
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(
            f"There is no experiment {', '.join(unknown)}. "
            f"'python -m experiments list' names them all."
        )
    # A figure that is drawn from a table's runs needs that table.
    return list(
        {known[name].source: known[known[name].source] for name in names}.values()
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Every table and figure of the papers that halfmoon builds on.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=["list", "run", "report"])
    parser.add_argument("names", nargs="*", default=["all"], help="or 'all'")
    parser.add_argument("--splits", type=int, default=10, help="labeled sets drawn")
    parser.add_argument(
        "--quick", action="store_true", help="small: minutes, not hours"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run even what has a result"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/reproduce"),
        help="folder of results and RESULTS.md (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
