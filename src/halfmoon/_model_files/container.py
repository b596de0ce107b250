"""The file: a zip of JSON and arrays, with the checksums of both in its comment.

The members are not compressed: numbers hardly shrink, arrays can be read straight into
their memory, and no file can expand to more than its own size. The comment holds the
number of the schema, so that a newer file is never mistaken for a damaged one:

    halfmoon model, schema 1, sha256 <of model.json> <of arrays.safetensors>

The arrays are in the safetensors format: the length of the header in 8 bytes (little
endian), the header as JSON, and the bytes of all tensors without gaps:

    {"3": {"dtype": "F64", "shape": [2, 5], "data_offsets": [0, 80]}, ...}

The format is simple enough to be read and written here. Each array goes straight
between its memory and the file, where the library `safetensors` would hold two more
copies of all arrays. The tests read our files with that library.

The memory order of an array is kept (`order` lists its axes from the slowest to the
fastest), because the order of sums, and so the last bits of results, depend on it.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from halfmoon._atomic_files import whole_file
from halfmoon._model_files.errors import ModelFileError

__all__ = [
    "SCHEMA",
    "ArrayLayout",
    "opened",
    "parsed",
    "read_tensors",
    "write_file",
    "write_tensors",
]

SCHEMA = 1
MODEL, ARRAYS = "model.json", "arrays.safetensors"
MAX_JSON_BYTES = 64 * 2**20  # beyond it the graph takes gigabytes in memory
CHUNK_BYTES = 2**20
COMMENT = re.compile(rb"halfmoon model, schema (\d{1,9})(?:, (.{1,4000}))?", re.DOTALL)
CHECKSUMS = re.compile(rb"sha256 ([0-9a-f]{64}) ([0-9a-f]{64})")
DATE = (1980, 1, 1, 0, 0, 0)  # fixed: the same model gives the same file
#: Names of dtypes in the format: f8 is F64, ...
NAMES = {f"{c}{n}": f"{c.upper()}{8 * n}" for c in "fiu" for n in (1, 2, 4, 8)}
NAMES = NAMES | {"b1": "BOOL"}
MAX_AXES = 32
LAST_CODE_POINT = 0x10FFFF


def parsed(text: bytes) -> Any:
    """Return the document; refuse NaN and repeated names, which JSON does not have.

    >>> parsed(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except RecursionError as error:
        raise ModelFileError("is nested too deeply to be a model") from error


def _refuse(name: str) -> NoReturn:
    raise ModelFileError(f"holds the bare number {name}, which JSON does not have")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ModelFileError("holds a name twice")
    return members


@dataclass(frozen=True)
class ArrayLayout:
    """How an array lies in memory."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: tuple[int, ...]  # axes, the slowest first: (0, 1) is C, (1, 0) Fortran order

    @classmethod
    def of(cls, array: NDArray[Any]) -> ArrayLayout:
        """Return the layout of an array, without the gaps of a view."""
        if array.flags.c_contiguous:
            order = tuple(range(array.ndim))
        else:
            steps = [-abs(step) for step in array.strides]
            order = tuple(int(axis) for axis in np.argsort(steps, kind="stable"))
        return cls(array.dtype, array.shape, order)

    def __post_init__(self) -> None:
        if len(self.shape) > MAX_AXES or any(size < 0 for size in self.shape):
            raise ValueError("an array has an impossible shape")
        if sorted(self.order) != list(range(len(self.shape))):
            raise ValueError("the order of an array's axes is not a permutation")

    @property
    def in_memory(self) -> tuple[int, ...]:
        """Shape with the axes from the slowest to the fastest."""
        return tuple(self.shape[axis] for axis in self.order)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries, as an integer that cannot overflow."""
        return prod(self.shape) * self.dtype.itemsize

    def entry(self, start: int) -> dict[str, Any]:
        """Return the entry of the header."""
        code = NAMES.get(self.dtype.str[1:]) if self.dtype.isnative else None
        shape = list(self.in_memory)
        if code is None:  # dates and texts are bytes to other readers
            code, shape = "U8", [self.nbytes]
        offsets = [start, start + self.nbytes]
        return {"dtype": code, "shape": shape, "data_offsets": offsets}


def header_of(layouts: dict[str, ArrayLayout]) -> dict[str, Any]:
    """Return the header of consecutive arrays."""
    header, start = {}, 0
    for name, layout in layouts.items():
        header[name] = layout.entry(start)
        start += layout.nbytes
    return header


def write_tensors(arrays: dict[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the file in pieces; at most one array is copied at a time."""
    layouts = {name: ArrayLayout.of(array) for name, array in arrays.items()}
    text = json.dumps(header_of(layouts), separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name, array in arrays.items():
        rows = np.ascontiguousarray(array.transpose(layouts[name].order))
        if rows.nbytes:
            yield rows.reshape(-1).view(np.uint8).data


def read_tensors(
    stream: BinaryIO, size: int, layouts: dict[str, ArrayLayout]
) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file of a known size; all and only those expected.

    Nothing is allocated before the header, the layouts and the size agree.
    """
    length = int.from_bytes(_exactly(stream, 8), "little")
    header = header_of(layouts)
    total = sum(layout.nbytes for layout in layouts.values())
    if length > size or 8 + length + total != size:
        raise ValueError("the size of the arrays is wrong")
    if parsed(_exactly(stream, length)) != header:
        raise ValueError("the arrays are not those that model.json lists")
    return {name: _read(stream, layout) for name, layout in layouts.items()}


def _read(stream: BinaryIO, layout: ArrayLayout) -> NDArray[Any]:
    raw = np.empty(layout.nbytes, dtype=np.uint8)
    view = raw.data
    for start in range(0, layout.nbytes, CHUNK_BYTES):
        part = view[start : start + CHUNK_BYTES]
        part[:] = _exactly(stream, len(part))
    if layout.dtype.kind == "b" and raw.size and raw.max() > 1:
        raise ValueError("an array of truth values holds other values")
    if raw.size == 0:
        array = np.zeros(layout.in_memory, dtype=layout.dtype)
    else:
        array = raw.view(layout.dtype).reshape(layout.in_memory)
    if layout.dtype.kind == "U" and raw.size:
        points = raw.view(np.dtype(np.uint32).newbyteorder(layout.dtype.byteorder))
        if points.max() > LAST_CODE_POINT:
            raise ValueError("an array of text holds an invalid character")
    return array.transpose(np.argsort(layout.order)) if array.ndim else array


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise ValueError("the file ends too early")
    return data


def write_file(
    path: Path, model: bytes, arrays: Iterable[bytes | memoryview], *, overwrite: bool
) -> None:
    """Write both members to a file that appears only when it is complete."""
    if len(model) > MAX_JSON_BYTES:
        raise ModelFileError(
            f"The model has {len(model):,} bytes in addition to its arrays, and at "
            f"most {MAX_JSON_BYTES:,} are allowed. Use fewer distinct texts: a smaller "
            f"vocabulary, or fewer categories."
        )
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; give the name of a file in it.")
    if path.exists() and not path.is_file():
        raise ModelFileError(f"{path} is a device or pipe; give the name of a file.")
    if not path.parent.is_dir():
        raise ModelFileError(f"The folder {path.parent} does not exist; make it first.")

    def failed(error: Exception) -> Exception:
        if isinstance(error, FileExistsError):
            return ModelFileError(
                f"{path} exists; give another name, or `overwrite=True`."
            )
        return error

    with whole_file(path, overwrite, failed, keep_mode=True) as file:
        _write_zip(file, model, arrays)


def _write_zip(
    file: IO[bytes], model: bytes, arrays: Iterable[bytes | memoryview]
) -> None:
    digest = sha256()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MODEL, DATE), model)
        info = zipfile.ZipInfo(ARRAYS, DATE)
        with archive.open(info, "w", force_zip64=True) as member:
            for piece in arrays:
                for start in range(0, len(piece), CHUNK_BYTES):
                    chunk = piece[start : start + CHUNK_BYTES]
                    digest.update(chunk)
                    member.write(chunk)
        sums = f"sha256 {sha256(model).hexdigest()} {digest.hexdigest()}"
        archive.comment = f"halfmoon model, schema {SCHEMA}, {sums}".encode("ascii")


@contextmanager
def opened(path: Path) -> Iterator[tuple[bytes, BinaryIO, int]]:
    """Yield the JSON, the stream of arrays and its size, if their checksums match."""
    if path.is_dir():
        raise ModelFileError("is a folder; give the model file itself")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not path.is_file():
        raise ModelFileError(
            "is not a regular file; give a file that halfmoon.save wrote"
        )
    size = path.stat().st_size
    if size == 0:
        raise ModelFileError("is empty; save the model again")
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except Exception as error:  # zipfile has many ways to fail on a damaged file
            raise ModelFileError(
                "is not a halfmoon model file, or only the beginning of one; give a "
                "file that halfmoon.save wrote"
            ) from error
        with archive:
            checksums = _checksums(archive.comment)
            _check_members(archive, size)
            for name, expected in zip((MODEL, ARRAYS), checksums, strict=True):
                if _sha256(archive, name) != expected:
                    raise _altered(f"the checksum of {name} does not match")
            with archive.open(ARRAYS) as stream:
                size = archive.getinfo(ARRAYS).file_size
                yield archive.read(MODEL), cast(BinaryIO, stream), size


def _checksums(comment: bytes) -> tuple[str, str]:
    """Return both checksums, if this halfmoon reads the schema."""
    match = COMMENT.fullmatch(comment)
    if match is None:
        raise ModelFileError(
            "is a zip, but not a halfmoon model file, or not all of one; give a file "
            "that halfmoon.save wrote"
        )
    schema = int(match[1])
    if schema > SCHEMA:
        raise ModelFileError(
            f"was written by a newer halfmoon (schema {schema}); this one reads up to "
            f"{SCHEMA}: upgrade halfmoon"
        )
    sums = CHECKSUMS.fullmatch(match[2] or b"")
    if schema < 1 or sums is None:
        raise _altered("its comment has another form")
    return sums[1].decode("ascii"), sums[2].decode("ascii")


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse other members, compressed ones, and sizes beyond that of the file."""
    members = archive.infolist()
    if [member.filename for member in members] != [MODEL, ARRAYS]:
        raise _altered(f"it must hold {MODEL} and {ARRAYS} and nothing else")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 0x1:
            raise _altered(f"{member.filename} is compressed or encrypted")
        if member.file_size != member.compress_size or member.is_dir():
            raise _altered(f"the sizes of {member.filename} contradict each other")
    if sum(member.file_size for member in members) > size:
        raise _altered("its members are larger than the file")
    if members[0].file_size > MAX_JSON_BYTES:
        raise ModelFileError(
            f"has {members[0].file_size:,} bytes in addition to its arrays; at most "
            f"{MAX_JSON_BYTES:,} are read"
        )


def _sha256(archive: zipfile.ZipFile, name: str) -> str:
    try:
        with archive.open(name) as stream:
            return file_digest(cast(Any, stream), "sha256").hexdigest()
    except Exception as error:  # as above
        raise _altered(f"{name} cannot be read") from error


def _altered(why: str) -> ModelFileError:
    return ModelFileError(f"has been altered or damaged ({why}); save the model again")
