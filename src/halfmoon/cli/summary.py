"""What was done, for a person in a few lines, and for a program as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["say", "say_line"]

WIDTH = 80


def say(
    record: Mapping[str, Any],
    places: Mapping[str, str],
    *,
    quiet: bool,
    as_json: bool,
    to_stderr: bool,
) -> None:
    """Tell of a run, unless it is to be quiet.

    Parameters
    ----------
    record : mapping
        Of `halfmoon.table.record`.
    places : mapping
        Files that were written, by what they are.
    quiet, as_json : bool
    to_stderr : bool
        Standard output is taken by the table.
    """
    if as_json:
        told = {"status": "done", **places, **record}
        click.echo(json.dumps(told, ensure_ascii=False), err=to_stderr)
    elif not quiet:
        for sentence in record["summary"]:
            say_line(sentence, err=to_stderr)
        for note in record["notes"]:
            say_line(f"Note: {note}", err=to_stderr)
        for what, place in places.items():
            click.echo(f"{what.capitalize() + ':':<8} {place}", err=to_stderr)


def say_line(text: str, *, err: bool = False) -> None:
    """A sentence, in lines that fit a terminal."""
    click.echo(textwrap.fill(text, WIDTH, subsequent_indent="  "), err=err)
