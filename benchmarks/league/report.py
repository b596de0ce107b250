"""The league as Markdown: errors, ranks, wins, and a comparison with the twin.

A cell is a table with a number of labels. Ranks and wins compare mean errors, in the
cells in which all compared models have run on the same splits.
"""

from collections import defaultdict

import numpy as np
from scipy.stats import rankdata

from benchmarks.league import models, tables
from benchmarks.league.models import OURS, TWIN
from benchmarks.lines import RESULTS
from benchmarks.markdown import row, seconds_table
from benchmarks.rivals import report as rivals

TASKS = ("classification", "regression")
RIVALS_ABOUT = {
    "benchmark": "league",
    "scope": "The error is measured as above, on all rows without a label.",
}


def write(about, runs):
    path = RESULTS / "league.md"
    path.write_text(markdown(about, runs))
    return path


def markdown(about, runs):
    cells = _cells(runs)
    parts = [_head(about, runs), "## Models", *_models()]
    for task in TASKS:
        mine = {at: cell for at, cell in cells.items() if about[at[0]]["task"] == task}
        if not mine:
            continue
        players = _players(mine, [*models.NAMES, TWIN])
        unit = "error, %" if task == "classification" else "RMSE / std(y)"
        scale, digits = (100, 1) if task == "classification" else (1, 3)
        parts += [f"\n## {task.capitalize()}\n"]
        parts += _errors(mine, players, unit, scale, digits)
        parts += [f"\n### Ranks in {task}\n", *_ranks(mine, models.NAMES)]
    both = [name for name in models.NAMES if name not in models.CLASSIFIERS_ONLY]
    parts += ["\n## Ranks over both tasks, of the models that play in both\n"]
    parts += _ranks(cells, both)
    parts += ["\n## Compared with the supervised twin\n", *_twin(about, cells)]
    parts += ["\n## Seconds\n", *_seconds(runs)]
    parts += _rivals(about, cells)
    return "\n".join(parts) + "\n"


def _cells(runs):
    """(table, labels) -> model -> split -> error, in the order of the tables."""
    cells: defaultdict = defaultdict(lambda: defaultdict(dict))
    for run in sorted(runs, key=_place):
        at = run["table"], run["labels"]
        cells[at][run["model"]][run["split"]] = run["error"]
    return cells


def _players(cells, names):
    """The names that have run in some cell."""
    return [name for name in names if any(name in cell for cell in cells.values())]


def _complete(cell, players):
    """Whether all players have run on the same splits of the cell."""
    splits = {frozenset(cell.get(name, ())) for name in players}
    return len(splits) == 1 and splits != {frozenset()}


def _head(about, runs):
    splits = {run["split"] for run in runs}
    labels = sorted({run["labels"] for run in runs})
    cut = [t for t in about if about[t]["rows"] == tables.MAX_ROWS]
    raw = [t for t in about if not about[t]["standardized"]]
    return f"""# The few-label league

Made by `python -m benchmarks.league`: {len(runs):,} runs, {len(about)} tables,
{", ".join(map(str, labels))} labels, up to {len(splits)} splits each.

- The error is measured on all unlabeled rows of the table: the share of wrong classes,
  or the RMSE divided by the standard deviation of y over the table. Models may use
  these rows, without their labels. Means over the splits, ± one standard error; the
  best in bold.
- Labels are drawn at random. For classes, {tables.LABELS_PER_CLASS} rows of each class
  come first, and the rest is drawn from all rows.
- Every peer is tuned on the labels alone, by {tables.FOLDS}-fold cross-validation
  (stratified for classes; as many folds as the largest class has labels, if that is
  fewer). For models that learn from unlabeled rows, the held-out rows stay in the table
  as unlabeled ones.
- The grids of boosting and label-spreading, and which tables to standardize, were
  chosen with the errors of the peers on the first splits: a little in their favor.
- Tables of more than {tables.MAX_ROWS:,} rows are cut to {tables.MAX_ROWS:,} of them,
  drawn once with a fixed seed: {", ".join(cut) or "none here"}.
- Columns are standardized for all peers but trees: by the labeled rows if the model
  sees only these, by all rows if it sees all. Tables with columns in one unit are not
  standardized: {", ".join(raw) or "none here"}. {OURS} and its twin get every table
  unscaled and prepare the columns themselves, from all rows.
"""


def _models():
    yield "\n| model | what it is, and what is searched |\n| --- | --- |"
    for name, what in models.ABOUT.items():
        yield f"| {name} | {what} |"
    yield (
        f"| {TWIN} | the supervised twin of {OURS}: the same model from the labeled "
        f"rows only; not ranked |"
    )


