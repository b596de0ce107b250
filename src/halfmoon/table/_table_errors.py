"""Errors that the user can fix, each with an exit code of the command line."""

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
    "no_file",
    "plain_errors",
]


class TableError(ValueError):
    """An error that the user can fix; its text says what is wrong and what to do."""

    exit_code = 1


class CommandError(TableError):
    """The request does not fit the table, such as a column that it does not have."""

    exit_code = 2


class ReadError(TableError):
    """The file is not a table that can be read."""

    exit_code = 3


def no_file(name: str) -> ReadError:
    """Return the error for a file that does not exist."""
    return ReadError(f"{name} does not exist. Check the name and the folder.")


class LabelError(TableError):
    """The labels of the table cannot be learned from."""

    exit_code = 4


class OutputError(TableError):
    """The output cannot be written."""

    exit_code = 5


class MemoryLimitError(TableError):
    """The run needs more memory than it may use."""

    exit_code = 6


class ModelError(TableError):
    """The model file cannot be read, or was made for another table."""

    exit_code = 7


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn the errors of an estimator into errors of a table, and hide its warnings."""
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
