"""Hidden files: what is left of killed runs, and who may remove it."""

import errno
import os
import subprocess
import sys
import threading
import time

import pytest

from halfmoon._atomic_files import (
    leftovers,
    lock_file,
    remove_unfinished,
    unfinished,
    whole_file,
)
from optional_modules import optional

files = optional("halfmoon.table._files")

OLD = 25 * 60 * 60


def hidden(folder, name=".halfmoon-0123456789ab.csv", age=0.0):
    path = folder / name
    path.write_bytes(b"half")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def same(error):
    return error


def test_old_leftovers_are_removed_and_young_ones_told_of(tmp_path):
    old = hidden(tmp_path, age=OLD)
    young = hidden(tmp_path, ".halfmoon-ba9876543210.parquet")
    assert leftovers(tmp_path) == ([old], [young])
    assert sorted(tmp_path.iterdir()) == [young]
    # The same file a day later
    assert leftovers(tmp_path, now=time.time() + OLD) == ([young], [])


@pytest.mark.parametrize(
    "name",
    [
        ".halfmoon-0123456789AB.csv",
        ".halfmoon-0123456789abc.csv",
        ".halfmoon-0123456789a.csv",
        "halfmoon-0123456789ab.csv",
        ".halfmoon-0123456789ab.csv.bak.of.a.user",
        ".halfmoon-notes.csv",
    ],
)
def test_files_of_others_stay(tmp_path, name):
    path = hidden(tmp_path, name, age=OLD)
    assert leftovers(tmp_path) == ([], [])
    assert path.exists()


def test_links_and_folders_stay(tmp_path):
    target = tmp_path / "mine"
    target.write_bytes(b"x")
    os.utime(target, (0, 0))
    (tmp_path / ".halfmoon-0123456789ab").symlink_to(target)
    (tmp_path / ".halfmoon-0123456789ac").mkdir()
    os.utime(tmp_path / ".halfmoon-0123456789ac", (0, 0))
    assert leftovers(tmp_path) == ([], [])
    assert target.exists()


@pytest.mark.skipif(os.name == "nt", reason="needs owners of files")
def test_files_of_another_user_stay(tmp_path, monkeypatch):
    path = hidden(tmp_path, age=OLD)
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    assert leftovers(tmp_path) == ([], [])


@pytest.mark.skipif(os.name == "nt", reason="needs locks of files")
def test_what_is_being_written_is_not_left(tmp_path):
    with whole_file(tmp_path / "out.csv", False, same) as file:
        file.write(b"x")
        assert leftovers(tmp_path, now=time.time() + OLD) == ([], [])
        assert len(list(tmp_path.iterdir())) == 1
    assert (tmp_path / "out.csv").read_bytes() == b"x"


@pytest.mark.skipif(os.name == "nt", reason="needs locks of files")
@pytest.mark.parametrize(
    ("number", "free"), [(errno.EAGAIN, False), (errno.ENOLCK, True)]
)
def test_only_another_process_refuses_a_lock(tmp_path, monkeypatch, number, free):
    def flock(*_):
        raise OSError(number, "refused")

    monkeypatch.setattr("fcntl.flock", flock)
    with open(tmp_path / "t", "wb") as file:
        assert lock_file(file.fileno()) is free


def test_a_folder_that_cannot_be_read(tmp_path):
    assert leftovers(tmp_path / "none") == ([], [])


def test_the_next_table_tells_of_them(tmp_path):
    hidden(tmp_path, age=OLD)
    young = hidden(tmp_path, ".halfmoon-ba9876543210.csv")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with files.open_table(tmp_path / "t.csv") as table:
        with files.new_table(tmp_path / "out.csv", like=table):
            pass
        said = [str(note) for note in table.notes]
    removed, left = said
    assert removed == (
        f"Removed 1 hidden file in {tmp_path} that an earlier run of halfmoon left "
        f"when it was killed, such as .halfmoon-0123456789ab.csv."
    )
    assert left == (
        f"{young} was left by an earlier run of halfmoon that was killed. Delete it; "
        f"otherwise halfmoon removes it when it is a day old."
    )


@pytest.fixture
def making(monkeypatch):
    """The lock of `remove_unfinished`, which no other test finds locked."""
    lock = threading.RLock()
    monkeypatch.setattr("halfmoon._atomic_files._making", lock)
    return lock


def test_what_is_unfinished_is_removed(tmp_path, making):
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    written = whole_file(tmp_path / "out", True, same)
    with unfinished(folder):
        written.__enter__().write(b"x")
        remove_unfinished()
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        written.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == []


def test_no_thread_makes_a_file_after_the_last_look(tmp_path, making):
    began = threading.Event()

    def write():
        began.set()
        with whole_file(tmp_path / "out", True, same) as file:
            file.write(b"x")

    remove_unfinished()
    thread = threading.Thread(target=write)
    thread.start()
    began.wait()
    thread.join(0.2)
    assert list(tmp_path.iterdir()) == []
    making.release()  # only the test goes on
    thread.join()
    assert (tmp_path / "out").read_bytes() == b"x"


CHILD = """
import os, signal, sys, time
from pathlib import Path
from halfmoon._atomic_files import whole_file
with whole_file(Path(sys.argv[1]), False, lambda error: error) as file:
    file.write(b"half")
    if not os.fork():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    os.wait()
    assert len(os.listdir(os.path.dirname(sys.argv[1]))) == 1
"""


@pytest.mark.skipif(os.name == "nt", reason="needs fork")
def test_a_child_does_not_remove_the_files_of_its_parent(tmp_path):
    place = tmp_path / "out"
    subprocess.run([sys.executable, "-c", CHILD, str(place)], check=True, timeout=60)
    assert place.read_bytes() == b"half"
