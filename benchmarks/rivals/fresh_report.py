"""The page of `benchmarks.fresh`: halfmoon beside other tools, run by run.

Errors are compared as ratios, because tables differ in how hard they are. A thousandth
is added to both, so that a table without errors counts.
"""

from collections import defaultdict

import numpy as np

from benchmarks import fresh
from benchmarks.lines import RESULTS
from benchmarks.markdown import row
from benchmarks.rivals import players, report, results

SMALL = 1e-3
PATH = RESULTS / "rivals_fresh.md"
HOW = f"""\
# Tables on which nothing was chosen

Made by `python -m benchmarks.rivals fresh`: {len(fresh.NUMBERS)} tables of numbers and
{len(fresh.CLASSES)} of classes from R packages, at most {fresh.MAX_ROWS:,} rows each,
labels drawn at random. Errors on the rows without a label: for numbers, the root mean
squared error over the standard deviation (1 is no better than the mean); for classes,
the share of wrong rows. All tools have their default arguments, but for a limit of
{fresh.SECONDS} seconds where they stop by the clock; `linear` and `svm` are tuned by
cross-validation. The best of a row is in bold.

A run of a tool with a limit that got less than half a processor is stored, but neither
shown nor compared. Seconds are those of the processor.
"""


def write():
    """Write the page from the stored results."""
    PATH.write_text("\n".join(page(results.read("fresh").values())) + "\n")
    return PATH


def page(runs):
    """Yield the lines of the page."""
    runs = [run for run in runs if not report.starved(run)]
    cells: defaultdict = defaultdict(dict)
    for run in runs:
        place = run["table"], run["labels"], run["seed"]
        cells[place][run["model"]] = run.get("error", np.nan)
    yield HOW
    yield "## Error of halfmoon over that of each tool\n"
    yield (
        "Geometric mean over tables ± standard error, and in how many runs halfmoon "
        "has the smaller, the same and the larger error. Below 1, halfmoon is better.\n"
    )
    yield from _ratios(cells)
    names = [n for n in players.RIVALS if any(n in cell for cell in cells.values())]
    for kind, tables in (("Numbers", fresh.NUMBERS), ("Classes", fresh.CLASSES)):
        yield f"\n## {kind}\n"
        yield row(["table", "labels", "draws", *names])
        yield "| --- |" + " ---: |" * (len(names) + 2)
        for table in tables:
            for labels in sorted({place[1] for place in cells}):
                some = [c for p, c in cells.items() if p[:2] == (table, labels)]
                if some:
                    yield row([table, labels, len(some), *_errors(some, names)])
    yield "\n## Processor seconds\n"
    yield row(["tool", "runs", "mean seconds"])
    yield "| --- | ---: | ---: |"
    for name in names:
        mine = [r["seconds"] for r in runs if r["model"] == name and r.get("seconds")]
        yield row([name, len(mine), f"{np.mean(mine):.1f}"])


def _errors(cells, names):
    """Return the mean errors of the tools that have run on all draws."""
    means = {}
    for name in names:
        found = [cell.get(name) for cell in cells]
        if None not in found:
            means[name] = np.mean(found)
    best = f"{np.nanmin(list(means.values())):.3f}" if means else ""
    for name in names:
        text = f"{means[name]:.3f}" if name in means else "–"
        yield f"**{text}**" if text == best else text


def _ratios(cells):
    kinds = {"numbers": fresh.NUMBERS, "classes": fresh.CLASSES}
    yield row(
        ["tool", "targets", "labels", "tables", "ratio", "better", "same", "worse"]
    )
    yield "| --- | --- |" + " ---: |" * 6
    for name in players.RIVALS:
        for kind, tables in kinds.items():
            for labels in sorted({place[1] for place in cells}):
                by_table, signs = defaultdict(list), []
                for (table, count, _), cell in cells.items():
                    both = np.array([cell.get("halfmoon"), cell.get(name)], dtype=float)
                    if table in tables and count == labels and np.isfinite(both).all():
                        ours, theirs = both
                        ratio = np.log((ours + SMALL) / (theirs + SMALL))
                        by_table[table].append(ratio)
                        signs.append(np.sign(round(ours - theirs, 4)))
                if name != "halfmoon" and len(by_table) > 1:
                    logs = np.array([np.mean(each) for each in by_table.values()])
                    error = logs.std(ddof=1) / np.sqrt(len(logs))
                    shown = f"{np.exp(logs.mean()):.3f} ± {error:.3f}"
                    counts = [signs.count(sign) for sign in (-1, 0, 1)]
                    yield row([name, kind, labels, len(logs), shown, *counts])
