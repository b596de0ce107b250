"""What can be wrong with a table, in plain words, each with the exit code of its kind.

``halfmoon --help`` lists the codes.
"""

from __future__ import annotations

__all__ = [
    "CommandError",
    "LabelError",
    "MemoryLimitError",
    "ModelError",
    "OutputError",
    "ReadError",
    "TableError",
]


class TableError(ValueError):
    """Something that the user can fix; its text says what came and what to do."""

    exit_code = 1


class CommandError(TableError):
    """What was asked for does not fit the table: a column that it does not have."""

    exit_code = 2


class ReadError(TableError):
    """The file is not a table that can be read."""

    exit_code = 3


class LabelError(TableError):
    """The labels of the table are not such that the others can be filled in."""

    exit_code = 4


class OutputError(TableError):
    """The output cannot be written where it was to go."""

    exit_code = 5


class MemoryLimitError(TableError):
    """The work needs more memory than was allowed."""

    exit_code = 6


class ModelError(TableError):
    """The model file cannot be read, or was made for another table."""

    exit_code = 7
