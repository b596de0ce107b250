"""Parameters in messages: arguments in Python, options on the command line.

Messages name parameters as Python does, in backquotes: "use `unlabeled='?'`". The
command line turns them into options: "use --unlabeled '?'".
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from halfmoon._notes import Note, run_again

__all__ = ["CALL", "argument", "as_options", "with_command"]

CALL = "halfmoon.fill("  # begins the command of a run that Python started
NAMES = (
    "budget|delimiter|encoding|exclude|features|format|formulas|high|known|labels|level|"
    "low|memory|merge_labels|model|order|overwrite|resume|sets|sheet|task|unlabeled"
)
PARAMETER = re.compile(rf"`({NAMES})(?:=([^`]*))?`")


def argument(name: str, values: Sequence[str]) -> str:
    """Return a parameter with its values as an argument of Python.

    Examples
    --------
    >>> argument("unlabeled", ["?"]), argument("exclude", ["a", "b"])
    ("unlabeled='?'", "exclude=['a', 'b']")
    """
    value = values[0] if len(values) == 1 else list(values)
    return f"{name}={value!r}".replace("`", "\\x60")


def as_options(text: str) -> str:
    """Return a message with its parameters as options of the command line.

    Examples
    --------
    >>> as_options("Use `unlabeled=['?', 'to do']`, or name it in `features`.")
    "Use --unlabeled '?' 'to do', or name it in --features."
    """
    return PARAMETER.sub(_as_option, text)


def with_command(note: Note, run: str) -> Note:
    """Return a note with the command that repeats the run as the note advises.

    The `command` of a new note is an argument, such as ``merge_labels=True``.

    Examples
    --------
    >>> note = Note("Two spellings.", "Use `merge_labels=True`.", "merge_labels=True")
    >>> print(with_command(note, "halfmoon.fill(df, 'y')").command)
    halfmoon.fill(df, 'y', merge_labels=True)
    >>> told = with_command(note, "halfmoon fill t.csv --target y")
    >>> told.remedy, told.command
    ('Use --merge-labels.', 'halfmoon fill t.csv --target y --merge-labels --overwrite')
    """
    if run.startswith(CALL):
        # An argument that the call has already would have to be merged with this one.
        is_new = note.command and f" {note.command.partition('=')[0]}=" not in run
        command = f"{run.removesuffix(')')}, {note.command})" if is_new else ""
        return replace(note, command=command)
    option = as_options(f"`{note.command}`") if note.command else ""
    return replace(
        note,
        text=as_options(note.text),
        remedy=as_options(note.remedy),
        command=run_again(run, option) if option else "",
    )


def _as_option(found: re.Match[str]) -> str:
    name, value = found.groups()
    option = f"--{name.replace('_', '-')}"
    if value in (None, "True"):
        return option
    try:
        values = ast.literal_eval(value)
    except (SyntaxError, ValueError):  # the text of a cell that looks like a parameter
        return found[0]
    words = values if isinstance(values, (list, tuple)) else [values]
    return " ".join([option, *(shlex.quote(str(word)) for word in words)])
