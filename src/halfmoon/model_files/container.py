"""The file: a zip of two stored parts, with the checksums of both in its comment.

The parts are stored as they are, not compressed: numbers hardly shrink, arrays can be
read straight into place, and no file can unfold into more than its own size. The
comment says which schema the file follows, so that a newer one is told from a damaged
one whatever else has changed:

    halfmoon model, schema 1, sha256 <of model.json> <of arrays.safetensors>
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, BinaryIO, cast

from halfmoon.atomic_files import whole_file
from halfmoon.model_files.errors import ModelFileError

__all__ = ["ARRAYS", "MODEL", "SCHEMA", "Parts", "opened", "write_file"]

SCHEMA = 1
MODEL, ARRAYS = "model.json", "arrays.safetensors"
MOST_JSON = 64 * 2**20  # bytes; beyond it the graph takes gigabytes in memory
CHUNK = 2**20
COMMENT = re.compile(rb"halfmoon model, schema (\d{1,9})(?:, (.{1,4000}))?", re.DOTALL)
CHECKSUMS = re.compile(rb"sha256 ([0-9a-f]{64}) ([0-9a-f]{64})")
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the same model gives the same file


def write_file(
    path: Path, model: bytes, arrays: Iterable[bytes | memoryview], *, overwrite: bool
) -> None:
    """Write both parts to a file that appears when it is whole."""
    if len(model) > MOST_JSON:
        raise ModelFileError(
            f"The model has {len(model):,} bytes beside its arrays, and at most "
            f"{MOST_JSON:,} are allowed; use fewer distinct texts (a smaller "
            f"vocabulary, fewer categories)."
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
        archive.writestr(zipfile.ZipInfo(MODEL, WRITTEN), model)
        info = zipfile.ZipInfo(ARRAYS, WRITTEN)
        with archive.open(info, "w", force_zip64=True) as part:
            for piece in arrays:
                for start in range(0, len(piece), CHUNK):
                    some = piece[start : start + CHUNK]
                    digest.update(some)
                    part.write(some)
        sums = f"sha256 {sha256(model).hexdigest()} {digest.hexdigest()}"
        archive.comment = f"halfmoon model, schema {SCHEMA}, {sums}".encode("ascii")


class Parts:
    """The two parts of an open file, found whole."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.arrays_size = archive.getinfo(ARRAYS).file_size

    def model(self) -> bytes:
        """The JSON."""
        return self._archive.read(MODEL)

    @contextmanager
    def arrays(self) -> Iterator[BinaryIO]:
        """The arrays, as a stream."""
        with self._archive.open(ARRAYS) as stream:
            yield cast(BinaryIO, stream)


@contextmanager
def opened(path: Path) -> Iterator[Parts]:
    """The parts of a file, once all of it has been found to be as it was written."""
    if path.is_dir():
        raise ModelFileError("is a folder; give the model file itself")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not path.is_file():
        raise ModelFileError("is no regular file; give a file that halfmoon.save wrote")
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
            yield Parts(archive)


def _checksums(comment: bytes) -> tuple[str, str]:
    """Both checksums, if the schema is one that we read."""
    told = COMMENT.fullmatch(comment)
    if told is None:
        raise ModelFileError(
            "is a zip, but not a halfmoon model file, or not all of one; give a file "
            "that halfmoon.save wrote"
        )
    schema = int(told[1])
    if schema > SCHEMA:
        raise ModelFileError(
            f"was written by a newer halfmoon (schema {schema}); this one reads up to "
            f"{SCHEMA}: upgrade halfmoon"
        )
    sums = CHECKSUMS.fullmatch(told[2] or b"")
    if schema < 1 or sums is None:
        raise _altered("its comment is not as it was written")
    return sums[1].decode("ascii"), sums[2].decode("ascii")


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    """Just the two parts, stored plainly, and no larger than the file itself."""
    members = archive.infolist()
    if [member.filename for member in members] != [MODEL, ARRAYS]:
        raise _altered(f"it must hold {MODEL} and {ARRAYS} and nothing else")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 0x1:
            raise _altered(f"{member.filename} is compressed or encrypted")
        if member.file_size != member.compress_size or member.is_dir():
            raise _altered(f"the sizes of {member.filename} contradict each other")
    if sum(member.file_size for member in members) > size:
        raise _altered("its parts are larger than the file")
    if members[0].file_size > MOST_JSON:
        raise ModelFileError(
            f"has {members[0].file_size:,} bytes beside its arrays; at most "
            f"{MOST_JSON:,} are read"
        )


def _sha256(archive: zipfile.ZipFile, name: str) -> str:
    digest = sha256()
    try:
        with archive.open(name) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    except Exception as error:  # as above
        raise _altered(f"{name} cannot be read") from error
    return digest.hexdigest()


def _altered(why: str) -> ModelFileError:
    return ModelFileError(f"has been altered or damaged ({why}); save the model again")
