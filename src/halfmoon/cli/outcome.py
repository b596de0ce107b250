"""How a command ends: with one line and an exit code, never with a traceback."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

__all__ = ["ending_well"]

INTERRUPTED = 130


@contextmanager
def ending_well(*, debug: bool, as_json: bool = False) -> Iterator[None]:
    """Turn whatever is raised into a line for a person and an exit code.

    Parameters
    ----------
    debug : bool
        Let the traceback through.
    as_json : bool
        Say it on standard output too, for a program.
    """
    from halfmoon.table.errors import MemoryLimitError, OutputError, TableError

    def told(text: str, code: int) -> NoReturn:
        line = " ".join(text.split())
        click.echo(f"halfmoon: {line}", err=True)
        if as_json:
            click.echo(json.dumps({"status": "error", "code": code, "error": line}))
        sys.exit(code)

    if not debug:  # what libraries warn of is not for the user of a command
        logging.captureWarnings(True)
        logging.getLogger("py.warnings").addHandler(logging.NullHandler())
    try:
        yield
    except TableError as error:
        if debug:
            raise
        told(str(error), error.exit_code)
    except KeyboardInterrupt:
        if debug:
            raise
        told("Interrupted; no half-written file is left behind.", INTERRUPTED)
    except MemoryError:
        if debug:
            raise
        told(
            "The machine has no memory left. Let the run use less: --memory 500MB.",
            MemoryLimitError.exit_code,
        )
    except OSError as error:  # too many open files, a full folder for temporary ones
        if debug:
            raise
        where = (
            f"{error.filename} cannot be used" if error.filename else "The run failed"
        )
        told(f"{where}: {error.strerror or error}.", OutputError.exit_code)
    except (click.exceptions.Exit, ModuleNotFoundError):
        raise
    except Exception as error:
        if debug:
            raise
        told(
            f"This is a bug in halfmoon, sorry: {type(error).__name__}: {error} "
            f"(--debug shows where).",
            1,
        )
    finally:
        logging.captureWarnings(False)
