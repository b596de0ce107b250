"""Rows of Markdown tables, and a table of seconds for several pages."""

from collections import defaultdict

import numpy as np


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def seconds_table(runs, names):
    """Mean seconds per table and model."""
    found = defaultdict(list)
    for run in runs:
        if run["seconds"] is not None:
            found[run["table"], run["model"]].append(run["seconds"])
    players = [name for name in names if any(name == model for _, model in found)]
    yield row(["table", *players])
    yield "| --- |" + " ---: |" * len(players)
    for table in dict.fromkeys(table for table, _ in found):
        times = [found.get((table, name)) for name in players]
        yield row([table, *(f"{np.mean(t):.1f}" if t else "–" for t in times)])
