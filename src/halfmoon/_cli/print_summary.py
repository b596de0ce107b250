"""Print results: sentences for a person, JSON for a program, cells in columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

__all__ = ["print_json", "print_runs", "print_sentence", "shortened", "text_columns"]

WIDTH = 80  # characters of a line


def print_runs(
    runs: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]],
    *,
    quiet: bool,
    as_json: bool,
    to_stderr: bool,
) -> None:
    """Print what runs found and wrote; several runs as JSON are a list.

    A run is a summary (`table._runs.run_summary`) and the paths of its outputs by kind.
    They go `to_stderr` if standard output holds the table.
    """
    if as_json:
        records = [{"status": "done", **paths, **record} for record, paths in runs]
        print_json(records if len(records) > 1 else records[0], err=to_stderr)
    elif not quiet:
        for record, _ in runs:
            for sentence in record["summary"]:
                print_sentence(sentence, err=to_stderr)
            for note in record["notes"]:
                print_sentence(f"Note: {note}", err=to_stderr)
        outputs = dict.fromkeys(each for _, paths in runs for each in paths.items())
        width = max([8, *(len(kind) + 1 for kind, _ in outputs)])
        for kind, path in outputs:
            name = kind.capitalize().replace("_", " ") + ":"
            click.echo(f"{name:<{width}} {path}", err=to_stderr)


def print_json(result: Any, *, err: bool = False) -> None:
    """Print a result as one line of JSON."""
    click.echo(json.dumps(result, ensure_ascii=False, default=str), err=err)


def print_sentence(text: str, *, err: bool = False) -> None:
    """Print a sentence in lines that fit a terminal."""
    click.echo(textwrap.fill(text, WIDTH, subsequent_indent="  "), err=err)


def text_columns(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return lines of cells as text, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()


def shortened(text: str, width: int) -> str:
    """Return a cell on one line, cut off if it is long.

    Examples
    --------
    >>> shortened("a cell\\nof two lines", 12)
    'a cell of...'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
