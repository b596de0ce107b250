"""The folder of the real data sets, which the variable HALFMOON_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

from experiments.data.sources import Source, source_of

__all__ = ["VARIABLE", "DataNotFound", "find", "how_to_get"]

VARIABLE = "HALFMOON_DATA"


class DataNotFound(FileNotFoundError):
    """A data set is not in the folder named by HALFMOON_DATA, or none is named."""


def find(name: str, *files: str) -> list[Path]:
    """Paths of the files of a data set: of those named, or of all.

    Parameters
    ----------
    name : str
        As in the name of its loader: "mnist" for `load_mnist`.
    *files : str
        Paths inside the folder, such as "ssl_book/digit1.npz".

    Raises
    ------
    DataNotFound
        Where HALFMOON_DATA is not set or a file is not there. The message says where
        it was looked for and how to get it.
    """
    source = source_of(name)
    files = files or tuple(source.files)
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise DataNotFound(
            f"{files[0]} of the data set {name} is needed, and {VARIABLE} is not set. "
            f"Set {VARIABLE} to a folder for data sets. {how_to_get(name, source)}"
        )
    paths = [Path(folder) / file for file in files]
    for file, path in zip(files, paths, strict=True):
        if not path.is_file():
            raise DataNotFound(
                f"{file} of the data set {name} is not there: {path} was looked for. "
                f"{VARIABLE} must be the folder that holds {file} and is "
                f"{folder!r}. {how_to_get(name, source)}"
            )
    return paths


def how_to_get(name: str, source: Source) -> str:
    """What to do to have a data set: a command, or where it is and its form here."""
    if source.fetched:
        return f"To get it, run: python -m experiments.data download {name}"
    sums = "; ".join(f"{file}: {digest}" for file, digest in source.files.items())
    return (
        f"halfmoon cannot fetch it by itself. It comes from {source.origin}, and is "
        f"held in this form: {source.form}. SHA-256 of the content, uncompressed: "
        f"{sums}. To check what you have, run: "
        f"python -m experiments.data download {name}"
    )
