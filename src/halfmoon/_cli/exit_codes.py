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
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from halfmoon._cli.process_limits import system_failure
from halfmoon.table._parameter_text import as_options
from halfmoon.table._table_errors import TableError

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

    if not debug:  # what libraries warn of is not for the user of a command
        logging.captureWarnings(True)
        logging.getLogger().addHandler(logging.NullHandler())
    try:
        yield
    except (click.exceptions.Exit, ModuleNotFoundError):
        raise
    except (KeyboardInterrupt, Exception) as error:
        if debug:
            raise
        text, code = _described(error)
        _tell(code, as_options(" ".join(text.split())), as_json)
        sys.exit(code)
    finally:
        logging.captureWarnings(False)


def _described(error: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit code for an exception."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, 128 + signal.SIGINT
    known = error if isinstance(error, TableError) else system_failure(error)
    if known is not None:
        return str(known), known.exit_code
    what = f"{type(error).__name__}: {error}"
    return f"This is a bug in halfmoon, sorry: {what} (--debug shows where).", 1


def _tell(code: int, line: str, as_json: bool) -> None:
    """Print the last line, as far as that is possible."""
    try:
        from halfmoon._cli.terminal import print_json, print_text
    except (ImportError, MemoryError):  # there is no memory to import it
        _write_last(code, line, as_json)
        return
    with suppress(OSError):  # the stream is on a full disk, or nobody reads it
        print_text(f"halfmoon: {line}", err=True)
    if as_json:
        with suppress(OSError):
            print_json(_record(code, line))


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
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
        _write_last(code, line, "--json" in sys.argv)
    finally:  # even if nobody reads the output any more
        os._exit(code)


def _write_last(code: int, line: str, as_json: bool) -> None:
    """Write the last line without print, which a signal may have interrupted."""
    for number, text in (
        (2, f"halfmoon: {line}"),
        *([(1, json.dumps(_record(code, line)))] if as_json else []),
    ):
        with suppress(OSError):
            os.write(number, f"{text}\n".encode())
