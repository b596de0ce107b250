"""Notes to the user, and the commands that do what they advise."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Note", "run_again"]


@dataclass(frozen=True)
class Note:
    """A note to the user, and what to do about it."""

    text: str  # what was found
    remedy: str = ""  # what to do
    command: str = ""  # a command line that does it
    important: bool = False  # at the top of the report, and first in the summary

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.remedy) if part)


def run_again(run: str, options: str) -> str:
    """Add options to the command of a run; empty if the run was not a command.

    Examples
    --------
    >>> run_again("halfmoon fill t.csv --target y", "--merge-labels")
    'halfmoon fill t.csv --target y --merge-labels --overwrite'
    """
    if not run.startswith("halfmoon fill "):
        return ""
    return " ".join([run, options, *["--overwrite"][: "--overwrite" not in run]])
