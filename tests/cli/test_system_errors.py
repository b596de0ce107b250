"""System errors end in one line."""

import errno
import os
import subprocess
import sys

import pytest

from small_tables import two_groups, write_csv

QUICK = ("-t", "side", "--budget", "0.000001", "--no-report")


@pytest.fixture
def table(folder):
    rows, _ = two_groups(30, 10)
    write_csv("t.csv", rows)
    return "t.csv"


def one_line(result, code):
    assert result.exit_code == code, result.output
    said = result.stderr.strip()
    assert said.startswith("halfmoon: ")
    assert "\n" not in said
    assert "bug" not in said
    return said


@pytest.mark.parametrize("option", ["--model", "--output"])
def test_a_full_disk(run, table, folder, monkeypatch, option):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    options = [*QUICK, "-q", "-o", "o.csv"]
    if option == "--model":
        options += ["--model", "m.halfmoon"]
        monkeypatch.setattr("halfmoon._model_files.container._write_zip", full)
    else:
        monkeypatch.setattr("halfmoon._atomic_files.raw_write", full)
    said = one_line(run("fill", table, *options), 5)
    assert "cannot be written: No space left on device" in said
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


def test_no_room_for_temporary_files(run, table, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    said = one_line(run("fill", "-", *QUICK, "-q", given=b"a,side\n1,x\n"), 5)
    assert said.endswith("No space left on device.")


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="needs permissions")
def test_a_read_only_folder_is_refused(run, table, folder):
    (folder / "closed").mkdir(mode=0o500)
    said = one_line(run("fill", table, *QUICK, "-o", "closed/o.csv"), 5)
    assert "Permission denied" in said


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv.pop(1)), 4096))
from halfmoon._cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs limits of processes")
def test_too_many_open_files(table, folder):
    # Enough to import halfmoon, and then no more
    command = [sys.executable, "-c", LIMITED, "5", "fill", table, *QUICK, "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "halfmoon: t.csv cannot be read: Too many open files.\n"
    assert os.listdir(folder) == ["t.csv"]
