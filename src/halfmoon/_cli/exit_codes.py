"""How a command ends: with one line and an exit code, never with a traceback.

An exception from a signal handler may arise anywhere, even inside a library that takes
it for its own failure. So the handler of Ctrl-C, of other programs and of a closed
terminal raises nothing: it removes half-written files, prints one line and ends the
process.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["end_on_stops", "exit_with_code", "handle_stops"]

INTERRUPTED = "Interrupted; no half-written file is left behind."
STOPS = ("SIGINT", "SIGTERM", "SIGHUP")
SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"  # a progress bar hides it


@contextmanager
def exit_with_code(*, debug: bool, as_json: bool = False) -> Iterator[None]:
    """Turn any exception into one line on standard error and an exit code.

    With `debug`, show the traceback instead; with `as_json`, print the error as JSON on
    standard output too.
    """
    import click

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
        from halfmoon._cli.terminal import print_json, print_text

        text, code = _described(error)
        line = as_options(" ".join(text.split()))
        print_text(f"halfmoon: {line}", err=True)
        if as_json:
            print_json(_record(code, line))
        sys.exit(code)
    finally:
        logging.captureWarnings(False)


def _described(error: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit code for an exception."""
    from halfmoon.table._table_errors import MemoryLimitError, OutputError, TableError

    if isinstance(error, TableError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, 128 + signal.SIGINT
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


def _record(code: int, line: str) -> dict[str, Any]:
    return {"status": "error", "code": code, "error": line}


def handle_stops(
    handler: Callable[[int, Any], None], names: Sequence[str] = STOPS
) -> None:
    """Call a handler when the process is asked to stop, unless that is ignored."""
    for name in names:
        number = getattr(signal, name, None)  # not every system has each
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def end_on_stops() -> None:
    """End the process with one line when it is asked to stop.

    With --debug, the traceback of an interrupt is shown instead.
    """
    handle_stops(_end, STOPS[1:] if "--debug" in sys.argv else STOPS)


def _end(number: int, _: object) -> NoReturn:
    code = 128 + number
    try:
        atomic_files = sys.modules.get("halfmoon._atomic_files")
        if atomic_files is not None:
            atomic_files.remove_unfinished()
        line = INTERRUPTED
        if number != signal.SIGINT:
            line = INTERRUPTED.replace("Interrupted", "Stopped by a signal")
        # Not print: the signal may have interrupted one.
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
        os.write(2, f"halfmoon: {line}\n".encode())
        if "--json" in sys.argv:
            os.write(1, json.dumps(_record(code, line)).encode() + b"\n")
    finally:  # even if nobody reads the output any more
        os._exit(code)
