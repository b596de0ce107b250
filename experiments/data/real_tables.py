"""Real data sets that are tables of numbers or images.

Each loader reads from the folder named by HALFMOON_DATA and raises `DataNotFound`,
which says how to get the files, where they are not there.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from experiments.data.folder import find
from experiments.data.sources import SOURCES
from halfmoon._rows import Array, Indices, Rows

__all__ = [
    "load_california_housing",
    "load_covtype",
    "load_mnist",
    "load_protein",
    "load_ssl_book",
    "load_usps",
    "parts_of",
    "read_csr",
]

Part = Literal["train", "test", "all"]

_IDX_BYTES = b"\0\0\x08"  # an idx file begins so if its values are unsigned bytes


def load_mnist(
    part: Part = "train",
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:  # (n, 784), (n,)
    """Images of handwritten digits: 60,000 to train, 10,000 to test, 28 x 28 pixels.

    Pixels are bytes, 0 for the background. Arithmetic on bytes overflows: halfmoon
    lifts rows by itself; elsewhere say ``X.astype(float)`` first. LeCun, Bottou, Bengio
    and Haffner, "Gradient-based learning applied to document recognition", 1998.
    """
    images, labels = [], []
    for each in parts_of(part, ("train", "test")):
        stem = {"train": "train", "test": "t10k"}[each]
        pixels, digits = find(
            "mnist",
            f"mnist/{stem}-images-idx3-ubyte.gz",
            f"mnist/{stem}-labels-idx1-ubyte.gz",
        )
        images.append(_read_idx(pixels))
        labels.append(_read_idx(digits))
    X = np.concatenate(images)
    return X.reshape(len(X), -1), np.concatenate(labels).astype(np.int64)


def load_usps(
    part: Part = "train",
) -> tuple[Array, NDArray[np.int64]]:  # (n, 256), (n,)
    """Images of digits on envelopes: 7,291 to train, 2,007 to test, 16 x 16 pixels.

    Values are in [-1, 1], -1 for the background. Rows to test were drawn otherwise
    than rows to train and are harder: one nearest neighbor errs in 5.63 % of them.
    """
    names = parts_of(part, ("train", "test"))
    (path,) = find("usps", "usps/usps.npz")
    with np.load(path) as stored:
        X = np.concatenate([stored[f"X_{each}"] for each in names])
        y = np.concatenate([stored[f"y_{each}"] for each in names])
    return X / 1000.0, y.astype(np.int64)


def load_ssl_book(
    name: str,
) -> tuple[Rows, NDArray[np.int64], dict[int, Indices]]:  # (n, d), (n,)
    """A table of the book on semi-supervised learning, with its splits.

    Chapelle, Schoelkopf and Zien, "Semi-Supervised Learning", 2006.

    Parameters
    ----------
    name : {"coil2", "digit1", "g241c", "usps", "g50c", "text1"}
        The first four have 1,500 rows and 241 columns. "g50c" (550 rows) and "text1"
        (1,946 rows of words) are older than the book.

    Returns
    -------
    X : ndarray or csr_array ("text1") of shape (n, d)
    y : ndarray of shape (n,)
        Two classes.
    splits : dict of int to ndarray of shape (n_splits, n_labels)
        Number of labels -> the labeled rows of each split; all others are unlabeled.
        12 splits for 10 and for 100 labels; 10 for 50 labels in the older tables.
    """
    names = [Path(file).stem for file in SOURCES["ssl_book"].files]
    if name not in names:
        raise ValueError(f"name is {name!r}; choose one of {', '.join(names)}.")
    (path,) = find("ssl_book", f"ssl_book/{name}.npz")
    with np.load(path) as stored:
        X = stored["X"] if "X" in stored.files else read_csr(stored)
        splits = {
            int(key.removeprefix("lab")): stored[key].astype(np.intp)
            for key in stored.files
            if key.startswith("lab")
        }
        return X, stored["y"].astype(np.int64), splits


def load_covtype() -> tuple[NDArray[np.float32], NDArray[np.int64]]:  # (n, 54), (n,)
    """Patches of forest: 581,012 rows of 10 measures and 44 indicators, 7 classes.

    Classes are 1 to 7; rows are in the order of UCI, of which the first 15,120 are the
    train and validation part. float32 holds the values exactly, in 125 MB.
    """
    (path,) = find("covtype", "covtype/covtype.npz")
    with np.load(path) as stored:
        measures, y = stored["quant"], stored["y"].astype(np.int64)
        codes = (stored["wilderness"], 4), (stored["soil"], 40)
    X = np.zeros((len(y), measures.shape[1] + 44), dtype=np.float32)
    X[:, : measures.shape[1]] = measures
    first = measures.shape[1]
    for code, count in codes:
        X[np.arange(len(y)), first + code] = 1
        first += count
    return X, y


def load_protein() -> tuple[Array, Array, NDArray[np.bool_]]:  # (n, 9), (n,), (n, 10)
    """Protein structures: 45,730 rows of 9 columns, and a number to predict.

    Columns are centered and not scaled, and the target is a transform of UCI's, both
    by the source. Column j of the third array says which rows are to test in the j-th
    of ten splits.
    """
    path, mask = find("protein")
    values = np.loadtxt(path, delimiter=",", ndmin=2)
    test = np.loadtxt(mask, delimiter=",", ndmin=2).astype(bool)
    return values[:, :-1], values[:, -1], test


def load_california_housing() -> tuple[Array, Array]:  # (n, 8), (n,)
    """Districts of California: 20,640 rows of 8 columns, and the median house value.

    Columns and their order are those of scikit-learn's ``fetch_california_housing``.
    Pace and Barry, "Sparse spatial autoregressions", 1997.
    """
    (path,) = find("california_housing")
    values = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return values[:, :-1], values[:, -1]


def parts_of(part: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The parts that `part` asks for: one of the names, or "all" of them in order."""
    if part != "all" and part not in names:
        raise ValueError(f"part is {part!r}; choose one of {', '.join(names)} or all.")
    return names if part == "all" else (part,)


def read_csr(stored: Mapping[str, NDArray[Any]]) -> csr_array:
    """A CSR array from an ``.npz`` file with data, indices, indptr and shape."""
    parts = stored["data"], stored["indices"], stored["indptr"]
    return csr_array(parts, shape=tuple(stored["shape"]))


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """An array in the format of MNIST's files.

    Two zeros, the kind of value, the number k of axes; k lengths, 4 bytes each with the
    highest first; then the values.
    """
    with gzip.open(path) as file:
        content = file.read()
    if content[:3] != _IDX_BYTES:
        raise ValueError(
            f"{path} begins with the bytes {content[:3]!r}, and an idx file of "
            f"unsigned bytes with {_IDX_BYTES!r}. Get it anew with: "
            f"python -m experiments.data download mnist"
        )
    n_axes = content[3]
    shape = np.frombuffer(content, ">i4", n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)