def _errors(cells, players, unit, scale, digits):
    yield row(["table", "labels", *players])
    yield "| --- |" + " ---: |" * (len(players) + 1)
    for (table, labels), cell in cells.items():
        means = {name: scale * np.mean(list(cell[name].values())) for name in cell}
        best = f"{min(means.values()):.{digits}f}"
        shown = []
        for name in players:
            if name not in cell:
                shown.append("–")
                continue
            text = f"{means[name]:.{digits}f}"
            errors = scale * np.array(list(cell[name].values()))
            text = f"**{text}**" if text == best else text
            spread = _standard_error(errors)
            spread = "" if np.isnan(spread) else f" ± {spread:.{digits}f}"
            few = len(errors) < max(map(len, cell.values()))
            shown.append(text + spread + (f" ({len(errors)} splits)" if few else ""))
        yield row([table, labels, *shown])
    yield f"\nUnit: {unit}."


def _ranks(cells, names):
    players = _players(cells, names)
    whole = {at: cell for at, cell in cells.items() if _complete(cell, players)}
    if not whole:
        return ["No cell in which all models have run on the same splits yet."]
    means = np.array(
        [[np.mean(list(c[name].values())) for name in players] for c in whole.values()]
    )  # (cells, models)
    ranks = rankdata(means, axis=1)
    wins = (means == means.min(axis=1, keepdims=True)).sum(axis=0)
    note = (
        f"{len(whole)} of {len(cells)} cells, {len(players)} models. A win is the "
        f"smallest mean error of a cell; a tie counts for each.\n"
    )
    lines = [
        note,
        "| model | mean rank | wins |\n| --- | ---: | ---: |",
    ]
    for j in np.argsort(ranks.mean(axis=0), kind="stable"):
        rank = f"{ranks[:, j].mean():.2f}"
        lines.append(row([players[j], rank, wins[j]]))
    return lines


def _twin(about, cells):
    both = {
        at: cell
        for at, cell in cells.items()
        if {OURS, TWIN} <= set(cell) and _complete(cell, [OURS, TWIN])
    }
    if not both:
        return [f"{OURS} has not run yet."]
    note = (
        f"Error of {OURS} minus that of its twin, split by split (% or RMSE / std(y)): "
        "the mean, its standard error, and whether it is worse by more than that.\n"
    )
    lines = [
        note,
        "| table | labels | difference | standard error | worse by more than one |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    worse = 0
    for (table, labels), cell in both.items():
        classes = about[table]["task"] == "classification"
        scale, digits = (100, 2) if classes else (1, 4)
        splits = sorted(cell[OURS])
        gaps = np.array([cell[OURS][s] - cell[TWIN][s] for s in splits]) * scale
        mean, spread = gaps.mean(), _standard_error(gaps)
        worse += mean > spread
        verdict = "YES" if mean > spread else "no"
        shown = f"{mean:+.{digits}f}", f"{spread:.{digits}f}"
        lines.append(row([table, labels, *shown, verdict]))
    lines.append(f"\nWorse by more than one standard error in {worse} of {len(both)}.")
    return lines


def _seconds(runs):
    """Mean processor seconds of a whole run, tuning included."""
    yield (
        "Mean processor time of one run on one thread: tuning, fitting, predicting "
        "every row.\n"
    )
    yield from seconds_table(sorted(runs, key=_place), models.NAMES)


def _place(run):
    """Sort key: order of the tables, then number of labels."""
    return tables.NAMES.index(run["table"]), run["labels"]


def _rivals(about, cells):
    """Compare with other tools, on the splits that they have run on."""
    parts = [f"\n## Compared with other tools\n\n{rivals.HOW.format(**RIVALS_ABOUT)}"]
    parts += rivals.rivals_table("league")
    for task in TASKS:
        mine = {at: cell for at, cell in cells.items() if about[at[0]]["task"] == task}
        if not mine:
            continue
        classes = task == "classification"
        unit = "error, %" if classes else "RMSE / std(y)"
        scale, digits = (100, 1) if classes else (1, 3)
        parts += [f"\n### Other tools in {task}: {unit}\n"]
        parts += rivals.comparison(
            "league", mine, models.NAMES, scale=scale, digits=digits
        )
    return parts


def _standard_error(values):
    if len(values) < 2:
        return np.nan
    return np.std(values, ddof=1) / np.sqrt(len(values))
