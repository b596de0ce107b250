"""Options of the command line as arguments of `halfmoon.fill`, for notes."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from halfmoon.report.findings import Note

__all__ = ["CALL", "as_arguments", "told_in_python"]

CALL = "halfmoon.fill("  # how the command of a run begins that came from Python
SWITCHES = ("merge_labels",)
SINGLE = ("task", "sets", "low", "high", "level", "budget", "memory", "seed")
BRACKETED = re.compile(r" \(--[a-z][^()]*\)")  # "(--features)", beside plain words
TASK = re.compile(r"--task (classes|numbers|ordered)")


def as_arguments(options: str) -> str:
    """Options as a shell takes them, as arguments of Python.

    Examples
    --------
    >>> as_arguments("--merge-labels"), as_arguments("--unlabeled '?' todo")
    ('merge_labels=True', "unlabeled=['?', 'todo']")
    >>> as_arguments("--task ordered --exclude 'last name'")
    "task='ordered', exclude='last name'"
    """
    found: dict[str, list[str]] = {}
    name = ""
    for word in shlex.split(options):
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
            found[name] = []
        else:
            found[name].append(word)
    return ", ".join(f"{name}={_value(name, words)}" for name, words in found.items())


def told_in_python(note: Note, run: str) -> Note:
    """A note whose options are arguments, and its command the call of the run.

    Examples
    --------
    >>> note = Note(
    ...     "'?' looks like a blank.", "Use --unlabeled '?'.", "--unlabeled '?'"
    ... )
    >>> told = told_in_python(note, "halfmoon.fill(df, 'y')")
    >>> told.remedy, told.command
    ("Use unlabeled='?'.", "halfmoon.fill(df, 'y', unlabeled='?')")
    """
    arguments = as_arguments(note.command)

    def told(text: str) -> str:
        if arguments:
            text = text.replace(note.command, arguments)
        text = TASK.sub(r"task='\1'", BRACKETED.sub("", text))
        return text.replace("--merge-labels", "merge_labels=True")

    # An argument that is there already would have to be merged with the new one.
    new = all(f" {name}" not in run for name in re.findall(r"\w+=", arguments))
    command = f"{run.removesuffix(')')}, {arguments})" if arguments and new else ""
    return replace(
        note, text=told(note.text), remedy=told(note.remedy), command=command
    )


def _value(name: str, words: list[str]) -> str:
    if name in SWITCHES or not words:
        return "True"
    return repr(words[0] if len(words) == 1 or name in SINGLE else words)
