"""Which data sets are there, and getting one: ``python -m experiments.data``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.data.download import DownloadError, download, missing_files
from experiments.data.folder import VARIABLE
from experiments.data.sources import SOURCES

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the status of the process: 0 if all went well."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.data",
        description="Real data sets: which are there, and getting one.",
    )
    folder_option = argparse.ArgumentParser(add_help=False)
    folder_option.add_argument(
        "--folder",
        type=Path,
        default=os.environ.get(VARIABLE) or None,
        help=f"where the data sets are; {VARIABLE} if not given",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "list", parents=[folder_option], help="say which data sets are there"
    )
    get = commands.add_parser(
        "download",
        parents=[folder_option],
        help="get a data set and check it, or say where it comes from",
    )
    get.add_argument("name", choices=SOURCES, metavar="NAME", help=", ".join(SOURCES))
    options = parser.parse_args(arguments)
    if options.command == "list":
        sys.stdout.write(_listing(options.folder))
        return 0
    if options.folder is None:
        parser.error(
            f"no folder for data sets is named: set {VARIABLE} to one, or use "
            f"--folder FOLDER"
        )
    try:
        sys.stdout.write(download(options.name, options.folder.absolute()) + "\n")
    except DownloadError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _listing(folder: Path | None) -> str:
    if folder is None:
        lines = [f"Set {VARIABLE}, or use --folder FOLDER. The data sets are:"]
    else:
        lines = [f"Data sets in {folder}:"]
    for name, source in SOURCES.items():
        missing = list(source.files) if folder is None else missing_files(name, folder)
        if not missing:
            state = "there"
        elif len(missing) < len(source.files):
            state = "in part"
        else:
            state = "can be downloaded" if source.fetched else "missing"
        lines.append(f"  {name:<20}{state:<19}{source.about}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
