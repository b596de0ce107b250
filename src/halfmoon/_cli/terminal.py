"""What a command shows: progress bars, sentences for a person, JSON for a program."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.paths import STREAM
from halfmoon._cli.process_limits import Unfailing
from halfmoon.table._run_settings import Stages

__all__ = ["ProgressBars", "print_json", "print_runs", "print_sentence", "print_text"]

WIDTH = 80  # characters of a line
#: What a terminal would obey, or cannot show: control characters, marks of text
#: direction, and halves of surrogate pairs, as in names of files that are not UTF-8.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class ProgressBars(Progress, Stages):
    """Bars on standard error, one for each stage; a quiet run shows none."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=Console(file=Unfailing.standard_error(), stderr=True),
            disable=quiet,
        )

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage, which ends the one before; return its progress callback."""
        self.finish()
        task = self.add_task(name, total=1.0)

        def report(done: float, total: float) -> None:
            share = min(1.0, done / total) if total else 1.0
            self.update(task, completed=share)

        return report

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        self.console.print(text, highlight=False)

    def finish(self) -> None:
        """Fill the bars of all stages so far."""
        for task in self.tasks:
            if not task.finished:
                self.update(task.id, completed=1.0)

    def stop(self) -> None:
        """End all bars. Rich before 14.3 would print an empty line in a quiet run."""
        if not self.disable:
            super().stop()


def print_runs(
    runs: Sequence[tuple[Mapping[str, Any], Mapping[str, str | None]]],
    options: CommonOptions,
) -> None:
    """Print what runs found and wrote; several runs as JSON are a list.

    A run is a summary (`table._runs.run_summary`) and the paths of its outputs by kind,
    without that of the table. Standard error is used if standard output holds the
    table.
    """
    to_stderr = options.destination == STREAM
    table = None if to_stderr else options.destination
    outputs = [
        {kind: path for kind, path in {"table": table, **paths}.items() if path}
        for _, paths in runs
    ]
    if options.as_json:
        records = [
            {"status": "done", **paths, **record}
            for (record, _), paths in zip(runs, outputs, strict=True)
        ]
        print_json(records if len(records) > 1 else records[0], err=to_stderr)
    elif not options.quiet:
        for record, _ in runs:
            for sentence in record["summary"]:
                print_sentence(sentence, err=to_stderr)
            for note in record["notes"]:
                print_sentence(f"Note: {note}", err=to_stderr)
        different = dict.fromkeys(each for paths in outputs for each in paths.items())
        width = max([8, *(len(kind) + 1 for kind, _ in different)])
        for kind, path in different:
            name = kind.capitalize().replace("_", " ") + ":"
            print_text(f"{name:<{width}} {path}", err=to_stderr)


def print_text(text: str, *, err: bool = False) -> None:
    """Print text, in which cells of a table or names of files may be anything.

    Characters that are unsafe, or not in the encoding of the terminal, are escaped as
    in JSON.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = UNSAFE.sub(lambda found: _escaped(found[0]), text)
    known = shown.encode(encoding, "ignore").decode(encoding)
    if known != shown:
        shown = "".join(each if each in known else _escaped(each) for each in shown)
    click.echo(shown, err=err)


def _escaped(character: str) -> str:
    # json.dumps keeps DEL, which is ASCII
    return json.dumps(character)[1:-1] if character != "\x7f" else "\\u007f"


def print_json(result: Any, *, err: bool = False) -> None:
    """Print a result as one line of JSON."""
    print_text(json.dumps(result, ensure_ascii=False, default=str), err=err)


def print_sentence(text: str, *, err: bool = False) -> None:
    """Print a sentence in lines that fit a terminal."""
    print_text(textwrap.fill(text, WIDTH, subsequent_indent="  "), err=err)
