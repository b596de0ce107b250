"""Sources that never end, and files that change while they are read."""

import gzip
import io
import os
import zipfile
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfmoon.table._files import byte_source, open_table
from halfmoon.table._table_errors import ReadError

LIMIT = 2**20


class Endless(io.RawIOBase):
    """A stream without an end, which counts what was read from it."""

    def __init__(self, piece):
        self.piece, self.taken = piece, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        n = min(len(buffer), len(self.piece))
        buffer[:n] = self.piece[:n]
        self.taken += n
        return n


class EndlessGzip(Endless):
    """The same, compressed."""

    def __init__(self, piece):
        super().__init__(piece)
        self._packer = zlib.compressobj(1, zlib.DEFLATED, 31)

    def readinto(self, buffer):
        packed = b""
        while not packed:
            packed = self._packer.compress(self.piece)
            self.taken += len(self.piece)
        assert len(packed) <= len(buffer)
        buffer[: len(packed)] = packed
        return len(packed)


@pytest.mark.parametrize("kind", [Endless, EndlessGzip])
@pytest.mark.parametrize("byte", [b"\0", b"y", b'{"a": "'], ids=["0", "y", "json"])
def test_a_line_that_never_ends_is_refused_soon(monkeypatch, kind, byte):
    monkeypatch.setattr(byte_source, "MAX_RECORD", LIMIT)
    stream = kind(byte * 4_000)
    with pytest.raises(ReadError, match=r"Line 1 of .* is longer than 16 MB"):
        open_table(stream)
    packed = 1 if kind is Endless else 1_000  # the more, the better they compress
    assert stream.taken <= 4 * LIMIT * packed


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.json"])
def test_long_streams_that_end_are_read(monkeypatch, name):
    """A format without lines, lines after a while, and one array in one line."""
    monkeypatch.setattr(byte_source, "MAX_RECORD", LIMIT)
    monkeypatch.setattr(byte_source, "BUFFER_BYTES", 2**12)
    n = 200_000
    out = io.BytesIO()
    if name == "t.parquet":
        zeros = pa.table({"a": [0] * n})
        pq.write_table(zeros, out, compression="none", use_dictionary=False)
    elif name == "t.json":
        out.write(b"[" + b", ".join([b'{"a": 0}'] * n) + b"]")
    else:
        wide = b"a" * (LIMIT // 2)
        data = wide + b"\n" + b"0\n" * n
        out.write(data if name == "t.csv" else gzip.compress(data))
    out.seek(0)
    with open_table(out) as table:
        assert sum(len(batch) for batch in table.batches()) == n


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_devices_are_refused_but_an_empty_one_is_empty():
    for device in ("/dev/zero", "/dev/urandom"):
        with pytest.raises(ReadError, match=f"{device} is a device, which may never"):
            open_table(device)
    with open("/dev/zero", "rb") as given, pytest.raises(ReadError, match="is a devic"):
        open_table(given)
    with pytest.raises(ReadError, match="/dev/null is empty"):
        open_table("/dev/null")


def written(path, n):
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"a": range(n)}), path, row_group_size=1_000)
    elif path.suffix == ".jsonl":
        path.write_text('{"a": 1}\n' * n)
    else:
        path.write_text("a,b\n" + "1,x\n" * n)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
@pytest.mark.parametrize("change", ["grows", "is cut", "is replaced", "is removed"])
@pytest.mark.parametrize("passes", [0, 1])
def test_a_file_that_changes_ends_in_one_error(tmp_path, name, change, passes):
    path = written(tmp_path / name, 50_000)

    def changed():
        if change == "grows":
            with path.open("ab") as file:
                file.write(path.read_bytes()[-1_000:])
        elif change == "is cut":
            os.truncate(path, path.stat().st_size // 2)
        elif change == "is replaced":
            os.replace(written(path.with_stem("other"), 50_000), path)
        else:
            path.unlink()

    why = "does not exist" if change == "is removed" else "changed while it was being"
    with open_table(path, batch_rows=500) as table:
        for _ in range(passes):  # whole ones; then it changes
            list(table.batches())
        batches = table.batches()
        if not passes:
            next(batches)
        changed()
        with pytest.raises(ReadError, match=why):
            list(batches)


def test_a_file_that_grows_as_fast_as_it_is_read_comes_to_an_end(tmp_path):
    path = written(tmp_path / "t.csv", 1_000)
    rows = []
    with open_table(path, batch_rows=100) as table, path.open("a") as file:

        def read():
            for batch in table.batches():
                rows.extend(batch.rows.to_pylist())
                file.write("1,x\n" * 2**16)
                file.flush()

        with pytest.raises(ReadError, match="changed while it was being read"):
            read()
    assert len(rows) == 1_000


def test_a_zip_file_on_a_full_disk_fails_only_once():
    class Small(io.BytesIO):
        def write(self, data):
            if self.tell() + len(data) > 1000:
                raise OSError(28, "No space left on device")
            return super().write(data)

    packed = zipfile.ZipFile(byte_source.Sink(Small()), "w")
    packed.writestr("small", bytes(500))
    with pytest.raises(OSError, match="No space left on device"):
        packed.writestr("large", bytes(5000))
    packed.close()  # as in garbage collection
