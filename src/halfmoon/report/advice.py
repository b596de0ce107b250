"""What to do next: a few lines, derived from what was found."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from halfmoon.report.findings import FilledClasses, Findings
from halfmoon.report.shown_text import shown
from halfmoon.report.wording import count

__all__ = ["Step", "next_steps", "row_numbers", "run_again"]

MOST = 5  # lines
FEW = 5  # labels of a class
NAMED = 4  # classes, in one line
ROWS = 8  # row numbers, in one line
TO_LABEL = "--to-label 20 todo.csv"


class Step(NamedTuple):
    """Something to do, and a command that does it, if there is one."""

    text: str
    command: str = ""


def next_steps(findings: Findings) -> list[Step]:
    """At most five lines, the most useful first."""
    steps = []
    important = sum(note.important for note in findings.notes)
    if important:
        these = "this point" if important == 1 else f"these {important} points"
        steps.append(Step(f"Settle {these} first (see above), then run again."))
    steps += [
        Step(str(note), note.command)
        for note in findings.notes
        if note.command and not note.important
    ]
    if findings.suspects:
        n = max(findings.n_suspects, len(findings.suspects))
        these = "this label, which looks" if n == 1 else "these labels, which look"
        rows = row_numbers([row.number for row in findings.suspects], in_all=n)
        steps.append(Step(f"Check {these} wrong: {rows}."))
    rows_to_label = findings.next_rows or findings.least_sure
    if rows_to_label:
        rows = row_numbers([row.number for row in rows_to_label])
        text = f"Label a few more rows, starting with {rows}."
        command = _to_label(findings.command)
        steps.append(
            Step(f"{text} To get them as a file:" if command else text, command)
        )
    steps += _rare_classes(findings)
    if not steps:
        steps.append(
            Step("Nothing stands out. Check a few filled rows before you rely on them.")
        )
    return steps[:MOST]


def run_again(run: str, options: str) -> str:
    """The command of a run with more options; empty for what is no command.

    Examples
    --------
    >>> run_again("halfmoon fill t.csv --target y", "--merge-labels")
    'halfmoon fill t.csv --target y --merge-labels --overwrite'
    """
    if not run.startswith("halfmoon fill "):
        return ""
    return " ".join([run, options, *["--overwrite"][: "--overwrite" not in run]])


def row_numbers(numbers: Sequence[int], most: int = ROWS, in_all: int = 0) -> str:
    """As in "row 5" and "rows 5, 9 and 12 more", where `in_all` may count more rows.

    Examples
    --------
    >>> row_numbers([5]), row_numbers([5, 9, 7]), row_numbers([5, 9, 7], 2)
    ('row 5', 'rows 5, 9, 7', 'rows 5, 9 and 1 more')
    """
    listed = ", ".join(f"{number:,}" for number in numbers[:most])
    n = max(in_all, len(numbers))
    rest = n - min(most, len(numbers))
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"row{'s' * (n != 1)} {listed}{more}"


def _to_label(run: str) -> str:
    """The command that writes the rows to label, which is for one target alone."""
    try:
        words = shlex.split(run)
    except ValueError:  # not a command line
        return ""
    targets = words[words.index("--target") + 1 :] if "--target" in words else []
    targets = [*takewhile(lambda word: not word.startswith("--"), targets)]
    if len(targets) != 1 or words.count("--target") > 1 or "--to-label" in words:
        return ""
    return run_again(run, TO_LABEL)


def _rare_classes(findings: Findings) -> list[Step]:
    filled = findings.filled
    if not isinstance(filled, FilledClasses):
        return []
    few = sorted(
        ((n, name) for name, n in filled.given.items() if 0 < n < FEW),
        key=lambda pair: pair[0],
    )
    if not few:
        return []
    names = ", ".join(
        f"{shown(name, 30)} ({count(n, 'label')})" for n, name in few[:NAMED]
    )
    rest = len(few) - NAMED
    more = f" and {count(rest, 'other class', 'other classes')}" if rest > 0 else ""
    what = "this rare class" if len(few) == 1 else "the rare classes"
    return [Step(f"Find and label more rows of {what}: {names}{more}.")]
