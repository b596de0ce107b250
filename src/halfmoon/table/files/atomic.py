"""Outputs that appear whole or not at all: files, and streams that get all at once.

Errors of the system become one line that says what to do.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from halfmoon.atomic_files import whole_file
from halfmoon.table.errors import OutputError

__all__ = ["refuse_place", "replacing", "streaming"]

FULL = (errno.ENOSPC, errno.EDQUOT)
COPY_BYTES = 2**20


@contextmanager
def replacing(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends without an exception.

    Parameters
    ----------
    path : path
        A link is followed. A device or pipe, such as ``/dev/null``, gets a copy when
        the block ends.
    overwrite : bool
        Whether a file of that name may be replaced; without it, one that comes into
        being meanwhile is kept too.
    inputs : sequence of paths
        Files that are never replaced, even with `overwrite`.

    Yields
    ------
    binary file

    Raises
    ------
    OutputError
        Before the block if the file cannot be made, after it if it cannot be moved.
    """
    name = os.fspath(path)
    if _is_device(name, overwrite, inputs):
        with _copied_to(name) as spool:
            yield spool
        return
    place = Path(os.path.realpath(name))
    with whole_file(place, overwrite, partial(_failed, name)) as file:
        yield file


def refuse_place(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> None:
    """Refuse what `replacing` would, before any work is done."""
    _is_device(os.fspath(path), overwrite, inputs)


@contextmanager
def streaming(stream: IO[bytes], name: str = "standard output") -> Iterator[IO[bytes]]:
    """A file that is copied to a stream when the block ends without an exception."""
    target: IO[bytes] = getattr(stream, "buffer", stream)
    with tempfile.TemporaryFile(prefix="halfmoon-") as spool:
        yield spool
        spool.seek(0)
        try:
            shutil.copyfileobj(spool, target, COPY_BYTES)
            target.flush()
        except BrokenPipeError as error:
            raise OutputError(
                f"{name} was closed before all of the output was written."
            ) from error
        except OSError as error:
            raise _unwritable(name, error) from error


def _is_device(
    name: str, overwrite: bool, inputs: Sequence[str | os.PathLike[str]]
) -> bool:
    """Whether to copy to a path instead of moving to it; refuse what cannot be."""
    if not name:
        raise OutputError("The name of an output is empty. Give the name of a file.")
    try:
        seen = os.stat(name)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(name))
        if not os.path.isdir(folder):
            raise OutputError(
                f"{name} cannot be written: the folder {folder} does not exist. Make "
                f"it first."
            ) from None
        return False
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error
    if stat.S_ISDIR(seen.st_mode):
        raise OutputError(f"{name} is a folder; give the name of a file in it.")
    for given in inputs:
        with suppress(OSError):
            if os.path.samestat(seen, os.stat(given)):
                raise OutputError(
                    f"{name} is the input, which is never overwritten. Give another "
                    f"name to the output."
                )
    if not stat.S_ISREG(seen.st_mode):
        return True
    if not overwrite:
        raise _exists(name)
    return False


@contextmanager
def _copied_to(name: str) -> Iterator[IO[bytes]]:
    try:
        device = open(name, "wb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _unwritable(name, error) from error
    with device, streaming(device, name) as spool:
        yield spool


def _failed(name: str, error: Exception) -> OutputError:
    return (
        _exists(name)
        if isinstance(error, FileExistsError)
        else _unwritable(name, error)
    )


def _exists(name: str) -> OutputError:
    return OutputError(
        f"{name} exists already. Give another name, or overwrite it (--overwrite)."
    )


def _unwritable(name: str, error: Exception) -> OutputError:
    number = getattr(error, "errno", None)
    why = getattr(error, "strerror", None) or error
    what = " Make room on the disk." if number in FULL else ""
    return OutputError(f"{name} cannot be written: {why}.{what}")
