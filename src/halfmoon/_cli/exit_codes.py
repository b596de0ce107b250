"""How a command fails: with one line and an exit code, never with a traceback."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["exit_with_code"]

INTERRUPTED = 130


@contextmanager
def exit_with_code(*, debug: bool, as_json: bool = False) -> Iterator[None]:
    """Turn any exception into one line on standard error and an exit code.

    With `debug`, show the traceback instead; with `as_json`, print the error as JSON on
    standard output too.
    """
    from halfmoon.table._parameter_text import as_options

    if not debug:  # warnings of libraries are not for the user of a command
        logging.captureWarnings(True)
        logging.getLogger("py.warnings").addHandler(logging.NullHandler())
    try:
        yield
    except (click.exceptions.Exit, ModuleNotFoundError):
        raise
    except (KeyboardInterrupt, Exception) as error:
        if debug:
            raise
        text, code = _described(error)
        line = as_options(" ".join(text.split()))
        click.echo(f"halfmoon: {line}", err=True)
        if as_json:
            click.echo(json.dumps({"status": "error", "code": code, "error": line}))
        sys.exit(code)
    finally:
        logging.captureWarnings(False)


def _described(error: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit code for an exception."""
    from halfmoon.table._table_errors import MemoryLimitError, OutputError, TableError

    if isinstance(error, TableError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted; no half-written file is left behind.", INTERRUPTED
    if isinstance(error, MemoryError):
        return (
            "The machine has no memory left. Let the run use less: --memory 500MB.",
            MemoryLimitError.exit_code,
        )
    if isinstance(error, OSError):  # e.g. too many open files, a full disk
        name = error.filename
        what = f"{name} cannot be used" if name else "The run failed"
        return f"{what}: {error.strerror or error}.", OutputError.exit_code
    what = f"{type(error).__name__}: {error}"
    return f"This is a bug in halfmoon, sorry: {what} (--debug shows where).", 1
