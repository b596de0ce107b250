"""What to do next: advice that follows from the findings."""

from __future__ import annotations

import shlex
from itertools import takewhile

from halfmoon._notes import Note, run_again
from halfmoon._number_format import count, row_numbers
from halfmoon._report.findings import FilledClasses, Findings
from halfmoon._report.safe_text import safe_text

__all__ = ["next_steps"]

MAX_STEPS = 5
FEW_LABELS = 5  # of a class; with fewer, more labels are asked for
MAX_STEP_CLASSES = 4  # named in one step
TO_LABEL = "--to-label 20 todo.csv"


def next_steps(findings: Findings) -> list[Note]:
    """Return at most five steps, the most useful first."""
    steps = []
    important = sum(note.important for note in findings.notes)
    if important:
        notes = "the note" if important == 1 else f"the {important} notes"
        steps.append(
            Note(f"Read {notes} above first. If you change anything, run again.")
        )
    steps += [
        Note(str(note), command=note.command)
        for note in findings.notes
        if note.command and not note.important
    ]
    if findings.suspects:
        n = findings.suspected
        look = "the label that looks" if n == 1 else "the labels that look"
        rows = row_numbers([row.number for row in findings.suspects], in_all=n)
        steps.append(Note(f"Check {look} wrong: {rows}."))
    rows_to_label = findings.next_rows
    if rows_to_label:
        rows = row_numbers([row.number for row in rows_to_label])
        text = f"Label a few more rows, starting with {rows}."
        command = _to_label(findings.command)
        text += " To get them as a file:" * bool(command)
        steps.append(Note(text, command=command))
    steps += _classes_with_few_labels(findings)
    nothing = "Nothing stands out. Check a few filled rows before you rely on them."
    return steps[:MAX_STEPS] or [Note(nothing)]


def _to_label(run: str) -> str:
    """Return the command that writes the rows to label; it takes a single target."""
    try:
        words = shlex.split(run)
    except ValueError:  # not a command line
        return ""
    targets = words[words.index("--target") + 1 :] if "--target" in words else []
    targets = [*takewhile(lambda word: not word.startswith("--"), targets)]
    if len(targets) != 1 or words.count("--target") > 1 or "--to-label" in words:
        return ""
    return run_again(run, TO_LABEL)


def _classes_with_few_labels(findings: Findings) -> list[Note]:
    if not isinstance(findings.filled, FilledClasses):
        return []
    given = findings.filled.given
    few = [name for name, n in given.items() if 0 < n < FEW_LABELS]
    if not few:
        return []
    few.sort(key=lambda name: given[name])
    names = ", ".join(
        f"{safe_text(name, 30)} ({count(given[name], 'label')})"
        for name in few[:MAX_STEP_CLASSES]
    )
    rest = len(few) - MAX_STEP_CLASSES
    more = f" and {count(rest, 'other class', 'other classes')}" if rest > 0 else ""
    which = "the class" if len(few) == 1 else "the classes"
    return [Note(f"Label more rows of {which} with few labels: {names}{more}.")]
