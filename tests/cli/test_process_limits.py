"""Streams that are closed or full, and limits of memory and threads."""

import io
import os
import subprocess
import sys

import pytest

from halfmoon._cli.exit_codes import exit_with_code
from halfmoon._cli.process_limits import (
    input_stream,
    output_stream,
    refuse_small_memory,
    system_failure,
)
from halfmoon._cli.terminal import ProgressBars
from halfmoon.table._table_errors import (
    MemoryLimitError,
    OutputError,
    ReadError,
    TableError,
)

posix = pytest.mark.skipif(os.name == "nt", reason="needs devices and limits of Unix")
OPENED = """
from halfmoon._cli.process_limits import hold_standard_streams
hold_standard_streams()
with open("place.txt", "w") as file:
    file.write(str(file.fileno()))
"""


@posix
def test_no_file_gets_the_place_of_a_closed_stream(folder):
    closed = f'exec "{sys.executable}" -c "$0" <&- >&- 2>&-'
    subprocess.run(["sh", "-c", closed, OPENED], check=True)
    assert (folder / "place.txt").read_text() == "3"


def test_closed_streams_are_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(ReadError) as refused:
        input_stream()
    assert str(refused.value) == "Standard input is closed. Give the name of a file."
    with pytest.raises(OutputError) as refused:
        output_stream()
    assert str(refused.value) == "Standard output is closed. Use --output FILE."


class Full(io.StringIO):
    """A stream to a full disk."""

    def write(self, text):
        raise OSError(28, "No space left on device")


def test_progress_may_be_lost(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Full())
    with ProgressBars(quiet=False) as bars:
        bars.stage("Reading")(0.5, 1.0)
        bars.say("x")
    assert bars.tasks[0].completed == 0.5


def test_the_exit_code_does_not_depend_on_the_streams(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Full())
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as ended, exit_with_code(debug=False, as_json=True):
        raise ReadError("It cannot be read.")
    assert ended.value.code == 3


@posix
def test_help_on_a_full_disk():
    with open("/dev/full", "wb", buffering=0) as full:
        done = subprocess.run(
            [sys.executable, "-m", "halfmoon", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 5
    assert done.stderr == "halfmoon: The run failed: No space left on device.\n"


@posix
def test_too_little_memory_to_load_libraries(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (4 * 10**8, 4 * 10**8))
    with pytest.raises(MemoryLimitError) as refused:
        refuse_small_memory()
    assert str(refused.value) == (
        "This process may use 400 MB of addresses (ulimit -v), but the libraries that "
        "it loads need 1 GB, most of it without memory behind it. Allow more: ulimit "
        "-v unlimited."
    )
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    refuse_small_memory()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            RuntimeError("can't start new thread"),
            5,
            (
                "The run failed: the system starts no more threads. End other "
                "programs, or allow more (ulimit -u)."
            ),
        ),
        (
            BrokenPipeError(32, "Broken pipe"),
            5,
            "The output was closed before all of it was written.",
        ),
        (
            ImportError("libx.so: failed to map segment from shared object"),
            6,
            "The machine has no memory left. Let the run use less: --memory 500MB.",
        ),
        (
            OSError(12, "Cannot allocate memory"),
            6,
            "The machine has no memory left. Let the run use less: --memory 500MB.",
        ),
    ],
    ids=["threads", "pipe", "library", "memory"],
)
def test_failures_of_the_system(error, code, said):
    found = system_failure(error)
    assert isinstance(found, TableError)
    assert (found.exit_code, str(found)) == (code, said)


def test_other_failures_are_faults():
    assert system_failure(RuntimeError("other")) is None
    assert system_failure(ImportError("cannot import name 'x'")) is None


@posix
def test_the_current_folder_is_removed(folder, monkeypatch):
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    found = system_failure(FileNotFoundError(2, "No such file or directory"))
    assert str(found) == "The current folder was removed. Change to another one."
