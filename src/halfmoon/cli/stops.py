"""Requests to stop: Ctrl-C, another program, a closed terminal.

An exception that a signal raises may arise anywhere, also inside a library that takes
it for a failure of its own. So nothing is raised: what is half written is removed, one
line is said, and the process ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import NoReturn

__all__ = ["end_on_stops"]

SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"  # a progress bar hides it


def end_on_stops() -> None:
    """End the process in one line whenever it is asked to stop."""
    names = ["SIGTERM", "SIGHUP"]
    if "--debug" not in sys.argv:  # which shows where an interrupt came in
        names.append("SIGINT")
    for name in names:
        number = getattr(signal, name, None)  # not every system has each
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _: object) -> NoReturn:
    code = 128 + number
    try:
        written = sys.modules.get("halfmoon.atomic_files")
        if written is not None:
            written.remove_unfinished()
        what = "Interrupted" if number == signal.SIGINT else "Stopped by a signal"
        line = f"{what}; no half-written file is left behind."
        # Not print: this may have come in the middle of one.
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
        os.write(2, f"halfmoon: {line}\n".encode())
        if "--json" in sys.argv:
            told = {"status": "error", "code": code, "error": line}
            os.write(1, json.dumps(told).encode() + b"\n")
    finally:  # also if nobody listens any more
        os._exit(code)
