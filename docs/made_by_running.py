"""Run the command line at each build, and store its output for the pages.

The tutorial's table is filled as a reader would fill it. The output of the commands
goes to ``docs/generated``, and pictures of the report go to ``docs/images``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from screenshots import take, take_labeling
from sklearn.datasets import load_wine

DOCS = Path(__file__).resolve().parent
TABLE = DOCS.parent / "examples" / "tables" / "wines.csv"
COMMANDS = ("fill", "label", "predict", "inspect")


def make(app: object = None) -> None:
    """Run the commands and store their output."""
    generated = DOCS / "generated"
    generated.mkdir(exist_ok=True)
    for command in COMMANDS:
        said = _halfmoon(DOCS, command, "--help")
        (generated / f"help-{command}.txt").write_text(said)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / TABLE.name).write_bytes(TABLE.read_bytes())
        said = _halfmoon(folder, "fill", TABLE.name, "--target", "cultivar")
        (generated / "demo.txt").write_text(said)
        take({"report": folder / "wines.report.html"}, DOCS / "images")
        _label(folder)


def _label(folder: Path) -> None:
    """Start the labeling page and take pictures of it."""
    command = [sys.executable, "-m", "halfmoon", "label", TABLE.name]
    command += ["--target", "cultivar", "--as", "ann", "--no-browser", "--json"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            keys = [str(1 + c) for c in load_wine().target]  # the table has its rows
            take_labeling(address, DOCS / "images", keys)
        finally:
            process.terminate()


def _halfmoon(folder: Path, *arguments: str) -> str:
    """Run a command and return its standard output."""
    return subprocess.run(
        [sys.executable, "-m", "halfmoon", *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "88", "TERMINAL_WIDTH": "88"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


if __name__ == "__main__":
    make()
