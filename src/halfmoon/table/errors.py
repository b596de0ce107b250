"""What can be wrong with a table, in plain words, each with the exit code of its kind.

``halfmoon --help`` lists the codes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "CommandError",
    "LabelError",
    "MemoryLimitError",
    "ModelError",
    "OutputError",
    "ReadError",
    "TableError",
    "plain_errors",
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


@contextmanager
def plain_errors() -> Iterator[None]:
    """What an estimator says, as errors of tables."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except MemoryError as error:
        raise MemoryLimitError(str(error) or "There is not enough memory.") from error
    except ValueError as error:
        if isinstance(error, LabelError):
            raise
        raise LabelError(f"The table cannot be learned from: {error}") from error
