"""The command line: ``halfmoon fill``, ``next``, ``explain``, ``predict``, ..."""

from __future__ import annotations

import sys

from halfmoon._cli.exit_codes import end_on_stops, exit_with_code
from halfmoon._cli.process_limits import hold_standard_streams

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name, and end the process."""
    hold_standard_streams()
    end_on_stops()
    try:
        with exit_with_code(debug="--debug" in sys.argv, as_json="--json" in sys.argv):
            from halfmoon._cli.commands import app

            app.main(prog_name="halfmoon")
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] == "halfmoon":
            raise
        sys.exit(
            f"halfmoon: the command line needs {missing.name}, which is not installed. "
            f'Run: pip install "halfmoon[table]"'
        )
