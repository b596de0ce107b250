"""The file: a zip of two members, with the checksums of both in its comment.

The members are not compressed: numbers hardly shrink, arrays can be read straight into
their memory, and no file can expand to more than its own size. The comment holds the
number of the schema, so that a newer file is never mistaken for a damaged one:

    halfmoon model, schema 1, sha256 <of model.json> <of arrays.safetensors>
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from halfmoon._atomic_files import whole_file
from halfmoon._model_files.errors import ModelFileError

__all__ = ["ARRAYS", "MODEL", "SCHEMA", "opened", "write_file"]

SCHEMA = 1
MODEL, ARRAYS = "model.json", "arrays.safetensors"
MAX_JSON_BYTES = 64 * 2**20  # beyond it the graph takes gigabytes in memory
CHUNK_BYTES = 2**20
COMMENT = re.compile(rb"halfmoon model, schema (\d{1,9})(?:, (.{1,4000}))?", re.DOTALL)
CHECKSUMS = re.compile(rb"sha256 ([0-9a-f]{64}) ([0-9a-f]{64})")
DATE = (1980, 1, 1, 0, 0, 0)  # fixed: the same model gives the same file


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
    if not path.parent.is_dir():
        raise ModelFileError(f"The folder {path.parent} does not exist; make it first.")

    def failed(error: Exception) -> Exception:
        if isinstance(error, FileExistsError):
            return ModelFileError(
                f"{path} exists; give another name, or overwrite=True."
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
