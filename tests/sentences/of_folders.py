"""Folders that cannot be filled, or not gone on with, and a note on others."""

import errno
import io
import json
import os
import sys
from copy import copy
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from unittest import mock

import dask.dataframe as dd
import pandas as pd
import pytest

import halfmoon
from halfmoon import load
from halfmoon._cli.common_options import CommonOptions
from halfmoon.table._files.writing import streaming
from halfmoon.table._folders import (
    folder_table as listing,
)
from halfmoon.table._folders import (
    manifest,
    predict_folder,
    whole_folder,
)
from halfmoon.table._folders.folder_table import FolderFile, list_folder
from halfmoon.table._folders.manifest import inputs_of, locked_folder
from sentences.of_files import refused

#: Folders with their files; all are filled into the folder "out".
FOLDERS = {
    "no_table": {"readme.md": "a"},
    "other_partitions": {"c=1/a.csv": "x,y\n1,2\n", "b.csv": "x,y\n1,2\n"},
    "column_twice": {"x=1/a.csv": "x,y\n1,2\n"},
    "target": {"side=1/a.csv": "x,y\n1,2\n"},
}
REFUSED = """
fill no_table -t side -o out
fill other_partitions -t side -o out
fill column_twice -t side -o out
fill target -t side -o out
fill june -t side -o june
fill june -t side -o june/out
fill june/deep -t side -o june
fill june -t side -o t.csv
fill june -t side -o full
fill june -t side -o full --resume
fill june -t side -o out --resume --overwrite
fill june -t side -o out --to-label 5 todo.csv
fill t.csv -t side --resume
fill t.csv -t side --dask local
"""


def make_folders():
    for folder, files in FOLDERS.items():
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    Path("full").mkdir()
    Path("full", "mine.csv").write_text("x\n1\n")
    Path("june", "deep").mkdir()
    Path("june", "deep", "t.csv").write_text(Path("june", "t.csv").read_text())


def stopped_runs():
    """Runs that cannot be gone on with."""
    model = load("m.halfmoon")
    predict_folder("june", "run", model)

    def gone_on(**options):
        with refused():
            predict_folder("june", "run", model, resume=True, **options)

    gone_on(formulas="keep")
    with refused(), locked_folder(Path("run")):
        predict_folder("june", "run", model, resume=True)
    with refused():
        predict_folder("june", "t.csv/run", model)
    another = copy(model)
    another.record_ = {**model.record_, "more": 1}
    with refused():
        predict_folder("june", "run", another, resume=True)
    for change in (changed_input, new_input, lost_input, other_model, damaged):
        copytree("june", "kept_input")
        copytree("run", "kept_run")
        change()
        gone_on()
        for name in ("june", "run"):
            Path(f"{name}").rename(f"{name}_{change.__name__}")
        Path("kept_input").rename("june")
        Path("kept_run").rename("run")
    with refused():
        predict_folder("june", "run", model)


def changed_input():
    Path("june/t.csv").write_text(Path("june/t.csv").read_text() + "\n")


def new_input():
    Path("june/u.csv").write_text(Path("june/t.csv").read_text())


def lost_input():
    Path("june/t.csv").unlink()


def other_model():
    Path("run/_halfmoon/model-1").write_text("another")


def damaged():
    told = json.loads(Path("run/_halfmoon/manifest.json").read_text())
    Path("run/_halfmoon/manifest.json").write_text(json.dumps({**told, "version": 0}))


def no_cluster():
    """No Dask, or nobody at the address."""
    name = "halfmoon._partitions.dask_rows"
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, name, raising=False)
        patch.setitem(sys.modules, "dask", None)
        with refused(), CommonOptions("june", dask="local").engine():
            pass
    with pytest.MonkeyPatch.context() as patch:
        nobody = SimpleNamespace(connected=_nobody)
        patch.setitem(sys.modules, name, nobody)
        elsewhere = CommonOptions("june", dask="tcp://10.0.0.1:8786")
        with refused(), elsewhere.engine():
            pass


def _nobody(address):
    raise ConnectionError(f"No Dask scheduler answers at {address!r}.")


def partition_of_another_type():
    """A Dask data frame whose second partition has text in a column of numbers."""
    parts = [pd.DataFrame({"x": x, "y": ["a", "b"]}) for x in ([1, 2], ["c", "d"])]
    with refused():
        halfmoon.fill(dd.from_map(lambda part: part, parts, meta=parts[0].head(0)), "y")


def of_folders():
    """What is said of folders beside what the commands say."""
    no_cluster()
    partition_of_another_type()
    with pytest.MonkeyPatch.context() as patch, refused():
        patch.setattr(listing, "MAX_FILES", 1)
        list_folder("june")
    with refused():
        listing._unreadable(PermissionError(13, "Permission denied", "june"))
    with pytest.MonkeyPatch.context() as patch, refused():
        patch.setattr(manifest, "save", mock.Mock(side_effect=OSError(28, "Full")))
        manifest._save(None, Path("out/_halfmoon/model-1"))
    with (
        mock.patch("tempfile.gettempdir", return_value="/tmp"),
        refused(),
        streaming(io.BytesIO()),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    with refused():
        inputs_of([FolderFile(Path("nowhere.csv"), "nowhere.csv")])
    Path("linked").mkdir()
    Path("linked", "t.csv").symlink_to(Path("june", "u.csv").absolute())
    with refused():
        listing.refuse_links(list_folder("june"), Path("june"), Path("linked"))
    Path("circle").mkdir()
    Path("circle", "again").symlink_to(Path("circle").absolute())
    with refused():
        list_folder("circle")
    Path("pipe").mkdir()
    os.mkfifo(Path("pipe", "a.csv"))
    with refused():
        list_folder("pipe")
    Path("bytes").mkdir()
    Path("bytes", os.fsdecode(b"\xe9t\xe9.csv")).touch()
    with refused():
        list_folder("bytes")
    Path("again", "c=1", "c=2").mkdir(parents=True)
    Path("again", "c=1", "c=2", "a.csv").touch()
    with refused():
        list_folder("again")
    Path("others").mkdir()
    for i in range(5):
        Path("others", f"{i}.pdf").touch()
        listing.left_out_note("others")
    files = [FolderFile(Path(name), name) for name in ("a.csv", "b.csv", "c.csv")]
    whole_folder._numbering(files, [0, 500, 1200])
    many = [FolderFile(Path(f"{i}.csv"), f"{i}.csv") for i in range(9)]
    whole_folder._numbering(many, [10 * i for i in range(9)])
    stopped_runs()
