"""Lock an output folder, so that two runs do not write to it at once.

The lock belongs to the process: the system releases it even if the process is killed.
There is no lock on Windows, nor on file systems that have none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halfmoon.table._table_errors import OutputError

__all__ = ["locked_folder"]


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder while the block runs; refuse one that another run has locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"Another run is writing to {folder}. Wait until it ends, or give "
                f"another folder."
            ) from None
        except OSError:  # no locks on this file system
            pass
        yield
    finally:
        os.close(handle)
