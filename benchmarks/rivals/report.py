"""Other tools in the pages of the league and of the tables.

A cell is a table with a number of labels. Every model of a cell is compared on the
splits that all of its models have, so a tool that has run on two of ten splits is
compared on these two.
"""

from collections import defaultdict

import numpy as np
from scipy.stats import rankdata

from benchmarks.markdown import row, seconds_table
from benchmarks.rivals import players, results

HOW = """\
Other tools for the same job, on the same rows, splits and labels, with their default
arguments and in their own environment:

```shell
make rivals
HALFMOON_DATA=folder .venv-rivals/bin/python -m benchmarks.rivals {benchmark}
```

The command runs what is not yet in `benchmarks/results/rivals.json` and updates this
page; `--models`, `--tables`, `--labels` and `--splits` select a part.

- {scope}
- Means over the splits that all models of a row have. The column "splits" has their
  number; if it is small, differences may be chance. The best is in bold.
- A tool that fails ranks last in that row.
- Each tool uses its own number of threads.
- Time limits are by the clock. A run of a tool with a limit that got less than half a
  processor is stored, but neither shown nor ranked: repeat it on an idle machine.
- Tools that accept only numbers get columns of strings through skrub's
  `TableVectorizer`, fitted on all rows. Columns are standardized if "call" says so and
  they have different units: by the labeled rows, or by all rows if the tool sees all.
"""


def rewrite():
    """Update both pages from the stored results."""
    from benchmarks import tables
    from benchmarks.league import report as league_report
    from benchmarks.league import results as league_results

    about, runs = league_results.read()
    yield league_report.write(about, list(runs.values()))
    yield tables.write()


def comparison(benchmark, cells, ours, *, scale=1, digits=3):
    """Compare errors (league) or scores (tables) and mean ranks of `ours` and others.

    `cells` maps (table, labels) -> model -> split -> measure, without the other tools,
    and may be a part of the benchmark.
    """
    merged = _with_rivals(benchmark, cells, ours)
    if not merged:
        return ["No rival has run yet."]
    names = [
        name
        for name in (*ours, *players.NAMES)
        if any(name in cell for cell in merged.values())
    ]
    sign = 1 if benchmark == "league" else -1
    lines = [
        row(["table", "labels", "splits", *names]),
        "| --- |" + " ---: |" * (len(names) + 2),
    ]
    for (table, labels), cell in merged.items():
        shown, splits = _shown(cell, names, sign, scale, digits)
        lines.append(row([table, labels, splits, *shown]))
    return [*lines, "", *_ranks(merged, names, sign, len(cells))]


def starved(run):
    """Whether a tool with a time limit got too little processor time to be judged."""
    limited = players.RIVALS[run["model"]].limited
    return limited and "failed" not in run and run["seconds"] < run["wall"] / 2


def _with_rivals(benchmark, cells, ours):
    """The cells in which some tool has run, each cut to the common splits."""
    table, amount, split, model = results.KEYS[benchmark]
    found: defaultdict = defaultdict(lambda: defaultdict(dict))
    for run in results.read(benchmark).values():
        if starved(run):
            continue
        error = run.get(results.MEASURE[benchmark], np.nan)  # NaN: it failed
        found[run[table], run[amount]][run[model]][run[split]] = error
    merged = {}
    for at, cell in cells.items():
        if at not in found:
            continue
        cell = {name: cell[name] for name in ours if name in cell} | found[at]
        common = set.intersection(*(set(runs) for runs in cell.values()))
        if common:
            merged[at] = {
                name: np.array([runs[s] for s in sorted(common)])
                for name, runs in cell.items()
            }
    return merged


def _shown(cell, names, sign, scale, digits):
    """The entries of a row, and the number of its splits."""
    means = {name: values.mean() for name, values in cell.items()}
    best = np.nanmin([sign * mean for mean in means.values()]) * sign
    best = f"{scale * best:.{digits}f}"
    shown = []
    for name in names:
        if name not in cell:
            shown.append("–")
            continue
        bad = int(np.isnan(cell[name]).sum())
        text = f"{scale * means[name]:.{digits}f}"
        if bad:
            text = f"failed ({bad})"
        shown.append(f"**{text}**" if text == best else text)
    return shown, len(next(iter(cell.values())))


def _ranks(merged, names, sign, total):
    """Mean ranks over the rows that contain all names."""
    whole = [cell for cell in merged.values() if set(names) <= set(cell)]
    if not whole:
        return ["No row yet in which all of them have run on the same splits."]
    means = sign * np.array([[cell[n].mean() for n in names] for cell in whole])
    ranks = rankdata(np.where(np.isnan(means), np.inf, means), axis=1)
    wins = (ranks == ranks.min(axis=1, keepdims=True)).sum(axis=0)
    splits = [len(cell[names[0]]) for cell in whole]
    few, many = min(splits), max(splits)
    count = few if few == many else f"{few} to {many}"
    cells = f"{len(whole)} of {total} cells, of {count} splits each"
    lines = [
        f"Mean ranks of {len(names)} models in {cells}:\n",
        "| model | learns | mean rank | wins |\n| --- | --- | ---: | ---: |",
    ]
    for j in np.argsort(ranks.mean(axis=0), kind="stable"):
        rival = names[j] in players.NAMES and players.RIVALS[names[j]]
        learns = rival.learns if rival else ""
        lines.append(row([names[j], learns, f"{ranks[:, j].mean():.2f}", wins[j]]))
    return lines


def rivals_table(benchmark):
    """Describe the tools that have run, and say why runs failed."""
    runs = results.read(benchmark).values()
    if not runs:
        return []
    lines = ["| rival | version | call | learns |", "| --- | --- | --- | --- |"]
    for name, rival in players.RIVALS.items():
        mine = [run for run in runs if run["model"] == name]
        if mine:
            versions = ", ".join(sorted({str(run["version"]) for run in mine}))
            lines.append(row([name, versions, rival.call, rival.learns]))
    hungry = sum(starved(run) for run in runs)
    lines.append(f"\nRuns left out because the machine was busy: {hungry}.")
    failed = [run for run in runs if "failed" in run]
    reasons = sorted({(run["model"], run["table"], run["failed"]) for run in failed})
    lines.append(f"\nRuns that failed: {len(failed)} of {len(runs)}.")
    lines += [f"- {model}, {table}: {why}" for model, table, why in reasons]
    lines.append("\nMean processor seconds of a run, all threads together:\n")
    return [*lines, *seconds_table(runs, players.NAMES)]
