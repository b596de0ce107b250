"""Requests to stop: Ctrl-C, another program, a closed terminal.

An exception from a signal handler may arise anywhere, even inside a library that takes
it for its own failure. So this handler raises nothing: it removes half-written files,
prints one line and ends the process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

__all__ = ["end_on_stops", "handle_stops"]

SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"  # a progress bar hides it


def end_on_stops() -> None:
    """End the process with one line when it is asked to stop.

    With --debug, the traceback of an interrupt is shown instead.
    """
    handle_stops(_end, but=["SIGINT"] if "--debug" in sys.argv else [])


def handle_stops(handler: Callable[[int, Any], None], but: Sequence[str] = ()) -> None:
    """Call a handler when the process is asked to stop, unless that is ignored.

    `but` are signals to leave alone.
    """
    for name in {"SIGINT", "SIGTERM", "SIGHUP"} - {*but}:
        number = getattr(signal, name, None)  # not every system has each
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _end(number: int, _: object) -> NoReturn:
    code = 128 + number
    try:
        atomic_files = sys.modules.get("halfmoon._atomic_files")
        if atomic_files is not None:
            atomic_files.remove_unfinished()
        what = "Interrupted" if number == signal.SIGINT else "Stopped by a signal"
        line = f"{what}; no half-written file is left behind."
        # Not print: the signal may have interrupted one.
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
        os.write(2, f"halfmoon: {line}\n".encode())
        if "--json" in sys.argv:
            error = {"status": "error", "code": code, "error": line}
            os.write(1, json.dumps(error).encode() + b"\n")
    finally:  # even if nobody reads the output any more
        os._exit(code)
