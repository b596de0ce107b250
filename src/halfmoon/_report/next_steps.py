"""What to do next: steps that follow from the findings, and the gain of more labels."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from typing import Any

from halfmoon._notes import Note, run_again
from halfmoon._number_format import count, fixed, format_aligned, percent, row_numbers
from halfmoon._report.findings import FilledClasses, Findings
from halfmoon._report.safe_text import safe_text
from halfmoon._report.svg_drawing import GRAY, INK, Picture, draw
from halfmoon.plotting import LearningCurveDisplay
from halfmoon.queries import Forecast

__all__ = ["more_labels", "next_steps", "of_more_labels"]

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


MIN_FORECAST_LABELS = 10  # for a forecast
MIN_BLANKS = 50  # with fewer, a forecast is of little use
UNKNOWN = {
    "classes": "It is too early to say: at least ten labels are needed, of classes "
    "with two labels or more.",
    "numbers": "It is too early to say: at least ten different labels are needed.",
}


def more_labels(findings: Findings) -> str:
    """Say what more labels would gain; empty if hardly a blank is left to label."""
    found, of_classes = findings.forecast, findings.kind == "classes"
    if found is None:
        is_early = (
            findings.predicted >= MIN_BLANKS and findings.labeled < MIN_FORECAST_LABELS
        )
        return UNKNOWN[findings.kind] if is_early else ""
    first, last = (_gain(found, i, of_classes) for i in (0, -1))
    most = count(int(found.n_labels[-1]), "more label")
    if not re.search("[1-9]", last[0]):  # it is shown as 0
        same = "accuracy" if of_classes else "the mean error"
        return f"{most} would leave {same} about as it is."
    about, low, high = first
    gain = f"mean error about {about} lower"
    if of_classes:
        gain = f"accuracy about {about} points higher"
    more = count(int(found.n_labels[0]), "more label")
    text = f"{more}: {gain} ({low} to {high})."
    if len(found.n_labels) > 1:
        about, low, high = last
        text += f" {int(found.n_labels[-1]):,} more: about {about} ({low} to {high})."
    return text


def _gain(found: Forecast, i: int, of_classes: bool) -> list[str]:
    """Format the expected gain and the ends of its interval."""
    values = [float(each[i]) for each in (found.gain, found.gain_low, found.gain_high)]
    if not of_classes:
        return format_aligned(*values)
    points = [100 * value for value in values]
    digits = 0 if points[2] - points[1] >= 2.0 else 1
    return [fixed(value, digits) for value in points]


def of_more_labels(findings: Findings) -> list[Picture]:
    """Show the learning curve, measured and forecast; nothing where it is unknown."""
    found = findings.forecast
    if found is None:
        return []

    def paint(ax: Any) -> None:
        shown = LearningCurveDisplay.from_forecast(found, ax=ax)
        shown.points_.set_color(INK)  # which has a counterpart for a dark page
        shown.now_.set_color(GRAY)
        shown.ax_.legend()  # in the new colors
        shown.ax_.locator_params(nbins=6)
        shown.ax_.grid(axis="y")

    scale, unit = (100.0, " %") if found.metric == "error rate" else (1.0, "")
    now, then = format_aligned(scale * found.error, scale * float(found.expected[-1]))
    alt = (
        f"Error against the number of labels: a curve from {now}{unit} now to "
        f"{then}{unit} with {int(found.n_labels[-1]):,} more."
    )
    caption = (
        f"Measured points are errors on hidden labels when only some of your labels "
        f"are used. Right of the dotted line everything is a forecast; the band should "
        f"hold the true error in about {percent(found.level)} of such cases. The "
        f"forecast is for rows picked at random. Rows from the list above may help "
        f"more."
    )
    return [draw(paint, height=2.9, alt=alt, caption=caption)]
