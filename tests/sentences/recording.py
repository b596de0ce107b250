"""Sentences as they are made: each note and each error, and the lines that made it."""

import ast
import builtins
import linecache
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

import halfmoon
from halfmoon._notes import Note
from halfmoon.table import (
    _table_errors as errors,
)

SOURCE = Path(halfmoon.__file__).parent
FOLDERS = ("table", "_label", "_cli")
ERRORS = {name for name in vars(errors) if name.endswith("Error")}
MAKERS = {"Note", "UsageError", "fail"} | ERRORS
#: What stands for the words of another library, which differ between its versions.
OTHER_WORDS = "<reason>"


@dataclass
class Recorder:
    """The sentences that were made.

    Attributes
    ----------
    texts : dict of (str, int) to list of str
        By the file in the source, and the line in it.
    lines : set of (str, int)
        Lines that made a sentence, or called what made one.
    """

    texts: dict = field(default_factory=dict)
    lines: set = field(default_factory=set)

    def see(self, text):
        frames = []
        frame = sys._getframe(2)
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(SOURCE):
                at = path.relative_to(SOURCE).as_posix(), frame.f_lineno
                frames.append(at)
            elif path.name == "dataclasses.py" and not frames:
                return  # a copy of a note
            frame = frame.f_back
        if not frames:
            return  # an example made it
        self.lines.update(frames)
        texts = self.texts.setdefault(frames[0], [])
        if text not in texts:
            texts.append(text)

    def listed(self):
        """All sentences in the order of the source, under the names of its files."""
        before = None
        for (path, _), texts in sorted(self.texts.items()):
            if path != before:
                yield from ([] if before is None else [""])
                yield f"# {path}"
            before = path
            yield from texts

    def missing(self):
        """Places in the source that make a sentence and were not reached."""
        return {
            name
            for path, name, lines in places()
            if not any((path, line) in self.lines for line in lines)
        }


@contextmanager
def recorded():
    """Write down every note and every error that is made within."""
    recorder = Recorder()
    before = {
        each: each.__init__ for each in (Note, errors.TableError, click.UsageError)
    }

    def watched(kind, made):
        def init(self, *args, **options):
            made(self, *args, **options)
            if isinstance(self, (click.NoSuchOption, click.BadOptionUsage)):
                return  # words of click
            text = self.message if isinstance(self, click.UsageError) else str(self)
            recorder.see(_plain(text))

        kind.__init__ = init

    for kind, made in before.items():
        watched(kind, made)
    try:
        yield recorder
    finally:
        for kind, made in before.items():
            kind.__init__ = made


def _plain(text):
    """A text that is the same on every machine."""
    text = text.replace(os.path.realpath(os.curdir), "/folder").replace("\u00a0", " ")
    error = sys.exception()
    if error is None or _is_ours(error):
        return text
    words = {str(error), str(getattr(error, "strerror", None) or error)} - {text, ""}
    for each in sorted(words, key=len, reverse=True):
        text = text.replace(each, OTHER_WORDS)
    return text


def _is_ours(error):
    """Whether halfmoon raised it, be it as an error of Python."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    file = at.tb_frame.f_code.co_filename
    line = linecache.getline(file, at.tb_lineno).lstrip()
    return Path(file).is_relative_to(SOURCE) and line.startswith("raise")


def places():
    """Where sentences are made: the file, the beginning of the call, and its lines."""
    for folder in FOLDERS:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from _in(tree, path.relative_to(SOURCE).as_posix())


def _in(tree, path):
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        raised = isinstance(node, ast.Raise) and not hasattr(builtins, name)
        if name in MAKERS or raised:
            lines = range(node.lineno, node.end_lineno + 1)
            yield path, f"{path}:{node.lineno} {ast.unparse(call)[:60]}", lines
