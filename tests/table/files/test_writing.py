"""Output that appears whole or not at all."""

import errno
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from halfmoon import _atomic_files as atomic_files
from halfmoon.table._files import new_table, open_table, replacing
from halfmoon.table._files.writing import streaming
from halfmoon.table._table_errors import OutputError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"a,b\n1,2\n")
    with open_table(path) as table:
        yield table


def copy(table, destination, **options):
    with new_table(destination, table, **options) as out:
        for batch in table.batches():
            out.write(batch, append={"c": ["x"]})


def test_the_file_appears_at_the_end(tmp_path):
    path = tmp_path / "out.csv"
    with replacing(path) as file:
        file.write(b"x" * 3_000_000)
        (hidden,) = os.listdir(tmp_path)
        assert hidden.startswith(".")
        assert hidden.endswith(".csv")
    assert os.listdir(tmp_path) == ["out.csv"]
    assert path.read_bytes() == b"x" * 3_000_000


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "out") as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.zst", "parquet", "feather"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_no_file(table, tmp_path, error, suffix):
    def interrupted():
        with new_table(tmp_path / f"out.{suffix}", table) as out:
            for batch in table.batches():
                out.write(batch, append={"c": ["x"]})
            raise error

    with pytest.raises(error):
        interrupted()
    assert os.listdir(tmp_path) == ["in.csv"]


def test_an_existing_file_is_kept(table, tmp_path):
    (tmp_path / "out.csv").write_bytes(b"old")
    with pytest.raises(OutputError, match=r"out.csv already exists\. Give another"):
        copy(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"old"
    with (
        pytest.raises(RuntimeError),
        new_table(tmp_path / "out.csv", table, overwrite=True),
    ):
        raise RuntimeError
    assert (tmp_path / "out.csv").read_bytes() == b"old"
    copy(table, tmp_path / "out.csv", overwrite=True)
    assert (tmp_path / "out.csv").read_bytes() == b"a,b,c\n1,2,x\n"
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "out.csv"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_in_the_meantime_is_kept(tmp_path, monkeypatch, links):
    def no_link(*_):
        raise OSError(errno.EPERM, "no links here")

    if not links:
        monkeypatch.setattr(os, "link", no_link)
    path = tmp_path / "out"
    with pytest.raises(OutputError, match="already exists"), replacing(path):
        path.write_bytes(b"other")
    assert path.read_bytes() == b"other"
    path.unlink()
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("how", ["itself", "symlink", "hard link", "dots"])
def test_the_input_is_never_overwritten(table, tmp_path, how):
    path = tmp_path / "out.csv"
    if how == "itself":
        path = tmp_path / "in.csv"
    elif how == "symlink":
        path.symlink_to(tmp_path / "in.csv")
    elif how == "hard link":
        path.hardlink_to(tmp_path / "in.csv")
    else:
        path = tmp_path / ".." / tmp_path.name / "in.csv"
    with pytest.raises(OutputError, match="is the input, which is never overwritten"):
        copy(table, path, overwrite=True)
    assert (tmp_path / "in.csv").read_bytes() == b"a,b\n1,2\n"


def test_a_link_is_followed(table, tmp_path):
    folder = tmp_path / "far"
    folder.mkdir()
    (tmp_path / "out.csv").symlink_to(folder / "real.csv")
    copy(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").is_symlink()
    assert (folder / "real.csv").read_bytes() == b"a,b,c\n1,2,x\n"


def test_impossible_paths_are_refused(table, tmp_path):
    with pytest.raises(OutputError, match=r"the folder .*none does not exist\. Make"):
        copy(table, tmp_path / "none" / "out.csv")
    with pytest.raises(
        OutputError, match=r"is a folder\. Give the name of a file in it"
    ):
        copy(table, tmp_path)
    with pytest.raises(OutputError, match=r"out.csv cannot be written: "):
        copy(table, tmp_path / "in.csv" / "out.csv")
    with pytest.raises(OutputError, match=r"cannot be written: .*null"):
        copy(table, "out\0.csv")


def test_a_read_only_folder_is_refused(table, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(atomic_files, "_NewFile", refused)
    with pytest.raises(OutputError, match=r"out.csv cannot be written: Permission"):
        copy(table, tmp_path / "out.csv")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.zst", "parquet", "feather"])
@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_full_disk(table, tmp_path, monkeypatch, suffix, where):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(atomic_files, "BUFFER_BYTES", 1)
        monkeypatch.setattr(atomic_files, "raw_write", full)
    with pytest.raises(OutputError, match=r"No space left on device\. Make room on"):
        copy(table, tmp_path / f"out.{suffix}")
    assert os.listdir(tmp_path) == ["in.csv"]


def test_streams_get_everything_at_the_end(table):
    stream = io.BytesIO()
    with new_table(stream, table) as out:
        for batch in table.batches():
            out.write(batch)
        assert stream.getvalue() == b""
    assert stream.getvalue() == b"a,b\n1,2\n"


def test_no_room_for_the_copy_of_a_stream(monkeypatch):
    class Full(io.BytesIO):
        """A file that cannot even be closed, because something is in its buffer."""

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        def __exit__(self, *_):
            self.write(b"")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    with pytest.raises(OutputError) as refused, streaming(io.BytesIO()) as spool:
        spool.write(b"x")
    assert str(refused.value) == (
        f"standard output is first written to a temporary file in "
        f"{tempfile.gettempdir()}: No space left on device. Set TMPDIR to a folder "
        f"with more room."
    )


def test_a_closed_pipe(table):
    class Closed(io.BytesIO):
        def write(self, _):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(OutputError, match="output was closed before all of the output"):
        copy(table, Closed())


def test_devices_are_written_to_and_not_replaced(table):
    copy(table, "/dev/null")
    assert not os.path.isfile("/dev/null")
    with pytest.raises(OutputError, match="/dev/full cannot be written: No space"):
        copy(table, "/dev/full")


# Packages without what they import, which takes longer than the test.
CHILD = """
import sys, time, types
for name in ("halfmoon", "halfmoon.table", "halfmoon.table._files"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[2] + "/" + name.replace(".", "/")]
from halfmoon.table._files.writing import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half" * 1_000_000)
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_stopped_process_leaves_no_half_written_file(tmp_path, stop):
    source = Path(atomic_files.__file__).parents[1]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "out.csv"), str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with child:
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(getattr(signal, stop))
        child.wait(timeout=30)
    assert child.returncode != 0
    left = os.listdir(tmp_path)
    if stop == "SIGKILL":
        assert [name[0] for name in left] == ["."]
    else:
        assert left == []


def test_signal_handlers_are_restored_and_not_set_in_threads(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with replacing(tmp_path / "one"):
        assert signal.getsignal(signal.SIGTERM) is not before
        with replacing(tmp_path / "two"):
            pass
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before

    def write():
        with replacing(tmp_path / "three") as file:
            file.write(b"x")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (tmp_path / "three").read_bytes() == b"x"


def test_a_name_that_ends_like_a_folder_is_not_a_file(table, tmp_path):
    with pytest.raises(OutputError, match=r"the folder .*new/ does not exist"):
        copy(table, f"{tmp_path}/new/")
    assert os.listdir(tmp_path) == ["in.csv"]
