"""What was done, for a person in a few lines, and for a program as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click

__all__ = ["say", "say_line"]

WIDTH = 80


def say(
    runs: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]],
    *,
    quiet: bool,
    as_json: bool,
    to_stderr: bool,
) -> None:
    """Tell of runs, unless it is to be quiet; as JSON, of several as a list.

    Parameters
    ----------
    runs : sequence of (mapping, mapping)
        For each target a record of `halfmoon.table.record`, and the files that were
        written, by what they are.
    quiet, as_json : bool
    to_stderr : bool
        Standard output is taken by the table.
    """
    if as_json:
        told = [{"status": "done", **places, **record} for record, places in runs]
        text = json.dumps(told if len(told) > 1 else told[0], ensure_ascii=False)
        click.echo(text, err=to_stderr)
    elif not quiet:
        for record, _ in runs:
            for sentence in record["summary"]:
                say_line(sentence, err=to_stderr)
            for note in record["notes"]:
                say_line(f"Note: {note}", err=to_stderr)
        files = [file for _, places in runs for file in places.items()]
        for what, place in dict.fromkeys(files):
            name = what.capitalize().replace("_", " ") + ":"
            click.echo(f"{name:<8} {place}", err=to_stderr)


def say_line(text: str, *, err: bool = False) -> None:
    """A sentence, in lines that fit a terminal."""
    click.echo(textwrap.fill(text, WIDTH, subsequent_indent="  "), err=err)
