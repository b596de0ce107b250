"""Outputs that appear whole or not at all: files, and streams that get all at once.

System errors become one sentence that says what to do.
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

from halfmoon._atomic_files import whole_file
from halfmoon.table._table_errors import OutputError

__all__ = ["refuse_place", "replacing", "streaming"]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
COPY_BYTES = 2**20
SEPARATORS = tuple({os.sep, os.altsep or os.sep})  # of the folders in a path


@contextmanager
def replacing(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when the block ends without an exception.

    Links are followed. A device or pipe, such as ``/dev/null``, gets a copy when the
    block ends. Without `overwrite`, a file that appears in the meantime is not replaced
    either; `inputs` are never replaced. An `OutputError` comes before the block if the
    file cannot be made, after it if it cannot be moved.
    """
    name = os.fspath(path)
    if refuse_place(name, overwrite, inputs):
        try:
            device = open(name, "wb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _unwritable(name, error) from error
        with device, streaming(device, name) as spool:
            yield spool
        return
    place = Path(os.path.realpath(name))
    with whole_file(place, overwrite, partial(_unwritable, name)) as file:
        yield file


@contextmanager
def streaming(stream: IO[bytes], name: str = "standard output") -> Iterator[IO[bytes]]:
    """Open a file that is copied to a stream when the block ends without an error."""
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


def refuse_place(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> bool:
    """Refuse a path that cannot be written; return whether it is a device or pipe."""
    name = os.fspath(path)
    if not name:
        raise OutputError("The name of an output is empty. Give the name of a file.")
    try:
        found = os.stat(name)
    except FileNotFoundError:
        is_folder = name.endswith(SEPARATORS)
        folder = name if is_folder else os.path.dirname(os.path.realpath(name))
        if not os.path.isdir(folder):
            raise OutputError(
                f"{name} cannot be written: the folder {folder} does not exist. Make "
                f"it first."
            ) from None
        return False
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise OutputError(f"{name} is a folder. Give the name of a file in it.")
    for given in inputs:
        with suppress(OSError):
            if os.path.samestat(found, os.stat(given)):
                raise OutputError(
                    f"{name} is the input, which is never overwritten. Give another "
                    f"name to the output."
                )
    if not stat.S_ISREG(found.st_mode):
        return True
    if not overwrite:
        raise _unwritable(name, FileExistsError())
    return False


def _unwritable(name: str, error: Exception) -> OutputError:
    if isinstance(error, FileExistsError):
        return OutputError(
            f"{name} already exists. Give another name, or overwrite it "
            f"(`overwrite=True`)."
        )
    number = getattr(error, "errno", None)
    why = getattr(error, "strerror", None) or error
    what = " Make room on the disk." if number in DISK_FULL else ""
    return OutputError(f"{name} cannot be written: {why}.{what}")
